"""Operations on tasks."""

from dataclasses import replace
from typing import Any, Literal

from panorama.domain.items.choices import RepeatFrom, TaskStatus, TaskView
from panorama.domain.items.item import normalize_tags, single_line, validate_text
from panorama.domain.items.references import PersonRef, ProjectRef, TaskRef
from panorama.domain.items.tasks import HIGHEST_PRIORITY, MAX_SCHEDULED_MINUTES, Task, status_fields
from panorama.domain.markdown.quick_add.line import QuickAdd
from panorama.domain.paging import Page, PageRequest, Result
from panorama.domain.time import recurrence, times
from panorama.errors import InvalidInputError
from panorama.services.base import LargeCall, Service, ServiceContext, drop_none
from panorama.services.graph.link_renames import LinkRenames, rename_own_links
from panorama.services.graph.task_lines import TaskLines
from panorama.services.items import duplicates
from panorama.services.items.quick_add import describe_taken, read_title
from panorama.services.search.hints import join_hints
from panorama.services.search.semantic import SemanticSearch
from panorama.store.backend import Session
from panorama.store.items import rows, tasks

MAX_TITLE_CHARS = 500


class Tasks(Service):
    """Tasks: things to do."""

    def __init__(self, context: ServiceContext, meaning: SemanticSearch | None = None) -> None:
        super().__init__(context)
        self._meaning = meaning
        self._renames = LinkRenames(context)
        self._lines = TaskLines(context)

    def list(
        self,
        page: PageRequest,
        project: ProjectRef | None = None,
        view: TaskView | None = None,
        status: TaskStatus | Literal["open", "any"] | None = None,
        tag: str | None = None,
        due_from: str | None = None,
        due_until: str | None = None,
        parent: TaskRef | None = None,
    ) -> Page[Task]:
        """List tasks by a named view or by filters.

        Open to-dos unless `status` or `view` says otherwise; by deadline. By words: search. For counts or other
        filters: query.

        Args:
            project: "@last" for the one read last.
        """
        clock = self._clock()
        status_wanted = status or ("any" if view else "open")
        first, last = self._parse_day(due_from, "due_from"), self._parse_day(due_until, "due_until")
        times.check_order(first, last, "due_from", "due_until")
        everything = tasks.build_conditions(
            project=project or None, tag=tag, parent=parent, due_from=first, due_until=last, zone=self._context.zone
        )
        where = (*everything, *tasks.status_conditions(status_wanted))
        if view:
            where = (*where, tasks.view_condition(view, clock))
        with self._reading() as session:
            by = tasks.BY_COMPLETION if view == "recently_done" else tasks.DEFAULT_ORDER
            closed = None if status or view else tasks.ask_closed(session, everything)
            found_tasks = tasks.list_tasks(session, page, where, by=by, is_timed=bool(view))
            scope = "with overdue" if view == "today" else ""
            if closed and closed():
                scope = "open ones; status=any lists all"
            return replace(found_tasks, scope=scope)

    def create(
        self,
        title: str,
        project: ProjectRef | None = None,
        deadline: str = "",
        status: TaskStatus = "todo",
        urgent: bool = False,
        important: bool = False,
        tags: tuple[str, ...] = (),
        notes: str = "",
        recurrence: str = "",
        parent: TaskRef | None = None,
        scheduled_at: str = "",
        scheduled_minutes: int = 0,
        rank: int = 0,
        assignee: PersonRef | None = None,
        waiting_for: PersonRef | None = None,
        start_at: str = "",
        priority: int = 0,
        repeat_from: RepeatFrom | None = None,
        parse: bool = False,
    ) -> Result[Task]:
        """Create one task.

        For every to-do or action item; several at once: batch. A parked thought has status `idea`.

        Args:
            deadline: 2026-05-31, friday 3pm, in 2 weeks.
            recurrence: every friday, every! 3 days (from completion), or RFC 5545.
            scheduled_at: In the calendar.
            priority: 4 is highest.
            parse: Read #tag, @project, !high, dates in the title.
        """
        now = self._now()
        given: dict[str, Any] = {
            "deadline": deadline, "tags": tags, "recurrence": recurrence, "priority": priority, "urgent": urgent,
            "important": important, "project": project,
        }  # fmt: skip
        with self._writing() as session:
            quick = read_title(session, title, self._clock(), given) if parse else QuickAdd(title, {}, {})
            given |= quick.fields
            project = given.pop("project")
            values = self._validate_fields(
                title=quick.title, notes=notes, repeat_from=repeat_from, scheduled_at=scheduled_at,
                scheduled_minutes=scheduled_minutes, start_at=start_at, **given,
            )  # fmt: skip
            above: Task | None = rows.load(session, "task", parent) if parent else None
            inherited = above.project if above and project is None else None
            task = Task(
                **self._new_item_fields("task", now),
                **values,
                **status_fields(None, status, now),
                rank=rank,
                project=project or inherited,
                parent=parent or None,
                assignee=assignee or None,
                waiting_for=waiting_for or None,
            )
            rows.add(session, task)
            zone = self._context.zone
            duplicate = duplicates.duplicate_hint(session, self._meaning, task, zone)
            return Result(task, hint=join_hints(describe_taken(quick, task, zone), duplicate))

    def update(
        self,
        task: TaskRef,
        title: str | None = None,
        status: TaskStatus | None = None,
        project: ProjectRef | None = None,
        deadline: str | None = None,
        urgent: bool | None = None,
        important: bool | None = None,
        tags: tuple[str, ...] | None = None,
        notes: str | None = None,
        recurrence: str | None = None,
        parent: TaskRef | None = None,
        scheduled_at: str | None = None,
        scheduled_minutes: int | None = None,
        rank: int | None = None,
        assignee: PersonRef | None = None,
        waiting_for: PersonRef | None = None,
        start_at: str | None = None,
        priority: int | None = None,
        repeat_from: RepeatFrom | None = None,
    ) -> Result[Task]:
        """Change fields of a task; status "done" completes it.

        Omitted fields stay; "" or [] clears. A recurring task then creates the next.
        """
        renamed = ""
        if title is not None:
            renamed = self._renames.rename_item(task, single_line(title, limit=MAX_TITLE_CHARS))
        with self._writing() as session:
            old: Task = rows.load(session, "task", task)
            values = self._validate_fields(
                title=title, notes=notes, deadline=deadline, tags=tags, recurrence=recurrence, repeat_from=repeat_from,
                scheduled_at=scheduled_at, scheduled_minutes=scheduled_minutes, start_at=start_at, priority=priority,
            )  # fmt: skip
            values |= drop_none(urgent=urgent, important=important, rank=rank)
            for name, id_ in (("project", project), ("assignee", assignee), ("waiting_for", waiting_for)):
                if id_ is not None:
                    values[name] = id_ or None
            if parent is not None:
                values["parent"] = self._validate_parent(session, task, parent)
            if status is not None:
                values |= status_fields(old.status, status, self._now())
            saved = self._save(session, old, rename_own_links(old, values, values.get("title")))
            return replace(saved, hint=" ".join(filter(None, (saved.hint, renamed))))

    def split_update(self, task: TaskRef, title: str | None = None, **values: Any) -> LargeCall | None:
        """Return an update that changes the links of too many items for one transaction; None for any other."""
        return self._renames.split(task, title, {"task": task, "title": title, **values})

    def _save(self, session: Session, old: Task, values: dict[str, Any]) -> Result[Task]:
        new = old.with_changes(self._now(), **values)
        following = self._lines.save_task(session, old, new)
        if not (new.status == "done" and old.status != "done"):
            return Result(new, wrote=new is not old)
        if following is None:
            return Result(new, hint="That was the last of its series." if new.recurrence else "")
        due = times.format_time(following.deadline, self._context.zone) if following.deadline else ""
        return Result(new, hint=f"It recurs: the next one is {following.id}, due {due}.")

    def _validate_parent(self, session: Session, task: str, parent: str) -> str | None:
        if not parent:
            return None
        if task == parent or task in tasks.list_ancestors(session, parent):
            raise InvalidInputError("A task cannot be under itself or its own subtask.", hint="Choose another parent.")
        return parent

    def _parse_day(self, text: str | None, name: str) -> Any:
        return times.parse_date(text, name, now=self._now(), zone=self._context.zone) if text else None

    def _validate_fields(self, **fields: Any) -> dict[str, Any]:
        values = drop_none(**fields)
        zone, now = self._context.zone, self._now()
        if "title" in values:
            values["title"] = single_line(values["title"], limit=MAX_TITLE_CHARS)
        if "notes" in values:
            values["notes"] = validate_text(values["notes"], "notes")
        if "tags" in values:
            values["tags"] = normalize_tags(values["tags"])
        for name in ("deadline", "start_at"):
            if name in values:
                values[name] = self._parse_deadline(values[name], name) if values[name].strip() else None
        if "scheduled_at" in values:
            text = values["scheduled_at"]
            values["scheduled_at"] = (
                times.parse_datetime(text, "scheduled_at", now=now, zone=zone) if text.strip() else None
            )
        if "scheduled_minutes" in values:
            values["scheduled_minutes"] = _validate_minutes(values["scheduled_minutes"])
        if "priority" in values and not 0 <= values["priority"] <= HIGHEST_PRIORITY:
            raise InvalidInputError(
                f"priority is {values['priority']}.",
                hint=f"Give 1 (low) to {HIGHEST_PRIORITY} (highest), or 0 for none.",
            )
        if "recurrence" in values:
            text = values["recurrence"]
            rule, from_completion = recurrence.parse_repetition(text) if text.strip() else ("", False)
            values["recurrence"] = rule
            values.setdefault("repeat_from", "done" if from_completion else "due")
        return values


def _validate_minutes(minutes: int) -> int | None:
    if not 0 <= minutes <= MAX_SCHEDULED_MINUTES:
        raise InvalidInputError(
            f"scheduled_minutes is {minutes}.", hint=f"Give 1 to {MAX_SCHEDULED_MINUTES:,}, or 0 for none."
        )
    return minutes or None
