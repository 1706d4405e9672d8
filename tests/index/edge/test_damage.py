"""The folder of the embedded index was removed, replaced or damaged: it is moved aside, and the index begins again."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest

from panorama.errors import UnavailableError
from panorama.index import edge_index
from panorama.index.edge_index import EdgeIndex
from panorama.index.generations import Generation, IndexFolder
from panorama.index.points import Model, ModelMismatchError
from panorama.index.process_supervisor import ProcessSupervisor

from ..making_points import DAY, OTHER, SMALL, toward
from .processes import ALL, POINTS, kill, opened, persistently

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_template")]


def _find_model(folder: Path) -> Model | None:
    live = IndexFolder(folder).find_live()
    return live.model if live else None


def test_an_index_of_another_model_is_recognised_and_can_be_begun_anew(index: EdgeIndex, folder: Path) -> None:
    index.close()

    with pytest.raises(ModelMismatchError, match=r"other.*small|small.*other") as refused:
        edge_index.open_index(folder, OTHER)
    assert refused.value.model == _find_model(folder) == SMALL

    anew = edge_index.open_index(folder, OTHER, anew=True)
    assert anew.count() == 0
    anew.close()
    assert _find_model(folder) == OTHER
    assert len(list(folder.glob("g-*"))) == 1


def test_a_folder_that_two_find_lost_at_once_is_made_again_once(
    index: EdgeIndex, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed, both = ProcessSupervisor._renew, Barrier(2)

    def at_once(serving: ProcessSupervisor, lost: Generation) -> bool:
        both.wait(20)
        return renewed(serving, lost)

    monkeypatch.setattr(ProcessSupervisor, "_renew", at_once)
    shutil.rmtree(folder)
    folder.write_text("not an index")

    with ThreadPoolExecutor(2) as threads:
        notes = [future.result().note for future in [threads.submit(index.state) for _ in range(2)]]

    assert all("Something else was at the path" in note for note in notes)
    assert len(list(folder.glob("g-*"))) == 1


@pytest.mark.parametrize("seen", ["upsert", "state", "flush"])
def test_a_folder_that_was_removed_is_made_again_under_another_identity(
    index: EdgeIndex, folder: Path, seen: str
) -> None:
    before = index.state().identity
    shutil.rmtree(folder)

    if seen == "state":
        assert "removed" in index.state().note
    else:
        with pytest.raises(UnavailableError, match="removed"):
            index.upsert(POINTS) if seen == "upsert" else index.flush()
    assert index.state().identity != before
    persistently(lambda: index.upsert(POINTS))
    index.flush()
    index.close()

    with opened(folder) as again:
        assert again.count() == 40


def _no_json(folder: Path) -> None:
    next(folder.glob("g-*/made.json")).write_text("{")


def _another_size(folder: Path) -> None:
    made = next(folder.glob("g-*/made.json"))
    made.write_text(made.read_text().replace(f'"size": {SMALL.size}', '"size": 400'))


def _no_such_generation(folder: Path) -> None:
    (folder / "live").write_text("g-nowhere")


def _outside(folder: Path) -> None:
    (folder / "live").write_text("../../etc")


def _no_shard(folder: Path) -> None:
    shutil.rmtree(next(folder.glob("g-*/shard")))


def _nonsense_in_all_files(folder: Path) -> None:
    for file in folder.glob("g-*/shard/**/*"):
        if file.is_file():
            file.write_bytes(b"nonsense" * 16)


def _emptied_files(folder: Path) -> None:
    for file in folder.glob("g-*/shard/segments/**/*"):
        if file.is_file():
            file.write_bytes(b"")


DAMAGES = [_no_json, _no_such_generation, _outside, _no_shard, _nonsense_in_all_files, _emptied_files, _another_size]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda item: item.__name__[1:])
def test_a_damaged_index_is_moved_aside_and_begun_anew(
    index: EdgeIndex, folder: Path, damage: Callable[[Path], None]
) -> None:
    identity = index.state().identity
    index.close()
    damage(folder)

    with opened(folder) as again:
        assert again.count() == 0
        assert again.state().identity != identity
        assert "damaged" in again.state().note
        again.upsert(POINTS)
    assert len(list(folder.parent.glob("index.damaged-*"))) == 1
    with opened(folder) as again:
        assert (again.count(), again.state().note) == (40, "")


def test_two_damaged_indexes_are_kept_at_most(folder: Path) -> None:
    folder.mkdir(parents=True)
    folders = IndexFolder(folder)

    for at in range(4):
        folders.quarantine(folders.create_generation(SMALL), DAY + timedelta(seconds=at))

    kept = sorted(folder.parent.glob("index.damaged-*"))
    assert [path.name[-8:] for path in kept] == ["02000000", "03000000"]
    assert all(list(path.glob("g-*/made.json")) for path in kept)


def _a_file(place: Path) -> None:
    place.write_text("not an index")


def _a_link_to_nowhere(place: Path) -> None:
    place.symlink_to(place.parent / "unplugged")


def _a_link_to_itself(place: Path) -> None:
    place.symlink_to(place)


NO_FOLDERS = [_a_file, _a_link_to_nowhere, _a_link_to_itself]


def _moved(folder: Path) -> list[Path]:
    return list(folder.parent.glob("index.damaged-*"))


@pytest.mark.parametrize("stands", NO_FOLDERS, ids=lambda item: item.__name__[1:])
def test_what_stands_in_the_folders_place_is_moved_aside_when_the_index_is_opened(
    folder: Path, stands: Callable[[Path], None]
) -> None:
    folder.parent.mkdir()
    stands(folder)

    with opened(folder) as index:
        note = index.state().note
        index.upsert(POINTS)

    (aside,) = _moved(folder)
    assert aside.is_symlink() or aside.is_file()
    assert f"moved to {aside}, and the index is rebuilt" in note
    with opened(folder) as again:
        assert (again.count(), again.state().note) == (40, "")


@pytest.mark.parametrize("seen", ["upsert", "state", "search"])
@pytest.mark.parametrize("stands", NO_FOLDERS, ids=lambda item: item.__name__[1:])
def test_what_stands_in_the_folders_place_is_moved_aside_once_while_the_index_is_used(
    index: EdgeIndex, folder: Path, stands: Callable[[Path], None], seen: str
) -> None:
    identity = index.state().identity
    shutil.rmtree(folder)
    stands(folder)

    if seen == "search":  # nothing looks at the folder before the process is started again
        kill()
        with suppress(UnavailableError):
            index.search(toward(1), 1, ALL)
    elif seen == "upsert":
        with pytest.raises(UnavailableError, match="Something else was at the path"):
            index.upsert(POINTS)
    persistently(lambda: index.upsert(POINTS))
    index.flush()

    state = index.state()
    (aside,) = _moved(folder)
    assert aside.is_symlink() or aside.is_file()
    assert (state.status, state.count) == ("ready", 40)
    assert state.identity != identity
    assert f"moved to {aside}" in state.note


def test_a_folder_elsewhere_to_which_a_link_leads_is_used(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder.parent.mkdir()
    folder.symlink_to(tmp_path / "elsewhere")

    with opened(folder) as index:
        assert index.state().note == ""

    assert list((tmp_path / "elsewhere").glob("g-*"))
    assert _moved(folder) == []


def test_an_index_of_which_nothing_is_left_leaves_no_empty_folder_aside(index: EdgeIndex, folder: Path) -> None:
    for path in folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    kill()

    with suppress(UnavailableError):
        index.count()
    persistently(lambda: index.upsert(POINTS))

    assert _moved(folder) == []
