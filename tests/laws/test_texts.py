"""Laws of texts: the stretch that differs, and the parts that are indexed."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from panorama.domain.changes import compute_splice
from panorama.domain.markdown.wiki_links import find_changed_links, find_link_shift, parse_links
from panorama.domain.text.tokens import (
    PART_CHARS,
    extract_snippet,
    fold_keep_offsets,
    index_text,
    iter_parts,
    parse_terms,
)

from .things import texts

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
few_letters = st.text("ab\né𝄞👩‍👩‍👧", max_size=60)
"""Few different letters, so that beginnings and ends are often alike, some of them of more than one code point."""

blocks = st.lists(st.tuples(few_letters, st.integers(1, 9000)), max_size=6)
long_texts = blocks.map(lambda some: "".join(text * times for text, times in some)[: 5 * PART_CHARS])


@given(old=few_letters | long_texts | texts, new=few_letters | long_texts | texts)
@example("0" + "line\n" * 8000, "1" + "line\n" * 8000)
@example("0" + "line\n" * 80_000, "1" + "line\n" * 80_000)
@example("line\n" * 8000 + "0", "line\n" * 8000 + "1")
@example("a" * 70_000, "a" * 140_000)
def test_a_splice_makes_each_text_of_the_other(old: str, new: str) -> None:
    part = compute_splice(old, new)

    head, tail = old[: part.at], old[part.at + len(part.removed) :]

    assert old == head + part.removed + tail
    assert new == head + part.inserted + tail


@given(head=long_texts, old=few_letters, new=few_letters, tail=long_texts)
def test_a_splice_is_no_longer_than_what_was_replaced(head: str, old: str, new: str, tail: str) -> None:
    part = compute_splice(head + old + tail, head + new + tail)

    assert len(part.removed) <= len(old)
    assert len(part.inserted) <= len(new)


@given(text=few_letters | long_texts | texts)
def test_a_text_is_what_its_parts_are_when_joined(text: str) -> None:
    found = list(iter_parts(text))

    assert "".join(found) == text
    assert all(len(part) <= PART_CHARS for part in found)
    assert len(found) <= 1 + len(text) // (PART_CHARS // 2)


@given(block=texts, text=long_texts)
def test_a_block_on_top_changes_few_parts(block: str, text: str) -> None:
    before, after = list(iter_parts(text)), list(iter_parts(block + "\n" + text))

    assert len(set(after) - set(before)) <= 2 + len(set(before)) // 2 or len(before) < 4


@given(text=texts)
def test_folding_keeps_every_place(text: str) -> None:
    assert len(fold_keep_offsets(text)) == len(text)


@given(text=texts, query=texts)
def test_any_query_has_terms_without_operators_and_any_text_a_snippet(text: str, query: str) -> None:
    asked = parse_terms(query)

    assert all(
        word.isalnum() or word.strip("_").isalnum() or not word.isascii() for term in asked for word in term.words
    )
    assert "\n" not in extract_snippet(text, asked)
    assert isinstance(index_text(text), str)


pieces = st.lists(
    st.sampled_from(
        ["[[a]]", "[[b|c]]", "[[", "]]", "```", "~~~", "`", "\n", "\n", "\r\n", "> ", "- of ", "x", "\\", "<!--", "-->"]
    ),
    max_size=14,
)


@given(head=pieces, old=pieces, new=pieces, tail=pieces)
@example(head=[], old=["x"], new=["x", "x"], tail=["\n", "[[a]]"])
@example(head=[], old=[], new=["x", "\n"], tail=["[[a]]"])
@example(head=["[[a]]"], old=["\n"], new=[], tail=["[[b|c]]"])
@example(head=["`"], old=["``"], new=[], tail=["\n", "[[a]]"])
def test_links_that_only_moved_are_where_they_are_parsed(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    assert_moved_links_are_parsed(head, old, new, tail)


lines = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "", "  ", "    ", "\t", " \t"]),
        st.sampled_from(["", "", "- ", "1. ", "# ", "> ", "<!-- ", "```"]),
        st.sampled_from(["", "", "x", "[[a]]", "[[b]]", "-->", " "]),
        st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", ""]),
    ),
)
line_lists = st.lists(lines, max_size=6)
edits = st.lists(lines | st.sampled_from(["x", " ", "\n", "- ", "    ", "s\n"]), max_size=2)


@given(head=line_lists, old=edits, new=edits, tail=line_lists)
@example(head=["see "], old=[], new=["\n"], tail=["1. a\n", "\n", "\t[[x]]"])
@example(head=["1. n\n"], old=["  - s\np"], new=["\nq"], tail=["\n", "\n", "    [[x]]"])
@example(head=["x\n"], old=[], new=["- "], tail=["<!-- a\n", "\n", "-->\n", "    [[x]]"])
@example(head=[], old=[], new=["- x\n"], tail=["x\r", "\r", "    [[x]]"])
@example(head=[], old=[], new=["- x\n"], tail=["x\n", "\n", "<!-- a --> b\n", "    [[x]]"])
def test_links_below_a_changed_line_are_no_others_where_they_only_moved(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    assert_moved_links_are_parsed(head, old, new, tail)


def assert_moved_links_are_parsed(head: list[str], old: list[str], new: list[str], tail: list[str]) -> None:
    before, after = ("".join([*head, *middle, *tail]) for middle in (old, new))

    shift = find_link_shift(before, after)

    if shift is not None:
        start, by = shift
        moved = [
            link._replace(start=link.start + by) if link.start >= start else link for link in parse_links(before)[0]
        ]
        assert parse_links(after)[0] == moved


@given(head=pieces, old=pieces, new=pieces, tail=pieces)
@example(head=["[[a]]", "\n"], old=[], new=["[[a]]", "\n"], tail=["[[b|c]]"])
@example(head=["```", "\n"], old=["x"], new=["[[a]]"], tail=["\n", "```"])
def test_links_of_changed_lines_are_those_that_are_parsed(
    head: list[str], old: list[str], new: list[str], tail: list[str]
) -> None:
    before, after = ("".join([*head, *middle, *tail]) for middle in (old, new))

    changed = find_changed_links(before, after)

    if changed is not None:
        links = {
            (link.key, link.kind): link._replace(start=link.start + changed.shift * (link.start >= changed.end))
            for link in parse_links(before)[0]
        }
        for link in changed.links:
            first = links.get((link.key, link.kind), link)
            links[link.key, link.kind] = first if first.start < changed.start else link
        assert set(parse_links(after)[0]) == set(links.values())
