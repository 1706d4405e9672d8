"""Pages that are kept: what they depend on, and how many there are."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from panorama.web.page_cache import MAX_BYTES, MAX_PAGES, DataState, PageCache, PageKey
from panorama.web.site import Site
from tests.conftest import BEGIN, StandingClock
from tests.web.page_client import PageClient

STATE = DataState(7, 0, BEGIN)
LATE = re.compile(r'class="n late">(\d+)<')


def make_key(path: str = "/today") -> PageKey:
    """Return the key of a page."""
    return PageKey(path, "", "en", "token", is_read_only=False)


@pytest.mark.parametrize("name", ["today", "review"])
def test_a_page_is_rendered_once_until_something_changes(
    page: PageClient, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rendered: list[str] = []
    render = Site._render
    monkeypatch.setattr(
        Site, "_render", lambda site, template, *rest: (rendered.append(template), render(site, template, *rest))[1]
    )

    pages = [page.page(f"/{name}") for _ in range(3)]
    page.call("tasks.create", title="Tea", deadline="tomorrow")
    changed = page.page(f"/{name}")

    assert rendered == [name, name]
    assert len(set(pages)) == 1
    assert "Tea" in changed


def test_a_task_is_late_once_its_time_has_passed(page: PageClient, clock: StandingClock) -> None:
    page.call("tasks.create", title="Call", deadline="today 10:30")
    before = page.page("/today")

    clock.advance(minutes=31)

    assert not LATE.search(before)
    assert LATE.findall(page.page("/today")) == ["1"]


def test_tomorrow_the_page_has_another_date(page: PageClient, clock: StandingClock) -> None:
    before = page.page("/today")

    clock.advance(days=1)

    assert "Wednesday, 20 May" in before
    assert "Thursday, 21 May" in page.page("/today")


def test_pages_are_kept_for_one_session_and_one_language(page: PageClient, site: Site, reader: PageClient) -> None:
    other = PageClient(page.app, site)
    ours, theirs = page.page("/today"), other.page("/today")

    assert page.token in ours
    assert page.token not in theirs
    assert "<h1>Heute" in page.page("/today", accept_language="de")
    assert 'action="/do/quick"' not in reader.page("/today")
    assert 'action="/do/quick"' in page.page("/today")


def test_a_new_draft_is_counted_in_the_menu_at_once(page: PageClient) -> None:
    page.page("/today")

    page.call("scripts.save", name="count_tasks", code='"""Count."""\n\ndef main():\n    return 1\n')

    assert 'class="n hot">1<' in page.page("/today")


def test_a_page_rendered_before_a_change_is_not_kept_after_it() -> None:
    cache = PageCache()
    newer = DataState(8, 0, BEGIN)
    cache.find(newer, make_key())

    cache.add(STATE, make_key(), b"old")

    assert cache.find(newer, make_key()) is None


def test_pages_of_an_older_state_are_removed() -> None:
    cache = PageCache()
    cache.find(STATE, make_key())
    cache.add(STATE, make_key(), b"old")

    cache.find(DataState(7, 0, BEGIN + timedelta(minutes=1)), make_key())

    assert cache.find(STATE, make_key()) is None


def test_a_page_that_two_tabs_request_at_once_is_rendered_once() -> None:
    cache, is_rendering, may_end = PageCache(), threading.Event(), threading.Event()

    def render() -> bytes:
        is_rendering.set()
        may_end.wait()
        return b"page"

    with ThreadPoolExecutor() as pool:
        first = pool.submit(cache.get, STATE, make_key(), render)
        is_rendering.wait()
        second = pool.submit(cache.get, STATE, make_key(), lambda: b"another")
        may_end.set()

    assert (first.result(), second.result()) == (b"page", b"page")


@pytest.mark.parametrize("page", [b"small", bytes(MAX_BYTES // 3)], ids=["many", "large"])
def test_the_oldest_pages_make_room(page: bytes) -> None:
    cache = PageCache()
    cache.find(STATE, make_key())

    for number in range(MAX_PAGES + 1):
        cache.add(STATE, make_key(f"/{number}"), page)

    kept = [number for number in range(MAX_PAGES + 1) if cache.find(STATE, make_key(f"/{number}"))]
    assert kept == list(range(MAX_PAGES + 1))[-min(MAX_PAGES, MAX_BYTES // len(page)) :]
