"""What a worker says of itself is read as JSON, or it is refused: it may be a script's by then."""

import pytest

from panorama.errors import UnavailableError
from panorama.services.scripts.worker_json import STATE_DEPTH, parse_json, parse_state

HALF, WHOLE = b'"\\ud800"', b'"\\ud83d\\ude00"'


@pytest.mark.parametrize(
    ("expected", "read"),
    [(b"1", 1), (b'"a"', "a"), (b"[null,true]", [None, True]), (WHOLE, "\U0001f600"), (b'"\\\\ud800"', "\\ud800")],
)
def test_json_is_read(expected: bytes, read: object) -> None:
    assert parse_json(expected) == read


@pytest.mark.parametrize(
    "expected",
    [
        b"", b"x", b"\xff", b"[" * 100_000, HALF, HALF.upper().replace(b"U", b"u"), b"NaN", b"[Infinity]", b"1e999",
        b'{"a":-1e999}', HALF.decode().encode("utf-16"), HALF.decode().encode("utf-32"), b"[" * 300 + b"]" * 300,
        b'{"a":' * 700 + b"1" + b"}" * 700,
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(expected: bytes) -> None:
    with pytest.raises(UnavailableError):
        parse_json(expected)


def test_a_result_may_be_a_hundred_levels_deep() -> None:
    assert parse_json(b"[" * 100 + b"1" + b"]" * 100)


def test_what_a_script_kept_is_read() -> None:
    deepest = b"[" * (STATE_DEPTH - 2) + b"]" * (STATE_DEPTH - 2)

    kept, removed = parse_state(b'{"set":{"a":' + deepest + b'},"removed":["b"]}')

    assert (list(kept), removed) == (["a"], ["b"])


@pytest.mark.parametrize(
    "expected",
    [
        b"[]", b"{}", b"1", b'{"set":[],"removed":[]}', b'{"set":{},"removed":3}', b'{"set":{},"removed":[1]}',
        b'{"set":{"a":' + b"[" * 300 + b"]" * 300 + b'},"removed":[]}',
    ],
    ids=["a list", "nothing", "a number", "a list of names", "a number of names", "a name that is none", "too deep"],
)  # fmt: skip
def test_what_no_script_of_ours_keeps_is_refused(expected: bytes) -> None:
    with pytest.raises(UnavailableError):
        parse_state(expected)
