"""Discovery: the reference of the SDK finds what is meant, in little space, in the SDK's own words."""

import re
from collections.abc import Sequence

import pytest

from panorama.sandbox.protocol import limits
from panorama.sandbox.rules import hints
from panorama.sdk.reference.recipes import RECIPES
from panorama.services.scripts.sdk_search.collections import collection_entries
from panorama.services.scripts.sdk_search.reference import SdkReference
from panorama.services.scripts.sdk_search.rendering import Detail

from .queries import QUERIES
from .test_examples import EVERY

MOST_BYTES = 10_000
ENOUGH = 0.95


@pytest.fixture(scope="module")
def reference() -> SdkReference:
    """The reference without meaning, which reads words alone."""
    return SdkReference()


def found(reference: SdkReference, query: str) -> list[str]:
    """Return what is found, best first, by name."""
    lines = reference.search(query, "brief").python.splitlines()
    return [line.removeprefix("Recipe: ") if line.startswith("Recipe") else _called(line) for line in lines]


def _called(line: str) -> str:
    return line.partition("(")[0].removeprefix("sdk.")


def test_the_wanted_is_among_the_first_three(reference: SdkReference) -> None:
    missed = {
        query: found(reference, query)[:4]
        for query, expected in QUERIES
        if not {*found(reference, query)[:3]} & {*expected}
    }

    assert len(missed) <= len(QUERIES) * (1 - ENOUGH), missed


@pytest.mark.parametrize("name", ["parallel", "parallel_map"])
def test_only_calls_of_sources_are_said_to_run_side_by_side(reference: SdkReference, name: str) -> None:
    stub, whole = (reference.search(name, detail).python for detail in ("signatures", "full"))

    assert "calls of sources run concurrently, others one at a time" in stub
    assert "For items fewer calls save more: sdk.batch, sdk.query" in " ".join(whole.split())
    assert "at the same time" not in stub + whole + limits.get_hint("time") + hints.get_import_hint("threading", ())
    assert all(word in limits.get_hint("time") for word in ("sdk.batch", "sdk.query", "filters of a list"))


def test_what_is_wanted_exists() -> None:
    known = {*EVERY, *(recipe.title for recipe in RECIPES)}

    assert {name for _, expected in QUERIES for name in expected} <= known


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("written", ["{}", "sdk.{}", "sdk.{}(x=1)"])
def test_a_name_finds_its_function_first(reference: SdkReference, name: str, written: str) -> None:
    assert found(reference, written.format(name))[0] == name


def test_without_a_query_everything_is_told_in_a_line_each(reference: SdkReference) -> None:
    answer = reference.search()

    lines = answer.python.splitlines()
    assert (answer.shown, answer.total) == (len(EVERY) + len(RECIPES), len(EVERY) + len(RECIPES))
    assert all(any(line.startswith(f"{name.rpartition('.')[2]}(") for line in lines) for name in EVERY)
    assert len(answer.python.encode()) <= MOST_BYTES


@pytest.mark.parametrize("detail", ["brief", "signatures", "full"])
def test_no_answer_is_longer_than_six_kilobytes(reference: SdkReference, detail: Detail) -> None:
    answers = [reference.search(query, detail) for query, _ in QUERIES]

    assert max(len(answer.python.encode()) for answer in answers) <= MOST_BYTES
    assert all(1 <= answer.shown <= answer.total for answer in answers)


def test_signatures_tell_types_defaults_and_what_rows_hold(reference: SdkReference) -> None:
    text = reference.search("tasks.create").python

    assert 'sdk.tasks.create(title: str, project: str | Project | None = None, deadline: str | date = ""' in text
    assert "Create one task." in text
    assert re.search(r"^Task: id, version, .*deadline", text, re.MULTILINE)
    assert "Example:" not in text


@pytest.mark.parametrize(("name", "is_told"), [("tasks.update", False), ("notes.delete", False), ("tasks.list", True)])
def test_signatures_tell_what_comes_back_where_its_type_does_not(
    reference: SdkReference, name: str, is_told: bool
) -> None:
    first = reference.search(name).python.partition("\n\n")[0]

    assert first.startswith(f"sdk.{name}(")
    assert ("Returns:" in first) is is_told


