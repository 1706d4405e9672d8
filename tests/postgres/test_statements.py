"""Every function of the store answers the same on PostgreSQL as on SQLite, and writes the same rows."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from shutil import copyfile
from typing import Any, cast
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import select

from panorama.domain.jobs import Job, Requester
from panorama.domain.paging import Page, PageRequest
from panorama.domain.schedules import Schedule
from panorama.errors import ConflictError
from panorama.services.history.project_writes import list_project_writes
from panorama.store import bulk_writes, events, session_lines, sessions
from panorama.store.archive import purging, withdrawing
from panorama.store.backend import Dialect, Session
from panorama.store.graph import edges, relations, subgraphs, task_lines, walks
from panorama.store.items import (
    alerts,
    files,
    lookup,
    models,
    notes,
    overview,
    passages,
    projects,
    query,
    rows,
    search,
    tags,
    tasks,
    trash,
)
from panorama.store.items.query import QueryRequest
from panorama.store.items.tasks import Clock
from panorama.store.log import (
    call_statistics,
    calls,
    changes,
    idempotency,
    imports,
    jobs,
    library,
    marks,
    runs,
    schedules,
    undo_units,
)
from panorama.store.people import names, people
from panorama.store.postgres.engine import PostgresDatabase
from panorama.store.sqlite.dialect import DIALECT as SENT_AT_ONCE
from panorama.store.sqlite.engine import SqliteDatabase
from panorama.store.tables import metadata
from tests.postgres.sample import FOLDER, NOW, ORIGIN, PATH, fill, list_items

pytestmark = pytest.mark.postgres

BERLIN = ZoneInfo("Europe/Berlin")
CLOCK = Clock(now=NOW, zone=BERLIN)
SOON, PAST, FUTURE = timedelta(days=3), NOW - timedelta(days=9), NOW + timedelta(days=9)
DAYS = [NOW + timedelta(days=number) for number in range(-2, 4)]
PLAN, TEA, ANA = "n_0000000010", "t_0000000006", "u_0000000004"
FIRST = PageRequest(limit=2)
Read = Callable[[Session], Any]


class NoWords:
    """An index of words that holds none: these tests are about the statements that all databases share."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *_, **__: {} if name.startswith("count_parts") else []


class SharedDialect:
    """The shared bulk writes, statements that are sent at once, and no words."""

    full_text = vocabulary = NoWords()
    insert_rows = staticmethod(bulk_writes.insert_rows)
    update_rows = staticmethod(bulk_writes.update_rows)
    ask, send = SENT_AT_ONCE.ask, SENT_AT_ONCE.send

    def reading_long_texts(self, session: Session) -> AbstractContextManager[None]:  # noqa: ARG002
        return nullcontext()


DIALECT = cast("Dialect", SharedDialect())


@pytest.fixture
def both(space: PostgresDatabase, template: Path, tmp_path: Path) -> Iterator[tuple[Session, Session]]:
    """A session of SQLite and one of PostgreSQL, in which the same was written."""
    copyfile(template, tmp_path / "sqlite.db")
    database = SqliteDatabase(tmp_path / "sqlite.db")
    with database.transaction(ORIGIN) as opened, space.transaction(ORIGIN) as there:
        both = Session(opened.connection, ORIGIN, DIALECT), Session(there.connection, ORIGIN, DIALECT)
        for session in both:
            fill(session)
        yield both
    database.close()


def ask(collection: str, where: dict[str, Any], **more: Any) -> Read:
    """Return a query that reads all pages, two rows at a time."""
    request = QueryRequest(collection, where, *(more.get(name, ()) for name in ("select", "sort", "group_by", "sum")))

    def read(session: Session) -> list[Any]:
        return list_pages(session, lambda s, part: query.run_query(s, request, part, CLOCK))

    return read


def list_pages(session: Session, read: Callable[[Session, PageRequest], Page[Any]]) -> list[Any]:
    """Return the rows of all pages, their sort values and the total."""
    page, found = read(session, FIRST), list[Any]()
    while True:
        found += [page.items, page.keys, page.total]
        if not page.more:
            return found
        page = read(session, PageRequest(limit=2, after=page.keys[-1]))


def pages(read: Callable[[Session, PageRequest], Page[Any]]) -> Read:
    """Return a reading of all pages of a list."""
    return lambda session: list_pages(session, read)


