"""`panorama demo`: it tells the truth, also of a product that is broken, and leaves nothing behind."""

import os
import re
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from rich.cells import cell_len

from panorama import sample
from panorama.cli.demo.steps import IMPORTS, STEPS
from tests.cli.conftest import Command

pytestmark = pytest.mark.slow
LEAP_DAY = date(2028, 2, 29)
WIDTH = 80

DOES_NOTHING = """
    def undo(
        self, unit: str = "", skip_conflicts: bool = False, count: int = 1, redo: bool = False
    ) -> module.UndoResult:
        "Take nothing back."
        return module.UndoResult(units=(unit,), count=0, redo=False, undone=(), conflicts=())

    module.History.undo = undo
"""
ONLY_SAYS_SO = """
    module.UndoOperation._apply_step = lambda self, step: self.done.append(step.change)
"""
SITECUSTOMIZE = """
import importlib.util, sys

def break_it(module):
    {sabotage}

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name != "panorama.services.history.history":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        whole = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (whole(module), break_it(module))
        return spec

sys.meta_path.insert(0, Finder())
"""
"""Python runs this at the start of each of its processes; it breaks `undo` as soon as a process imports it."""


@pytest.fixture
def temporary(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, empty before and after."""
    made = tmp_path / "temporary"
    made.mkdir()
    monkeypatch.setenv("TMPDIR", str(made))
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    return made


def test_the_demo_does_what_it_says_and_leaves_nothing(process: Command, temporary: Path, home: Path) -> None:
    mine = (home / "panorama.db").read_bytes()

    done = process("demo")

    steps = len(IMPORTS) + len(STEPS)
    assert (done.code, done.err) == (0, "")
    assert f"{steps} of {steps} did what they say" in done.out
    assert re.search(r"→ undo\(\)\n +│ Took back \d+ changes", done.out)
    assert "\x1b" not in done.out
    assert max(cell_len(line) for line in done.lines if str(temporary) not in line) <= WIDTH
    assert list(temporary.iterdir()) == []
    assert (home / "panorama.db").read_bytes() == mine


@pytest.mark.parametrize(
    ("sabotage", "step"),
    [
        pytest.param(DOES_NOTHING, "undo batch", id="does-nothing"),
        pytest.param(ONLY_SAYS_SO, "as before", id="only-says-so", marks=pytest.mark.slow),
    ],
)
def test_a_broken_undo_fails_the_demo(
    process: Command, temporary: Path, tmp_path: Path, sabotage: str, step: str
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE.format(sabotage=sabotage.strip()), encoding="utf-8")

    done = process("demo", PYTHONPATH=str(tmp_path))

    assert done.code == 1
    assert f"FAILED: {step}: " in done.out
    assert re.search(r"expected\s.+,\s+got\s", done.out, re.DOTALL)
    assert list(temporary.iterdir()) == []


def test_what_is_kept_can_be_explored(process: Command, temporary: Path, tmp_path: Path) -> None:
    done = process("demo", "--keep", str(tmp_path / "kept"))

    counts = process("status", "--json", PANORAMA_HOME=str(tmp_path / "kept" / "home")).answer["data"]["counts"]
    files = list((tmp_path / "kept" / "workspace").rglob("*.md"))
    assert done.code == 0
    assert f"PANORAMA_HOME={tmp_path}/kept/home panorama tasks" in done.out
    assert counts["note"] == len(files)
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == ["home", "workspace"]


def test_a_folder_that_holds_something_is_not_used(run: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("mine")

    refused = run("demo", "--keep", str(tmp_path))

    assert refused.code == 2
    assert "is not empty" in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.md"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_demo_leaves_nothing(temporary: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-u", "-m", "panorama", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ) as demo:
        assert demo.stdout is not None
        assert any("The MCP server runs" in line for line in demo.stdout)

        demo.send_signal(number)
        output = demo.communicate(timeout=30)

    assert demo.returncode == 130
    assert output[0].endswith("Stopped; nothing is left behind.\n")
    assert output[1] == ""
    assert list(temporary.iterdir()) == []


def test_the_sample_is_written_for_a_day(tmp_path: Path) -> None:
    files = sample.write_files(tmp_path, LEAP_DAY)

    texts = [file.read_text(encoding="utf-8") for file in files]
    assert len(files) == len(list(tmp_path.rglob("*"))) - len([path for path in tmp_path.rglob("*") if path.is_dir()])
    assert not any("{{" in text or "}}" in text for text in texts)
    assert any(LEAP_DAY.isoformat() in text for text in texts)


def test_days_are_counted_over_the_ends_of_months() -> None:
    text = sample.render_dates("{{today-29}} {{today}} {{today+1}} {{tomorrow}}", LEAP_DAY)

    assert text == "2028-01-31 2028-02-29 2028-03-01 {{tomorrow}}"
