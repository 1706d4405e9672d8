"""Sources are added and allowed by a person at a terminal: by no tool, no operation, no script."""

import json
from pathlib import Path

import pytest

from panorama.app import App
from panorama.sdk import SURFACE
from tests.services.coding import Run, run

__all__ = ["run"]

WORDS = (
    "add",
    "allow",
    "ask",
    "deny",
    "grant",
    "import",
    "login",
    "remove",
    "secret",
    "set",
    "test",
    "update",
    "write",
)


def test_no_operation_changes_the_configuration(app: App) -> None:
    names = {operation.operation.name for operation in app.calls.operation_arguments}
    verbs = {name.partition(".")[2] for name in names if name.startswith("sources.")}

    assert not verbs & set(WORDS)


def test_the_sdk_has_no_way_to_sources_but_calling_them() -> None:
    assert "sources" not in SURFACE


@pytest.mark.parametrize(
    "code",
    [
        "sdk.sources.add('x', command='sh')",
        "sdk.claap.allow('*')",
        "getattr(sdk, 'sources').allow('claap.*')",
        "open('sources.json', 'w').write('{}')",
        "import pathlib; pathlib.Path('sources.json').write_text('{}')",
        "import subprocess; subprocess.run(['panorama', 'sources', 'allow', 'claap.*'])",
        "sdk.files.write('../sources.json', '{}')",
        "sdk.files.write('sources.json', '{}')",
    ],
)
def test_a_script_leaves_the_configuration_as_it_is(run: Run, home: Path, code: str) -> None:
    before = json.dumps({"mcpServers": {"claap": {"kind": "claap", "options": {"key": "k-0123456789"}}}})
    (home / "sources.json").write_text(before)

    run(code)

    assert (home / "sources.json").read_text() == before
