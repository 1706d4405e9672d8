"""A folder of Markdown that tests import, and what they find in Panorama afterwards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from panorama.calls import Answer

PLAN = """---
tags: [home, planning]
pinned: true
created: 2026-01-02
---
# The plan

See [[Budget]] #later

- [ ] Book the visit #kitchen ⏫ 📅 2026-06-01
    - [x] Ask Ortner ✅ 2026-05-18
- [/] Water plants 🔁 every week ⏳ 2026-05-22
"""


@dataclass(frozen=True)
class Vault:
    """A person's folder of Markdown."""

    root: Path

    def write(self, path: str, text: str) -> Path:
        """Write a file, with the folders it lies in."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def replace(self, path: str, old: str, new: str) -> None:
        """Change a piece of a file."""
        self.write(path, (self.root / path).read_text(encoding="utf-8").replace(old, new))


class Zeros(dict[str, Any]):
    """An answer's data, in which nothing that is zero is sent."""

    def __missing__(self, name: str) -> int:
        return 0


@dataclass(frozen=True)
class PanoramaContents:
    """What there is in Panorama."""

    call: Callable[..., Answer]

    def notes(self) -> dict[str, Any]:
        """Return the living notes by title, whole."""
        return {row["title"]: self.get(row["id"]) for row in self.call("list_notes", limit=500, project="").data} | {
            row["title"]: self.get(row["id"])
            for project in self.projects().values()
            for row in self.call("list_notes", limit=500, project=project).data
        }

    def tasks(self) -> dict[str, Any]:
        """Return the living tasks by title, whole."""
        return {row["title"]: self.get(row["id"]) for row in self.call("list_tasks", status="any", limit=500).data}

    def projects(self) -> dict[str, str]:
        """Return the ids of the living projects by name."""
        return {row["name"]: row["id"] for row in self.call("list_projects").data}

    def get(self, id_: str) -> dict[str, Any]:
        """Return one item, whole."""
        return dict(self.call("get_item", item=id_).data["item"])


@pytest.fixture
def here(call: Callable[..., Answer]) -> PanoramaContents:
    return PanoramaContents(call)


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    made = Vault(tmp_path / "vault")
    made.root.mkdir()
    return made


@pytest.fixture
def run(call: Callable[..., Answer], vault: Vault) -> Callable[..., Zeros]:
    """Imports the vault and returns the report."""

    def ran(**arguments: Any) -> Zeros:
        return Zeros(call("import.markdown", folder=str(vault.root), **arguments).data)

    return ran


Import = Callable[..., Zeros]


def count_imported(report: Zeros) -> tuple[int, int, int]:
    """Return how many notes, tasks and projects an import made."""
    return report["notes_created"], report["tasks_created"], report["projects_created"]


def whys(report: Mapping[str, Any]) -> dict[str, str]:
    """Return what an import says of the files that it could not take, by path."""
    return {problem["path"]: problem["why"] for problem in report.get("problems", ())}
