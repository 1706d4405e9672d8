"""The composition root: builds the parts, and closes them."""

import os
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from panorama import __version__
from panorama.calls import Calls
from panorama.calls.call_log import CallLogWriter
from panorama.calls.promoted_tools import PromotedTools
from panorama.catalogue import build_operations
from panorama.config import Settings
from panorama.databases import open_backend, open_contents
from panorama.domain.jobs import JobKind
from panorama.domain.retention import Retention
from panorama.errors import UnavailableError
from panorama.index.embedders.http import Limits
from panorama.index.embedders.registry import EmbedderChoice, create_embedder, default_choice
from panorama.index.open_index import IndexLocation
from panorama.index.open_index import open_index as opened_index
from panorama.index.qdrant.layout import ServerLayout
from panorama.ports import JobSubmitter, Runner
from panorama.sandbox.runner import ForkServer
from panorama.sdk import SURFACE
from panorama.services import Services
from panorama.services.archive.backup import Backups
from panorama.services.archive.export import Exports
from panorama.services.archive.paths import ArchivePaths
from panorama.services.archive.purge import PurgeService, RetentionAges
from panorama.services.archive.restore import RestoreService
from panorama.services.base import ServiceContext
from panorama.services.graph.unread_links import read_unread_links
from panorama.services.importing.markdown import Imports
from panorama.services.items.any_item import Items
from panorama.services.items.batch import Batch
from panorama.services.items.files import Files
from panorama.services.jobs.job_types import JobType
from panorama.services.jobs.jobs import Jobs
from panorama.services.jobs.machine_id import read_machine_id
from panorama.services.jobs.progress import SHOULD_STOP
from panorama.services.jobs.worker_id import WorkerId
from panorama.services.schedules.due import DueWork
from panorama.services.scripts.code import Code
from panorama.services.scripts.library.library import Library
from panorama.services.scripts.library.script_files import ScriptFiles
from panorama.services.scripts.library.shared_scripts import SharedScripts
from panorama.services.scripts.orphaned_runs import OrphanedRuns
from panorama.services.scripts.sdk_search.collections import collection_entries
from panorama.services.scripts.sdk_search.reference import SdkReference
from panorama.services.scripts.sdk_search.saved_scripts import LibraryEntries
from panorama.services.scripts.sdk_search.semantic_order import SdkSemanticScores
from panorama.services.scripts.sdk_search.sources import SourceEntries
from panorama.services.scripts.sdk_search.tools import ToolEntries
from panorama.services.search.follower import Follower
from panorama.services.search.models import Models
from panorama.services.search.semantic import SemanticSearch
from panorama.services.search.semantic_index import REMOTE_SEARCH_TIMEOUT, SemanticConfig
from panorama.services.sources.calling import SourceCalls
from panorama.services.sources.functions import SourceFunctions
from panorama.services.sources.permissions import SourcePermissions
from panorama.services.status import StatusService
from panorama.sources.pool import SourcePool
from panorama.store.backend.membership import RECOVERY, Daemon
from panorama.store.contents.contents import Contents
from panorama.store.items import long_texts
from panorama.store.migrate import bundled_path, migrate

CATCH_UP = JobKind(name="catch_up", standing=True)
"""The standing job that keeps the semantic index up to date while a daemon runs."""


@dataclass(frozen=True, slots=True)
class App:
    """The product without an interface."""

    settings: Settings
    context: ServiceContext
    calls: Calls
    recorder: CallLogWriter
    meaning: SemanticSearch
    runner: Runner
    jobs: Jobs
    orphaned_runs: OrphanedRuns
    timing: DueWork
    sources: SourcePool

    def recover_orphans(self) -> None:
        """Recover the runs and jobs of dead processes; runs first, because a job reports on its run."""
        if self.context.database.membership.holds(RECOVERY):
            long_texts.complete_all(self.context.database, SHOULD_STOP.get())
            read_unread_links(self.context.database, SHOULD_STOP.get())
        self.orphaned_runs.recover()
        self.jobs.recover_orphans()
        self.sources.end_orphans()

    @contextmanager
    def follow_changes(self) -> Generator[Callable[[], bool]]:
        """Keep the semantic index up to date inside the block; yields a function that returns whether work remains."""
        if self.meaning.is_off:
            self.meaning.clear_served_model()
            yield lambda: False
            return
        with self.meaning.mark_running():
            follower = Follower(self.meaning, self.context.database, lambda: self.jobs.standing_job(CATCH_UP.name))
            try:
                yield follower.is_unfinished
            finally:
                follower.close()