READS: dict[str, Read] = {
    "tasks": pages(lambda s, part: tasks.list_tasks(s, part, tasks.build_conditions(zone=BERLIN))),
    "tasks by completion": pages(lambda s, p: tasks.list_tasks(s, p, (tasks.living(),), by=tasks.BY_CREATION)),
    "due tasks": lambda s: [
        tasks.list_tasks(s, PageRequest(), (tasks.view_condition(name, CLOCK),)).items
        for name in ("overdue", "today", "this_week", "urgent", "important", "no_deadline", "in_progress",
                     "parked_ideas", "recently_done")
    ],
    "tagged tasks": lambda s: tasks.list_tasks(s, PageRequest(), tasks.build_conditions(tag="home", zone=BERLIN)),
    "tasks per day": lambda s: tasks.count_per_day(s, "created_at", DAYS),
    "open tasks": lambda s: tasks.count_open_at(s, NOW + SOON),
    "ancestors": lambda s: tasks.list_ancestors(s, "t_0000000007"),
    "notes": pages(lambda s, part: notes.list_notes(s, part)),
    "files": pages(lambda s, part: files.list_files(s, part, name=".txt")),
    "digests": lambda s: (files.list_digests(s), files.list_digests(s, after=20)),
    "trash": pages(trash.list_trash),
    "tags": lambda s: (sorted(tags.count_tags(s).items()), tags.list_tagged(s, "HOME")),
    "projects": lambda s: (projects.get_names(s), projects.list_items(s, "p_0000000001")),
    "project writes": lambda s: list_project_writes(s, "p_0000000001", 8, BERLIN),
    "project counts": lambda s: projects.count_items(s, "p_0000000001"),
    "measured projects": lambda s: overview.ask_activity(s, CLOCK, SOON, PAST)(),
    "changed items": lambda s: overview.ask_changed(s, ["note", "task"], PAST, FUTURE)(),
    "active projects": lambda s: overview.ask_active_projects(s, [(PAST, NOW), (NOW, FUTURE)])(),
    "overdue": lambda s: overview.ask_overdue(s, CLOCK)(),
    "written notes": lambda s: overview.ask_written_notes(s, PAST, FUTURE, 2)(),
    "created tasks": lambda s: overview.count_tasks(s, overview.where_created(PAST, FUTURE)),
    "items": overview.count_items,
    "named": lambda s: [
        lookup.list_exact(s, ["person", "note", "task"], key) for key in ("zoo", "ana", "plan b", "nick")
    ],
    "by source": lambda s: lookup.list_by_source(s, ["task", "note"], "crm:1"),
    "by prefix": lambda s: lookup.list_by_prefix(s, "note", "log 50%", limit=3),
    "labels": lambda s: lookup.get_labels(s, [("note", PLAN), ("task", TEA), ("person", ANA)]),
    "windows": lambda s: lookup.load_windows(s, [(PLAN, 2), ("n_0000000011", 0), ("n_0000000099", 1)], 20),
    "favourites": lambda s: lookup.list_favorites(s, limit=5),
    "journal": lambda s: lookup.list_journal(s, PAST, FUTURE),
    "alive": lambda s: search.filter_living(s, [PLAN, TEA], search.Filters(kinds=["note", "task"], since=PAST)),
    "loaded items": lambda s: search.load_items(s, [PLAN, TEA]),
    "alerts": pages(alerts.list_pending),
    "alarms": lambda s: (alerts.list_stale_alarms(s, limit=9), alerts.list_due(s, FUTURE, limit=9),
                         alerts.list_upcoming(s, limit=9), alerts.list_alarms_ahead(s, PAST, FUTURE)),
    "alarm state": lambda s: alerts.find_alarm_state(s, "r_0000000014", FUTURE),
    "walk": lambda s: [
        walks.walk(s, PLAN, depth=depth, direction=direction, kinds=kinds)
        for depth in (1, 3) for direction in ("both", "out", "in") for kinds in ((), ("supports",))
    ],
    "between": lambda s: walks.list_between(s, [PLAN], [TEA, "t_0000000008", "n_0000000011"]),
    "backlinks": lambda s: (walks.list_backlinks(s, TEA, 1), walks.list_typed(s, PLAN, 1)),
    "unresolved": lambda s: walks.list_unresolved(s, "n_0000000012", 5),
    "graph": lambda s: (walks.count_graph(s, 9), sorted(walks.iter_pairs(s))),
    "drawn graph": lambda s: (subgraphs.list_most_linked(s, 9), subgraphs.list_around(s, PLAN, 2, 9)),
    "drawn edges": lambda s: sorted(map(str, subgraphs.load_edges(s, [PLAN, TEA, "p_0000000001", "n_0000000011"]))),
    "relations": pages(lambda s, part: relations.list_relations(s, part, item=PLAN)),
    "resolved keys": lambda s: edges.resolve_keys(s, ["plan b", "zoo", "roadmap", "nick", "tags", TEA]),
    "linking": lambda s: (edges.list_linking(s, "t_0000000008", "zoo"), edges.list_unread(s, 5), edges.count_unread(s)),
    "task lines": lambda s: (task_lines.list_places(s, PLAN), task_lines.list_linked_notes(s, [PLAN])),
    "owners": lambda s: (names.has_people(s), names.list_owners(s, ["ana", "ana kovač", "nick"])),
    "managers": lambda s: people.list_managers(s, "u_0000000005"),
    "events": lambda s: events.list_occurrences(s, PAST, FUTURE, BERLIN),
    "sessions": pages(lambda s, part: sessions.list_sessions(
        s, part, attendee=sessions.AttendeeFilter([ANA], ["ana kovač"]))),
    "lines": lambda s: (session_lines.read_lines(s, "s_0000000019", 2, 60),
                        list(session_lines.iter_texts_like(s, "s_0000000019", ["Line ana"]))),
    "changes": lambda s: (changes.list_changes(s), changes.count_written(s, "c_tests"), changes.get_last_id(s)),
    "effective changes": lambda s: (changes.has_effective_change(s, "c_tests"), changes.is_untouched(s, ["c_tests"])),
    "units": lambda s: (changes.list_last_of_units(s, limit=3), changes.summarize_units(s, ["c_tests"])),
    "undo units": lambda s: (
        undo_units.list_candidate_units(s, ["c_tests"]),
        undo_units.list_undo_units(s, ["c_tests"]),
        undo_units.list_undone_ids(s, "c_tests"),
    ),
    "actions": lambda s: (changes.count_actions(s, "c_tests"), changes.list_undone_units(s, ["c_tests"])),
    "calls": pages(lambda s, part: calls.list_calls(s, part, slow_first=True, source="CRM")),
    "calls per day": lambda s: call_statistics.count_per_day(s, DAYS),
    "tools": lambda s: call_statistics.measure_tools(s, PAST, FUTURE),
    "clients": lambda s: call_statistics.count_clients(s, PAST, FUTURE),
    "errors": lambda s: call_statistics.count_errors(s, PAST, FUTURE),
    "answer": lambda s: idempotency.find_answer(s, "key", NOW),
    "imports": lambda s: (imports.list_imported(s, FOLDER, [PATH]), imports.list_living(s, FOLDER)),
    "imported tasks": lambda s: imports.list_tasks_of(s, PLAN),
    "marks": lambda s: (marks.get_mark(s, "store"), sorted(marks.list_marks(s, "i"))),
    "runs": pages(runs.list_runs),
    "states": lambda s: (runs.get_state(s, "tidy"), runs.list_running(s), runs.last_isolation(s)),
    "library": lambda s: (library.count_runs(s), library.list_runs(s, "tidy", 9), library.list_run_code(s, 9)),
    "called": lambda s: (library.count_changes_by_operation(s, ["c_0000000001"]), library.list_tool_calls(s, 9)),
    "jobs": lambda s: (jobs.find_next_queued(s, ["export"]), jobs.count_by_state(s)),
    "passages": lambda s: (passages.list_by_items(s, [PLAN]), passages.load_at(s, [(PLAN, 1), (PLAN, 2), (TEA, 0)])),
    "embedded": lambda s: passages.list_embedded(s, "model 1", "note"),
    "vectors": lambda s: (passages.list_unused_vectors(s), models.list_usage(s)),
    "embedded digests": lambda s: list(passages.iter_digests(s, "model 1")),
    "creations": lambda s: passages.count_created(s, 3, passages.ItemScope("note", "p_0000000001")),
    "texts of changes": lambda s: (purging.list_referenced_texts(s, 0, 99), sorted(purging.list_texts(s))),
    "old rows": lambda s: (purging.count_old(s, FUTURE), purging.list_expired(s, FUTURE)),
    "references": lambda s: sorted(purging.list_references(s, "project", ["p_0000000001"])),
    "query a number": ask("tasks", {"rank": {"gt": 2.5}}, select=["id"]),
    "query a whole number": ask("tasks", {"rank": {"lt": -4.5}}, select=["id"]),
    "query a large number": ask("files", {"size": {"gte": 1 << 61}}, select=["size"]),
    "query a flag": ask("tasks", {"not": {"urgent": True}}, sort=["urgent", "-title"], select=["title", "urgent"]),
    "query null": ask("tasks", {"deadline": None}, sort=["-source_ref", "deadline"], select=["id", "deadline"]),
    "query a day": ask("notes", {"created_at": {"gte": "2026-05-20"}}, sort=["-updated_at"], select=["id"]),
    "query words": ask("notes", {"content": {"contains": "ONLY [["}}, select=["id", "properties"]),
    "query JSON": ask("notes", {"properties": {"contains": "STAGE"}}, sort=["properties"], select=["id"]),
    "query equal JSON": ask("notes", {"or": [{"properties": "a"}, {"properties": {"ne": None}}]}, select=["id"]),
    "query not in": ask("tasks", {"project": {"nin": ["p_0000000001"]}}, sort=["title"], select=["title"]),
    "query groups": ask("tasks", {}, group_by=["project"], sum=["rank", "scheduled_minutes"]),
    "query groups of JSON": ask("notes", {}, group_by=["properties"]),
    "query sums": ask("calls", {}, group_by=["success"], sum=["tokens", "ms"], sort=["-sum_tokens"]),
    "query changes": ask("changes", {"kind": "note"}, sort=["-id"], select=["id", "before", "after"]),
    "query long days": ask("tasks", {"deadline": {"lt": str(date(2026, 5, 21))}}, select=["id"]),
}  # fmt: skip


