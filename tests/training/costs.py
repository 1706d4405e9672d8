"""What a smaller model costs: how near its vectors are to another's, and how well they find."""

# pyright: reportUnknownMemberType=false
# (numpy's stubs name types that come with Python 3.12)
import ast
import json
import random
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

PROSE_WORDS = 200
TOP_COUNT = 10


class Embedder(Protocol):
    """What is measured."""

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]: ...
    def embed_query(self, text: str) -> NDArray[np.float32]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Something to search for, and the ids of the items that are wanted."""

    query: str
    kind: str
    relevant: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """Items with their texts, and queries to them."""

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    queries: tuple[Query, ...]


def sample_prose(count: int, words: int = PROSE_WORDS) -> list[str]:
    """Return texts of English prose: pieces of this Python's own documentation, drawn by a fixed seed."""
    results = [word for text in _iter_docstrings(Path(sysconfig.get_path("stdlib"))) for word in text.split()]
    chance = random.Random(5)
    begins = (chance.randrange(len(results) - words) for _ in range(count))
    return [" ".join(results[begin : begin + words]) for begin in begins]


def _iter_docstrings(folder: Path) -> Iterator[str]:
    for file in sorted(folder.glob("*.py")):
        try:
            tree = ast.parse(file.read_bytes())
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                yield ast.get_docstring(node) or ""


def load_collection(corpus: Path, queries: Path) -> Collection:
    """Return a collection: items {"id", "title", "content"} and queries {"query", "kind", "relevant"}, one a line."""
    items = [json.loads(line) for line in corpus.read_text(encoding="utf-8").splitlines()]
    asked = [json.loads(line) for line in queries.read_text(encoding="utf-8").splitlines()]
    return Collection(
        ids=tuple(item["id"] for item in items),
        texts=tuple(f"{item['title']}\n{item.get('content') or ''}" for item in items),
        queries=tuple(Query(query=q["query"], kind=q["kind"], relevant=tuple(q["relevant"])) for q in asked),
    )


def measure_similarity(first: Embedder, second: Embedder, texts: Sequence[str]) -> tuple[float, float]:
    """Return the mean and the least cosine between what two embedders make of the same texts."""
    found = np.einsum("ij,ij->i", first.embed_documents(texts), second.embed_documents(texts))
    return float(found.mean()), float(found.min())


def compute_reciprocal_ranks(embedder: Embedder, held: Collection) -> list[float]:
    """Return, per query, 1 / the place of the first item that is wanted among the ten nearest, or 0."""
    vectors = embedder.embed_documents(held.texts)
    return [_reciprocal_rank(vectors @ embedder.embed_query(entry.query), entry, held.ids) for entry in held.queries]


def _reciprocal_rank(scores: NDArray[np.float32], query: Query, ids: Sequence[str]) -> float:
    nearest = [ids[place] for place in np.argsort(-scores, kind="stable")[:TOP_COUNT]]
    return next((1 / (place + 1) for place, item in enumerate(nearest) if item in query.relevant), 0.0)


def mean_by_kind(held: Collection, found: Sequence[float]) -> dict[str, float]:
    """Return the mean for each kind of query, and for all."""
    kinds = sorted({query.kind for query in held.queries})
    means = {
        kind: [rank for rank, query in zip(found, held.queries, strict=True) if query.kind == kind] for kind in kinds
    }
    return {kind: sum(entry) / len(entry) for kind, entry in {**means, "all": list(found)}.items()}
