"""Backups and exports that a test changes and seals again."""

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError
from panorama.store.archive.manifests import with_digest

Call = Callable[..., Answer]
Told = dict[str, Any]


@contextmanager
def forged(parcel: Path) -> Generator[Told]:
    """Let a test change what a parcel said of itself when it was made, and seal that again."""
    first = parcel.parent / "first.json"
    if not first.exists():
        first.write_bytes((parcel / "manifest.json").read_bytes())
    manifest = json.loads(first.read_text())
    yield manifest
    (parcel / "manifest.json").write_text(json.dumps(with_digest(manifest)))


def entry(content: bytes) -> Told:
    return {"size": len(content), "sha256": sha256(content).hexdigest()}


def assert_refused(call: Call, parcel: Path, tmp_path: Path) -> None:
    """Look that neither check nor restore takes it, and that nothing stays of it."""
    before = {path for path in tmp_path.rglob("*") if not path.is_relative_to(parcel)}
    for ask in (
        lambda: call("backups.check", path=str(parcel)),
        lambda: call("restore", source=str(parcel), folder=str(tmp_path / "deep" / "in" / "again")),
    ):
        with pytest.raises(InvalidInputError) as refusal:
            ask()
        assert refusal.value.hint
    left = {path for path in tmp_path.rglob("*") if not path.is_relative_to(parcel)}
    assert {path for path in left - before if path.name != "first.json"} == set()


def rewrite(parcel: Path, path: str, content: bytes) -> None:
    """Write a file of a parcel anew, and seal that."""
    (parcel / path).write_bytes(content)
    with forged(parcel) as manifest:
        manifest["files"][path] = entry(content)
