"""Two machines that import one folder at the same time: every file becomes one note, every box one task."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import psycopg
import pytest

from tests.postgres.machines import call, machine

pytestmark = pytest.mark.postgres

FILES = 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of Markdown files in two projects, each with two tasks."""
    for number in range(FILES):
        path = tmp_path / "notes" / ("Garden" if number % 2 else "House") / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Page {number}\n\n- [ ] Dig {number}\n- [ ] Dig {number}\n")
    return tmp_path / "notes"


def test_a_folder_that_two_machines_import_at_once_is_imported_once(
    postgres_url: str, empty_space: Callable[[], None], folder: Path, tmp_path: Path
) -> None:
    empty_space()
    start = Barrier(2)
    with (
        machine(tmp_path / "a", postgres_url, "tests") as here,
        machine(tmp_path / "b", postgres_url, "tests") as there,
    ):

        def import_folder(app: object) -> dict[str, int]:
            start.wait(30)
            return dict(call(app, "import.markdown", folder=str(folder)))

        with ThreadPoolExecutor(2) as both:
            first, second = both.map(import_folder, (here, there))
        again = call(there, "import.markdown", folder=str(folder))

    created = {name: first[name] + second[name] for name in ("notes_created", "tasks_created", "projects_created")}
    assert created == {"notes_created": FILES, "tasks_created": 2 * FILES, "projects_created": 2}
    assert (again["unchanged"], again["notes_created"], again["tasks_created"]) == (FILES, 0, 0)
    with psycopg.connect(postgres_url) as driver:
        rows = driver.execute("SELECT folder, path, part FROM panorama_tests.imports").fetchall()
    assert (len(rows), len(set(rows))) == (3 * FILES, 3 * FILES)
