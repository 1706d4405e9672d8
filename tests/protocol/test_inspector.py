"""The inspector, a client of other makers (TypeScript), through the real door to the daemon, in both protocol eras."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import node
from .conftest import count

pytestmark = pytest.mark.protocol

REQUESTS, AT_ONCE = 500, 8
Inspected = subprocess.CompletedProcess[str]
Inspect = Callable[..., Inspected]


@pytest.fixture(params=["modern", "legacy"])
def inspect(request: pytest.FixtureRequest, tmp_path: Path) -> Inspect:
    """Calls a method of the server on one store: `inspect("tools/list", "--strict")`."""
    settings = (
        "-e",
        f"PANORAMA_HOME={tmp_path / 'store'}",
        "-e",
        "PANORAMA_TIMEZONE=UTC",
        "-e",
        "PANORAMA_LINGER_SECONDS=1",
        "-e",
        "PANORAMA_EMBEDDER=none",
    )
    words = ("--cli", "--protocol-era", request.param, "--format", "json", *settings, sys.executable, "-m", "panorama")

    def inspected(method: str, *more: str) -> Inspected:
        script = "clients/launcher/build/index.js"
        # A home of its own: the inspector may keep a catalogue of servers there.
        env = {"HOME": str(tmp_path)}
        return node.run(node.INSPECTOR, script, *words, "--method", method, *more, env=env, cwd=tmp_path)

    return inspected


def answer(ended: Inspected) -> dict[str, Any]:
    """Return the result that the inspector was given."""
    assert ended.returncode == 0, f"exit {ended.returncode}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}"
    return json.loads(ended.stdout)["result"]


def test_no_tools_schema_hinders_a_client(inspect: Inspect) -> None:
    ended = inspect("tools/list", "--strict")

    tools = answer(ended)["tools"]
    counts = re.search(r"\d+ errors?, \d+ warnings?", ended.stderr)
    count(f"schemas of {len(tools)} tools: {counts[0] if counts else '0 errors, 0 warnings'}")
    assert tools


def test_a_task_that_was_created_is_listed(inspect: Inspect) -> None:
    created = answer(inspect("tools/call", "--tool-name", "create_task", "--tool-arg", "title=Tea"))

    listed = answer(inspect("tools/call", "--tool-name", "list_tasks"))

    known = created["structuredContent"]["data"]["id"]
    assert [row["id"] for row in listed["structuredContent"]["data"]] == [known]
    assert known in listed["content"][0]["text"]
    count(f"{listed['structuredContent']['summary']}, by both calls")


def test_a_refusal_arrives_in_our_words(inspect: Inspect) -> None:
    """Clients may hold an error's structure against the tool's output schema, and show theirs instead of ours."""
    ended = inspect("tools/call", "--tool-name", "get_item", "--tool-arg", "item=t_0000000000")

    assert "[not_found]" in ended.stdout, ended.stderr
    assert json.loads(ended.stdout)["result"]["isError"]


def test_templates_and_prompts_are_offered(inspect: Inspect) -> None:
    templates = answer(inspect("resources/templates/list"))["resourceTemplates"]
    prompts = answer(inspect("prompts/list"))["prompts"]

    assert {template["uriTemplate"] for template in templates} >= {
        f"panorama://{kind}/{{id}}" for kind in ("note", "task")
    }
    assert "weekly_review" in {prompt["name"] for prompt in prompts}
    count(f"{len(templates)} templates, {len(prompts)} prompts")


@pytest.mark.parametrize("call", [("status",), ("create_task", "--tool-arg", "title=Tea")], ids=lambda call: call[0])
def test_many_calls_at_once_are_all_answered(inspect: Inspect, call: tuple[str, ...]) -> None:
    load = ("--load", "--load-requests", str(REQUESTS), "--load-concurrency", str(AT_ONCE))

    counted = answer(inspect("tools/call", "--tool-name", *call, *load))

    count(f"{call[0]}: {counted['ok']} of {counted['requests']}, ms: {counted['latencyMs']}")
    assert (counted["ok"], counted["errorMessages"]) == (REQUESTS, [])


def test_the_page_of_the_chat_is_offered_to_a_client_that_shows_it(inspect: Inspect) -> None:
    probe = ("tools/call", "--tool-name", "show", "--app-info", "--advertise-apps")
    asked = inspect(*probe)

    result = json.loads(asked.stdout)["appInfo"]
    page = answer(inspect("resources/read", "--uri", "ui://panorama/view.html", "--advertise-apps"))["contents"][0]
    shown = answer(inspect("tools/call", "--tool-name", "show", "--advertise-apps"))

    assert (result["hasApp"], result["resourceUri"]) == (True, "ui://panorama/view.html")
    assert page["mimeType"] == "text/html;profile=mcp-app"
    assert shown["structuredContent"]["data"]["view"] == "today"
    count(f"{len(page['text']):,} characters of the page")


def test_a_client_that_shows_no_pages_is_not_offered_it(inspect: Inspect) -> None:
    tools = answer(inspect("tools/list"))["tools"]
    rich = answer(inspect("tools/list", "--advertise-apps"))["tools"]

    assert {tool["name"] for tool in rich} - {tool["name"] for tool in tools} == {"show"}
