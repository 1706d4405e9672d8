"""Chapter 15: every call is written down, however it ended, and truthfully."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.errors import PanoramaError
from tests.conftest import Chat

pytestmark = pytest.mark.anyio
Log = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def log(app: App, call: Callable[..., Answer]) -> Log:
    """Reads the log, the oldest call first."""
    fields = ["name", "success", "code", "changes", "arguments", "client", "ms", "chars", "tokens"]

    def read() -> list[dict[str, Any]]:
        app.recorder.flush()
        return list(call("query", collection="calls", select=fields, limit=100).data)

    return read


async def test_a_call_that_succeeded_is_logged_as_a_success(chat: Chat, log: Log) -> None:
    answer = await chat("create_task", title="Tea")

    entry = log()[-1]
    assert (entry["name"], entry["success"], entry["changes"]) == ("create_task", True, 1)
    assert entry["chars"] == len(answer.text)


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("create_task", {"title": ""}, "invalid_input"),
        ("create_task", {}, "invalid_input"),
        ("create_task", {"title": "x", "deadline": "2026-02-30"}, "invalid_input"),
        ("get_project", {"project": "Nowhere"}, "not_found"),
        ("no_such_tool", {}, "not_found"),
        ("update_link", {"link": "x"}, "not_found"),
        ("undo", {}, "not_found"),
    ],
)
async def test_a_call_that_was_refused_is_logged_as_none(
    chat: Chat, log: Log, tool: str, arguments: dict[str, Any], code: str
) -> None:
    result = await chat.raw(tool, **arguments)

    entry = log()[-1]
    assert result.is_error
    assert (entry["name"], entry["success"], entry["code"]) == (tool, False, code)


async def test_a_stopped_loop_is_no_success(chat: Chat, log: Log) -> None:
    for _ in range(9):
        await chat.raw("list_tasks")

    assert [entry["success"] for entry in log()[-9:]] == [True] * 8 + [False]


async def test_steps_that_were_rolled_back_are_no_successes(chat: Chat, log: Log) -> None:
    steps = [{"tool": "create_task", "args": {"title": title}} for title in ("a", "")]
    await chat.refused("batch", operations=steps)

    entries = log()[-3:]
    assert [entry["success"] for entry in entries] == [False] * 3
    assert sum(entry["changes"] for entry in entries) == 0


async def test_steps_of_a_batch_that_is_not_atomic_tell_their_own_fates(chat: Chat, log: Log) -> None:
    steps = [{"tool": "create_task", "args": {"title": title}} for title in ("a", "")]
    await chat("batch", operations=steps, atomic=False)

    entries = [entry for entry in log() if entry["name"] == "create_task"]
    assert sorted(entry["success"] for entry in entries) == [False, True]


async def test_a_repeated_key_is_a_success_without_a_change(chat: Chat, log: Log) -> None:
    for _ in range(2):
        await chat("create_task", title="Tea", idempotency_key="k")

    assert [(entry["success"], entry["changes"]) for entry in log()[-2:]] == [(True, 1), (True, 0)]


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghijklmnopqrstuvwx",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "AKIAABCDEFGHIJKLMNOP",
        "xoxb-1234567890-abcdefghij",
        "Bearer abcdefghijklmnop.qrstuv",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc123",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
        "https://user:hunter2secret@example.org/x",
        "password=hunter2secret",
    ],
)
async def test_a_secret_in_a_text_is_not_in_the_log(chat: Chat, log: Log, secret: str) -> None:
    await chat("create_note", title="Access", content=f"use {secret} for it")

    written = str(log()[-1]["arguments"])

    assert secret not in written
    assert "hunter2secret" not in written


@pytest.mark.parametrize("name", ["password", "api_key", "token", "Authorization", "client_secret"])
async def test_a_secret_by_its_name_is_not_in_the_log(chat: Chat, log: Log, name: str) -> None:
    await chat.refused("create_task", title="x", **{name: "hunter2"})

    assert "hunter2" not in str(log()[-1])


async def test_a_secret_at_the_cut_of_a_long_text_is_not_in_the_log(chat: Chat, log: Log) -> None:
    for offset in range(780, 801, 4):
        await chat(
            "create_note", title="Access", content="x" * offset + " sk-proj-abcdefghijklmnopqrstuvwx " + "y" * 500
        )

    assert "sk-proj-abcd" not in str(log())


async def test_a_long_value_is_cut(chat: Chat, log: Log) -> None:
    await chat("create_note", title="Long", content="x" * 1_000_000)

    assert len(str(log()[-1]["arguments"])) < 1_000


async def test_the_client_is_named(chat: Chat, log: Log) -> None:
    await chat("list_tasks")

    assert log()[-1]["client"] not in ("", "unknown")


async def test_tokens_are_a_quarter_of_the_signs(chat: Chat, log: Log) -> None:
    await chat("list_tasks")

    entry = log()[-1]
    assert entry["tokens"] == -(-entry["chars"] // 4)
    assert entry["ms"] >= 0


async def test_an_error_is_as_long_in_the_log_as_it_was(chat: Chat, log: Log) -> None:
    refusal = await chat.refused("get_project", project="Nowhere")

    assert log()[-1]["chars"] == len(refusal.text)


def test_a_bug_of_ours_is_logged_as_no_success(
    call: Callable[..., Answer], log: Log, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PanoramaError):
        call("create_task", title="x" * 100_000)

    assert log()[-1]["success"] is False
