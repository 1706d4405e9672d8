"""Markdown as people write it, read by `panorama.domain.markdown.parser`."""

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from panorama.domain.items.item import normalize_tags, single_line
from panorama.domain.markdown.lines import first_heading, iter_lines, parse_title
from panorama.domain.markdown.parser import list_heading_titles, parse_headings, parse_markdown
from tests.domain.reading import read

PIECES = (
    *("---\n", "...\n", "title: A: b\n", "tags: [a, b]\n", "created: 2026-02-30\n", "# ", "## ", "\n", "\r\n", "\r"),
    *("- [ ] ", "  - [x] ", "\t* [/] ", "1. [-] ", "> ", "```", "~~~\n", "`", "[[", "]]", "|", "#", "#tag", " ", "\t"),
    *(
        "📅 2026-01-02",
        "⏳ 2026-02-30",
        "🔁 every week",
        "🔺",
        "(due:: 2026-01-02)",
        "https://x.y/#z",
        "word",
        "\x00",
        "\ufeff",
    ),
)
texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=8)), max_size=40).map("".join)


# Laws


@given(texts)
def test_any_text_is_read_without_an_error(text: str):
    document = parse_markdown(text, name="note")

    assert document == parse_markdown(text, name="note")


@given(texts)
def test_the_body_is_the_end_of_the_text_and_never_changed(text: str):
    document = parse_markdown(text, name="note")

    assert text.endswith(document.body)


@given(texts)
def test_a_text_that_does_not_start_with_a_rule_is_its_own_body(text: str):
    document = parse_markdown(f"x{text}", name="note")

    assert document.body == f"x{text}"


@given(texts)
@example("# \ufeff")
@example("- [ ] \ufeff")
def test_titles_are_lines_that_a_note_and_a_task_can_hold(text: str):
    document = parse_markdown(text, name="note")

    assert single_line(document.title) == document.title
    assert all(single_line(found.title, limit=500) == found.title for found in document.tasks)


@given(texts)
def test_tags_are_words_that_an_item_can_hold(text: str):
    for found in parse_markdown(text, name="note").tasks:
        assert normalize_tags(found.tags) == found.tags


@given(texts)
def test_a_parent_stands_above_its_task(text: str):
    tasks = parse_markdown(text, name="note").tasks

    for index, found in enumerate(tasks):
        assert found.parent is None or (found.parent < index and tasks[found.parent].line < found.line)


@given(texts)
def test_sections_start_at_their_heading_and_end_at_one_or_at_the_end(text: str):
    found = parse_headings(text)

    starts = {heading.start for heading in found}
    assert all(text[heading.start :].lstrip("\ufeff ").startswith("#" * heading.level) for heading in found)
    assert all(heading.end > heading.start and heading.end in starts | {len(text)} for heading in found)


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("# [Name](https://example.org) ![badge](https://x.org/y(z).svg)", "Name"),
        ("# [![Build](https://i.svg)](https://ci) Name", "Name"),
        ("# ![only](badge.svg)\n\n# Second", "Second"),
        ("# Name [docs][ref] ![b][c]", "Name docs"),
        ("# [[Target|Alias]] and [[Other]]", "Alias and Other"),
        ('# <img src="a.png"> Logo', "Logo"),
        ("# Array [0] and (x)", "Array [0] and (x)"),
    ],
)
def test_a_title_from_a_heading_has_no_badges_and_no_link_syntax(heading: str, title: str):
    assert parse_markdown(heading, name="file").title == title
    assert parse_title(heading.split("\n\n")[-1]) == title


def test_a_title_that_is_no_heading_stays_as_it_is():
    assert [parse_title(text) for text in ("#tag", "[x](y)", "Tea")] == ["#tag", "[x](y)", "Tea"]


@given(st.lists(st.text(alphabet="abc ", min_size=1).filter(str.strip), max_size=8))
def test_plain_titles_come_back_in_their_order(titles: list[str]):
    tasks = read(*(f"- [ ] {title}" for title in titles)).tasks

    assert [found.title for found in tasks] == [" ".join(title.split()) for title in titles]


# Title, tags and links of the body


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("# Tea #", "Tea"),
        ("\ufeff# Tea", "Tea"),
        ("Words\n\n  #\tC# and\x00 tea  ##\n# Other", "C# and tea"),
        ("```\n# code\n```\n#tag\n## Second\n#\n# Tea", "Tea"),
        ("## Second", "note"),
        ("####### Seven", "note"),
    ],
)
def test_the_first_heading_of_the_first_level_is_the_title(body: str, title: str):
    document = parse_markdown(body, name="note")

    assert document.title == title


