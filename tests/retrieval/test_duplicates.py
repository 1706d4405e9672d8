"""The hint at a possible duplicate: how often it is right, and how many copies it finds."""

import json
import sys
from pathlib import Path

import pytest

from panorama.domain.text.chunks import split_chunks
from panorama.index.embedders.registry import Embedder, create_embedder
from panorama.services.items.duplicates import DUPLICATE_SCORES
from panorama.services.search.semantic import NEAR_DUPLICATE_CHARS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

HERE = Path(__file__).parent
EVERY = 8
"""A copy lacks every eighth word."""


def first_passage(title: str, content: str) -> str:
    return split_chunks(title, content)[0].text


def measure(embedder: Embedder) -> tuple[int, int, int]:
    """Return the hints that are right, those that are wrong, and the copies."""
    lines = (HERE / f"{part}.jsonl" for part in ("corpus", "decoys", "world"))
    notes = [json.loads(line) for file in lines for line in file.read_text("utf-8").splitlines()]
    notes = [note for note in notes if note["kind"] == "note"]
    texts = [first_passage(note["title"], note["content"]) for note in notes]
    copies = [
        first_passage(note["title"], " ".join(word for at, word in enumerate(note["content"].split(), 1) if at % EVERY))
        for note in notes
    ]
    stored = embedder.embed_documents(texts)
    threshold = DUPLICATE_SCORES[embedder.id]
    beginnings = embedder.embed_documents([text[:NEAR_DUPLICATE_CHARS] for text in texts])
    wrong = sum(int((stored[:at] @ vector).max(initial=0.0) >= threshold) for at, vector in enumerate(beginnings))
    vectors = embedder.embed_documents([copy[:NEAR_DUPLICATE_CHARS] for copy in copies])
    right = int(((stored * vectors).sum(1) >= threshold).sum())
    return right, wrong, len(copies)


@pytest.mark.parametrize("model", ["duo", "minilm"])
def test_at_least_95_of_100_hints_are_right(model: str) -> None:
    embedder = create_embedder(model)

    right, wrong, copies = measure(embedder)

    embedder.close()
    precision = right / max(1, right + wrong)
    sys.stdout.write(f"\n{model}: precision {precision:.3f}; {right} of {copies} copies found, {wrong} wrong hints\n")
    assert precision >= 0.95
    assert right >= 0.5 * copies
