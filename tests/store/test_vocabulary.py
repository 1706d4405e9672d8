"""The vocabulary tells what the store knows now, and what a word may have been."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile

import pytest
from sqlalchemy import event

from panorama.domain.changes import Origin
from panorama.domain.items.item import KINDS
from panorama.domain.text.tokens import parse_terms
from panorama.store.backend import ItemText, Session
from panorama.store.items import search
from panorama.store.items.search import Filters
from panorama.store.sqlite import vocabulary
from panorama.store.sqlite.engine import SqliteDatabase

ORIGIN = Origin(actor="tool", client="tests", conversation="v_tests", operation="tests", call="c_tests", unit="c_tests")
ALL = Filters(kinds=KINDS)


@pytest.fixture
def session(template: Path, tmp_path: Path) -> Iterator[Session]:
    """An open write in an empty store."""
    copyfile(template, tmp_path / "panorama.db")
    database = SqliteDatabase(tmp_path / "panorama.db")
    with database.transaction(ORIGIN) as session:
        yield session
    database.close()


def put(session: Session, *texts: str) -> None:
    """Index some texts as notes."""
    for number, text in enumerate(texts):
        session.full_text.set_words(session, [ItemText("note", f"n_{number}", "", text)])


def found(session: Session, query: str) -> list[tuple[str, float]]:
    """Return what is found, with the share of the query that each holds, in hundredths."""
    hits = search.search_items(session, search.weigh_terms(session, parse_terms(query)), ALL, needed=20)
    return [(hit.item, round(100 * hit.coverage)) for hit in hits]


def test_a_word_is_counted_by_its_stem_and_forgotten_with_its_last_text(session: Session) -> None:
    put(session, "garden gardens", "gardening")
    stem = session.vocabulary.stem("garden")
    before = session.vocabulary.count_parts(session, [stem])

    session.full_text.remove(session, ["n_0"])
    session.full_text.remove(session, ["n_1"])

    assert (before, session.vocabulary.count_parts(session, [stem])) == ({stem: 2}, {})


@pytest.mark.parametrize(
    ("text", "word", "right"),
    [
        ("the wedding cake", "weding", "wedding"), ("a Conference talk", "conferance", "conference"),
        ("Zürich", "zurihc", "zürich"), ("the butterfly", "utterfly", "butterfly"), ("theory", "thoery", "theory"),
        ("decision", "desicion", "decision"), ("cat", "cta", ""), ("1234", "1243", ""), ("there", "thare", ""),
    ],
)  # fmt: skip
def test_a_word_is_repaired_by_one_that_is_there(session: Session, text: str, word: str, right: str) -> None:
    put(session, text)

    assert session.vocabulary.correct(session, word) == right


def test_two_words_in_one_are_parted_only_where_they_stand_together(session: Session) -> None:
    put(session, "heat pump", "tea pot of the cook book")

    assert [session.vocabulary.split_word(session, word) for word in ("heatpump", "teabook", "cookbook")] == [
        "heat pump", "", "cook book",
    ]  # fmt: skip


def test_a_code_is_known_by_its_parts(session: Session) -> None:
    put(session, "reference QX-83K2")

    assert session.vocabulary.split_code(session, "qx83k2") == (("qx", "83k2"),)


def test_the_coverage_is_the_share_of_what_the_query_says(session: Session) -> None:
    put(session, "quince jam", "jam", "jam and tea", "jam and bread")

    hits = dict(found(session, "the quince jam."))

    assert hits["n_0"] == 100
    assert 0 < hits["n_1"] < 30


def test_small_words_count_only_where_nothing_else_is_asked_for(session: Session) -> None:
    put(session, "what will be", "jam")

    assert found(session, "what will jam be") == [("n_1", 100)]
    assert found(session, "what will") == [("n_0", 100)]


def test_of_very_common_words_the_last_written_are_ranked(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_RANKED", 5)
    put(session, *(f"tea {'cup' if number % 2 else 'pot'}" for number in range(40)))

    assert {item for item, _ in found(session, "tea")} == {f"n_{number}" for number in range(35, 40)}
    assert found(session, "tea cup")[0] in [(f"n_{number}", 100) for number in range(1, 40, 2)]


def test_the_rarest_word_finds_whatever_the_others_are(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_RANKED", 5)
    put(session, "quince tea", *["tea cup"] * 40)

    assert found(session, "tea quince cup")[0][0] == "n_0"


def test_in_a_large_store_common_words_are_estimated(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "LARGE_STORE_PARTS", 10)
    monkeypatch.setattr(vocabulary, "SAMPLE_PARTS", 10)
    put(session, "quince", *["tea"] * 39)

    counted = {term.term.words[0]: term.count for term in search.weigh_terms(session, parse_terms("tea quince."))}

    assert counted["quince"] == 1
    assert 36 <= counted["tea"] <= 44


def test_a_longer_query_takes_no_more_statements(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabulary, "LARGE_STORE_PARTS", 1)
    words = [f"plant{number}" for number in range(9)]
    put(session, *words, " ".join(words))
    statements: list[str] = []
    event.listen(session.connection, "before_cursor_execute", lambda *given: statements.append(given[2]))

    found(session, f"{words[0]} {words[1]}")
    few = len(statements)
    found(session, " ".join(words))

    assert len(statements) == 2 * few