@contextmanager
def open_app(
    settings: Settings,
    context: ServiceContext | None = None,
    queue: JobSubmitter | None = None,
    serves: str = "",
) -> Generator[App]:
    """Open and migrate the store, and build everything; close it all at the end.

    Args:
        queue: Accepts the jobs of schedules.
        serves: The ways in which clients reach this process, for the list of daemons.

    Raises:
        UnavailableError: The data directory or the database cannot be used.
    """
    _create_home(settings.home)
    database = context.database if context else open_backend(settings).open(busy_seconds=settings.busy_seconds)
    with ExitStack() as stack:
        stack.callback(database.close)
        stack.enter_context(database.membership.serve())
        context = context or ServiceContext(database, settings.zone, settings.home)
        migrate(database, backups=settings.home / "backups", now=context.now())
        recorder = CallLogWriter(database, keep=settings.log_age)
        meaning = SemanticSearch(context, semantic_config(settings))
        runner = ForkServer(least=settings.script_isolation, timezone=settings.timezone)
        worker = WorkerId.for_this_process(read_machine_id(settings.home) if database.membership.is_shared else "")
        database.membership.register(_describe_daemon(worker, serves))
        jobs = Jobs(context, worker)
        sources = SourcePool(settings.home)
        for part in (recorder, meaning, sources, runner):
            stack.callback(part.close)
        timing = DueWork(context, queue or jobs)
        orphaned_runs = OrphanedRuns(context, jobs.worker)
        calls = wire_calls(settings, context, recorder, meaning, runner, jobs, orphaned_runs, timing, sources)
        yield App(settings, context, calls, recorder, meaning, runner, jobs, orphaned_runs, timing, sources)


def _describe_daemon(worker: WorkerId, serves: str) -> Daemon:
    return Daemon(
        id=worker.key, machine=worker.machine, host=socket.gethostname(), process=worker.process,
        version=__version__, serves=serves,
    )  # fmt: skip


def wire_calls(
    settings: Settings,
    context: ServiceContext,
    recorder: CallLogWriter,
    meaning: SemanticSearch,
    runner: Runner,
    jobs: Jobs,
    orphaned_runs: OrphanedRuns | None = None,
    timing: DueWork | None = None,
    sources: SourcePool | None = None,
) -> Calls:
    """Connect services and catalogue over a store, which may still be closed."""
    calls = Calls(context, recorder, jobs)
    jobs.offers.add(JobType(CATCH_UP, ""))
    timing = timing or DueWork(context, jobs)
    orphaned_runs = orphaned_runs or OrphanedRuns(context, jobs.worker)
    functions = SourceFunctions(
        context, sources or SourcePool(settings.home), lambda: calls.names | SURFACE.keys() | {"sdk", "state"}
    )
    services = _build_services(context, calls, settings, meaning, runner, jobs, orphaned_runs, timing, functions)
    calls.register(build_operations(services))
    calls.register_promoted(PromotedTools(services.library, services.scripts))
    return calls


def semantic_config(settings: Settings) -> SemanticConfig:
    """Return the search configuration of the settings; nothing is opened or loaded yet."""
    choice = EmbedderChoice(settings.embedder) if settings.embedder else default_choice()
    place = index_location(settings)
    return SemanticConfig(
        embedder=choice.name,
        opened_embedder=partial(
            create_embedder,
            limits=Limits(query=REMOTE_SEARCH_TIMEOUT.total_seconds()),
            aside=True,
            home=settings.home,
        ),
        opened_index=partial(opened_index, place),
        remark=choice.hint,
        is_far=place.is_remote,
    )


