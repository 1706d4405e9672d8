"""Stores whose every passage has a vector: of chance for `duo`, whose work on 100,000 notes would take an hour.

What a search costs does not depend on what the numbers mean; the query's own vector is made by the real model.
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from panorama.app import App, open_app, semantic_config
from panorama.config import Settings
from panorama.domain.changes import Origin
from panorama.domain.items.notes import Note
from panorama.index.embedders.multilingual.duo import Duo
from panorama.services.base import random_id, utc_now
from panorama.services.search.semantic import SemanticSearch
from panorama.store.items import rows

from .stores import NOTES, store

CLUSTERS = 2_000
NOISE = 0.6


class Chance(Duo):
    """Says that it is `duo`, and gives vectors that lie around two thousand middles, as those of texts do."""

    def __init__(self) -> None:
        super().__init__()
        chance = np.random.default_rng(3)
        self._middles = chance.standard_normal((CLUSTERS, self.size), np.float32)
        self._chance = chance

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """Return a vector for each text."""
        places = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) for text in texts]
        found = self._middles[np.array(places) % CLUSTERS]
        found = found + NOISE * self._chance.standard_normal(found.shape, np.float32)
        return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def indexed(home: Path, *, notes: int = NOTES) -> Path:
    """Make a store of so many notes, each of which is in the index, unless it is there; return its data directory."""
    store(home, notes=notes)
    if not (home / "indexed").exists():
        with open_app(Settings(home=home, timezone="Europe/Berlin", embedder="duo")) as app:
            chance = SemanticSearch(
                app.context, replace(semantic_config(app.settings), opened_embedder=lambda _: Chance())
            )
            try:
                chance.follow()
            finally:
                chance.close()
        (home / "indexed").touch()
    return home


def write_notes(app: App, bodies: Sequence[str]) -> None:
    """Write notes in one transaction."""
    origin = Origin(actor="tool", client="benchmark", conversation="v_bench", operation="", call="c_1", unit="c_1")
    now = utc_now()
    with app.context.database.transaction(origin) as session:
        for number, body in enumerate(bodies):
            note = Note(id=random_id("n"), created_at=now, updated_at=now, title=f"Note {number}", content=body)
            rows.add(session, note)


def until(so: Callable[[], object], seconds: float = 600) -> float:
    """Wait until something is so; return the seconds that it took."""
    begun = time.monotonic()
    while not so():
        assert time.monotonic() < begun + seconds, "it did not come about in time"
        time.sleep(0.05)
    return time.monotonic() - begun
