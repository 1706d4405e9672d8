"""Composes the views in the chat."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from panorama.domain.items.references import Reference
from panorama.domain.items.reminders import ReminderEvent
from panorama.domain.paging import PageRequest
from panorama.domain.time import times
from panorama.errors import InvalidInputError
from panorama.services import references
from panorama.services.base import Service, ServiceContext
from panorama.services.items.batch import Batch
from panorama.services.items.overview import Overviews
from panorama.services.items.results import count_left_out, drop_zeros
from panorama.services.items.tasks import Tasks
from panorama.services.scripts.code import Code
from panorama.services.scripts.library.library import Library, unified_diff
from panorama.services.search.search import Search
from panorama.services.statistics import Statistics
from panorama.services.views.batch_preview import preview_steps
from panorama.services.views.results import ChatView, Row, TaskDays, ViewName
from panorama.store import events
from panorama.store.backend import Session
from panorama.store.items import alerts

PAGE = PageRequest(limit=20)
FEW = PageRequest(limit=10)
WEEK_DAYS, PROJECT_DAYS = 7, 28
SOON = timedelta(days=7)
TASK_FIELDS = ("id", "title", "project", "deadline", "urgent")
EVENT_FIELDS = ("title", "starts_at", "ends_at", "all_day", "location")
HIT_FIELDS = ("id", "title", "snippet", "project")
CALL_FIELDS = ("name", "ms", "code", "changes")
CHANGE_FIELDS = ("action", "label", "item")
PROJECT_FIGURES = {"Health": "health", "Open": "open", "Overdue": "overdue", "Done": "done", "Notes": "notes"}
WEEK_LISTS = {
    "Slipped": "slipped", "Completed": "completed", "Due next week": "due_next_week",
    "Events next week": "events_next_week",
}  # fmt: skip
WEEK_FIGURES = {
    "Completed": "completed", "Created": "created", "Slipped": "slipped", "Notes written": "notes_written"
}  # fmt: skip


class ChatViews(Service):
    """The views in the chat."""

    def __init__(
        self,
        context: ServiceContext,
        tasks: Tasks,
        overview: Overviews,
        search: Search,
        code: Code,
        library: Library,
        batch: Batch,
    ) -> None:
        super().__init__(context)
        self._tasks = tasks
        self._overview = overview
        self._search = search
        self._code = code
        self._library = library
        self._batch = batch
        self._statistics = Statistics(context)

    def show(self, view: ViewName = "today", of: str = "", operations: tuple[Mapping[str, Any], ...] = ()) -> ChatView:
        """Show the user a page in this chat, if they ask to see it.

        Args:
            of: Project, run, script or words.
            operations: The batch.

        Raises:
            InvalidInputError: The view needs `of` or `operations`.
            NotFoundError: There is no such project, run or script.
        """
        if view == "batch":
            return self._show_batch(operations)
        plain: dict[ViewName, Callable[[], ChatView]] = {"today": self._show_today, "week": self._show_week}
        if view in plain:
            return plain[view]()
        if not of.strip() and view != "run":
            noun = "words to search for" if view == "search" else f"name of a {view}"
            raise InvalidInputError(f"The view {view!r} needs `of`.", hint=f"Give the {noun}.")
        named: dict[ViewName, Callable[[str], ChatView]] = {
            "project": self._show_project, "run": self._show_run, "script": self._show_script,
            "search": self._show_search,
        }  # fmt: skip
        return named[view](of.strip())

    def _show_today(self) -> ChatView:
        today = self._today()
        pages = {
            "Overdue": self._tasks.list(PAGE, view="overdue"),
            "Today": self._tasks.list(PAGE, due_from=today.isoformat(), due_until=today.isoformat()),
            "In progress": self._tasks.list(FEW, view="in_progress"),
            "Next 7 days": self._tasks.list(
                FEW,
                due_from=(today + timedelta(days=1)).isoformat(),
                due_until=(today + SOON).isoformat(),
            ),
        }
        with self._reading() as session:
            lists: dict[str, list[Row]] = {
                "Events": self._list_events(session, today),
                "Reminders that wait": self._list_reminders(session),
            }
        known: set[str] = set()
        for heading, page in pages.items():
            lists[heading] = [_pick(task, TASK_FIELDS) for task in page.items if task.id not in known]
            known |= {task.id for task in page.items}
        return ChatView(
            view="today", title="Today", subtitle=f"{today:%A}, {today}", lists=lists, more=count_left_out(pages)
        )

    def _list_events(self, session: Session, day: date) -> list[Row]:
        zone = self._context.zone
        period = times.start_of_day(day, zone), times.start_of_day(times.next_day(day), zone)
        return [_pick(event, EVENT_FIELDS) for event in events.list_occurrences(session, *period, zone)]

    def _list_reminders(self, session: Session) -> list[Row]:
        now = self._now()
        waiting = alerts.list_pending(session, FEW).items
        rung = [
            ReminderEvent(alert=alert, reminder=reminder, late=now - alert.at, repeated=True)
            for alert, reminder in waiting
        ]
        return [
            {
                "id": event.reminder.id,
                "title": event.reminder.title,
                "when": event.describe_timing(self._context.zone),
            }
            for event in rung
        ]

    def _show_week(self) -> ChatView:
        review = self._overview.weekly_review().value
        tallies = {heading: getattr(review, name) for heading, name in WEEK_LISTS.items()}
        lists = {heading: list(tally.items) for heading, tally in tallies.items()}
        lists["Projects"] = [dict(row) for row in review.projects[: FEW.limit]]
        more = {heading: tally.count - len(tally.items) for heading, tally in tallies.items()}
        return ChatView(
            view="week", title="Weekly review", subtitle=f"{review.start} to {review.end}",
            figures={heading: getattr(review, name).count for heading, name in WEEK_FIGURES.items()},
            days=self._count_days(WEEK_DAYS), lists=lists,
            more=drop_zeros({**more, "Projects": len(review.projects) - len(lists["Projects"])}),
        )  # fmt: skip

    def _show_project(self, of: str) -> ChatView:
        with self._reading() as session:
            id_ = references.resolve(session, Reference("project"), of, "of", self._context.zone)
        dashboard = self._overview.dashboard(id_)
        figures = dashboard.project
        tasks = self._tasks.list(PAGE, project=id_)
        return ChatView(
            view="project", title=figures.name, subtitle=figures.status,
            figures={heading: getattr(figures, name) for heading, name in PROJECT_FIGURES.items()},
            days=self._count_days(PROJECT_DAYS, id_),
            lists={
                "Open tasks": [_pick(task, TASK_FIELDS) for task in tasks.items],
                "Done lately": [_pick(task, ("title", "completed_at")) for task in dashboard.recently_done],
                "Notes": [_pick(note, ("title", "updated_at")) for note in dashboard.notes],
            },
            more=count_left_out({"Open tasks": tasks}),
        )  # fmt: skip

    def _count_days(self, days: int, project: str | None = None) -> TaskDays:
        counts = self._statistics.count_tasks(days, project)
        return TaskDays(
            first=counts.first_day, completed=tuple(day.completed for day in counts.days),
            created=tuple(day.created for day in counts.days),
        )  # fmt: skip

    def _show_run(self, of: str) -> ChatView:
        """Show a run, the latest one if none is named."""
        names = [of] if of else [line.id for line in self._code.list(PageRequest(limit=1)).items]
        if not names:
            return ChatView(view="run", title="No runs", subtitle="No script has run yet.")
        run = self._code.get(names[0])
        is_dry = bool(run.options.get("dry_run"))
        error = str(run.error.get("message", "")) if run.error else ""
        texts = {"Error": error, "Result": run.result, "Output": run.output, "Source": run.source}
        changed = "Would change" if is_dry else "Changes"
        return ChatView(
            view="run", title=run.script or f"Run {run.id}", subtitle=run.summarize(),
            figures={"Calls": run.called, changed: sum(run.changes.values()), "Milliseconds": round(run.ms)},
            texts={heading: text for heading, text in texts.items() if text},
            lists={
                changed: [_pick_names(change, CHANGE_FIELDS) for change in run.wrote],
                "Calls": [_pick_names(call, CALL_FIELDS) for call in run.calls[: PAGE.limit]],
            },
            unit=run.id if run.wrote and not is_dry else "",
            more=drop_zeros({"Calls": run.called - len(run.calls[: PAGE.limit])}),
        )  # fmt: skip

    def _show_batch(self, operations: tuple[Mapping[str, Any], ...]) -> ChatView:
        if not operations:
            raise InvalidInputError("The view 'batch' needs `operations`.", hint="Give those of the batch.")
        with self._reading() as session:
            plan = preview_steps(session, operations, self._batch, self._context.zone)
        return ChatView(view="batch", title="Before it is done", subtitle="Nothing has changed yet.", plan=plan)

    def _show_script(self, of: str) -> ChatView:
        script = self._library.get(of)
        is_decided = script.state not in ("draft", "retired")
        diff = unified_diff(script.reviewed, script.text, "approved last", "now")
        heading = "Changed since its approval" if script.reviewed else "New script"
        approve = (
            f"Only the user can approve it, outside this chat: `panorama scripts review {script.name}` in a terminal, "
            f"or the page /scripts/{script.name} (`panorama open scripts`)."
        )
        return ChatView(
            view="script", title=script.summary or script.name,
            subtitle=f"{script.name}({script.parameters}): {script.state}",
            texts={heading: diff} if diff else {"Source": script.text},
            lists={
                "May change": [{"name": name} for name in script.writes],
                "May read": [{"name": name} for name in script.reads],
                "Refused by the sandbox": [{"name": finding} for finding in script.findings],
            },
            approval="" if is_decided else approve,
        )  # fmt: skip

    def _show_search(self, of: str) -> ChatView:
        page = self._search.search(of, PAGE)
        return ChatView(
            view="search", title=f"Results for “{of[:80]}”", subtitle=page.hint,
            lists={"Found": [_pick(hit, HIT_FIELDS) for hit in page.items]}, more={"Found": 1} if page.more else {},
        )  # fmt: skip


def _pick(value: Any, names: Iterable[str]) -> Row:
    """Return some fields of a value, without empty ones."""
    return {name: field for name in names if (field := getattr(value, name)) not in (None, "", False)}


def _pick_names(fields: Mapping[str, Any], names: Iterable[str]) -> Row:
    """Return some of the fields, without empty ones."""
    return {name: fields[name] for name in names if fields.get(name)}
