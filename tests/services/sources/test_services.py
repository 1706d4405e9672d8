"""Scripts that call hand-written sources, at stand-ins."""

import json
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from panorama.errors import ConfirmationError
from tests.services.coding import Call, Run, run
from tests.services.sources.conftest import Allow
from tests.sources.documented import answer_as_claap, answer_as_lemlist, answer_as_notion
from tests.sources.stand_ins import KEY, Route, StandIn, serve

__all__ = ["run"]

JOIN = """
recordings, replies, pages = sdk.parallel(
    lambda: sdk.claap.recordings(labels=["product"]),
    lambda: sdk.lemlist.activities(type="emailsReplied"),
    lambda: sdk.notion.query(data_source="companies"),
)
return len(recordings), len(replies), pages[0]["values"]["Stage"]
"""

AddService = Callable[..., StandIn]


@pytest.fixture
def add_service(home: Path) -> Generator[AddService]:
    """Serves a stand-in, and adds it to `sources.json` under the name of its kind."""
    entries: dict[str, Any] = {}
    with ExitStack() as stack:

        def add(kind: str, answer: Route, **more: Any) -> StandIn:
            stand_in = stack.enter_context(serve(answer))
            entries[kind] = {"kind": kind, "url": stand_in.url, "options": {"key": "file:all/key"}, **more}
            (home / "sources.keys").write_text(json.dumps({"all/key": KEY}))
            (home / "sources.json").write_text(json.dumps({"mcpServers": entries}))
            return stand_in

        yield add


def test_a_list_comes_whole_and_a_limit_ends_it(add_service: AddService, run: Run) -> None:
    claap = add_service("claap", answer_as_claap)

    result = run("return len(sdk.claap.recordings()), len(sdk.claap.recordings(limit=130))")

    assert result["result"] == [230, 130]
    assert [call.value("limit") for call in claap.calls] == ["100", "100", "100", "100", "30"]
    assert result["untrusted"] == ["claap"]


def test_three_services_are_joined_in_one_run(add_service: AddService, run: Run) -> None:
    add_service("claap", answer_as_claap)
    add_service("lemlist", answer_as_lemlist)
    add_service("notion", answer_as_notion)

    result = run(JOIN)

    assert result["result"] == [115, 250, "Won"]


def test_a_call_that_others_see_needs_the_users_word(add_service: AddService, run: Run, show_allowed: Allow) -> None:
    lemlist = add_service("lemlist", answer_as_lemlist)
    with pytest.raises(ConfirmationError) as asked:
        run('sdk.lemlist.add_lead(campaign="cam_1", email="a@example.org")')

    assert "panorama sources allow lemlist.add_lead" in asked.value.hint
    assert lemlist.calls == []

    add_service("lemlist", answer_as_lemlist, allow=["add_lead"])
    show_allowed("lemlist")
    result = run('return sdk.lemlist.add_lead(campaign="cam_1", email="a@example.org")["_id"]')
    assert result["result"] == "lea_1"
    assert result["note"] == "Undo does not revert calls of sources: lemlist.add_lead."


def test_a_new_key_is_used_at_the_next_call(add_service: AddService, run: Run, home: Path) -> None:
    add_service("claap", answer_as_claap)
    (home / "sources.keys").write_text(json.dumps({"all/key": "wrong-key-012345"}))
    assert "Claap does not accept the key" in run('sdk.claap.recording(recording="rec1")')["error"]["message"]

    (home / "sources.keys").write_text(json.dumps({"all/key": KEY}))
    (home / "sources.json").write_text((home / "sources.json").read_text() + "\n")

    assert run('return sdk.claap.recording(recording="rec1")["id"]')["result"] == "rec1"


def test_functions_of_services_are_found_with_their_types(add_service: AddService, call: Call) -> None:
    add_service("claap", answer_as_claap)

    found = json.dumps(call("search_sdk", query="claap transcript").data)

    assert "sdk.claap.transcript(*, recording: str, lang: str = '')" in found


def test_the_key_never_reaches_a_script(add_service: AddService, run: Run) -> None:
    add_service("claap", answer_as_claap)

    result = run("return sdk.claap.recordings(limit=1), repr(sdk.claap), dir(sdk.claap)")

    assert KEY not in json.dumps(result)
