"""What the import of two thousand Markdown files costs."""

import random
import time
from pathlib import Path
from typing import Any

import pytest

from panorama.app import open_app
from panorama.calls import Conversation
from panorama.config import Settings

from .measure import Board
from .stores import Town

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(900)]
FILES = 2000


def vault(folder: Path) -> Path:
    """Write two thousand notes as people keep them: folders, front matter, tags, tasks, links to each other."""
    town, chance = Town(), random.Random(3)
    titles = [f"{town.language.title()} {number}" for number in range(FILES)]
    for number, title in enumerate(titles):
        tasks = "".join(
            f"- [{chance.choice(' x')}] {town.language.title()} 📅 2026-05-{1 + n:02}\n" for n in range(number % 4)
        )
        front = f"---\ntags: [tag{number % 30}]\n---\n" if number % 3 == 0 else ""
        text = (
            f"{front}# {title}\n\n{town.language.text(200)}\n\n[[{chance.choice(titles)}]] #tag{number % 17}\n\n{tasks}"
        )
        place = folder / f"Folder {number % 40}" / f"{title}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return folder


def test_an_import_of_two_thousand_files_and_its_repetition(tmp_path: Path, board: Board) -> None:
    source, client = vault(tmp_path / "vault"), Conversation(id="v_bench", actor="cli", client="benchmark")

    def seconds(call: Any) -> float:
        started = time.perf_counter()
        call("import.markdown", {"folder": str(source)}, client)
        return time.perf_counter() - started

    with open_app(Settings(home=tmp_path / "home")) as app:
        first, again = seconds(app.calls.call), seconds(app.calls.call)
        held = app.calls.call("status", {}, client).data["counts"]

    board.show(
        "markdown import of 2,000 files", "≤ 15 s", f"{first:.1f} s", f"{held['note']:,} notes, {held['task']:,} tasks"
    )
    board.show("the same again, nothing changed", "", f"{again:.2f} s")
