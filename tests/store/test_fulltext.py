"""Full text: what is put in is found, what is taken out is not, and only what changed is written anew."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import pytest

from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.domain.changes import Origin
from panorama.domain.text.tokens import PART_CHARS, parse_terms
from panorama.store.backend import ItemText, Session
from panorama.store.items import long_texts
from panorama.store.sqlite.engine import SqliteDatabase

ORIGIN = Origin(actor="tool", client="tests", conversation="v_tests", operation="tests", call="c_tests", unit="c_tests")


@pytest.fixture
def session(template: Path, tmp_path: Path) -> Iterator[Session]:
    """An open write in an empty store."""
    copyfile(template, tmp_path / "panorama.db")
    database = SqliteDatabase(tmp_path / "panorama.db")
    with database.transaction(ORIGIN) as session:
        yield session
    database.close()


def found(session: Session, query: str, *, every: bool = True) -> list[str]:
    return [hit.item for hit in session.full_text.search_terms(session, parse_terms(query), every=every, limit=20)]


def set_all_words(session: Session, title: str, body: str) -> None:
    """Index a text, also a long one whose words are otherwise written after the commit."""
    session.full_text.set_words(session, [ItemText("note", "n_1", title, body)])
    session.long_texts.clear()
    assert session.full_text.sync_parts(
        session, "note", "n_1", title, dict(session.full_text.make_parts(title, (body,))), seconds=60
    )


def part_numbers(session: Session) -> set[int]:
    return {row[0] for row in session.connection.exec_driver_sql("SELECT id FROM search_parts")}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Crème brûlée", "creme"), ("Straße", "straße"), ("naïve", "NAÏVE"), ("東京都庁", "東京"),
        ("東京都庁", "都庁"), ("東京都庁", "京都"), ("カレー", "カレ"), ("meetings", "meeting"), ("garden", "gar"),
        ("ﬁnal", "final"), ("C++ and C#", "c++"), ("e-mail me", "e-mail"), ("snake_case_name", "case"),
        ("它是猫", "猫"), ("Wi-Fi 6E", "6e"), ("O'Brien", "o'brien"),
    ],
)  # fmt: skip
def test_a_word_is_found_however_it_is_written(session: Session, text: str, query: str) -> None:
    session.full_text.set_words(session, [ItemText("note", "n_1", "", text)])

    assert found(session, query) == ["n_1"]


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "AND",
        "a OR",
        "NEAR(",
        "*",
        "-",
        "(",
        "title:x",
        "^a",
        "🙂",
        "a",
        "",
        " ",
        "\x00",
        "col : val",
        "'; DROP",
        "{a b}: c",
    ],
)
def test_any_query_is_answered(session: Session, query: str) -> None:
    session.full_text.set_words(session, [ItemText("note", "n_1", "Tea", "green")])

    assert found(session, query) in ([], ["n_1"])


def test_a_word_in_the_title_counts_more_than_one_in_the_body(session: Session) -> None:
    session.full_text.set_words(session, [ItemText("note", "n_body", "Soup", "tea")])
    session.full_text.set_words(session, [ItemText("note", "n_title", "Tea", "soup")])

    assert found(session, "tea") == ["n_title", "n_body"]


def test_words_that_were_replaced_are_found_no_more(session: Session) -> None:
    session.full_text.set_words(session, [ItemText("note", "n_1", "Tea", "green")])
    session.full_text.set_words(session, [ItemText("note", "n_1", "Tea", "black")])

    assert (found(session, "green"), found(session, "black")) == ([], ["n_1"])


def test_what_was_removed_is_found_no_more_and_leaves_nothing(session: Session) -> None:
    session.full_text.set_words(session, [ItemText("note", "n_1", "Tea", "green")])
    session.full_text.remove(session, ["n_1"])

    assert (found(session, "tea"), part_numbers(session), session.full_text.has_all_parts(session)) == ([], set(), True)


@pytest.mark.parametrize("block", ["first line\n", "\nlast line"], ids=["on top", "at the bottom"])
def test_a_line_added_to_a_long_text_writes_one_part_anew(session: Session, block: str) -> None:
    text = "\n".join(f"line {number} of many" for number in range(5 * PART_CHARS // 15))
    set_all_words(session, "Long", text)
    before = part_numbers(session)

    set_all_words(session, "Long", block + text if block.endswith("\n") else text + block)

    assert len(part_numbers(session) - before) <= 2
    assert len(before) >= 5


def test_an_item_of_many_parts_is_found_once_for_each_word(session: Session) -> None:
    text = "\n".join(f"line {number} of many" for number in range(PART_CHARS // 4)) + "\nneedle"
    set_all_words(session, "Long", text)

    assert found(session, "needle") == ["n_1"]


def test_an_item_whose_words_are_missing_is_noticed(tmp_path: Path) -> None:
    with open_app(read_settings(home=tmp_path / "home", timezone="UTC")) as app:
        app.calls.call("create_note", {"title": "Tea"}, Conversation("v1", "tool", "test"))
        with app.context.database.reading() as session:
            before = long_texts.is_indexed(session)
        with app.context.database.transaction(ORIGIN) as session:
            session.connection.exec_driver_sql("DELETE FROM search_parts")

        with app.context.database.reading() as session:
            assert (before, long_texts.is_indexed(session)) == (True, False)


def test_parts_are_counted_and_compared_with_terms(session: Session) -> None:
    for number in range(1, 6):
        session.full_text.set_words(session, [ItemText("note", f"n_{number}", "", "figs" if number % 2 else "plums")])
    first, _, third, _, fifth = parts = sorted(part_numbers(session))

    assert session.full_text.count_all(session) == len(parts)
    matches = session.full_text.search_expression(session, '"figs"', limit=9, reach=9, terms=['"plums"', '"figs"'])
    assert [(match.part, list(match.holds)) for match in matches] == [(part, [1]) for part in (fifth, third, first)]


@pytest.mark.parametrize("count", [0, 1, 127, 128, 300])
def test_a_view_counts_the_parts_that_were_written_and_not_deleted(template: Path, tmp_path: Path, count: int) -> None:
    copyfile(template, tmp_path / "panorama.db")
    database = SqliteDatabase(tmp_path / "panorama.db")
    with database.transaction(ORIGIN) as session:
        texts = [ItemText("note", f"n_{number}", "", "figs") for number in range(count + 1)]
        session.full_text.set_words(session, texts, new=True)
    with database.transaction(ORIGIN) as session:
        session.full_text.remove(session, ["n_0"])

    with database.reading() as session:
        assert session.full_text.count_all(session) == len(part_numbers(session)) == count
    database.close()
