"""The default model finds across languages, and reports files that are not what was shipped."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from panorama.errors import UnavailableError
from panorama.index.embedders import bundled
from panorama.index.embedders.bundled import DUO_FILES, BundledFile
from panorama.index.embedders.multilingual.duo import Duo

NOTES = (
    "Boiler service\nThe engineer cleaned the condensate trap and stamped the book.",
    "Compost\nThe heap reached sixty degrees after we turned it.",
    "Passports\nDaniel's runs out in September; the photos are in the drawer.",
)
QUERIES = {
    "Heizung gewartet": 0, "entretien de la chaudière": 0, "caldaia: manutenzione": 0,
    "Komposthaufen ist heiß": 1, "el compost se calentó": 1, "堆肥が熱くなった": 1,
    "Reisepass läuft ab": 2, "паспорт скоро закончится": 2, "paszport traci ważność": 2,
}  # fmt: skip


def test_notes_are_found_in_other_languages(duo: Duo) -> None:
    notes = duo.embed_documents(NOTES)

    found = {query: int((notes @ duo.embed_query(query)).argmax()) for query in QUERIES}

    assert found == QUERIES


def test_vectors_are_computed_with_the_32_bits_of_the_weights(duo: Duo, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[object] = []
    tanh = np.tanh  # of the last layer

    def note(values: Any) -> Any:
        computed.append(values.dtype)
        return tanh(values)

    monkeypatch.setattr(np, "tanh", note)
    duo.embed_query("compost")

    assert computed == [np.float32]


def test_the_title_counts_more_than_a_line_of_the_text(duo: Duo) -> None:
    body = " ".join(note.replace("\n", " ") for note in NOTES)

    titled, plain = duo.embed_documents([f"Compost\n{body}", f"Compost {body}"]) @ duo.embed_query("compost")

    assert titled > plain


def test_a_copy_is_nearest_to_itself(duo: Duo) -> None:
    notes = duo.embed_documents(NOTES)

    assert np.allclose((notes @ notes.T).diagonal(), 1, atol=1e-5)
    assert (notes @ notes.T)[~np.eye(3, dtype=bool)].max() < 0.6


@pytest.mark.parametrize("name", [file.name for file in DUO_FILES])
@pytest.mark.parametrize("damage", ["truncated", "changed", "missing"])
def test_a_file_that_is_not_as_shipped_is_reported_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, damage: str
) -> None:
    for file in DUO_FILES:
        (tmp_path / file.name).symlink_to(file.path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).unlink()
    if damage != "missing":
        (tmp_path / name).write_bytes(content[:-1] if damage == "truncated" else content[:-1] + b"\x7f")
    monkeypatch.setattr(bundled, "FOLDER", tmp_path)

    with pytest.raises(UnavailableError, match="cannot be read" if damage == "missing" else "is damaged") as caught:
        Duo().load()

    assert name in caught.value.message


def test_a_verified_file_is_verified_again_once_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundled, "FOLDER", tmp_path)
    file = BundledFile(name="table.bin", digest=hashlib.sha256(b"as shipped").hexdigest())
    file.path.write_bytes(b"as shipped")
    file.verify()

    file.path.write_bytes(b"something else")

    with pytest.raises(UnavailableError, match="is damaged"):
        file.verify()
