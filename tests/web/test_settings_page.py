"""The page of settings: it writes config.toml, after the same checks as at the start."""

from pathlib import Path

import pytest

from panorama.config import Settings
from panorama.web.views.settings import EDITABLE
from tests.web.page_client import PageClient


@pytest.fixture
def file(page: PageClient) -> Path:
    """The file with the settings, and a comment."""
    path = page.app.settings.home / "config.toml"
    path.write_text("# mine\nlog_days = 40\n")
    return path


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("log_days", "90", "log_days = 90"), ("busy_seconds", "2.5", "busy_seconds = 2.5"),
        ("busy_seconds", "3", "busy_seconds = 3"), ("web", "true", "web = true"), ("web", "false", "web = false"),
        ("timezone", "Asia/Tokyo", 'timezone = "Asia/Tokyo"'), ("index_engine", "exact", 'index_engine = "exact"'),
    ],
)  # fmt: skip
def test_a_setting_is_written_and_the_rest_stays(
    page: PageClient, file: Path, name: str, value: str, line: str
) -> None:
    answer = page.send("setting", name=name, value=value)

    assert answer["message"] == f"Saved: {name}"
    assert line in file.read_text().splitlines()
    assert file.read_text().startswith("# mine\n")


def test_several_choices_are_a_list_and_count_after_the_next_start(page: PageClient, file: Path) -> None:
    page.send("setting", name="toolsets", value=["", "people", "graph"])

    html = page.page("/settings")

    assert file.read_text().splitlines()[-1] == 'toolsets = ["default", "people", "graph"]'
    assert 'value="graph" checked' in html
    assert 'value="files" checked' not in html
    assert html.count("after the next start") == 2  # and log_days, which was written by hand


def test_a_setting_without_a_value_is_the_default_again(page: PageClient, file: Path) -> None:
    page.send("setting", name="log_days", value="")

    assert file.read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_days", "0"), ("log_days", "x"), ("timezone", "Mars/Base"), ("index_engine", "other"), ("web", "perhaps"),
        ("http_port", "70000"), ("toolsets", "none"), ("nothing", "1"), ("home", "/tmp"), ("qdrant_url", "http://x"),
        ("embedder", "openai:http://evil.test#m"), ("script_isolation", "language-only"), ("qdrant_key", "k"),
    ],
)  # fmt: skip
def test_what_a_setting_cannot_be_and_what_is_not_changed_here_is_refused(
    page: PageClient, file: Path, name: str, value: str
) -> None:
    answer = page.send("setting", name=name, value=value)

    assert answer["failed"]
    assert file.read_text() == "# mine\nlog_days = 40\n"


def test_a_setting_of_the_environment_has_no_form(page: PageClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PANORAMA_LOG_DAYS", "50")

    html = page.page("/settings")

    assert 'name="name" value="log_days"' not in html
    assert 'name="name" value="trash_days"' in html


def test_a_file_that_cannot_be_read_is_a_sentence_on_the_page(page: PageClient, file: Path) -> None:
    file.write_text("log_days = [")

    assert "config.toml cannot be read" in page.page("/settings")


def test_the_settings_that_are_changed_here_exist() -> None:
    assert EDITABLE - Settings.model_fields.keys() == set()
