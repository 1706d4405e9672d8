"""Settings that send texts elsewhere, in a restore at a terminal: those that the person saw are kept, or none."""

from pathlib import Path

import pytest

from tests.attacks.parcels import rewrite

from .conftest import Command
from .terminals import Terminal

SHOWN = 'embedder = "openai:https://known.example/v1#m"\n'
OTHER = 'embedder = "openai:https://stranger.example/v1#m"\n'
QUESTION = "Keep these settings?"


@pytest.fixture
def archive(run: Command, home: Path, tmp_path: Path) -> Path:
    """A backup whose settings send texts elsewhere."""
    (home / "config.toml").write_text(SHOWN)
    return Path(run("backup", str(tmp_path / "out"), "--json").answer["data"]["path"])


def restore_with_change(archive: Path, again: Path, content: str) -> tuple[int, str]:
    """Agree to the settings of a backup after they changed; return the exit code and what was printed."""
    with Terminal(("restore", str(archive), "--to", str(again))) as terminal:
        terminal.until(QUESTION)
        rewrite(archive, "config.toml", content.encode())
        terminal.types("y")
        return terminal.ends(), " ".join(terminal.seen.split())


@pytest.mark.parametrize(
    "content", [OTHER, f'{SHOWN}qdrant_url = "https://stranger.example"\n', 'home = "/srv/shared"\n', "broken ="]
)
def test_settings_that_change_during_the_question_are_not_restored(archive: Path, tmp_path: Path, content: str) -> None:
    code, printed = restore_with_change(archive, tmp_path / "again", content)

    assert code != 0
    assert "The settings in the backup changed after the question." in printed
    assert not (tmp_path / "again").exists()


def test_settings_that_did_not_change_during_the_question_are_kept_as_they_were_shown(
    archive: Path, tmp_path: Path
) -> None:
    code, printed = restore_with_change(archive, tmp_path / "again", SHOWN)

    assert (code, (tmp_path / "again" / "config.toml").read_text()) == (0, SHOWN)
    assert "embedder = “openai:https://known.example/v1#m”" in printed


@pytest.mark.parametrize(
    "content",
    [
        f'embedder = "openai:https://known.example/{"a" * 300}@stranger.example/v1#m"\n',
        f"{SHOWN}broken =\n",
        f"{SHOWN}{'#' * (1 << 20)}\n",
    ],
    ids=["longer than is shown", "no TOML", "larger than is read"],
)
def test_settings_that_cannot_be_shown_whole_are_left_out_also_with_yes(
    run: Command, archive: Path, tmp_path: Path, content: str
) -> None:
    rewrite(archive, "config.toml", content.encode())

    restored = run("restore", str(archive), "--to", str(tmp_path / "again"), "--yes")

    assert restored.code == 0
    assert "Left out of config.toml, as secret or sending texts elsewhere: " in " ".join(restored.err.split())
    assert "example" not in (tmp_path / "again" / "config.toml").read_text()


def test_settings_of_a_backup_that_is_damaged_are_not_asked_about(run: Command, archive: Path, tmp_path: Path) -> None:
    (archive / "config.toml").write_text(OTHER)

    restored = run("restore", str(archive), "--to", str(tmp_path / "again"), "--yes")

    assert restored.code != 0
    assert "config.toml differs from what was written" in " ".join(restored.err.split())
    assert "stranger.example" not in restored.err
