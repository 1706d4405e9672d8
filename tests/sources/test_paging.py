"""The parts of the HTTP client without a network: rates, waits and cursors."""

import pytest

from panorama.errors import InvalidInputError, SourceError
from panorama.sources.rest.paging import Page, page_by_number, page_by_offset, parse_offset, parse_page_number
from panorama.sources.rest.refusals import parse_wait_seconds
from panorama.sources.token_bucket import TokenBucket


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_bucket_lets_a_burst_pass_and_then_one_at_a_time() -> None:
    clock = Clock()
    bucket = TokenBucket(per_second=2, burst=3, now=clock)

    assert [bucket.take(1, 10) for _ in range(5)] == [0, 0, 0, 0.5, 1.0]

    clock.seconds += 10
    assert bucket.take(1, 10) == 0


def test_a_request_that_would_wait_too_long_takes_nothing() -> None:
    bucket = TokenBucket(per_second=1, burst=1, now=Clock())
    bucket.take(1, 10)

    assert [bucket.take(1, 0.5), bucket.take(1, 0.5), bucket.take(1, 10)] == [1, 1, 1]


def test_a_pause_holds_back_everyone_for_as_long_as_the_service_asks() -> None:
    clock = Clock()
    bucket = TokenBucket(per_second=5, burst=5, now=clock)

    bucket.pause(30)

    assert bucket.take(1, 60) == pytest.approx(30)
    clock.seconds += 31
    assert bucket.take(1, 60) == 0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "38"}, 38),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "Thu, 26 Nov 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Thu, 26 Nov 2026 11:00:00 GMT"}, 0),
        ({"x-ratelimit-retry-after": "7"}, 7),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-1"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_as_seconds_or_as_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_wait_seconds(headers, now=1_795_694_400) == seconds


def test_pages_by_offset_end_at_a_short_page() -> None:
    rows = [{"id": str(number)} for number in range(5)]

    first = page_by_offset(rows[:2], "", 2)
    second = page_by_offset(rows[2:4], first.next_cursor, 2)

    assert (parse_offset(first.next_cursor), parse_offset(second.next_cursor)) == (2, 4)
    assert page_by_offset(rows[4:], second.next_cursor, 2) == Page(rows[4:], "")


def test_a_service_that_ignores_the_offset_is_noticed() -> None:
    first = page_by_offset([{"id": "1"}], "", 1)

    with pytest.raises(SourceError, match="the same page twice"):
        page_by_offset([{"id": "1"}], first.next_cursor, 1)


def test_pages_by_number_end_at_the_last_one_or_at_an_empty_one() -> None:
    first = page_by_number([{}], 1, 50, 2)

    assert parse_page_number(first.next_cursor, 7) == (2, 50)
    assert page_by_number([{}], 2, 50, 2).next_cursor == ""
    assert page_by_number([], 1, 50, 10**9).next_cursor == ""


@pytest.mark.parametrize("cursor", ["x", "-1", "1e9", "99999999999", "٣"])
def test_a_cursor_from_elsewhere_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidInputError, match="Invalid cursor"):
        parse_offset(cursor)
    with pytest.raises(InvalidInputError, match="Invalid cursor"):
        parse_page_number(cursor, 1)
