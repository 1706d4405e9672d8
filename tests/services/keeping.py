"""A store with something of everything in it, and a backup and an export of that."""

from collections.abc import Callable
from pathlib import Path

import pytest

from panorama.app import App
from panorama.calls import Answer

Call = Callable[..., Answer]


@pytest.fixture
def lived(call: Call, app: App) -> App:
    """A store with a project, a task, a note, a file of two versions, a script and a configuration."""
    call("create_project", name="Garden")
    call("create_task", title="Dig", project="Garden", deadline="2026-06-01")
    call("create_note", title="Plan", project="Garden", content="# Beds\n\n- one\n", tags=["green"])
    call("items.link_source", item="Plan", source_ref="notion:0a1b")
    call("create_session", title="Tiler", kind="meeting", lines=["Grey"])
    call("items.link_source", item="Tiler", source_ref="claap:rec_1")
    call("write_file", name="beds.csv", text="a,b\n1,2\n", project="Garden")
    call("write_file", name="beds.csv", text="a,b\n3,4\n", project="Garden")
    home = app.settings.home
    (home / "scripts" / "mine").mkdir(parents=True)
    (home / "scripts" / "mine" / "tidy.py").write_text("def main(): pass\n")
    (home / "config.toml").write_text('timezone = "Europe/Berlin"\nqdrant_key = "geheim"\n')
    app.recorder.flush()
    return app


@pytest.fixture
def backup(lived: App, call: Call) -> Path:
    """A backup in the data directory."""
    return Path(call("backup").data["path"])


@pytest.fixture
def export(lived: App, call: Call, tmp_path: Path) -> Path:
    """An export elsewhere."""
    return Path(call("export", folder=str(tmp_path / "out"), confirm=True).data["path"])


def below(folder: Path) -> set[str]:
    """Return the paths of the files below a folder."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
