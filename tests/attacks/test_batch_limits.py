"""Atomic batches: everyday ones are accepted, and those that would delay other writes are refused with the reason."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError

Call = Callable[..., Answer]
Steps = list[dict[str, Any]]


def make_steps(tool: str, arguments: list[Mapping[str, Any]]) -> Steps:
    return [{"tool": tool, "args": dict(entry)} for entry in arguments]


def prepare_log(call: Call) -> Steps:
    """Return 100 lines for a log of 2,000 lines, one of which is a task."""
    content = "- [ ] call Anna\n" + "".join(f"{n} an entry of the log\n" for n in range(2_000))
    call("create_note", title="Log", content=content)
    call("create_tasks_from_note", note="Log")
    return make_steps("append_to_note", [{"note": "Log", "block": f"entry {n}"} for n in range(100)])


def prepare_ticks(call: Call) -> Steps:
    """Return the completion of 100 tasks of a note of 300 lines with a block of code."""
    content = "```\ncode\n```\n" + "".join(f"- [ ] task {n}\n  details\n\n" for n in range(100))
    call("create_note", title="List", content=content)
    call("create_tasks_from_note", note="List")
    tasks = [task["id"] for task in call("list_tasks", limit=100).data]
    assert len(tasks) == 100
    return make_steps("update_task", [{"task": task, "status": "done"} for task in tasks])


def prepare_index(call: Call) -> Steps:
    """Return 100 links for a note of 400 links."""
    call("create_note", title="Index", content="".join(f"- [[Page {n}]]\n" for n in range(400)))
    return make_steps("append_to_note", [{"note": "Index", "block": f"- [[New {n}]]"} for n in range(100)])


EVERYDAY = {"lines of a log": prepare_log, "ticked tasks": prepare_ticks, "links of an index": prepare_index}


@pytest.mark.parametrize("prepare", EVERYDAY.values(), ids=EVERYDAY)
def test_a_hundred_small_edits_of_one_long_note_are_one_batch(call: Call, prepare: Callable[[Call], Steps]) -> None:
    steps = prepare(call)

    assert call("batch", operations=steps).data["succeeded"] == 100


def count_backlinks(call: Call, item: str) -> int:
    return len(call("items.get", item=item).data.get("belonging", {}).get("backlinks", []))


def test_an_index_has_the_links_that_a_batch_adds_and_removes(call: Call) -> None:
    prepare_index(call)
    note = call("create_note", title="New 1").data["id"]
    first = {"tool": "append_to_note", "args": {"note": "Index", "block": "- [[New 1]] and [[Page 7]]"}}
    second = {"tool": "edit_note", "args": {"note": "Index", "old_text": "[[New 1]]", "new_text": "[[Page 3]]"}}

    call("batch", operations=[first])
    assert count_backlinks(call, note) == 1

    call("batch", operations=[second])
    assert count_backlinks(call, note) == 0


def prepare_links(_: Call) -> Steps:
    """Return 100 notes of 5,000 links."""
    texts = [" ".join(f"[[{n} {m}]]" for m in range(5_000)) for n in range(100)]
    return make_steps("create_note", [{"title": f"{n}", "content": text} for n, text in enumerate(texts)])


def prepare_lines(call: Call) -> Steps:
    """Return 10 new texts of 4,000 lines for a note with a task."""
    call("create_note", title="Home", content="- [ ] call Anna")
    call("create_tasks_from_note", note="Home")
    texts = ["".join(f"- [ ] {n} {m}\n" for m in range(4_000)) for n in range(10)]
    return make_steps("update_note", [{"note": "Home", "content": text} for text in texts])


BOMBS = {"links": prepare_links, "task lines": prepare_lines}


@pytest.mark.parametrize("prepare", BOMBS.values(), ids=BOMBS)
def test_a_batch_of_little_text_that_takes_long_is_refused_because_of_its_time(
    call: Call, prepare: Callable[[Call], Steps]
) -> None:
    with pytest.raises(InvalidInputError, match="The steps would take too long for one transaction") as refused:
        call("batch", operations=prepare(call))

    assert "MB of text" not in refused.value.message
    assert refused.value.hint == "Use fewer steps in a batch, or atomic=false."


def test_a_batch_of_much_text_is_refused_because_of_its_text(call: Call) -> None:
    call("create_note", title="Big", content="word " * 200_000)
    steps = make_steps("update_note", [{"note": "Big", "pinned": n % 2 == 0} for n in range(25)])

    with pytest.raises(InvalidInputError, match="read and write more than 20 MB of text") as refused:
        call("batch", operations=steps)

    assert "too long" not in refused.value.message
    assert refused.value.hint == "Use fewer steps in a batch, or atomic=false."


def test_links_count_with_the_bytes_of_their_names(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[int] = []
    monkeypatch.setattr("panorama.store.backend.session.Session.spend_bytes", lambda _, size: spent.append(size))

    call("create_note", title="Plans", content="[[計画計画計画]]")

    assert 150 + 3 * len("計画計画計画".encode()) in spent
