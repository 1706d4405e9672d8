"""What the docs say is so: their commands run, and every tool, setting and command stands in them."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
import typer

from panorama import docs, sample
from panorama.cli.commands.root import app
from panorama.cli.main import main
from panorama.config import Settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = re.compile(r"```sh\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)\)")


def commands(page: Path) -> Iterator[str]:
    lines = (line for block in SHELL.findall(page.read_text(encoding="utf-8")) for line in block.splitlines())
    return (line for line in lines if line.startswith("panorama ") and "demo" not in line)


@pytest.fixture
def lived_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with the sample workspace in it, the same as a folder of notes, and `panorama` on the PATH."""
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PANORAMA_NO_DAEMON", "1")
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    notes = tmp_path / "person" / "Notes"
    sample.write_files(notes, date(2026, 5, 20))
    assert main(["import", "markdown", str(notes)]) == 0
    return notes


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if any(commands(page))], ids=lambda page: page.name)
@pytest.mark.usefixtures("lived_in")
def test_every_command_in_the_docs_runs_as_it_is_printed(page: Path) -> None:
    codes = {line: subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL).returncode for line in commands(page)}

    assert set(codes.values()) <= {0}, codes


def test_the_first_pages_put_the_command_on_the_path() -> None:
    assert all("uv tool install ." in (ROOT / page).read_text("utf-8") for page in ("README.md", "docs/start.md"))


def test_the_first_command_of_the_readme_installs_no_development_dependencies() -> None:
    first = SHELL.findall((ROOT / "README.md").read_text("utf-8"))[0]

    assert first == "pip install uv && uv run --no-dev panorama demo\n"


def test_the_readme_shows_commands() -> None:
    assert len(list(commands(ROOT / "README.md"))) >= 6


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_between_pages_leads_somewhere(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_reference_is_fresh() -> None:
    assert docs.main(["--check"]) == 0


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("--chek", 2), ("tools", 2)])
def test_asking_for_help_or_for_what_is_unknown_writes_no_page(
    word: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(docs, "DOCS", tmp_path)

    with pytest.raises(SystemExit) as ended:
        docs.main([word])

    assert (ended.value.code, list(tmp_path.iterdir())) == (code, [])
    assert "--check" in "".join(capsys.readouterr())


def test_without_an_argument_the_pages_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "DOCS", tmp_path)

    assert docs.main([]) == 0

    assert {page.name for page in tmp_path.iterdir()} == {"tools.md", "settings.md", "sdk.md"}


def test_every_setting_stands_in_the_docs() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")

    assert [name for name in Settings.model_fields if f"PANORAMA_{name.upper()}" not in page] == []


def test_every_command_stands_in_the_docs() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    known = typer.main.get_command(app).list_commands(None)

    assert [name for name in known if f"`panorama {name}" not in page] == []
