"""Full text and corrections on PostgreSQL answer as on SQLite."""

import re
from collections.abc import Iterator
from pathlib import Path
from shutil import copyfile
from statistics import fmean

import pytest
from sqlalchemy import event

from panorama.domain.text.tokens import Term, index_text
from panorama.store.postgres.lexemes import split_lexemes
from panorama.store.words.tokenizer import get_tokenizer
from tests.postgres.words import Words, open_postgres, open_sqlite, read_lines

pytestmark = pytest.mark.postgres

ODD_TEXTS = [
    ("東京都の計画", "東京都で会う。Café Müller, naïve approach, 3.14 and C++; e-mail me."),
    ("Straße 7", "Die Strasse heißt groß; GROẞ, ﬁnal, O'Brien's Wi-Fi 6E, snake_case_name, QX-83K2."),
    ("🙂 👍🏽 tea", "a👍🏽b ☕️ green\u200btea x\u0302y cafe\u0301 e\u0301te\u0301"),
    ("它是猫", "カレー ﷺ ㍿ शनिवार สวัสดี שָׁלוֹם العَرَبِيَّة ᲀ \U0001f9cb \ue000"),
    ("title end", "body begin 'quoted' back\\slash \"double\" a:b & c | d ! e <-> f"),
    ("", "untitled"), ("only a title", ""), ("garden", "gardens gardening gardener Gärten"),
]  # fmt: skip
ODD_QUERIES = [
    "東京", "東", "東京都の", "café", "CAFE", "ß", "straße", "strasse",
    '"the roof"', "gard*", "e-mail", "3.14", "C++", "naïve",
    "о", "猫", "カレ", "6e", "o'brien", "case", "qx83k2", "QX-83K2", "🙂", "👍🏽", "☕", "\ue000",
    '"end body"', '"body begin"',
    "quoted", "back\\slash", "a & b", "'", "\\", "a:b", "<->", "!", "*", "tea 🙂", "final", "x̂y",
    "ete", "शनिवार", "שלום", "ﷺ",
    "ti", "t*", '"only a"', '"a title"', "untitled", "gärten",
]  # fmt: skip
MANY = 12_000
"""More parts than are counted."""

_FILL = """
    INSERT INTO search_parts (id, item, kind, digest)
        SELECT n, 'n_' || n, 'note', 'd_' || n FROM generate_series(1, :many) AS n;
    INSERT INTO search_words (id, words)
        SELECT n, CAST('''tea'':1 ''teapot'':2'
            || CASE WHEN mod(n, 3) = 0 THEN ' ''green'':3' ELSE '' END
            || CASE WHEN n <= 30 THEN ' ''old'':4 ''oak'':5' ELSE '' END AS tsvector)
        FROM generate_series(1, :many) AS n;
    ANALYZE search_words;
"""


@pytest.fixture(params=["sqlite", "postgres"])
def words(request: pytest.FixtureRequest, template: Path, tmp_path: Path) -> Iterator[Words]:
    """An empty index on each kind of database."""
    if request.param == "sqlite":
        copyfile(template, tmp_path / "words.db")
        with open_sqlite(tmp_path / "words.db") as made:
            yield made
    else:
        with open_postgres(request.getfixturevalue("postgres_url")) as made:
            yield made


@pytest.fixture
def both(template: Path, tmp_path: Path, postgres_url: str) -> Iterator[tuple[Words, Words]]:
    """An index on SQLite and one on PostgreSQL with the documents by which search is judged, and odd ones."""
    copyfile(template, tmp_path / "words.db")
    with open_sqlite(tmp_path / "words.db") as sqlite, open_postgres(postgres_url) as postgres:
        documents = [(line["title"], line.get("content", "")) for line in read_lines("corpus") + read_lines("world")]
        for number, (title, content) in enumerate([*documents, *ODD_TEXTS]):
            for words in (sqlite, postgres):
                words.put(f"n_{number:010}", title, content)
        yield sqlite, postgres


@pytest.fixture
def many(postgres_url: str) -> Iterator[Words]:
    """An index with many parts: all have tea, a third is green, and the first ones have an old oak."""
    with open_postgres(postgres_url) as made:
        made.session.connection.exec_driver_sql(_FILL.replace(":many", str(MANY)))
        yield made


