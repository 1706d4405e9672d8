"""The recorder: what it remembers of what scripts send, and what it holds while nothing can be written."""

import gc

import pytest

from panorama.calls import recorder
from panorama.calls.recorder import HIDDEN, redacted

SECRET = "hunter2-hunter2"


def remembered() -> str:
    """Return all that is kept of what was shown, so that it need not be made again."""
    kept = [each for each in vars(recorder).values() if hasattr(each, "cache_info")]
    assert kept
    return "".join(repr(list(each)) for each in gc.get_referents(*kept) if isinstance(each, dict))


@pytest.fixture(autouse=True)
def _forgetful() -> None:
    for each in vars(recorder).values():
        if hasattr(each, "cache_clear"):
            each.cache_clear()


def test_what_stands_under_the_name_of_a_secret_is_not_remembered() -> None:
    told = redacted({"title": "Tea and jam", "password": SECRET, "where": {"api_key": SECRET}})

    assert told == {"title": "Tea and jam", "password": HIDDEN, "where": {"api_key": HIDDEN}}
    assert "Tea and jam" in remembered()
    assert SECRET not in remembered()


def test_long_names_are_not_remembered() -> None:
    redacted({"where": {"x" * 1000: "y", "z" * 100 + "_password": SECRET}})

    assert "'where'" in remembered()
    assert not [each for each in ("xxx", "zzz", SECRET) if each in remembered()]


def test_a_long_name_of_a_secret_hides_it_too() -> None:
    assert list(redacted({"z" * 100 + "_password": SECRET}).values()) == [HIDDEN]
