"""Large stores that read like lives: 100,000 notes, 100,000 tasks, written by the store's own functions."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

from panorama.app import open_app
from panorama.config import Settings
from panorama.domain.changes import Origin
from panorama.domain.items.item import Item
from panorama.domain.items.notes import Note
from panorama.domain.items.projects import Project
from panorama.domain.items.tasks import Task, status_fields
from panorama.services.base import random_id
from panorama.store.backend import Database, Session
from panorama.store.items import rows

NOTES = TASKS = 100_000
PROJECTS = 50
AT_A_TIME = 5_000
WORDS = 6_000
"""How many different words there are; the word of rank n is n times rarer than the first, as in real text (Zipf)."""

_SYLLABLES = [begin + end for begin in (*"bdfghklmnprstvz", "br", "st", "tr", "pl") for end in (*"aeiou", "ai", "ou")]


class Language:
    """Words of an invented language, in the frequencies of a real one."""

    def __init__(self, chance: random.Random) -> None:
        made: dict[str, None] = {}
        while len(made) < WORDS:
            made["".join(chance.choice(_SYLLABLES) for _ in range(chance.choice((1, 2, 2, 3, 3, 4))))] = None
        self.words = list(made)
        self._weights = list(accumulate(1 / rank for rank in range(1, WORDS + 1)))
        self._chance = chance

    def text(self, count: int) -> str:
        """Return some words, a full stop and a paragraph now and then."""
        chosen = self._chance.choices(self.words, cum_weights=self._weights, k=count)
        sentences = [" ".join(chosen[at : at + 12]) for at in range(0, count, 12)]
        return "\n\n".join(". ".join(sentences[at : at + 4]) for at in range(0, len(sentences), 4))

    def title(self) -> str:
        """Return two to five words of the middle ranks, which mean something."""
        return " ".join(self._chance.sample(self.words[50:], self._chance.randint(2, 5)))


class Town:
    """Makes items that were written over the last two years."""

    def __init__(self, seed: int = 7) -> None:
        self.chance = random.Random(seed)
        self.language = Language(self.chance)
        self.now = datetime.now(UTC).replace(microsecond=0)

    def moment(self, days: float = 730) -> datetime:
        """Return a moment of the last days."""
        return self.now - timedelta(seconds=self.chance.uniform(0, days * 86_400))

    def projects(self) -> list[Project]:
        """Return the projects, the first of them lively."""
        begun = self.now - timedelta(days=730)
        return [
            Project(
                id=random_id("p"), created_at=begun, updated_at=begun, name=f"Project {number} {self.language.title()}"
            )
            for number in range(PROJECTS)
        ]

    def note(self, projects: list[Project]) -> Note:
        """Return a note of about a hundred words, a few of them much longer."""
        at = self.moment()
        words = min(3000, int(self.chance.lognormvariate(4.6, 0.8)))
        return Note(
            id=random_id("n"), created_at=at, updated_at=at, title=self.language.title(),
            content=self.language.text(words), tags=(f"tag{self.chance.randint(1, 40)}",),
            project=self.chance.choice(projects).id if self.chance.random() < 0.6 else None,
        )  # fmt: skip

    def task(self, projects: list[Project]) -> tuple[Task, Task]:
        """Return a task as it was made and as it is now: 60 of 100 are done, 33 open, a third of those overdue."""
        at = self.moment()
        status = self.chance.choices(("done", "todo", "in_progress", "cancelled", "idea"), (60, 30, 3, 4, 3))[0]
        day = (at + timedelta(days=self.chance.uniform(0, 60))).date()
        if status in ("todo", "in_progress"):
            day = (self.now + timedelta(days=self.chance.uniform(-40, 80))).date()
        made = Task(
            id=random_id("t"), created_at=at, updated_at=at, title=self.language.title(), notes=self.language.text(12),
            project=self.chance.choice(projects).id if self.chance.random() < 0.95 else None,
            important=self.chance.random() < 0.1, deadline=day if self.chance.random() < 0.6 else None,
        )  # fmt: skip
        if status == "todo":
            return made, made
        later = min(self.now, at + timedelta(days=self.chance.uniform(0, 40)))
        return made, made.with_changes(later, **status_fields("todo", status, later))


def written(session: Session, item: Item, now: Item) -> None:
    """Write an item as its own call would: as it was made, then as it is now."""
    call = random_id("c")
    session.origin = Origin(
        actor="tool", client="benchmark", conversation="v_bench", operation="bench.write", call=call, unit=call
    )
    rows.add(session, item)
    rows.save(session, item, now)


def fill_database(database: Database, things: Iterator[tuple[Item, Item]]) -> None:
    """Write things, five thousand in a transaction."""
    origin = Origin(actor="tool", client="benchmark", conversation="v_bench", operation="", call="", unit="")
    while some := list(islice(things, AT_A_TIME)):
        with database.transaction(origin) as session:
            for made, now in some:
                written(session, made, now)


def store(home: Path, *, notes: int = 0, tasks: int = 0) -> Path:
    """Make a store with fifty projects and so many notes and tasks, unless it is there; return its data directory."""
    if (home / "complete").exists():
        return home
    town = Town()
    with open_app(Settings(home=home, timezone="Europe/Berlin")) as app:
        projects = town.projects()
        fill_database(app.context.database, ((project, project) for project in projects))
        fill_database(app.context.database, (_same(town.note(projects)) for _ in range(notes)))
        fill_database(app.context.database, (town.task(projects) for _ in range(tasks)))
    (home / "complete").touch()
    return home


def _same(item: Any) -> tuple[Any, Any]:
    return item, item