def test_every_query_matches_the_same_notes_on_both_databases(both: tuple[Words, Words]) -> None:
    names = ("tuning", "further", "languages", "world-tuning")
    queries = [line["query"] for name in names for line in read_lines(name)] + ODD_QUERIES

    sqlite, postgres = [[w.find(query, every=every) for query in queries for every in (True, False)] for w in both]

    assert [
        (queries[at // 2], one, other)
        for at, (one, other) in enumerate(zip(sqlite, postgres, strict=True))
        if one != other
    ] == []


def test_words_are_corrected_alike_on_both_databases(both: tuple[Words, Words]) -> None:
    titles = [line["title"] for line in read_lines("corpus") + read_lines("world")]
    known = sorted({word.lower() for title in titles for word in re.findall(r"[^\W\d_]{5,}", title)})[::25]
    typed = [wrong for word in known for wrong in (word[1:], word[:2] + word[3] + word[2] + word[4:], word[:-2] + "x")]

    sqlite, postgres = (
        [(word, w.session.vocabulary.correct(w.session, word), w.session.vocabulary.split_word(w.session, word))
         for word in typed]
        for w in both
    )  # fmt: skip

    assert postgres == sqlite
    assert sum(bool(correction) for _, correction, _ in sqlite) > len(typed) // 3


def test_words_are_counted_alike_on_both_databases(both: tuple[Words, Words]) -> None:
    stems = [
        w.session.vocabulary.stem(word) for w in both[:1] for word in ("the", "garden", "und", "nothing-such", "café")
    ]

    sqlite, postgres = (w.session.vocabulary.count_parts(w.session, [stem for stem in stems if stem]) for w in both)

    assert postgres == sqlite
    assert min(sqlite.values()) > 0


def test_the_right_notes_are_as_far_in_front_on_both_databases(both: tuple[Words, Words]) -> None:
    ids = {line["id"]: f"n_{number:010}" for number, line in enumerate(read_lines("corpus"))}
    queries = [(line["query"], {ids[id_] for id_ in line["relevant"]}) for line in read_lines("tuning")]

    sqlite, postgres = (fmean(best_place(w.search(query), relevant) for query, relevant in queries) for w in both)

    assert postgres >= sqlite - 0.01


def test_a_text_is_cut_into_the_words_that_fts5_makes_of_it() -> None:
    lines = read_lines("corpus") + read_lines("decoys") + read_lines("world")
    texts = [index_text(line.get("content", "")) for line in lines] + [index_text(" ".join(text)) for text in ODD_TEXTS]
    every_sign = [" ".join(f"a{chr(code)}b" for code in range(start, start + 256)) for start in range(1, 0x3100, 256)]

    for text in texts + every_sign:
        assert split_lexemes(text) == list(get_tokenizer().stems(text))


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("x" * 3000 + " needle", "needle"), ("x" * 3000, "x" * 3000), ("雪" * 130_000 + " needle", "needle"),
        ("".join(chr(0x4E00 + at % 20_000) for at in range(130_000)), "丁丂七"),
        (" ".join(f"word{at}" for at in range(20_000)), '"word19998 word19999"'),
        ("a " * 20_000 + "needle", "needle"), ("🙂 " * 9000 + "needle", "needle"),
        ("\n" * 200_000 + "needle", "needle"),
        ("㍿" * 16_000 + " needle", "needle"), ("ﷺ" * 16_000 + " needle", "needle"),
        ("".join(f"{at:x}|" for at in range(60_000)), "1869"),
    ],
    ids=lambda value: value[:6],
)  # fmt: skip
def test_a_text_beyond_every_limit_is_found(words: Words, text: str, query: str) -> None:
    words.put("n_long", "", text)

    assert words.find(query) == ["n_long"]


def test_words_that_are_replaced_or_removed_are_found_no_more(words: Words) -> None:
    words.index("n_1", "Tea", "green")
    words.index("n_1", "Tea", "black")
    replaced = words.find("green"), words.find("black")

    words.session.full_text.remove(words.session, ["n_1"])

    assert replaced == ([], ["n_1"])
    assert (words.find("tea"), words.session.full_text.has_all_parts(words.session)) == ([], True)
    assert words.session.full_text.count_all(words.session) == 0


def test_what_takes_too_long_is_hidden_now_and_removed_later(words: Words) -> None:
    text, session = words.session.full_text, words.session
    words.index("n_1", "Tea", "green")
    session.index_seconds = 1.0
    text.remove(session, ["n_1"])
    hidden = [hit.kind for hit in text.search_expression(session, words.build("tea"), limit=9, reach=9)]
    left = set(session.long_texts)

    is_done = text.sync_parts(session, "note", "n_1", "Tea", {}, seconds=9)

    assert (hidden, left, is_done, words.count("tea")) == ([""], {"n_1"}, True, 0)
    session.long_texts.clear()


