"""The conformance suite of the protocol's authors, on the real server over HTTP.

It runs whole, once per revision. Of its scenarios those count that need no tools, prompts or resources made for it,
beside the two that `serve_http.py` adds; the others ask for things named `test_…`.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from . import node
from .conftest import count, serve_http

pytestmark = pytest.mark.protocol

FIXTURE = "asks for the suite's own tool `test_missing_capability`"
PROMPTS = "the list of prompts never changes, which server/discover says"

SCENARIOS = {
    "2026-07-28": (
        "server-stateless", "completion-complete", "tools-list", "server-sse-multiple-streams", "resources-list",
        "sep-2164-resource-not-found", "prompts-list", "dns-rebinding-protection", "caching",
        "input-required-result-unsupported-methods", "http-header-validation",
    ),
    "2025-11-25": (
        "server-initialize", "logging-set-level", "ping", "completion-complete", "tools-list",
        "server-sse-multiple-streams", "resources-list", "resources-subscribe", "resources-unsubscribe",
        "prompts-list", "dns-rebinding-protection", "server-session-lifecycle",
    ),
}  # fmt: skip

EXPECTED_FAILURES = {
    ("server-stateless", "sep-2575-server-rejects-undeclared-capability"): FIXTURE,
    ("server-stateless", "sep-2575-missing-capability-http-400"): FIXTURE,
    ("server-stateless", "sep-2575-server-sends-prompts-list-changed-on-subscription"): PROMPTS,
}
"""Checks, by scenario, that do not pass and why; one that passes after all must leave this list."""


@dataclass(frozen=True)
class Check:
    """One thing that the suite looked at."""

    id: str
    status: str
    message: str

    @property
    def passed(self) -> bool:
        """Whether the suite found nothing to say against it; SKIPPED and WARNING are not passed."""
        return self.status in ("SUCCESS", "INFO")


Results = dict[tuple[str, str], list[Check]]


@pytest.fixture(scope="session")
def results(tools: None, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What the suite found, by revision and scenario."""
    found: Results = {}
    for revision in SCENARIOS:
        work = tmp_path_factory.mktemp(revision)
        with serve_http(work / "home") as address:
            words = ("server", "--url", address, "--requirements", revision, "-o", "out")
            ended = node.run(node.CONFORMANCE, "dist/index.js", *words, env={}, cwd=work)
        assert "=== SUMMARY ===" in ended.stdout, f"the suite broke off: {ended.stdout[-2000:]}{ended.stderr[-2000:]}"
        found |= {(revision, scenario): checks for scenario, checks in _read(work / "out")}
    return found


def _read(out: Path) -> list[tuple[str, list[Check]]]:
    return [(_scenario(file), _checks(file)) for file in sorted(out.glob("*/checks.json"))]


def _scenario(file: Path) -> str:
    """Return the scenario from a folder's name: `server-tools-list-2026-11-20T14-39-19-816Z`."""
    return re.sub(r"^server-|-\d{4}-\d\d-\d\dT[\d-]+Z$", "", file.parent.name)


def _checks(file: Path) -> list[Check]:
    found = json.loads(file.read_text("utf-8"))
    return [Check(load["id"], load["status"], load.get("errorMessage") or load["description"]) for load in found]


@pytest.mark.parametrize(
    ("revision", "scenario"), [(scenario, name) for scenario in SCENARIOS for name in SCENARIOS[scenario]]
)
def test_the_suite_finds_what_is_expected(results: Results, revision: str, scenario: str) -> None:
    checks = results[revision, scenario]
    expected = {check: why for (name, check), why in EXPECTED_FAILURES.items() if name == scenario}

    failed = {check.id: f"{check.status}: {check.message}" for check in checks if not check.passed}

    passed = sum(check.passed for check in checks)
    count(f"{revision} {scenario}: {passed} passed, {len(failed)} not, {len(expected)} expected not to")
    assert {check: failed[check] for check in failed if check not in expected} == {}, "new failures"
    assert {check: expected[check] for check in expected if check not in failed} == {}, "passes now: off the list"
