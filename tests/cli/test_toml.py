"""TOML: a table is put last and taken out whole, and the comments of its neighbours stay where they are."""

from typing import Any

import pytest

from panorama.domain.text import toml

PATH = ("s", "p")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[s.p]\na = 1\n"),
        ("b = 2\n", "b = 2\n\n[s.p]\na = 1\n"),
        ("b = 2", "b = 2\n\n[s.p]\na = 1\n"),
        ("b = 2\n\n", "b = 2\n\n[s.p]\na = 1\n"),
        ("b = 2\r\n", "b = 2\r\n\r\n[s.p]\r\na = 1\r\n"),
        ("[s.q]\nb = 2\n# next\n[t]\n", "[s.q]\nb = 2\n# next\n[t]\n\n[s.p]\na = 1\n"),
        ("[s.p]\nb = 2\n\n# next\n[t]\n", "\n# next\n[t]\n\n[s.p]\na = 1\n"),
        ("s = {q = 2} # here\n[t]\n", "s = {q = 2,p = {a = 1}} # here\n[t]\n"),
        ("[s]\nq = 2\np = {b = 2} # here\n", "[s]\nq = 2\np = {a = 1} # here\n"),
    ],
)
def test_a_table_is_put_last(before: str, after: str) -> None:
    assert toml.set_value(before, PATH, {"a": 1}) == after


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        (("a",), 1, "[s.p]\na = 2 # here\n\n# next\n[t]\n", "[s.p]\na = 1 # here\n\n# next\n[t]\n"),
        (("a",), 1, "[s.p]\nb = 2\n\n# next\n[t]\n", "[s.p]\nb = 2\na = 1\n\n# next\n[t]\n"),
        (("a",), 1, "[s.p]\r\nb = 2\r\n\r\n# next\r\n[t]\r\n", "[s.p]\r\nb = 2\r\na = 1\r\n\r\n# next\r\n[t]\r\n"),
        (("a",), {"c": 3}, "[s.p]\nb = 2\n# next\n[t]\n", "[s.p]\nb = 2\na = {c = 3}\n# next\n[t]\n"),
        (("e", "c"), 3, "[s.p]\nb = 2\n\n[s.p.e]\nd = 4\n\n[t]\n", "[s.p]\nb = 2\n\n[s.p.e]\nd = 4\nc = 3\n\n[t]\n"),
        (("e", "c"), 3, "[s.p]\n[t]\nx = 1\n[s.p.e]\nc = 4\n", "[s.p]\n[s.p.e]\nc = 3\n[t]\nx = 1\n"),
        (("a",), 1, "s = {p = {a = 2}} # here\n", "s = {p = {a = 1}} # here\n"),
    ],
)
def test_a_value_goes_into_its_table(key: tuple[str, ...], value: Any, before: str, after: str) -> None:
    assert toml.set_value(before, (*PATH, *key), value) == after


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (PATH, "[s.p]\na = 1\n", ""),
        (PATH, "b = 2\n\n[s.p]\na = 1\n", "b = 2\n"),
        (PATH, "b = 2\r\n\r\n[s.p]\r\na = 1\r\n", "b = 2\r\n"),
        (PATH, "# ours\n[s.p] # p\na = [\n  1, # one\n]\n# next\n[t]\n", "# ours\n# next\n[t]\n"),
        (PATH, "[s.p]\na = 1\n\n[s.p.e]\nb = 2\n\n# next\n[t]\n", "\n# next\n[t]\n"),
        (PATH, '[s . "p"]\na = 1\n[s.pp]\nb = 2\n', "[s.pp]\nb = 2\n"),
        (PATH, "s = {p = {a = 1}, q = 2} # here\n", "s = { q = 2} # here\n"),
        ((*PATH, "a"), "[s.p]\na = 1\nb = 2\n\n# next\n[t]\n", "[s.p]\nb = 2\n\n# next\n[t]\n"),
    ],
)
def test_what_is_taken_out_leaves_its_neighbours(path: tuple[str, ...], before: str, after: str) -> None:
    assert toml.delete_value(before, path) == after


@pytest.mark.parametrize("text", ["s = 3\n", "s = [1]\n"])
def test_nothing_is_put_into_what_is_no_table(text: str) -> None:
    with pytest.raises(ValueError, match="“s” is not a table"):
        toml.set_value(text, PATH, {"a": 1})
