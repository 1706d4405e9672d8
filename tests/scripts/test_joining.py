"""The shipped script that joins sources, at stand-ins of the services."""

import base64
import csv
import io
import json
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from panorama.sources.rest import client
from tests.scripts.conftest import Call, Run
from tests.sources.stand_ins import KEY, Reply, serve
from tests.sources.stand_ins import Call as Request

MEETINGS = [
    {
        "id": "r1", "title": "=Demo", "createdAt": "2026-05-18T10:00:00Z", "labels": ["product"], "url": "https://c/1",
        "companies": [{"name": "Halden"}], "meeting": {"participants": [{"name": "Ada", "email": "ADA@halden.org"}]},
    },
    {"id": "r2", "title": "Internal", "createdAt": "2026-05-17T10:00:00Z", "companies": [], "meeting": None},
]  # fmt: skip
REPLIES = [
    {"_id": "a1", "leadEmail": "ada@halden.org", "campaignName": "Museums"},
    {"_id": "a2", "leadEmail": "ada@halden.org", "campaignName": "Autumn"},
    {"_id": "a3", "leadEmail": None, "campaignName": "Other"},
]
PAGE = {
    "object": "page", "id": "p1", "properties": {
        "Name": {"type": "title", "title": [{"plain_text": "Halden"}]},
        "Stage": {"type": "status", "status": {"name": "Won"}},
    },
}  # fmt: skip


def answer(call: Request) -> Reply:
    """Answer as all three services."""
    if call.path == "/recordings":
        rows = [row for row in MEETINGS if call.value("labels") in ("", *row.get("labels", ()))]
        return Reply(body={"result": {"recordings": rows, "pagination": {}}})
    if call.path == "/activities":
        return Reply(body=REPLIES)
    return Reply(body={"results": [PAGE], "has_more": False, "next_cursor": None})


@pytest.fixture
def services(home: Path) -> Generator[None]:
    """The three sources, at one stand-in."""
    with ExitStack() as stack:
        url = stack.enter_context(serve(answer)).url
        entries = {kind: {"kind": kind, "url": url, "options": {"key": KEY}} for kind in ("claap", "lemlist", "notion")}
        (home / "sources.json").write_text(json.dumps({"mcpServers": entries}))
        yield


def _read_table(call: Call, message: dict[str, Any]) -> list[dict[str, str]]:
    data = call("get_file", file=message["id"]).data
    text = data["text"] if "text" in data else base64.b64decode(data["base64"]).decode()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.usefixtures("services")
def test_meetings_are_joined_with_campaigns_companies_and_tasks(call: Call, result: Callable[..., Any]) -> None:
    call("create_task", title="Send the offer to Halden")

    reply = result("meeting_campaign_report", companies="companies")

    internal, demo = _read_table(call, reply)
    assert (reply["rows"], reply["with_campaigns"], reply["with_open_tasks"]) == (2, 1, 1)
    assert (demo["meeting"], demo["company"], demo["stage"]) == ("'=Demo", "Halden", "Won")
    assert (demo["campaigns"], demo["people"]) == ("Autumn; Museums", "Ada")
    assert "Send the offer to Halden" in demo["open_tasks"]
    assert (internal["meeting"], internal["campaigns"], internal["stage"]) == ("Internal", "", "")


@pytest.mark.usefixtures("services")
def test_labels_and_companies_narrow_the_report(result: Callable[..., Any]) -> None:
    assert result("meeting_campaign_report", label="product")["rows"] == 1
    assert result("meeting_campaign_report", company="hal")["rows"] == 1
    assert "no such meeting" in result("meeting_campaign_report", company="nobody")["note"]


def test_days_out_of_range_are_refused(refusal: Callable[..., str]) -> None:
    assert "give 1 to 365" in refusal("meeting_campaign_report", days=0)


@pytest.mark.usefixtures("services")
def test_a_service_that_refuses_ends_the_run_without_a_file(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_PAUSE_SECONDS", 0.01)
    config = json.loads((home / "sources.json").read_text())
    config["mcpServers"]["lemlist"]["url"] = "http://127.0.0.1:9"
    config["mcpServers"]["lemlist"]["timeout"] = 1
    (home / "sources.json").write_text(json.dumps(config))

    result = run("meeting_campaign_report")

    assert result["error"]["message"].endswith("lemlist cannot be reached.")
    assert result["changes"] == {}
