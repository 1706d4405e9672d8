"""The SDK's reference by meaning: told once the model is in memory, and never waited for."""

from pathlib import Path

import pytest

from panorama.app import open_app
from panorama.config import read_settings
from panorama.services.scripts.sdk_search.reference import SdkReference
from panorama.services.scripts.sdk_search.semantic_order import MIN_COSINES, SdkSemanticScores
from tests.faults.meanings import followed, until

pytestmark = pytest.mark.slow  # they load the model

TEXTS = ("remove an item to the trash", "write a file", "list the reminders")
NONSENSE = (
    "zzzqqq", "xyzzy", "asdf qwer", "blargh flumox", "kwyjibo", "foo qux baz", "12345 67890", "the quick brown fox",
    "jabberwocky slithy toves", "photosynthesis of marine algae", "quantum chromodynamics lattice", "aaaaaaaaaaaaa",
)  # fmt: skip
MEANT = {"garbage": "trash", "reverse it": "Undo one change", "hyperlink": "sdk.links.", "notepad": "sdk.notes."}
"""Questions of which no word stands in the reference, and what of it answers them."""


def test_what_is_meant_is_nearest_once_the_model_is_in_memory(home: Path) -> None:
    with followed(home, embedder="static") as house:
        house.do("create_note", title="Tea")
        meaning = SdkSemanticScores(house.app.meaning)
        house.app.meaning.ensure_open().active.resident.ensure_loading()
        until(lambda: meaning.score("delete something", TEXTS), "an answer")

        near = meaning.score("delete something", TEXTS)

    assert max(range(3), key=lambda at: near[at]) == 0
    assert all(-1.001 <= hit + MIN_COSINES["static"] <= 1.001 for hit in near)


def test_without_a_model_nothing_is_told_at_once(home: Path) -> None:
    with open_app(read_settings(home=home)) as app:
        assert SdkSemanticScores(app.meaning).score("delete something", TEXTS) == ()


@pytest.mark.parametrize("model", ["duo", "minilm", "static"])
def test_meaning_alone_finds_what_is_meant_and_nothing_for_nonsense(home: Path, model: str) -> None:
    with followed(home, embedder=model) as house:
        house.do("create_note", title="Tea")
        house.app.meaning.ensure_open().active.resident.ensure_loading()
        reference = SdkReference(SdkSemanticScores(house.app.meaning).score)
        until(lambda: not reference.search("garbage").python.startswith("No function matches"), "an answer")

        found = {query: reference.search(query, "brief").python for query in MEANT}
        unfit = {query: reference.search(query).python for query in NONSENSE}

    assert [query for query, name in MEANT.items() if name not in "".join(found[query].splitlines()[:2])] == []
    assert [query for query, text in unfit.items() if not text.startswith("No function matches")] == []
