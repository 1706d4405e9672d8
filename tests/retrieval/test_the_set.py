"""The retrieval set holds what its README says, and the judging half stays as it was written."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import TypedDict

import pytest

HERE = Path(__file__).parent
FROZEN = {
    "judging.jsonl": "a57030c2fb45d7f37fe42fa88950c92d7f74c2a0c20f6964b093c1340a7c20a8",
    "corpus.jsonl": "3791ff36e974418db87631e96d4cbf1c15eafbcf06b16d9f7e45ac32dcafbb2c",
    "decoys.jsonl": "cc203f76618f080edf0d7754781b337c605f7a17667e7766e31a858b1086eb29",
    "world.jsonl": "6720bce289edaa9b949045740a8e604df9de92edd5dedbe573dacf9c0f323537",
    "world-judging.jsonl": "1057a7085d7be37d5e167a37b186ca4f951383c49371a3115dd170bcaf0835ee",
}
KINDS = ("exact", "rare", "paraphrase", "question", "typo", "bilingual")
HALVES = ("tuning", "judging")
ENDINGS = re.compile(r"(ations?|ings?|ers?|ies|ed|es|ly|ions?|s|e|y|en|n)$")
SMALL_WORDS = """
    about above after again all and any are because been before but can could did does doing each for from had has
    have her here him his how into its just like many more most much not now off once one only other our out over own
    owing she should some such than that the their them then there these they this those through too under until very
    was were what when where which while who whom why will with would you your everything something anything aber alle
    als auch auf aus bei das dass dem den der des die ein eine einem einen einer für hat ich ihr ist jeder mit nach
    nicht noch nur oder sein seine seiner sich sie sind sollen und uns von vor war was weil wenn werden wer wie wir
    zum zur über
"""


class Item(TypedDict):
    id: str
    kind: str
    title: str
    content: str


class Query(TypedDict):
    query: str
    kind: str
    relevant: list[str]


def lines(name: str) -> list[str]:
    return (HERE / name).read_text(encoding="utf-8").splitlines()


CORPUS: list[Item] = [json.loads(line) for line in lines("corpus.jsonl")]
QUERIES: dict[str, list[Query]] = {half: [json.loads(line) for line in lines(f"{half}.jsonl")] for half in HALVES}
FURTHER: list[Query] = [json.loads(line) for line in lines("further.jsonl")]


def folded(text: str) -> str:
    """Return the text in lower case, without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))


def words(text: str) -> set[str]:
    """Return the runs of letters, folded."""
    return set(re.findall(r"[^\W\d_]+", folded(text)))


def codes(text: str) -> set[str]:
    """Return the pieces between spaces, bare, and up to three in one: `re2304`."""
    pieces = [re.sub(r"[\W_]", "", piece) for piece in folded(text).split()]
    return {"".join(pieces[at : at + size]) for at in range(len(pieces)) for size in (1, 2, 3)} - {""}


def whole(item: Item) -> str:
    return f"{item['title']}\n{item['content']}"


WORDS_OF = {item["id"]: words(whole(item)) for item in CORPUS}
CODES_OF = {item["id"]: codes(whole(item)) for item in CORPUS}
ALL_WORDS = frozenset().union(*WORDS_OF.values())
SMALL = words(SMALL_WORDS)


def holding(code: str) -> set[str]:
    """Return the documents with this code, or with one that begins so."""
    if len(code) < 4:
        return {note for note, held in CODES_OF.items() if code in held}
    return {note for note, held in CODES_OF.items() if any(other.startswith(code) for other in held)}


def of_kind(kind: str) -> Iterator[Query]:
    return (query for half in HALVES for query in QUERIES[half] if query["kind"] == kind)


def stem(word: str) -> str:
    short = ENDINGS.sub("", word)
    return short if len(short) >= 4 else word


def share_a_stem(one: str, other: str) -> bool:
    """Tell whether the words are equal, or the shorter stem begins the other.

    A stem has at least four letters.
    """
    short, long = sorted((stem(one), stem(other)), key=len)
    return one == other or (len(short) >= 4 and long.startswith(short))


def shared(query: Query) -> set[tuple[str, str]]:
    """Return the pairs of content words that a query shares with its documents."""
    asked = {word for word in words(query["query"]) - SMALL if len(word) >= 3}
    known = {word for note in query["relevant"] for word in WORDS_OF[note] - SMALL if len(word) >= 3}
    return {(one, other) for one, other in product(asked, known) if share_a_stem(one, other)}


def edits(one: str, other: str) -> int:
    """Return how many letters to add, drop, change or swap with the next (Damerau)."""
    before, row = list[int](), list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                row[j] = min(row[j], older[j - 2] + 1)
    return row[-1]


def test_every_id_is_unique() -> None:
    ids = [item["id"] for item in CORPUS]

    assert len(ids) == len(set(ids)) >= 320


def test_every_document_is_a_note_or_a_task_with_a_title() -> None:
    assert {item["kind"] for item in CORPUS} == {"note", "task"}
    assert all(set(item) == set(Item.__annotations__) and item["title"].strip() for item in CORPUS)


