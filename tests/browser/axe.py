"""axe-core, which finds what keeps people with disabilities out of a page."""

import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.browser.driver import Frame, Page

HERE = Path(__file__).parent
RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""The rules whose result depends on the colour scheme; they take half the time of all."""

_RUN = "rules => axe.run(document, {runOnly: rules, resultTypes: ['violations']})"


@cache
def read_axe() -> str:
    """Return the source of axe-core; without it the tests are skipped, and fail in CI."""
    version = json.loads((HERE / "package.json").read_text())["dependencies"]["axe-core"]
    package = next((folder for folder in _iter_packages() if _read_version(folder) == version), None)
    if package is None:
        reason = f"Not installed: axe-core@{version}; see package.json, beside this file."
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    return (package / "axe.min.js").read_text()


def find_violations(page: Page | Frame, rules: Sequence[str] = RULES) -> list[tuple[str, str]]:
    """Return each rule that the page or frame breaks, with the first elements that do.

    Args:
        rules: Tags or names of rules; COLOUR_RULES suffice for another colour scheme of the same page.
    """
    page.evaluate(read_axe())  # the page's content security policy does not hold for its debugger
    found = page.evaluate(_RUN, list(rules))["violations"]
    return [(rule["id"], " | ".join(node["html"][:150] for node in rule["nodes"][:3])) for rule in found]


def _iter_packages() -> Iterator[Path]:
    """Yield where axe-core may be: in the folders of NODE_PATH, or beside this file."""
    yield from (Path(folder) / "axe-core" for folder in os.environ.get("NODE_PATH", "").split(os.pathsep) if folder)
    yield HERE / "node_modules" / "axe-core"


def _read_version(package: Path) -> str:
    manifest = package / "package.json"
    return str(json.loads(manifest.read_text())["version"]) if manifest.is_file() else ""
