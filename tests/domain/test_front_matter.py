"""Front matter: what it tells about a note, and what it cannot hold."""

from itertools import pairwise

import pytest

from panorama.domain.markdown import front_matter
from panorama.domain.markdown.parser import parse_markdown
from tests.domain.reading import read


def test_front_matter_tells_about_the_note_and_is_not_part_of_the_body():
    text = "---\ntitle: Tea\ntags: [Green, tea]\npinned: true\ncreated: 2026-01-02\nproject: Kitchen\n---\nHot.\n"

    document = parse_markdown(text, name="note")

    assert (document.title, document.tags, document.body) == ("Tea", ("Green", "tea"), "Hot.\n")
    assert (document.pinned, document.created, document.project) == (True, "2026-01-02", "Kitchen")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("---\r\ntitle: Tea\r\n---\r\nHot.\r\n", id="windows"),
        pytest.param("\ufeff---\ntitle: Tea\n---\nHot.\r\n", id="byte order mark"),
        pytest.param("---\ntitle: Tea\n...\nHot.\r\n", id="dots"),
        pytest.param("---  \ntitle: 'Tea'\n---\t\nHot.\r\n", id="trailing blanks"),
        pytest.param("---\nTitle: >\n  Tea\n---\nHot.\r\n", id="folded, upper case key"),
    ],
)
def test_front_matter_is_found_however_it_is_written(text: str):
    document = parse_markdown(text, name="note")

    assert (document.title, document.body, document.warnings) == ("Tea", "Hot.\r\n", ())


@pytest.mark.parametrize(
    ("source", "warning"),
    [
        ("title: A: b", "is not YAML"),
        ("title: {{title}", "is not YAML"),
        ("title: \x00", "is not YAML"),
        ("[" * 60_000, "is not YAML"),
        ("just words", "has no fields"),
        ("# Only a comment", "has no fields"),
        ("title: " + "x" * 70_000, "over 64 KB"),
    ],
)
def test_front_matter_that_cannot_be_read_stays_in_the_body(source: str, warning: str):
    text = f"---\n{source}\n---\nHot.\n"

    document = parse_markdown(text, name="note")

    assert document.body == text
    assert [warning in told for told in document.warnings] == [True]


def test_a_rule_without_a_second_one_is_no_front_matter():
    document = parse_markdown("---\ntitle: Tea\n", name="note")

    assert (document.title, document.body, document.warnings) == ("note", "---\ntitle: Tea\n", ())


@pytest.mark.parametrize("text", ["", "\ufeff", "---\n---", "---\n---\n", "---\n\n---\n"])
def test_an_empty_text_takes_its_name_as_its_title(text: str):
    document = parse_markdown(text, name="  Shopping\nlist ")

    assert (document.title, document.body, document.tasks, document.warnings) == ("Shopping list", "", (), ())


def test_a_file_of_only_front_matter_has_an_empty_body():
    document = parse_markdown("---\ntitle: Tea\n---", name="note")

    assert (document.title, document.body) == ("Tea", "")


def test_an_alias_bomb_is_only_read_as_names():
    levels = (f"{b}: &{b} {{<<: [{', '.join([f'*{a}'] * 9)}]}}\n" for a, b in pairwise("abcdefgh"))
    bomb = "a: &a {x: 1}\n" + "".join(levels)

    document = parse_markdown(f"---\n{bomb}title: Tea\ntags: [*a, *b, ok]\n---\n", name="note")

    assert (document.title, document.tags) == ("Tea", ("ok",))


@pytest.mark.parametrize(
    ("fields", "tags"),
    [
        ("tags: red, '#blue'", ("red", "blue")),
        ("tags: red, #blue", ("red",)),
        ("tags: red blue", ("red", "blue")),
        ("tags: red, light blue", ("red", "light blue")),
        ("tags:\n  - '#red'\n  - Red\n  - 2026\n  - null\n  - {a: b}\ntag: blue", ("red", "2026", "blue")),
        ("tags:", ()),
    ],
)
def test_front_matter_tags_are_a_list_or_one_text(fields: str, tags: tuple[str, ...]):
    document = read("---", fields, "---")

    assert (document.tags, document.warnings) == (tags, ())


@pytest.mark.parametrize(
    ("written", "created"),
    [
        ("created: 2026-01-02", "2026-01-02"),
        ("date: '2026-01-02'", "2026-01-02"),
        ("created: 2026-01-02 10:30", "2026-01-02T10:30:00"),
        ("created: 2026-01-02T10:30:00Z", "2026-01-02T10:30:00+00:00"),
        ("created: 2026-01-02 10:30:00 +0200", "2026-01-02T10:30:00+02:00"),
        ("created: null\ndate: 2026-01-02", "2026-01-02"),
        ("created: [2026-01-02]", ""),
    ],
)
def test_created_is_a_date_in_iso_form(written: str, created: str):
    document = read("---", written, "---")

    assert (document.created, document.warnings) == (created, ())


def test_a_creation_date_that_does_not_exist_is_told():
    document = read("---", "title: Tea", "created: 2026-02-30", "---")

    assert (document.title, document.created) == ("Tea", "")
    assert document.warnings == ("front matter: created “2026-02-30” is not a date",)


def test_values_stay_as_they_were_written():
    document = read("---", "title: 1.10", "pinned: no", "project: '[[Kitchen|home]]'", "---")

    assert (document.title, document.pinned, document.project) == ("1.10", False, "Kitchen")


def test_a_title_over_200_characters_is_cut_and_told():
    document = read("---", f"title: {'x' * 300}", "---")

    assert document.title == "x" * 200
    assert document.warnings == ("front matter: the title was cut to 200 characters",)


def test_the_slow_yaml_reader_reads_the_same(monkeypatch: pytest.MonkeyPatch):
    text = "---\ntitle: Tea\ntags: [a, b]\npinned: yes\n---\n"
    fast = parse_markdown(text, name="note")

    monkeypatch.setattr(front_matter, "_Loader", front_matter.yaml.SafeLoader)

    assert parse_markdown(text, name="note") == fast