@pytest.mark.parametrize(
    ("body", "tags"),
    [
        ("#tea and (#Green-tea/loose_1), **#hot**, 🔥#now", ("tea", "Green-tea/loose_1", "hot", "now")),
        ("#Tea #tea #TEA", ("Tea",)),
        ("#größe #茶 #हिन्दी #cafe\u0301", ("größe", "茶", "हिन्दी", "cafe\u0301")),
        ("# heading\n## heading\n#2026 #1 ##two # alone C# \\#no", ()),
        ("https://x.y/#a [b](#b) [[Note #c]] [[Note#c]] &#39; word#d <p x='y' z=\"#fff\">", ()),
        ("`#a` ``b ` #c`` #d `#e", ("d", "e")),
        ("```\n#a\n```\n~~~~\n#b\n~~~\n#c\n~~~~\n#d", ("d",)),
        ("> #quoted\n> ```\n> #a\n#b", ("quoted", "b")),
        ("- ```sh\n  #a\n  ```\n- #b", ("b",)),
        ("<!--\n#a\n-->\n#b\n<!-- #c", ("b", "c")),
        ("## Plan #work\n- [ ] Pay #home", ("work", "home")),
        ("#" + "x" * 61, ()),
    ],
)
def test_tags_are_words_behind_a_hash_outside_code_and_addresses(body: str, tags: tuple[str, ...]):
    assert parse_markdown(body, name="note").tags == tags


def test_links_are_the_targets_each_once():
    document = read(
        "[[Tea]] ![[Pot.png]] [[Tea|label]] [[Tea#Green]]", "| [[Cup\\|cups]] |", "[[#Here]] [[]] [[ A  b ]]"
    )

    assert document.links == ("Tea", "Pot.png", "Cup", "A b")


def test_links_in_code_are_not_links():
    document = read("`[[A]]` [[B]]", "```", "[[C]]", "```")

    assert document.links == ("B",)


# Headings


def test_a_section_ends_at_the_next_heading_of_its_level_or_above():
    text = "Intro\r\n# A\r\none\r\n## B ##\r\ntwo\r\n### C\r\n# D"

    sections = [(found.level, found.title, text[found.start : found.end]) for found in parse_headings(text)]

    assert sections == [
        (1, "A", "# A\r\none\r\n## B ##\r\ntwo\r\n### C\r\n"),
        (2, "B", "## B ##\r\ntwo\r\n### C\r\n"),
        (3, "C", "### C\r\n"),
        (1, "D", "# D"),
    ]


def test_headings_in_code_are_none():
    assert parse_headings("```\n# a\n```\n\t# b\n    # c\n#d") == ()


def test_boxes_and_headings_in_a_comment_are_none():
    document = read("<!--", "# Old", "- [ ] Paint", "-->", "- [ ] Sow <!-- in May -->")

    assert (document.title, [task.title for task in document.tasks]) == ("note", ["Sow <!-- in May -->"])
    assert parse_headings(document.body) == ()


@given(texts)
def test_headings_are_where_reading_line_by_line_finds_them(text: str):
    alone = [(line.start, first_heading([line])) for line in iter_lines(text) if first_heading([line])]

    assert alone == [
        (heading.start, heading.title) for heading in parse_headings(text) if heading.level == 1 and heading.title
    ]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_headings_after_a_quoted_fence_are_found_whatever_ends_its_lines(end: str):
    text = end.join(("> ```", "> # a", "", "# b", "> ~~~", "# c", "> ```", "> ```", "> ~~~", "> # d", "# e"))

    assert [found.title for found in parse_headings(text)] == ["b", "c", "e"]


# Hostile text


def seconds(text: str) -> float:
    started = time.process_time()
    parse_markdown(text, name="note")
    parse_headings(text)
    return time.process_time() - started


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "- [ ] ",
        "#",
        "`",
        "[[a",
        "](",
        "://",
        "📅 ",
        "🔁 every ",
        "(due:: ",
        "\t",
        "> ",
        "<!--",
        "<!---->",
        "`<!--",
    ],
)
def test_a_line_of_a_megabyte_takes_less_than_a_second(piece: str):
    text = f"- [ ] {piece * (1_000_000 // len(piece.encode()))}"

    assert seconds(text) < 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["- [ ] a\n", "> ```\n", "- [ ] \n", "#a ", "` `` ", "---\n", "# \n", "[[a]]\n", "\n", "<!-- -->\n"]
)
def test_things_to_find_on_every_line_take_linear_time(piece: str):
    text = piece * (200_000 // len(piece))

    # Half a second for the worst on a slow machine; anything quadratic would take an hour.
    assert seconds(text) < 5


def test_bombs_of_brackets_in_front_matter_take_no_time():
    bombs = (f"---\n{piece * (60_000 // len(piece))}\n---\n" for piece in ("[", "{", "? ", "- ", "[a: "))

    assert sum(seconds(bomb) for bomb in bombs) < 2


def test_of_a_text_of_nothing_but_headings_the_first_50_000_are_read() -> None:
    assert len(parse_headings("# h\n" * 60_000)) == 50_000


@pytest.mark.parametrize(
    "text", ["# a\n## b ##\ntext\n# [c](d)\n", "```\n# a\n```\n# b\n", "<!--\n# a\n-->\n# b\n#no", ""]
)
@pytest.mark.parametrize("limit", [1, 2, 40])
def test_first_titles_are_those_of_all_headings(text: str, limit: int) -> None:
    assert list_heading_titles(text, limit) == tuple(heading.title for heading in parse_headings(text))[:limit]
