"""Chunks: every word of a text stands in a passage of bearable length, and what is no language in none."""

import base64
import hashlib
import uuid
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.text.chunks import (
    MAX_CHUNK_CHARS,
    MAX_CHUNKS,
    MIN_BLOB_CHARS,
    OVERLAP_CHARS,
    split_chunks,
    split_passages,
    strip_blobs,
)

PARAGRAPH = "The quince jam of last autumn set well because the fruit was hardly ripe. " * 6
TEXTS = st.text(st.sampled_from("ab c.\n#é東 "), max_size=6000)


@given(TEXTS)
def test_passages_cover_a_text_in_order_and_are_never_too_long(body: str) -> None:
    found = split_passages(body)

    assert all(0 < end - begin <= MAX_CHUNK_CHARS for begin, end in found)
    assert all(nxt[0] <= before[1] < nxt[1] for before, nxt in pairwise(found))
    if found:
        assert found[0][0] == 0
        assert not body[found[-1][1] :].strip()


@given(TEXTS)
def test_the_same_text_is_cut_the_same_way(body: str) -> None:
    assert split_chunks("Title", body) == split_chunks("Title", body)


def test_a_short_note_is_one_passage_with_its_title_in_front() -> None:
    (only,) = split_chunks("Quince jam", "Not too ripe.")

    assert (only.text, only.begin, only.end) == ("Quince jam\nNot too ripe.", 0, 13)


def test_a_long_text_is_cut_behind_paragraphs_and_overlaps() -> None:
    found = split_chunks("Jam", "\n\n".join([PARAGRAPH] * 8))

    assert len(found) > 3
    assert all(chunk.text.startswith("Jam\n") for chunk in found)
    assert all(0 < one.end - two.begin <= OVERLAP_CHARS for one, two in pairwise(found))


def test_a_heading_begins_a_passage_of_its_own() -> None:
    found = split_chunks("House", f"# Roof\n{PARAGRAPH}\n# Cellar\n{PARAGRAPH}")

    assert [chunk.text.splitlines()[1] for chunk in found] == ["# Roof", "# Cellar"]


@pytest.mark.parametrize(
    "body", ["", "🎉🎉 ✨", "--- *** ___", "1234 5678", base64.b64encode(bytes(range(256)) * 9).decode()]
)
def test_what_is_no_language_is_not_embedded(body: str) -> None:
    assert [chunk.text for chunk in split_chunks("Party", body)] == ["Party"]
    assert split_chunks("🎉", body) == ()


@pytest.mark.parametrize("size", [58, 100, 171, 172, 3000])
def test_a_blob_that_is_broken_into_lines_is_no_language_to_its_last_line(size: int) -> None:
    wrapped = base64.encodebytes(bytes(number * 7 % 256 for number in range(size))).decode()

    assert split_chunks("", wrapped) == ()
    assert strip_blobs(f"The key:\n{wrapped}Keep it.").split() == ["The", "key:", "Keep", "it."]


def test_a_word_in_the_line_after_a_long_address_is_kept() -> None:
    assert strip_blobs(f"See https://example.org/{'a' * 80}\nDone").split() == ["See", "Done"]


@given(st.text("é word ", max_size=2 * MIN_BLOB_CHARS), st.integers(MIN_BLOB_CHARS - 3, 3 * MIN_BLOB_CHARS))
def test_what_is_as_long_as_a_blob_is_one_wherever_it_begins(before: str, size: int) -> None:
    text = f"{before} {'x' * size} behind"

    assert ("x" in strip_blobs(text)) == (size < MIN_BLOB_CHARS)


@pytest.mark.parametrize(
    "key",
    [
        hashlib.md5(b"tea").hexdigest(),
        hashlib.sha1(b"tea").hexdigest().upper(),
        hashlib.sha256(b"tea").hexdigest(),
        str(uuid.UUID(hashlib.md5(b"tea").hexdigest())),
    ],
)
def test_checksums_and_uuids_are_no_language(key: str) -> None:
    assert split_chunks("", f"{key}\n" * 3) == ()
    assert strip_blobs(f"{key}  notes.txt: see {key}").split() == ["notes.txt:", "see"]


def test_a_long_word_is_no_checksum() -> None:
    word = "Rindfleischetikettierungs" * 2

    assert strip_blobs(f"{word} deadbeef") == f"{word} deadbeef"


def test_a_blob_between_words_is_left_out() -> None:
    (only,) = split_chunks("Key", f"before {'x' * MIN_BLOB_CHARS} after")

    assert only.text == "Key\nbefore   after"


def test_a_book_in_one_note_has_an_end() -> None:
    assert len(split_chunks("Book", "word " * 400_000)) == MAX_CHUNKS


def test_texts_without_spaces_are_cut_too() -> None:
    assert len(split_chunks("東京", "東京都は日本の首都です。" * 300)) > 2