def test_full_tells_arguments_errors_and_an_example(reference: SdkReference) -> None:
    text = reference.search("notes.edit", "full").python

    assert all(part in text for part in ("Args:", "Raises:", "Example:", "ConflictError: It holds the piece more"))


def test_what_fits_nothing_is_said_shortly(reference: SdkReference) -> None:
    answer = reference.search("xyzzy", "full")

    assert answer.python.startswith("No function matches")
    assert answer.summarize() == "No function matches"
    assert (answer.shown, len(answer.python) < 100) == (0, True)


def test_the_summary_says_how_many_of_how_many(reference: SdkReference) -> None:
    answer = reference.search("csv")

    text = f"{answer.shown} of {answer.total} functions and recipes"
    assert answer.summarize() == f'{text}; detail="brief" or other words show more'


@pytest.mark.parametrize("query", ["changes", "changes log", 'sdk.query("changes")', "query changes", "audit changes"])
def test_the_name_of_a_collection_that_has_no_list_finds_the_collection_first(query: str) -> None:
    reference = SdkReference(list_scripts=collection_entries)

    assert reference.search(query).python.startswith('sdk.query("changes")\n    Fields: id, at,')


def test_the_name_of_a_collection_that_has_a_list_finds_both() -> None:
    python = SdkReference(list_scripts=collection_entries).search("tasks").python

    assert python.startswith("sdk.tasks.list(")
    assert 'sdk.query("tasks")' in python


def test_meaning_brings_up_what_words_do_not_find() -> None:
    asked: list[tuple[str, int]] = []

    def nearest(query: str, texts: Sequence[str]) -> Sequence[float]:
        asked.append((query, len(texts)))
        return [1.0 if "Show the last writes" in text else 0.0 for text in texts]

    reference = SdkReference(nearest)

    assert found(reference, "who touched it")[0] == "history"
    assert asked == [("who touched it", len(EVERY) + len(RECIPES))]


def test_what_is_far_in_meaning_fits_only_beside_words() -> None:
    reference = SdkReference(lambda _, texts: [-0.1 for _ in texts])

    assert reference.search("zzzqqq").python.startswith("No function matches")
    assert not reference.search("overdue tasks zzzqqq").python.startswith("No function matches")


@pytest.mark.parametrize("query", ["how do I find overdue", "How can I find what is overdue?", "find overdue"])
def test_what_a_question_begins_with_does_not_count_as_what_is_meant(reference: SdkReference, query: str) -> None:
    assert "Dates: what is overdue, and by how many days" in found(reference, query)[:2]


@pytest.mark.parametrize(
    ("query", "noun"),
    [
        ("overdue tasks", "tasks"),
        ("What are my overdue tasks?", "tasks"),
        ("open tasks", "tasks"),
        ("blocked tasks", "tasks"),
        ("tasks due tomorrow", "tasks"),
        ("tasks without a deadline", "tasks"),
        ("reminders due today", "reminders"),
        ("overdue reminders", "reminders"),
        ("recent notes", "notes"),
        ("notes with a tag", "notes"),
        ("active projects", "projects"),
        ("archived projects", "projects"),
        ("largest files", "files"),
        ("unread links", "links"),
        ("latest journal entries", "journal"),
    ],
)
def test_rows_of_some_sort_are_found_by_the_list_of_their_noun_whatever_is_near(query: str, noun: str) -> None:
    reference = SdkReference(lambda _, texts: [0.1 if f"sdk.{noun}.list" in text else 0.9 for text in texts])

    assert found(reference, query)[0] == f"{noun}.list"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("complete tasks", "tasks.update"),
        ("create tasks", "tasks.create"),
        ("snooze reminders", "reminders.snooze"),
        ("delete notes", "notes.delete"),
        ("similar notes", "similar"),
        ("tag notes in bulk", "Bulk relabel: add a tag to many tasks"),
        ("notes.text", "notes.text"),
    ],
)
def test_what_is_done_with_rows_is_not_taken_for_their_list(reference: SdkReference, query: str, expected: str) -> None:
    assert found(reference, query)[0] == expected


def test_a_name_stays_first_whatever_meaning_says() -> None:
    reference = SdkReference(lambda _, texts: [float(at) for at in range(len(texts))])

    assert found(reference, "tasks.list")[0] == "tasks.list"
