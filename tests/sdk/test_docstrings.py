"""Docstrings of the SDK: what a function does, each argument with its form, what comes back, what is refused."""

import inspect
import re
from collections.abc import Mapping

import pytest

from panorama.sdk import errors

from .test_examples import EVERY

REFUSES_NOTHING = {
    "attempt": "returns the error of what it calls",
    "status": "takes nothing that could be wrong, and reads what is always there",
    "graph.stats": "takes nothing that could be wrong, and reads what is always there",
}
"""The functions that may leave out `Raises:`, and why they can."""

SECTIONS = ["Args", "Returns", "Raises", "Example"]
ERRORS = {*errors.__all__, "TypeError", "ValueError"}
DAYS = re.compile(r"\d{4}-\d\d-\d\d")
COUNTED = re.compile(
    r"rows|lines?|hits|characters?|bytes|days|hours|minutes|seconds|at a time|unit|version|change|steps|ways|groups|"
    r"neighbours|items|highest|Lower comes first"
)
"""How the words on a number tell what is counted."""


def sections(name: str) -> Mapping[str, str]:
    """Return the sections of a function's docstring, in order; "" holds what stands before them."""
    parts = re.split(r"^(\w+):\n", inspect.getdoc(EVERY[name]) or "", flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def parse_section(name: str, section: str) -> Mapping[str, str]:
    """Return what a section says of each name in it."""
    found = re.findall(r"^ {4}(\w+): (.+(?:\n {8}.+)*)$", sections(name).get(section, ""), re.MULTILINE)
    return dict(found)


@pytest.mark.parametrize("name", EVERY)
def test_the_first_line_says_what_it_does_and_the_rest_stands_in_order(name: str) -> None:
    first, *more = sections(name)[""].splitlines()

    assert re.fullmatch(r"[A-Z].{8,109}\.", first)
    assert not more or more[0] == ""
    assert [*sections(name)][1:] == [section for section in SECTIONS if section in sections(name)]
    assert sections(name)["Example"].strip()


@pytest.mark.parametrize("name", EVERY)
def test_every_argument_is_told(name: str) -> None:
    assert [*parse_section(name, "Args")] == [*inspect.signature(EVERY[name]).parameters]


@pytest.mark.parametrize("name", EVERY)
def test_days_tell_their_form_and_numbers_what_they_count(name: str) -> None:
    for parameter in inspect.signature(EVERY[name]).parameters.values():
        words = parse_section(name, "Args")[parameter.name]
        if re.search(r"\bdate(time)?\b", parameter.annotation):
            assert DAYS.search(words), parameter
        if re.search(r"\b(int|float)\b", parameter.annotation):
            assert COUNTED.search(words), parameter


@pytest.mark.parametrize("name", EVERY)
def test_what_comes_back_is_told(name: str) -> None:
    back = sections(name).get("Returns", "").strip()

    assert re.fullmatch(r"\S.{5,}[.}]", back, re.DOTALL)
    assert (back == "Nothing.") == (inspect.signature(EVERY[name]).return_annotation == "None")


@pytest.mark.parametrize("name", EVERY)
def test_what_is_refused_is_told_by_its_error(name: str) -> None:
    assert bool(parse_section(name, "Raises")) != (name in REFUSES_NOTHING)
    assert parse_section(name, "Raises").keys() <= ERRORS


def test_what_refuses_nothing_is_there() -> None:
    assert REFUSES_NOTHING.keys() <= EVERY.keys()
