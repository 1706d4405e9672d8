"""Links, relations and observations in a text."""

import pytest

from panorama.domain.items.relations import INVERSES, normalize_kind
from panorama.domain.markdown.wiki_links import (
    MAX_LINE_CHARS,
    MAX_LINKS,
    MAX_MARKS,
    extract_sentence,
    find_link_shift,
    parse_links,
    parse_observations,
    rename_links,
)


def targets(text: str) -> list[tuple[str, str]]:
    """Return the kinds and targets of the links of a text."""
    return [(link.kind, link.target) for link in parse_links(text)[0]]


def test_links_and_embeds_are_read_with_headings_blocks_and_labels() -> None:
    text = "See [[Tiles]], ![[plan.png|200]], [[Tiles#Cost|the cost]] and [[A\\|table]]; [[Tiles#^b1]]."

    assert [target for _, target in targets(text)] == ["Tiles", "plan.png", "Tiles#Cost", "A", "Tiles#^b1"]


@pytest.mark.parametrize(
    "text",
    [
        "`[[x]]`", "``a ` [[x]]``", "```\n[[x]]\n```", "~~~md\n[[x]]\n~~~", "> [[x]]", "  > - a [[x]]", "- > [[x]]",
        "\\[[x]]", "\\\\\\[[x]]",
        "[[]]", "[[ ]]", "[[#Heading]]", "[[https://example.org]]", "[[a\nb]]", "[[a[b]]", "[x]", "```\n[[x]]",
        "<!-- [[x]] -->", "<!--\n[[x]]\n\n- a [[x]]\n-->", "a <!-- `[[x]] --> b", "<!-- ``` -->\n```\n[[x]]\n```",
        "<!-- [[x]]\r\n[[x]] -->", "<!---->```<!-- [[x]] -->",
    ],
)  # fmt: skip
def test_code_quotes_and_what_names_nothing_are_no_links(text: str) -> None:
    assert targets(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "    [[x]]", "\t[[x]]", "  \t[[x]]", "Text.\n\n    [[x]]", "Text.\n  \t \n      [[x]]",
        "Text.\r\n\r\n    [[x]]", "Text.\n\n    code\n    [[x]]", "Text.\n\n    code\n\n\n    [[x]]",
        "# Title\n    [[x]]", "```\n```\n    [[x]]", "- item\n\nText.\n\n    [[x]]",
        "- item\n\nText\nand more\n\n    - a [[x]]", "<!-- note -->\n\n    [[x]]",
    ],
)  # fmt: skip
def test_links_in_indented_code_are_none(text: str) -> None:
    assert targets(text) == []
    assert targets(f"{text}\n[[b]]\n\n    [[c]]\n\n[[d]]") == [("mentions", "b"), ("mentions", "d")]


@pytest.mark.parametrize(
    "text",
    [
        "   [[x]]", "Text\n    [[x]]", "Text\n    more\n    [[x]]", "- item\n    [[x]]", "- item\n\n    [[x]]",
        "1. item\n\n   more\n\n    [[x]]", "- item\nmore\n\n    [[x]]", "* item\n    * [[x]]", "-\n\n    [[x]]",
        "2) item\n\n    text\n\n    - [[x]]",
    ],
)  # fmt: skip
def test_links_in_indented_lists_and_paragraphs_are_links(text: str) -> None:
    assert targets(text) == [("mentions", "x")]
    assert targets(f"    [[a]]\n\n{text}\n\nText.\n\n    [[b]]") == [("mentions", "x")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Text\n    [[x]]", "Text\n\n    [[x]]"),
        ("Text\n\n    [[x]]", "- Text\n\n    [[x]]"),
        ("Text\n\n    [[x]]", "Text\n\n    code\n\n    [[x]]"),
        ("Text\n\n\n    code\n\n    [[x]]", "- Text\n\n\n    code\n\n    [[x]]"),
    ],
)
def test_links_are_read_again_if_a_line_above_may_make_them_code(before: str, after: str) -> None:
    assert find_link_shift(before, after) is None
    assert find_link_shift(after, before) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("see 1. a\n\n\t[[x]]", "see \n1. a\n\n\t[[x]]"),
        ("q - b\n\n    [[x]]", "q\n- b\n\n    [[x]]"),
        ("1. n\n  - s\npara\n\n    c [[x]]", "1. n\n\npara\n\n    c [[x]]"),
        ("Text\n<!-- a\n\nb -->\n    [[x]]", "- Text\n<!-- a\n\nb -->\n    [[x]]"),
        ("Text\nand\n\n<!-- a --> b\n    [[x]]", "- Text\nand\n\n<!-- a --> b\n    [[x]]"),
        ("Text\rand\r\r    [[x]]", "- Text\nText\rand\r\r    [[x]]"),
    ],
)
def test_links_are_read_again_if_a_changed_line_makes_them_code(before: str, after: str) -> None:
    assert targets(before) != targets(after)
    assert find_link_shift(before, after) is None
    assert find_link_shift(after, before) is None


def test_links_below_a_new_line_move_with_it() -> None:
    assert find_link_shift("a\n\n- b\n    [[x]]", "a\nc\n\n- b\n    [[x]]") == (2, 2)


def test_an_escaped_backslash_escapes_no_link() -> None:
    assert targets("C:\\\\[[x]]") == [("mentions", "x")]


