"""The composition root: joins the parts, and closes them."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from panorama.calls import Calls
from panorama.calls.recorder import Recorder
from panorama.catalogue import operations
from panorama.config import Settings
from panorama.errors import UnavailableError
from panorama.services import Services
from panorama.services.base import Desk
from panorama.services.batch import Batch
from panorama.services.history import History
from panorama.services.imports import Imports
from panorama.services.items import Items
from panorama.services.journal import Journal
from panorama.services.links import Links
from panorama.services.notes import Notes
from panorama.services.overview import Overviews
from panorama.services.pages import Pages
from panorama.services.projects import Projects
from panorama.services.query import Query
from panorama.services.reminders import Reminders
from panorama.services.search import Search
from panorama.services.status import State
from panorama.services.tasks import Tasks
from panorama.store.engine import Database
from panorama.store.migrate import migrate


@dataclass(frozen=True, slots=True)
class App:
    """The product without a door."""

    settings: Settings
    desk: Desk
    calls: Calls
    recorder: Recorder


@contextmanager
def opened(settings: Settings, desk: Desk | None = None) -> Generator[App]:
    """Open the store, bring it up to date, and join everything; close it all at the end.

    Raises:
        UnavailableError: The data directory or the database cannot be used.
    """
    _prepare(settings.home)
    database = desk.database if desk else Database(settings.database, busy_seconds=settings.busy_seconds)
    try:
        desk = desk or Desk(database, settings.zone)
        migrate(database, backups=settings.home / "backups", now=desk.now())
        recorder = Recorder(database, keep=settings.log_age)
        try:
            yield App(settings, desk, joined(settings, desk, recorder), recorder)
        finally:
            recorder.close()
    finally:
        database.close()


def joined(settings: Settings, desk: Desk, recorder: Recorder) -> Calls:
    """Join services and catalogue over a store that need not be open yet."""
    calls = Calls(desk, recorder)
    calls.offer(operations(_services(desk, calls, settings)))
    return calls


def _services(desk: Desk, calls: Calls, settings: Settings) -> Services:
    return Services(
        projects=Projects(desk),
        tasks=Tasks(desk),
        notes=Notes(desk),
        links=Links(desk),
        reminders=Reminders(desk),
        journal=Journal(desk),
        items=Items(desk),
        search=Search(desk),
        query=Query(desk),
        overview=Overviews(desk),
        history=History(desk),
        batch=Batch(calls),
        imports=Imports(desk),
        pages=Pages(desk),
        status=State(desk, settings.home / "backups"),
    )


def _prepare(home: Path) -> None:
    """Make the data directory, readable by its owner alone."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"The data directory {home} cannot be made: {error.strerror}.",
            hint="Choose another folder with PANORAMA_HOME.",
        ) from error
    if not os.access(home, os.R_OK | os.X_OK):
        raise UnavailableError(f"The data directory {home} cannot be read.", hint="Check its owner and permissions.")
