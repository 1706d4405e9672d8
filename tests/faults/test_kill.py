"""kill -9 of the real server in the middle of its writes: what it answered is there, whole."""

import random
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .files import holding, indexed, is_sound, one, rows
from .servers import Server

pytestmark = pytest.mark.slow

MANY, FEW = 1000, 200
"""How many writes a server begins in each round: in the full check, and while working."""

AHEAD = 8
"""Calls that are sent before the first is answered, so that the kill meets writes that are under way."""

LONGEST_WAIT = 0.004
"""Seconds from an answer to the kill, at most: about one write."""


@dataclass
class PromisedWrites:
    """What a server has promised: words that it answered to have written, by the item they stand in."""

    words: dict[str, set[str]] = field(default_factory=dict)
    answered: int = 0

    def note(self, sent: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Remember an answer."""
        assert not answer.get("isError"), answer
        self.answered += 1
        data = answer["structuredContent"]["data"]
        made = [result["data"]["id"] for result in data["results"]] if "results" in data else [data["id"]]
        for id_, word in zip(made, sent["words"], strict=True):
            self.words.setdefault(id_, set()).add(word)


def writes(note: str, round_: int, count: int) -> Iterator[Mapping[str, Any]]:
    """Yield writes of every sort, each with the words it puts into items."""
    for number in range(count):
        word = f"w{round_}x{number}"
        match number % 5:
            case 0:
                yield {"tool": "create_task", "args": {"title": f"Water {word}", "tags": ["plot"]}, "words": [word]}
            case 1:
                body = f"{word} " + "compost and seed trays " * 40
                yield {"tool": "create_note", "args": {"title": "Bed", "content": body}, "words": [word]}
            case 2:
                yield {"tool": "append_to_note", "args": {"note": note, "block": f"and {word}"}, "words": [word]}
            case 3:
                yield {"tool": "add_journal_entry", "args": {"text": f"dug {word}"}, "words": [word]}
            case _:
                both = [f"{word}a", f"{word}b"]
                steps = [{"tool": "create_task", "args": {"title": item}} for item in both]
                yield {"tool": "batch", "args": {"operations": steps}, "words": both}


def until_killed(home: Path, round_: int, count: int, chance: random.Random) -> PromisedWrites:
    """Let a server write until it is killed at a random moment; return what it had answered."""
    kept, sent = PromisedWrites(), {}
    last, wait = chance.randint(1, count - AHEAD), chance.uniform(0, LONGEST_WAIT)
    with Server(home) as server:
        note = server.call("create_note", title=f"Log {round_}")["data"]["id"]
        killer = threading.Timer(wait, server.kill)
        try:
            for write in writes(note, round_, count):
                sent[server.send(write["tool"], write["args"])] = write
                if len(sent) >= AHEAD:
                    number, answer = server.next_answer()
                    kept.note(sent.pop(number), answer)
                if kept.answered == last:
                    killer.start()
                    last = 0
            while True:
                number, answer = server.next_answer()
                kept.note(sent.pop(number), answer)
        except EOFError:
            killer.join()
            assert server.process.returncode == -9, server.errors()
    return kept


def assert_whole(home: Path, kept: PromisedWrites) -> None:
    """Check that each answered write is there with its change lines and words, and that nothing is there by half."""
    assert is_sound(home)
    lines = dict(rows(home, "SELECT item, count(*) FROM changes GROUP BY item"))
    found = indexed(home, "w")
    lost = {id_: words - found.get(id_, set()) for id_, words in kept.words.items() if words - found.get(id_, set())}
    unwritten = [id_ for id_, words in kept.words.items() if lines.get(id_, 0) < len(words)]
    assert (lost, unwritten) == ({}, [])
    for table in ("tasks", "notes", "journal"):
        torn = rows(
            home,
            f"SELECT i.id, i.version, count(c.id) FROM {table} i LEFT JOIN changes c ON c.item = i.id "
            "GROUP BY i.id HAVING count(c.id) <> i.version OR max(c.version) <> i.version",
        )
        unsearchable = rows(home, f"SELECT id FROM {table} WHERE id NOT IN (SELECT item FROM search_parts)")
        assert (torn, unsearchable) == ([], [])
    assert one(home, "SELECT count(*) FROM search_parts") == one(home, "SELECT count(*) FROM search_words_docsize")
    halves = (
        "SELECT unit FROM changes WHERE operation = 'tasks.create' AND unit <> call GROUP BY unit HAVING count(*) <> 2"
    )
    assert rows(home, halves) == []


def killed_again_and_again(home: Path, rounds: int, count: int) -> None:
    """Kill a server in each round and look at what is left; the same store serves them all."""
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201 (a failed run must be repeatable)
    chance = random.Random(seed)
    for round_ in range(rounds):
        kept = until_killed(home, round_, count, chance)
        print(f"round {round_}: killed after {kept.answered} of {count} writes")  # noqa: T201 (it is printed if the test fails)
        assert_whole(home, kept)
    with Server(home) as server:
        assert server.call("status")["data"]["counts"]["note"] >= rounds


def test_a_killed_server_has_lost_nothing_it_answered(home: Path) -> None:
    killed_again_and_again(home, 2, FEW)


@pytest.mark.timeout(900)
def test_a_server_killed_twenty_times_has_lost_nothing_it_answered(home: Path) -> None:
    killed_again_and_again(home, 20, MANY)


def test_a_server_killed_while_it_makes_its_store_leaves_one_that_the_next_can_use(home: Path) -> None:
    for wait in (0.0, 0.05, 0.2):
        (home / "panorama.db").unlink(missing_ok=True)
        server = Server(home)
        while not (home / "panorama.db").exists():
            assert server.process.poll() is None, server.errors()
        threading.Event().wait(wait)
        server.kill()
        server.close()

    with Server(home) as server:
        made = server.call("create_task", title="Water")["data"]["id"]

    assert holding(home, "water") == {made}
    assert is_sound(home)
