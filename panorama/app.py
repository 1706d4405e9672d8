"""The composition root: joins the parts, and closes them."""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from panorama.calls import Calls
from panorama.calls.promoted import Promoted
from panorama.calls.recorder import Recorder
from panorama.catalogue import operations
from panorama.config import Settings
from panorama.domain.jobs import Kind
from panorama.domain.keeping import Retention
from panorama.errors import UnavailableError
from panorama.index.embedders.choosing import Choice, default, embedder
from panorama.index.embedders.line import Limits
from panorama.index.opening import Place
from panorama.index.opening import opened as opened_index
from panorama.ports import JobQueue, Runner
from panorama.sandbox.runner import ForkServer
from panorama.sdk import SURFACE
from panorama.services import Services
from panorama.services.backing_up import Backups
from panorama.services.base import Desk
from panorama.services.batch import Batch
from panorama.services.code import Code
from panorama.services.exporting import Exports
from panorama.services.files import Files
from panorama.services.following import Follower
from panorama.services.history import History
from panorama.services.house import FAR_PATIENCE, Means
from panorama.services.imports import Imports
from panorama.services.items import Items
from panorama.services.jobs import Jobs
from panorama.services.journal import Journal
from panorama.services.keeper import Keeper
from panorama.services.library import Library
from panorama.services.library_run import KeptScripts
from panorama.services.links import Links
from panorama.services.meaning import Meaning
from panorama.services.models import Models
from panorama.services.notes import Notes
from panorama.services.offers import Offer
from panorama.services.overview import Overviews
from panorama.services.pages import Pages
from panorama.services.projects import Projects
from panorama.services.purging import Ages, Purging
from panorama.services.query import Query
from panorama.services.reindexing import Reindexing
from panorama.services.reminders import Reminders
from panorama.services.restoring import Restoring
from panorama.services.reviewing import Reviewing
from panorama.services.sdk_kept import KeptEntries
from panorama.services.sdk_meaning import SdkMeaning
from panorama.services.sdk_reference import SdkReference
from panorama.services.search import Search
from panorama.services.shelf import Shelf
from panorama.services.status import State
from panorama.services.tasks import Tasks
from panorama.services.timing import Timing
from panorama.store.blobs import Blobs
from panorama.store.engine import Database
from panorama.store.migrate import migrate, shipped

CATCH_UP = Kind(name="catch_up", standing=True)
"""Bringing the index of meanings up to what is written: it goes on as long as there is a daemon."""


@dataclass(frozen=True, slots=True)
class App:
    """The product without a door."""

    settings: Settings
    desk: Desk
    calls: Calls
    recorder: Recorder
    meaning: Meaning
    runner: Runner
    jobs: Jobs
    timing: Timing

    @contextmanager
    def following(self) -> Generator[None]:
        """Bring the index of meanings up to what is written, as long as this is open."""
        if self.meaning.is_off:
            self.meaning.rest()
            yield
            return
        with self.meaning.attended():
            follower = Follower(self.meaning, self.desk.database, lambda: self.jobs.standing(CATCH_UP.name))
            try:
                yield
            finally:
                follower.close()


@contextmanager
def opened(settings: Settings, desk: Desk | None = None, queue: JobQueue | None = None) -> Generator[App]:
    """Open the store, bring it up to date, and join everything; close it all at the end.

    Args:
        queue: Takes the jobs of schedules.

    Raises:
        UnavailableError: The data directory or the database cannot be used.
    """
    _prepare(settings.home)
    database = desk.database if desk else Database(settings.database, busy_seconds=settings.busy_seconds)
    try:
        desk = desk or Desk(database, settings.zone)
        migrate(database, backups=settings.home / "backups", now=desk.now())
        recorder = Recorder(database, keep=settings.log_age)
        meaning = Meaning(desk, means(settings))
        runner = ForkServer(least=settings.script_isolation, timezone=settings.timezone)
        jobs = Jobs(desk)
        try:
            timing = Timing(desk, queue or jobs)
            calls = joined(settings, desk, recorder, meaning, runner, jobs, timing)
            yield App(settings, desk, calls, recorder, meaning, runner, jobs, timing)
        finally:
            runner.close()
            meaning.close()
            recorder.close()
    finally:
        database.close()


