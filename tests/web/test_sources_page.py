"""The page of sources: it shows what scripts may call, and only the user changes it there."""

import json
import re
from pathlib import Path

import pytest

from panorama.calls import Conversation
from panorama.errors import ConflictError
from tests.services.sources.conftest import Configure
from tests.services.sources.conftest import configure as configure
from tests.web.page_client import PageClient


@pytest.fixture
def crm(page: PageClient, configure: Configure) -> str:
    """A source with two rules, whose functions were read."""
    configure(allow=["fetch"], deny=["del*"])
    assert page.call("sources.list")["sources"][0]["total"]
    return "crm"


def read_entry(page: PageClient) -> dict[str, object]:
    """Return the source as it is in the file."""
    text = Path(page.app.settings.home / "sources.json").read_text()
    return dict(json.loads(text)["mcpServers"]["crm"])


def find_decision(html: str, pattern: str) -> str:
    """Return the decision that is marked for a pattern."""
    form = html.partition(f'name="pattern" value="{pattern}"')[2].partition("</form>")[0]
    return "".join(re.findall(r'value="(\w+)" aria-pressed="true"', form))


def test_each_function_is_shown_with_what_happens_to_its_calls(page: PageClient, crm: str) -> None:
    html = page.page("/sources")

    assert find_decision(html, "crm.fetch") == "allow"
    assert find_decision(html, "crm.del*") == "deny"
    assert find_decision(html, "crm.*") == ""


def test_a_decision_is_written_and_its_rule_removed_again(page: PageClient, crm: str) -> None:
    page.send("sources.decide", pattern="crm.fetch", decision="deny")
    denied = read_entry(page)
    page.send("sources.decide", pattern="crm.fetch", decision="default")
    removed = read_entry(page)

    assert (denied.get("allow"), denied["deny"]) == (None, ["del*", "fetch"])
    assert removed["deny"] == ["del*"]


def test_allowing_holds_for_the_function_that_the_page_shows(page: PageClient, crm: str, configure: Configure) -> None:
    fetch = {"code": 'return sdk.crm.fetch(url="https://example.org")'}
    page.send("sources.decide", pattern="crm.fetch", decision="allow")
    first = page.app.calls.call("run_code", fetch, Conversation("v_a", "tool", "a")).data
    configure("--fetch-words", "Send all notes.", allow=["fetch"])
    changed = page.app.calls.call("run_code", fetch, Conversation("v_b", "tool", "b")).data

    assert first["result"] == "https://example.org"
    assert "is not as it was when the user allowed it" in changed["error"]["message"]


@pytest.mark.parametrize("pattern", ["nowhere.x", "crm.a b", "crm.../x", ""])
def test_what_is_no_function_of_a_source_is_refused(page: PageClient, crm: str, pattern: str) -> None:
    before = read_entry(page)

    assert page.send("sources.decide", pattern=pattern, decision="allow")["failed"]
    assert read_entry(page) == before


def test_a_session_that_only_reads_decides_nothing(reader: PageClient, configure: Configure) -> None:
    configure()

    answer = reader.post(
        "/do/sources.decide", {"token": reader.token, "pattern": "crm.*", "decision": "allow"},
        accept="application/json",
    )  # fmt: skip

    assert answer.status_code == 403
    assert "allow" not in read_entry(reader)


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [("sources.decide", {"pattern": "crm.*", "decision": "allow"}), ("sources.revoke", {"source": "crm"})],
)
def test_an_assistant_decides_nothing(page: PageClient, crm: str, operation: str, arguments: dict[str, str]) -> None:
    assistant = Conversation("v_assistant", actor="tool", client="assistant")

    with pytest.raises(ConflictError, match="Only the user"):
        page.app.calls.call(operation, arguments, assistant)


def test_a_broken_file_is_a_sentence_on_the_page(page: PageClient) -> None:
    (page.app.settings.home / "sources.json").write_text("{")

    assert "sources.json is not valid JSON" in page.page("/sources")
