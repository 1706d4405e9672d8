"""The law of JSON with comments: a change to one place leaves all else, comments too, as it was."""

import json
import re
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from panorama.cli.clients import jsonc

PATH = ("servers", "panorama")
GAPS = ("", "", " ", "\n", "\n  ", "\t", "\r\n    ", " // {0}\n", "/* {0} */", '\n// {0}, "}}\n  ')
WORDS = st.text(max_size=4)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS


def _objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(WORDS | st.just("panorama"), values, max_size=2)


VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=2) | _objects(inner), max_leaves=3)
SERVERS = st.fixed_dictionaries({}, optional={"servers": _objects(VALUES)})
DOCUMENTS = st.builds(lambda rest, servers: rest | servers, _objects(VALUES), SERVERS)


@st.composite
def written(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """Return a document and one of the many ways to write it, with numbered comments."""
    document = draw(DOCUMENTS)
    number = 0

    def gap() -> str:
        nonlocal number
        number += 1
        return draw(st.sampled_from(GAPS)).format(f"c{number}c")

    def listed(opening: str, parts: list[str], closing: str) -> str:
        inner = ",".join(f"{gap()}{part}{gap()}" for part in parts)
        trailing = f",{gap()}" if parts and draw(st.booleans()) else gap()
        return f"{opening}{inner}{trailing}{closing}"

    def text(value: Any) -> str:
        if isinstance(value, dict):
            return listed(
                "{", [f"{json.dumps(key)}{gap()}:{gap()}{text(member)}" for key, member in value.items()], "}"
            )
        if isinstance(value, list):
            return listed("[", [text(member) for member in value], "]")
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    return document, f"{gap()}{text(document)}{gap()}"


def _comments(text: str) -> list[str]:
    return re.findall(r"c\d+c", text)


@given(written())
def test_every_way_to_write_a_document_means_the_same(example: tuple[dict[str, Any], str]) -> None:
    document, text = example

    assert jsonc.parse(text) == document


@given(written(), VALUES)
def test_what_is_put_is_there_and_all_else_means_the_same(example: tuple[dict[str, Any], str], value: Any) -> None:
    document, text = example

    changed = jsonc.set_value(text, PATH, value)

    servers = document.get("servers", {}) | {"panorama": value}
    assert jsonc.parse(changed) == document | {"servers": servers}


@given(written())
def test_what_is_taken_out_is_gone_and_all_else_means_the_same(example: tuple[dict[str, Any], str]) -> None:
    document, text = example

    changed = jsonc.delete_value(text, PATH)

    servers = {key: value for key, value in document.get("servers", {}).items() if key != "panorama"}
    assert jsonc.parse(changed) == document | ({"servers": servers} if "servers" in document else {})


@given(written(), VALUES)
def test_taking_out_what_was_put_brings_the_text_back_but_for_blanks(
    example: tuple[dict[str, Any], str], value: Any
) -> None:
    document, text = example
    assume("panorama" not in document.get("servers", {"panorama": None}))

    changed = jsonc.delete_value(jsonc.set_value(text, PATH, value), PATH)

    assert "".join(changed.split()) == "".join(text.split())


@given(written(), VALUES)
def test_no_comment_is_lost(example: tuple[dict[str, Any], str], value: Any) -> None:
    document, text = example
    assume("panorama" not in document.get("servers", {}))

    changed = jsonc.set_value(text, PATH, value)

    assert _comments(changed) == _comments(jsonc.delete_value(changed, PATH)) == _comments(text)