def test_notes_are_of_many_lengths_and_some_are_long() -> None:
    lengths = [len(item["content"].split()) for item in CORPUS if item["kind"] == "note"]

    assert min(lengths) >= 40
    assert sum(length >= 500 for length in lengths) >= 15
    assert all(length <= 250 or 500 <= length <= 900 for length in lengths)


def test_no_two_documents_have_the_same_title() -> None:
    titles = Counter(folded(item["title"]) for item in CORPUS)

    assert titles.most_common(1)[0][1] == 1


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_enough_queries_of_each_kind(half: str) -> None:
    counts = Counter(query["kind"] for query in QUERIES[half])

    assert set(counts) == set(KINDS)
    assert min(counts.values()) >= 15
    assert counts.total() >= 90


@pytest.mark.parametrize("half", HALVES)
def test_every_query_names_one_to_four_documents_that_exist(half: str) -> None:
    for query in QUERIES[half]:
        assert set(query) == set(Query.__annotations__)
        assert 1 <= len(set(query["relevant"])) == len(query["relevant"]) <= 4
        assert set(query["relevant"]) <= set(WORDS_OF), query


def test_no_query_stands_twice() -> None:
    asked = Counter(" ".join(sorted(codes(query["query"]))) for half in HALVES for query in QUERIES[half])

    assert asked.most_common(1)[0][1] == 1


def test_the_further_queries_are_others_and_name_documents_that_exist() -> None:
    known = {folded(query["query"]) for half in HALVES for query in QUERIES[half]}
    asked = [folded(query["query"]) for query in FURTHER]

    assert len(set(asked) - known) == len(FURTHER) == 110
    assert {query["kind"] for query in FURTHER} == set(KINDS)
    assert all(query["relevant"] and set(query["relevant"]) <= set(WORDS_OF) for query in FURTHER)


MORE_DOCUMENTS = {part: [json.loads(line) for line in lines(f"{part}.jsonl")] for part in ("decoys", "world")}
MORE_QUERIES: dict[str, list[Query]] = {
    part: [json.loads(line) for line in lines(f"{part}.jsonl")]
    for part in ("languages", "world-tuning", "world-judging")
}


def test_with_decoys_and_other_languages_there_are_400_documents_and_500_queries() -> None:
    documents = [*CORPUS, *(document for part in MORE_DOCUMENTS.values() for document in part)]
    queries = sum(map(len, (*QUERIES.values(), FURTHER, *MORE_QUERIES.values())))

    assert len({document["id"] for document in documents}) == len(documents) >= 400
    assert queries >= 500
    assert len({document["language"] for document in MORE_DOCUMENTS["world"]}) >= 8


def test_every_further_query_names_documents_that_exist() -> None:
    known = set(WORDS_OF) | {document["id"] for document in MORE_DOCUMENTS["world"]}

    assert all(
        query["relevant"] and set(query["relevant"]) <= known for part in MORE_QUERIES.values() for query in part
    )


def test_no_query_to_tune_by_asks_for_a_document_that_judges() -> None:
    judging = {note for query in (*QUERIES["judging"], *MORE_QUERIES["world-judging"]) for note in query["relevant"]}
    tuning = {
        note for part in ("languages", "world-tuning") for query in MORE_QUERIES[part] for note in query["relevant"]
    }

    assert not judging & tuning


def test_the_halves_share_no_document() -> None:
    tuning, judging = ({note for query in QUERIES[half] for note in query["relevant"]} for half in HALVES)

    assert not tuning & judging


def test_a_remembered_title_has_most_of_its_words_from_the_title() -> None:
    titles = {item["id"]: re.sub(r"[\W_]", "", folded(item["title"])) for item in CORPUS}
    for query in of_kind("exact"):
        asked = {word for word in words(query["query"]) - SMALL if len(word) >= 3}
        found = {word for word in asked if stem(word)[:5] in titles[query["relevant"][0]]}
        assert len(found) >= 0.6 * len(asked), (query, asked - found)


def test_a_rare_query_has_a_word_that_only_its_documents_hold() -> None:
    for query in of_kind("rare"):
        holders = [holding(code) for code in codes(query["query"])]
        assert any(found == set(query["relevant"]) for found in holders), (query, holders)


def test_a_paraphrase_shares_no_content_word_with_its_documents() -> None:
    for query in of_kind("paraphrase"):
        assert not shared(query), query


def test_a_misspelt_word_stands_nowhere_in_the_corpus_but_its_right_form_stands_in_the_document() -> None:
    for query in of_kind("typo"):
        wrong = words(query["query"]) - ALL_WORDS
        assert 1 <= len(wrong) <= 2, (query, wrong)
        for word, note in product(wrong, query["relevant"]):
            assert min(edits(word, right) for right in WORDS_OF[note] if len(right) >= 4) <= 2, (query, word)


@pytest.mark.parametrize("name", FROZEN)
def test_what_is_frozen_has_not_changed(name: str) -> None:
    assert sha256((HERE / name).read_bytes()).hexdigest() == FROZEN[name]