def index_location(settings: Settings) -> IndexLocation:
    """Return where the settings keep the vectors."""
    layout = ServerLayout(
        is_shared=settings.qdrant_shared, replicas=settings.qdrant_replicas,
        write_consistency=settings.qdrant_write_consistency, quantization=settings.qdrant_quantization,
    )  # fmt: skip
    return IndexLocation(
        folder=settings.home / "index", engine=settings.index_engine, url=settings.qdrant_url,
        key=settings.qdrant_key.get_secret_value(), layout=layout,
    )  # fmt: skip


def _build_services(
    context: ServiceContext,
    calls: Calls,
    settings: Settings,
    meaning: SemanticSearch,
    runner: Runner,
    jobs: Jobs,
    orphaned_runs: OrphanedRuns,
    timing: DueWork,
    functions: SourceFunctions,
) -> Services:
    store = open_contents(settings, context.database)
    contents = Contents(store)
    keeper = ArchivePaths(settings.home, store, _build_retention(settings))
    library = _build_library(context, calls, settings)
    permissions = SourcePermissions(context, functions)
    code = Code(context, calls, runner, contents, orphaned_runs, functions, permissions)
    ages = RetentionAges(trash=timedelta(days=settings.trash_days), log=settings.log_age)
    return Services(
        context=context,
        meaning=meaning,
        due_work=timing,
        functions=functions,
        files=Files(context, contents),
        items=Items(context, calls),
        batch=Batch(calls),
        code=code,
        library=library,
        sdk_reference=_build_sdk_reference(meaning, runner, library, calls, functions),
        sources=SourceCalls(functions, permissions, calls),
        source_permissions=permissions,
        imports=Imports(context, contents),
        models=Models(context, settings.embedder, settings.home),
        backups=Backups(context, keeper, open_backend(settings).snapshots),
        exports=Exports(context, keeper),
        restoring=RestoreService(settings.home, open_backend(settings).snapshots, now=context.now),
        purging=PurgeService(context, keeper, ages),
        status=StatusService(context, meaning, runner, jobs, timing.uptime_hint),
        jobs=jobs,
    )


def _build_library(context: ServiceContext, calls: Calls, settings: Settings) -> Library:
    folder, shipped = settings.home / "scripts", bundled_path("scripts")
    is_shared = context.database.membership.is_shared
    shelf = SharedScripts(folder, shipped, context) if is_shared else ScriptFiles(folder, shipped)
    return Library(
        context, shelf, taken=lambda: calls.names | SURFACE.keys() | {"sdk", "state"}, findings=_find_violations
    )


def _build_sdk_reference(
    meaning: SemanticSearch, runner: Runner, library: Library, calls: Calls, functions: SourceFunctions
) -> SdkReference:
    scripts, tools, sources = LibraryEntries(library), ToolEntries(calls), SourceEntries(functions)
    return SdkReference(
        score_texts=SdkSemanticScores(meaning).score,
        on_search=runner.preload,
        list_scripts=lambda: [*scripts.list_entries(), *tools.entries, *collection_entries(), *sources.list_entries()],
    )


def _find_violations(source: str) -> Sequence[str]:
    """Return the sandbox violations of a script without running it."""
    from panorama.sandbox.language.restricted import find_violations  # 40 ms, and rarely needed

    return find_violations(source)


def _build_retention(settings: Settings) -> Retention:
    age = timedelta(days=settings.backup_days) if settings.backup_days else None
    return Retention(max_backups=settings.backups_kept, age=age)


def _create_home(home: Path) -> None:
    """Create the data directory, readable only by its owner."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UnavailableError(
            f"The data directory {home} cannot be created: {error.strerror}.",
            hint="Choose another folder with PANORAMA_HOME.",
        ) from error
    if not os.access(home, os.R_OK | os.X_OK):
        raise UnavailableError(f"The data directory {home} cannot be read.", hint="Check its owner and permissions.")