def test_one_text_of_several_is_replaced_without_reading_the_others(words: Words) -> None:
    text, session = words.session.full_text, words.session
    parts = dict(text.make_parts("Talk", ("first", "second")))
    assert text.sync_parts(session, "session", "w_1", "Talk", parts, seconds=9)

    text.replace_texts(session, "session", "w_1", "Talk", {1: "second"}, {1: "third"})

    assert [words.find(word) for word in ("first", "second", "third")] == [["w_1"], [], ["w_1"]]


def test_parts_are_counted_and_compared_with_terms(words: Words) -> None:
    text, session = words.session.full_text, words.session
    for number in range(1, 6):
        words.index(f"n_{number}", "", "figs" if number % 2 else "plums")
    terms = [words.build("plums"), words.build("figs"), words.build("figs plums", every=False)]
    matches = text.search_expression(session, terms[2], limit=9, reach=4, terms=terms)
    *_, fourth, fifth = sorted(matches, key=lambda match: match.part)

    assert len(matches) == 4
    assert [list(match.holds) for match in (fourth, fifth)] == [[0, 2], [1, 2]]
    assert (words.count("figs"), words.count("figs", most=2)) == (3, 2)


def test_a_word_in_the_title_counts_more_than_one_in_the_body(words: Words) -> None:
    words.index("n_body", "Soup", "tea")
    words.index("n_title", "Tea", "soup")

    assert words.rank("tea") == ["n_title", "n_body"]


def test_words_that_no_part_has_are_forgotten_by_a_purge(words: Words) -> None:
    text, session = words.session.full_text, words.session
    words.put("n_1", "", "the wedding cake")
    words.put("n_2", "", "a funeral")
    before = session.vocabulary.correct(session, "weding")
    text.remove(session, ["n_1"])

    after = session.vocabulary.correct(session, "weding")
    steps = 0
    while text.merge(session, begin=steps == 0):
        steps += 1

    assert (before, after) == ("wedding", "")
    assert session.vocabulary.correct(session, "funeal") == "funeral"


def test_common_words_of_many_parts_are_estimated_until_the_server_looks_again(many: Words) -> None:
    session, sent = many.session, list[str]()
    event.listen(session.connection, "before_cursor_execute", lambda *call: sent.append(call[2]))
    words = {"tea": "tea", "green": "green", "oak": "oak"}
    first = session.vocabulary.measure(session, words)
    sent.clear()
    assert session.vocabulary.measure(session, {"tea": "tea"}) == (MANY, {"tea": MANY})
    statements = len(sent)
    session.connection.exec_driver_sql("DELETE FROM search_words WHERE id > 11000; ANALYZE search_words")
    session.vocabulary.measure(session, words)

    assert first == (MANY, {"tea": MANY, "green": MANY // 3, "oak": 30})
    assert statements == 1, "it is only asked how many parts there are"
    assert session.vocabulary.measure(session, words) == (11_000, {"tea": 11_000, "green": 3_666, "oak": 30})


def test_a_common_prefix_is_not_counted(many: Words) -> None:
    session, counted = many.session, list[str]()
    event.listen(session.connection, "before_cursor_execute", lambda *call: counted.append(call[2]))
    common, rare = Term(("te",), prefix=True), Term(("oa",), prefix=True)

    assert session.vocabulary.count_term(session, common, most=8_000) == 8_000
    assert not any("@@" in statement for statement in counted)
    assert session.vocabulary.count_term(session, rare, most=8_000) == 30


def test_parts_with_several_words_are_found_among_the_first_of_many(many: Words) -> None:
    text, session = many.session.full_text, many.session
    both, common = many.build("old oak"), many.build("green tea")

    assert sorted(match.part for match in text.search_expression(session, both, limit=50, reach=20)) == list(
        range(11, 31)
    )
    assert [match.part for match in text.search_expression(session, common, limit=2, reach=100)] == [12_000, 11_997]


def best_place(ids: list[str], relevant: set[str]) -> float:
    """Return the reciprocal rank of the first right answer among ten."""
    return next((1 / place for place, id_ in enumerate(ids[:10], start=1) if id_ in relevant), 0.0)