def joined(
    settings: Settings,
    desk: Desk,
    recorder: Recorder,
    meaning: Meaning,
    runner: Runner,
    jobs: Jobs,
    timing: Timing | None = None,
) -> Calls:
    """Join services and catalogue over a store that need not be open yet."""
    calls = Calls(desk, recorder, jobs)
    jobs.offers.add(Offer(CATCH_UP, ""))
    timing = timing or Timing(desk, jobs)
    services = _services(desk, calls, settings, meaning, runner, jobs, timing)
    calls.offer(operations(services))
    calls.offer_promoted(Promoted(services.library, services.scripts))
    return calls


def means(settings: Settings) -> Means:
    """Return what the settings say of search by meaning; nothing is opened or loaded yet."""
    choice = Choice(settings.embedder) if settings.embedder else default()
    place = Place(
        folder=settings.home / "index", engine=settings.index_engine, url=settings.qdrant_url,
        key=settings.qdrant_key.get_secret_value(),
    )  # fmt: skip
    return Means(
        embedder=choice.name,
        opened_embedder=partial(embedder, limits=Limits(query=FAR_PATIENCE.total_seconds()), aside=True),
        opened_index=partial(opened_index, place),
        remark=choice.hint,
        is_far=place.is_far,
    )


def _services(
    desk: Desk, calls: Calls, settings: Settings, meaning: Meaning, runner: Runner, jobs: Jobs, timing: Timing
) -> Services:
    blobs = Blobs(settings.home / "files")
    keeper = Keeper(settings.home, blobs, _retention(settings))
    library = _library(desk, calls, settings)
    code = Code(desk, calls, runner, blobs, jobs.left_runs)
    return Services(
        projects=Projects(desk),
        tasks=Tasks(desk, meaning),
        notes=Notes(desk, meaning),
        links=Links(desk),
        reminders=Reminders(desk, timing.ringing),
        journal=Journal(desk),
        files=Files(desk, blobs),
        items=Items(desk),
        search=Search(desk, meaning),
        query=Query(desk),
        overview=Overviews(desk, library.remark),
        history=History(desk),
        batch=Batch(calls),
        code=code,
        library=library,
        scripts=KeptScripts(desk, library, code),
        reviewing=Reviewing(desk, library),
        sdk_reference=_sdk_reference(meaning, runner, library),
        imports=Imports(desk),
        models=Models(desk, settings.embedder),
        pages=Pages(desk),
        reindexing=Reindexing(desk, meaning),
        backups=Backups(desk, keeper),
        exports=Exports(desk, keeper),
        restoring=Restoring(settings.home, now=desk.now),
        purging=Purging(desk, keeper, Ages(trash=timedelta(days=settings.trash_days), log=settings.log_age)),
        status=State(desk, settings.home / "backups", meaning, runner, jobs),
        jobs=jobs,
        schedules=timing.schedules,
        ringing=timing.ringing,
    )


def _library(desk: Desk, calls: Calls, settings: Settings) -> Library:
    shelf = Shelf(settings.home / "scripts", shipped("scripts"))
    return Library(desk, shelf, taken=lambda: calls.names | SURFACE.keys() | {"sdk", "state"}, findings=_findings)


def _sdk_reference(meaning: Meaning, runner: Runner, library: Library) -> SdkReference:
    return SdkReference(nearest=SdkMeaning(meaning).nearest, asked=runner.warm, kept=KeptEntries(library).found)


def _findings(source: str) -> Sequence[str]:
    """Return what the sandbox would refuse in a script; nothing of it is run."""
    from panorama.sandbox.language import findings  # 40 ms, and only somebody who looks closely asks

    return findings(source)


def _retention(settings: Settings) -> Retention:
    age = timedelta(days=settings.backup_days) if settings.backup_days else None
    return Retention(most=settings.backups_kept, age=age)


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