def read_tables(session: Session) -> dict[str, list[Any]]:
    """Return the rows of every table, in the order of their keys."""
    tables = metadata.sorted_tables
    statements = {table.name: select(table).order_by(*table.primary_key.columns) for table in tables}
    return {name: [tuple(row) for row in session.connection.execute(query)] for name, query in statements.items()}


def test_the_same_is_read_and_written(both: tuple[Session, Session]) -> None:
    sqlite, postgres = both

    assert read_tables(postgres) == read_tables(sqlite)
    for name, read in READS.items():
        assert read(postgres) == read(sqlite), name


def test_the_same_is_purged_and_withdrawn(both: tuple[Session, Session]) -> None:
    def rewrite(session: Session) -> list[Any]:
        with pytest.raises(rows.IdTakenError):
            rows.add(session, list_items()[0])
        with pytest.raises(ConflictError, match="Zebra"):
            rows.add(session, replace(list_items()[0], id="p_0000000099"))
        traces = purging.PurgePlan()
        purging.collect_traces(session, "link", ["l_0000000013"], traces)
        counted = purging.delete_items(session, "link", ["l_0000000013"], FUTURE)
        texts = purging.list_texts(session)
        return [
            traces, counted, referring := people.list_referring(session, ANA),
            people.move_references(session, referring, ANA, "u_0000000005", NOW),
            purging.delete_texts(session, texts, 0), purging.delete_old(session, FUTURE, 3),
            [purging.list_matching_rows(session, log, traces, 0, 99) for log in purging.LOGS],
            purging.reset_stale_indexes(session, 9), withdrawing.withdraw_approvals(session),
            imports.rename_path(session, FOLDER, "b.md", "c.md"), imports.clear_fields(session, [PLAN]),
            passages.delete_vectors(session, [(f"{number:032}", "model 1") for number in range(4)]),
            alerts.delete_acknowledged(session, "r_0000000014", FUTURE), jobs.cancel_all(session, NOW),
            edges.forget_items(session, [TEA]), task_lines.forget_items(session, [TEA]),
        ]  # fmt: skip

    sqlite, postgres = both
    assert rewrite(postgres) == rewrite(sqlite)
    assert read_tables(postgres) == read_tables(sqlite)