def test_a_fence_ends_and_a_quoted_fence_hides_nothing_below_it() -> None:
    assert targets("```\n[[a]]\n```\n[[b]]\n> ```\n[[c]]\r\n[[d]]") == [("mentions", letter) for letter in "bcd"]


@pytest.mark.parametrize(
    "text",
    [
        "<!-- a --> [[x]] <!-- b -->",
        "`<!--` [[x]] -->",
        "```\n<!--\n```\n[[x]]\n-->",
        "<!-- [[x]]",
        "<!-- ``` -->\n[[x]]",
    ],
)
def test_a_link_beside_a_comment_is_a_link(text: str) -> None:
    assert targets(text) == [("mentions", "x")]
    assert rename_links(text, frozenset("x"), "y") == (text.replace("[[x]]", "[[y]]"), 1)


def test_each_target_counts_once_and_the_most_are_five_thousand() -> None:
    assert len(parse_links("[[a]] [[A]] [[ a ]]")[0]) == 1
    assert len(parse_links(" ".join(f"[[{number}]]" for number in range(MAX_LINKS + 5)))[0]) == MAX_LINKS


def test_a_list_line_with_one_link_says_the_kind_of_a_relation() -> None:
    text = """
- blocked_by [[Plumber]] (until May)
* "is afraid of" [[Bill]]
- part of [[House]]
- requires [[a]] and [[b]]
- see the page [[c]]
- [ ] call [[d]]
- [[e]]
likes [[f]]
"""

    assert targets(text) == [
        ("blocked_by", "Plumber"), ("is_afraid_of", "Bill"), ("part_of", "House"), ("mentions", "a"),
        ("mentions", "b"), ("mentions", "c"), ("mentions", "d"), ("mentions", "e"), ("mentions", "f"),
    ]  # fmt: skip


def test_observations_are_lines_with_a_category() -> None:
    text = (
        "- [fact] heavy #tile (measured)\n- [ ] box\n- [x] done\n- [00:01:02] time\n- [a](b.md) link\n> - [q] quote\n"
    )

    assert [(line.category, line.text, line.tags) for line in parse_observations(text)] == [
        ("fact", "heavy #tile (measured)", ("tile",))
    ]


def test_kinds_have_inverses_both_ways() -> None:
    assert all(INVERSES[inverse] == kind for kind, inverse in INVERSES.items())
    assert (normalize_kind("Blocked by"), normalize_kind("is a"), normalize_kind("--")) == ("blocked_by", "", "")


def test_a_new_name_keeps_headings_labels_and_other_links() -> None:
    text = "[[Tea]] [[tea#Green|t]] [[Teapot]] `[[Tea]]` [[Kitchen/Tea.md]] ![[Tea]]"

    renamed = rename_links(text, frozenset({"tea"}), "Chai")

    assert renamed == ("[[Chai]] [[Chai#Green|t]] [[Teapot]] `[[Tea]]` [[Chai]] ![[Chai]]", 4)


def test_a_name_that_links_cannot_hold_is_replaced_by_the_id_with_the_old_one_as_label() -> None:
    assert rename_links("[[Tea]]", frozenset({"tea"}), "n_7k3q9xv2mh")[0] == "[[n_7k3q9xv2mh|Tea]]"


def test_a_sentence_ends_at_full_stops_and_lines_and_is_at_most_160_characters() -> None:
    text = "First. We need [[Tea]] soon! Then\nmore"

    assert extract_sentence(text, text.index("[[")) == "We need [[Tea]] soon!"
    assert len(extract_sentence("x" * 500 + "[[Tea]]" + "y" * 500, 500)) == 160


@pytest.mark.parametrize(
    "flood",
    [
        "[[a]]\n" * MAX_LINKS, "[[a]]" * MAX_LINKS, "- knows [[a]]\n" * MAX_LINKS, "[[a]] " + " " * MAX_LINE_CHARS,
        "[[a]]\n" + "```\n" * MAX_MARKS, "[[a]]\n" + "~~~\n" * MAX_MARKS, "[[a]]\n" + "[[ \n" * MAX_MARKS,
        "[[a]]\n" + "> [[a]]\n" * MAX_MARKS, "[[a]]\n" + ("[[ " + "` " * 1_000 + "\n") * 50,
        "[[a]]\n" + "\\[[a]]\n" * MAX_MARKS, "[[a]]\n\n" + "    [[b]]\n\n" * MAX_MARKS,
    ],
)  # fmt: skip
def test_a_link_behind_a_flood_of_marks_is_not_followed(flood: str) -> None:
    """Links are read while the write lock is held: a text of 10 MB of them held it for ten seconds."""
    assert {target for _, target in targets(f"{flood}[[behind]]")} == {"a"}


def test_a_link_at_the_end_of_a_long_text_is_followed() -> None:
    assert targets("tea and scones\n" * 500_000 + "[[behind]]") == [("mentions", "behind")]


@pytest.mark.parametrize(
    "bomb", ["[[" * 200_000, "[[a" * 200_000, "- " + "[" * 400_000, "`[[" * 150_000, "[[a|" * 99_999]
)
def test_bombs_of_brackets_are_read(bomb: str) -> None:
    assert parse_links(bomb) == ([], False)
    assert list(parse_observations(bomb)) == []
