"""Scripts of a space: what is approved on one machine runs on each, and a draft only where it is."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from panorama.app import App
from panorama.errors import ConflictError, NotFoundError
from tests.kept import COUNTING, Person, put
from tests.postgres.machines import call, drop_spaces, machine

pytestmark = [pytest.mark.postgres, pytest.mark.usefixtures("one_template")]

SPACE = "scripts"
DRAFT = COUNTING.replace("return len", "return 100 + len")


@pytest.fixture
def url(postgres_url: str) -> Iterator[str]:
    """The address of a database without the space."""
    yield postgres_url
    drop_spaces(postgres_url, SPACE)


@pytest.fixture
def approved(url: str, tmp_path: Path) -> str:
    """The address of a database with a script that was made a tool on machine a."""
    with machine(tmp_path / "a", url, SPACE) as app:
        put(app, "count", COUNTING)
        Person(app).promotes("count")
    return url


def list_tools(app: App) -> list[str]:
    return [tool.operation.tool for tool in app.calls.promoted_tools.list_tools()]


def test_an_approved_script_runs_on_a_machine_without_its_file(approved: str, tmp_path: Path) -> None:
    with machine(tmp_path / "b", approved, SPACE) as app:
        call(app, "create_task", title="Tea")

        ran = call(app, "run_script", script="count")
        as_tool = call(app, "script_count")

        assert (ran["result"], ran["script_state"], as_tool["result"]) == (1, "promoted", 1)
        assert "count" in [line["name"] for line in call(app, "list_scripts")]
        assert list_tools(app) == ["script_count"]
        assert call(app, "scripts.get", script="count")["text"] == COUNTING
    assert not (tmp_path / "b" / "scripts").exists()


def test_a_draft_of_a_machine_stays_its_own_and_the_tool_runs_what_was_approved(
    approved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with machine(tmp_path / "b", approved, SPACE) as app:
        path = put(app, "count", DRAFT)

        as_draft, as_tool = call(app, "run_script", script="count"), call(app, "script_count")
        monkeypatch.setattr("panorama.services.jobs.progress.is_scheduled", lambda: True)
        scheduled = call(app, "run_script", script="count")

        assert (as_draft["result"], as_draft["script_state"]) == (100, "draft")
        assert (as_tool["result"], scheduled["result"], list_tools(app)) == (0, 0, ["script_count"])
        assert path.read_text() == DRAFT
    monkeypatch.undo()
    with machine(tmp_path / "a", approved, SPACE) as app:
        assert call(app, "run_script", script="count")["result"] == 0


def test_a_file_with_an_earlier_approved_text_gives_way(approved: str, tmp_path: Path) -> None:
    with machine(tmp_path / "b", approved, SPACE) as app:
        put(app, "count", DRAFT)
        Person(app).approves("count")
    with machine(tmp_path / "a", approved, SPACE) as app:
        assert call(app, "run_script", script="count")["result"] == 100
        assert (tmp_path / "a" / "scripts" / "count.py").read_text() == COUNTING


def test_a_text_with_another_digest_than_the_approved_one_never_runs(approved: str, tmp_path: Path) -> None:
    with psycopg.connect(approved) as driver:
        driver.execute("UPDATE panorama_scripts.reviews SET text = replace(text, 'return len', 'return 9 + len')")

    with machine(tmp_path / "b", approved, SPACE) as app:
        with pytest.raises(NotFoundError):
            call(app, "run_script", script="count")
        assert list_tools(app) == []


def test_a_retired_script_runs_on_no_machine(approved: str, tmp_path: Path) -> None:
    with machine(tmp_path / "a", approved, SPACE) as app:
        Person(app).promotes("count", to="retired")

    with machine(tmp_path / "b", approved, SPACE) as app:
        with pytest.raises(ConflictError, match="retired"):
            call(app, "run_script", script="count")
        assert list_tools(app) == []


def test_saving_over_an_approved_script_needs_a_yes_also_without_its_file(approved: str, tmp_path: Path) -> None:
    with machine(tmp_path / "b", approved, SPACE) as app:
        with pytest.raises(ConflictError, match="already exists"):
            call(app, "save_script", name="count", code=DRAFT)
        call(app, "save_script", name="count", code=DRAFT, replace=True)

        assert call(app, "run_script", script="count")["script_state"] == "draft"
        assert call(app, "script_count")["result"] == 0


def test_the_editor_opens_the_approved_text_and_keeps_an_earlier_file(
    approved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from panorama.cli.main import main

    with machine(tmp_path / "b", approved, SPACE) as app:
        put(app, "count", DRAFT)
        Person(app).approves("count")
    monkeypatch.setenv("PANORAMA_HOME", str(tmp_path / "a"))
    monkeypatch.setenv("PANORAMA_NO_DAEMON", "1")
    monkeypatch.setenv("PANORAMA_EMBEDDER", "none")
    monkeypatch.setenv("PANORAMA_DATABASE_URL", approved)
    monkeypatch.setenv("PANORAMA_SPACE", SPACE)
    monkeypatch.setenv("EDITOR", "true")

    assert main(["scripts", "edit", "count"]) == 0

    folder = tmp_path / "a" / "scripts"
    assert ((folder / "count.py").read_text(), (folder / "count.py~").read_text()) == (DRAFT, COUNTING)