def test_a_job_and_a_schedule_are_stored_alike(both: tuple[Session, Session]) -> None:
    job = Job(
        id="k_0000000001", kind="export", arguments={"a": [1.5, "ü"]}, asker=Requester(), created_at=NOW, unit="k"
    )  # fmt: skip
    schedule = Schedule(
        id="d_0000000001", name="Nightly", kind="export", arguments={}, trigger="cron", rule="0 3 * * *", zone="UTC",
        begin=NOW, created_at=NOW, updated_at=NOW, next_at=FUTURE,
    )  # fmt: skip

    def write(session: Session) -> list[Any]:
        jobs.add(session, job)
        running = replace(job, state="running", worker="w", attempts=1, started_at=NOW, result={"n": 1 << 40})
        jobs.save(session, job, running)
        with pytest.raises(ConflictError):
            jobs.save(session, job, running)
        schedules.add(session, schedule)
        schedules.save(session, replace(schedule, paused=True, next_at=None))
        return [
            jobs.find(session, job.id), jobs.list_jobs(session, FIRST, states=["running"], kind="export"),
            jobs.list_places(session), jobs.find_next_queued(session, ["export"], [("export", "python")]),
            schedules.list_schedules(session, FIRST), schedules.find(session, "nightly"),
            schedules.next_due_time(session),
        ]  # fmt: skip

    sqlite, postgres = both
    assert write(postgres) == write(sqlite)
    assert read_tables(postgres) == read_tables(sqlite)
