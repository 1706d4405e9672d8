"""Files: names, contents, media types, and the text that search reads."""

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.items import files
from panorama.errors import InvalidInputError

PNG = b"\x89PNG\r\n\x1a\n\x00\x00"


@pytest.mark.parametrize(
    "text",
    [
        "report.csv",
        "Q3 – Überblick (v2).md",
        ".bashrc",
        "…",
        "旅行",
        "<b>{0}%s.txt",
        "👩\u200d🌾.png",
        "می\u200cخواهم.txt",
    ],
)
def test_a_name_stays_as_it_is(text: str) -> None:
    assert files.validate_file_name(text) == text


def test_a_name_is_one_line_without_control_characters() -> None:
    assert files.validate_file_name(" re\x07port\r\n 2.csv ") == "report 2.csv"


@pytest.mark.parametrize(
    "text", ["", " ", "\x07", ".", "..", "../x", "a/b", "a\\b", "/etc/passwd", "C:\\x", "a\x00b", "\ud800", "x" * 201]
)
def test_what_is_no_name_of_a_file_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        files.validate_file_name(text)

    assert refusal.value.hint


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\u2066", "\ufeff", "\u00ad"])
def test_a_name_that_hides_what_the_file_is_is_refused(sign: str) -> None:
    with pytest.raises(InvalidInputError, match=f"U[+]{ord(sign):04X}"):
        files.validate_file_name(f"{sign}gnp.exe")


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("report.csv", b"a,b", "text/csv"),
        ("NOTES.MD", b"# x", "text/markdown"),
        ("page.html", b"<p>", "text/html"),
        ("data.json", b"{}", "application/json"),
        ("rows.jsonl", b"{}", "application/x-ndjson"),
        ("plan.tar.gz", b"\x1f\x8b", "application/gzip"),
        ("csv", b"a,b", "text/plain"),
        ("Makefile", b"all:", "text/plain"),
        ("data.xyz", b"words", "text/plain"),
        ("data.xyz", PNG, "application/octet-stream"),
        ("empty", b"", "text/plain"),
    ],
)
def test_a_media_type_is_told_by_the_name_or_else_by_the_content(name: str, content: bytes, known: str) -> None:
    assert files.resolve_media_type(" ", name, content) == known


def test_a_media_type_that_is_said_stands_without_its_parameters() -> None:
    assert files.resolve_media_type(" Text/CSV; charset=utf-8 ", "x.png", PNG) == "text/csv"


@pytest.mark.parametrize("text", ["csv", "text/", "/csv", "text/c sv", "t/" + "x" * 100, "a/b/c", ";"])
def test_what_is_no_media_type_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="media_type"):
        files.resolve_media_type(text, "x", b"")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert files.decode_text(files.decode_content(text, None)) == text.removeprefix("\ufeff")


@given(st.binary())
def test_bytes_come_back_as_they_were(content: bytes) -> None:
    assert files.decode_content(None, b64encode(content).decode()) == content


def test_base64_may_be_folded() -> None:
    assert files.decode_content("", "aGVs\r\n bG8=\n") == b"hello"


@pytest.mark.parametrize("text", ["a", "aGVsbG8", "aGV=sbG8=", "not base64!", "ä" * 4, "aGVs-_8="])
def test_what_is_no_base64_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="base64"):
        files.decode_content(None, text)


def test_an_empty_text_is_an_empty_file_and_none_is_a_mistake() -> None:
    assert files.decode_content("", None) == files.decode_content("", "") == b""

    with pytest.raises(InvalidInputError, match="Neither"):
        files.decode_content(None, None)


def test_text_and_bytes_at_once_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="Both"):
        files.decode_content("x", "eA==")


@pytest.mark.parametrize(
    "text",
    [
        {"text": "x" * (files.CONTENT_BYTES + 1)},
        {"text": "ä" * (files.CONTENT_BYTES // 2 + 1)},
        {"base64": b64encode(bytes(files.CONTENT_BYTES + 1)).decode()},
    ],
)
def test_a_content_over_10_mb_is_refused(text: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError, match="the limit is"):
        files.decode_content(text.get("text"), text.get("base64"))


def test_a_content_of_just_10_mb_is_kept() -> None:
    assert len(files.decode_content("x" * files.CONTENT_BYTES, None)) == files.CONTENT_BYTES


@pytest.mark.parametrize("content", [PNG, b"\xff\xfeh\x00i\x00", b"caf\xe9", b"a\x00b"])
def test_what_is_not_in_utf_8_is_no_text(content: bytes) -> None:
    assert files.decode_text(content) is None
    assert files.extract_text("a", "text/plain", content) == ""


@pytest.mark.parametrize(
    "kind", ["text/plain", "text/csv", "text/markdown", "application/json", "application/x-ndjson"]
)
def test_search_reads_text(kind: str) -> None:
    assert files.extract_text("a", kind, b"\xef\xbb\xbfgooseberry,3") == "gooseberry,3"


@pytest.mark.parametrize("kind", ["image/svg+xml", "application/pdf", "application/octet-stream", "application/xml"])
def test_search_reads_nothing_else(kind: str) -> None:
    assert files.extract_text("a", kind, b"gooseberry") == ""


def test_search_reads_html_without_its_tags() -> None:
    page = b'<p class="intro">Caf&eacute; &amp; tea&#0;</p><br>a &lt; b &lt;i&gt;'

    assert files.extract_text("a", "text/html", page).split() == ["Café", "&", "tea\ufffd", "a", "<", "b", "<i>"]


def test_tags_that_never_end_cost_no_more_than_others() -> None:
    assert files.extract_text("a", "text/html", b"<" * files.SEARCHABLE_BYTES) == "<" * files.SEARCHABLE_BYTES


def test_search_reads_the_first_megabyte_and_no_half_character() -> None:
    content = "ä".encode() * files.SEARCHABLE_BYTES

    assert files.extract_text("a", "text/plain", b"x" + content) == "x" + "ä" * (files.SEARCHABLE_BYTES // 2 - 1)


def test_the_ending_of_a_text_beyond_the_first_megabyte_does_not_matter() -> None:
    assert len(files.extract_text("a", "text/plain", b"x" * files.SEARCHABLE_BYTES + PNG)) == files.SEARCHABLE_BYTES
