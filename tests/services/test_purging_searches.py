"""Searches for what was purged: the log forgets their words, and no file holds them any more."""

import pytest

from panorama.app import App
from tests.conftest import StandingClock
from tests.services.forgetting import Call
from tests.stored_rows import read_rows


def purge_and_read(call: Call, app: App, clock: StandingClock, item: str) -> bytes:
    """Purge an item, and return the bytes of every file of the data directory."""
    call("delete_item", item=item, confirm=True)
    app.recorder.flush()
    clock.advance(minutes=1)
    call("purge", days=0, confirm=True)
    app.recorder.flush()
    app.context.database.close()
    return b"\n".join(path.read_bytes().lower() for path in app.settings.home.rglob("*") if path.is_file())


SEARCHES = {
    "a word of the text": {"query": "zyzzyva"},
    "a word among others": {"query": "recipe with zyzzyva and tea"},
    "the beginning of a word": {"query": "tea zyzz"},
    "another form of a word": {"query": "zyzzyvas"},
    "in capitals with accents": {"query": "ZÝZZÝVA"},
    "a phrase": {"query": '"zyzzyva soup"'},
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_search_for_words_of_a_purged_text_is_forgotten(
    call: Call, app: App, clock: StandingClock, search: dict[str, str]
) -> None:
    call("create_note", title="Tea")
    note = call("create_note", title="Dinner", content="A zyzzyva soup, as aunt made it.").data["id"]
    call("search", **search)

    left = purge_and_read(call, app, clock, note)

    assert b"zyzz" not in left
    assert "zýzz".encode() not in left


def test_a_filter_for_words_of_a_purged_text_is_forgotten_in_a_batch_and_a_script(
    call: Call, app: App, clock: StandingClock
) -> None:
    task = call("create_task", title="Call back", notes="zyzzyva 42").data["id"]
    where = {"notes": {"contains": "zyzzyva"}}
    call("query", collection="tasks", where=where)
    call("batch", operations=[{"tool": "query", "args": {"collection": "tasks", "where": where}}])
    call("run_code", code="return len(sdk.search('zyzzyva'))")

    assert b"zyzz" not in purge_and_read(call, app, clock, task)


def test_a_search_for_what_a_purged_item_held_before_is_forgotten(call: Call, app: App, clock: StandingClock) -> None:
    note = call("create_note", title="Dinner", content="zyzzyva " * 1000).data["id"]
    call("search", query="zyzzyva soup")
    call("update_note", note=note, content="Nothing.")

    assert b"zyzz" not in purge_and_read(call, app, clock, note)


def test_a_search_for_the_words_of_a_purged_name_in_another_order_is_forgotten(
    call: Call, app: App, clock: StandingClock
) -> None:
    call("create_note", title="Greek tea")
    call("create_note", title="Dinner for aunts")
    note = call("create_note", title="Greek dinner of aunts").data["id"]
    call("search", query="aunts greek")

    assert b"aunts greek" not in purge_and_read(call, app, clock, note)


def test_a_search_for_words_that_living_items_hold_stays(call: Call, app: App, clock: StandingClock) -> None:
    call("create_note", title="Lunch", content="A zyzzyva salad.")
    note = call("create_note", title="Dinner", content="A zyzzyva soup.").data["id"]
    call("search", query="zyzzyva")
    call("search", query="nowhere")

    purge_and_read(call, app, clock, note)

    logged = {row[0] for row in read_rows(app, "SELECT CAST(arguments AS TEXT) FROM calls WHERE name = 'search'")}
    assert logged == {'{"query":"zyzzyva"}', '{"query":"nowhere"}'}
