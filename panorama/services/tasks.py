"""What one can do with tasks."""

from typing import Any, Literal

from panorama.domain import recurrence, times
from panorama.domain.items import PREFIXES, clean, line, words
from panorama.domain.references import ProjectRef, TaskRef
from panorama.domain.results import Noted, Page, Slice
from panorama.domain.tasks import MOST_MINUTES, Task, TaskStatus, TaskView, next_occurrence, stamps
from panorama.errors import InvalidInputError
from panorama.services import duplicates
from panorama.services.base import Desk, Service, given
from panorama.services.meaning import Meaning
from panorama.store import rows, tasks
from panorama.store.engine import Session

TASK_TITLE_CHARS = 500


class Tasks(Service):
    """Tasks: what there is to do."""

    def __init__(self, desk: Desk, meaning: Meaning | None = None) -> None:
        super().__init__(desk)
        self._meaning = meaning

    def list(
        self,
        page: Slice,
        project: ProjectRef | None = None,
        view: TaskView | None = None,
        status: TaskStatus | Literal["open", "any"] | None = None,
        tag: str | None = None,
        due_from: str | None = None,
        due_until: str | None = None,
        parent: TaskRef | None = None,
    ) -> Page[Task]:
        """List tasks by a named view or by filters.

        Open ones unless `status` or `view` says otherwise; by deadline, then in progress, rank and age. By
        words: search. For counts or other filters: query.

        Args:
            project: "" for all, also after get_project.
            due_from: First day.
            due_until: Last day.
        """
        clock = self._clock()
        wanted = status or ("any" if view else "open")
        first, last = self._day(due_from, "due_from"), self._day(due_until, "due_until")
        times.check_order(first, last, "due_from", "due_until")
        where = tasks.where(
            project=project or None,
            status=wanted,
            tag=tag,
            parent=parent,
            due_from=first,
            due_until=last,
            zone=self._desk.zone,
        )
        if view:
            where.append(tasks.view(view, clock))
        with self._reading() as session:
            return tasks.listed(session, page, where, by=tasks.newest_done() if view == "recently_done" else None)

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
    ) -> Noted[Task]:
        """Create one task.

        For several at once use batch. If the person only parks a thought, give it the status `idea`.

        Args:
            deadline: Day or moment: 2026-05-31, 2026-05-31T15:00, today, +3d.
            status: `idea` is parked.
            notes: Markdown.
            recurrence: RFC 5545 rule, as FREQ=WEEKLY;BYDAY=MO.
            scheduled_at: Moment of work.
            rank: Lower comes first.
        """
        now = self._now()
        with self._writing() as session:
            wanted = self._fields(
                title=title, notes=notes, deadline=deadline, tags=tags, recurrence=recurrence,
                scheduled_at=scheduled_at, scheduled_minutes=scheduled_minutes,
            )  # fmt: skip
            above: Task | None = rows.load(session, "task", parent) if parent else None
            inherited = above.project if above and project is None else None
            task = Task(
                **self._new("task", now), **wanted, **stamps(None, status, now), urgent=urgent, important=important,
                rank=rank, project=project or inherited, parent=parent or None,
            )  # fmt: skip
            rows.add(session, task)
            return Noted(task, hint=duplicates.remark(session, self._meaning, task, self._desk.zone))

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
    ) -> Noted[Task]:
        """Change fields of a task; status "done" completes it.

        What is left out stays; "" or [] clears. A recurring task that is done makes its next occurrence.
        """
        with self._writing() as session:
            old: Task = rows.load(session, "task", task)
            wanted = self._fields(
                title=title, notes=notes, deadline=deadline, tags=tags, recurrence=recurrence,
                scheduled_at=scheduled_at, scheduled_minutes=scheduled_minutes,
            )  # fmt: skip
            wanted |= given(urgent=urgent, important=important, rank=rank)
            if project is not None:
                wanted["project"] = project or None
            if parent is not None:
                wanted["parent"] = self._parent(session, task, parent)
            if status is not None:
                wanted |= stamps(old.status, status, self._now())
            return self._save(session, old, wanted)

    def _save(self, session: Session, old: Task, wanted: dict[str, Any]) -> Noted[Task]:
        now = self._now()
        new = old.changed(now, **wanted)
        rows.save(session, old, new)
        if not (new.status == "done" and old.status != "done"):
            return Noted(new, wrote=new is not old)
        id_ = self._desk.new_id(PREFIXES["task"])
        following = next_occurrence(new, id_=id_, now=now, zone=self._desk.zone)
        if following is None:
            return Noted(new, hint="That was the last of its series." if new.recurrence else "")
        rows.add(session, following)
        due = times.shown(following.deadline, self._desk.zone) if following.deadline else ""
        return Noted(new, hint=f"It recurs: the next one is {following.id}, due {due}.")

    def _parent(self, session: Session, task: str, parent: str) -> str | None:
        if not parent:
            return None
        if task == parent or task in tasks.ancestors(session, parent):
            raise InvalidInputError(
                "A task cannot stand under itself or under its own subtask.", hint="Choose another parent."
            )
        return parent

    def _day(self, text: str | None, name: str) -> Any:
        return times.day(text, name, now=self._now(), zone=self._desk.zone) if text else None

    def _fields(self, **fields: Any) -> dict[str, Any]:
        found = given(**fields)
        zone, now = self._desk.zone, self._now()
        if "title" in found:
            found["title"] = line(found["title"], limit=TASK_TITLE_CHARS)
        if "notes" in found:
            found["notes"] = clean(found["notes"], "notes")
        if "tags" in found:
            found["tags"] = words(found["tags"])
        if "deadline" in found:
            found["deadline"] = self._when(found["deadline"], "deadline") if found["deadline"].strip() else None
        if "scheduled_at" in found:
            text = found["scheduled_at"]
            found["scheduled_at"] = times.moment(text, "scheduled_at", now=now, zone=zone) if text.strip() else None
        if "scheduled_minutes" in found:
            found["scheduled_minutes"] = _minutes(found["scheduled_minutes"])
        if "recurrence" in found:
            found["recurrence"] = recurrence.rule(found["recurrence"]) if found["recurrence"].strip() else ""
        return found


def _minutes(minutes: int) -> int | None:
    if not 0 <= minutes <= MOST_MINUTES:
        raise InvalidInputError(f"scheduled_minutes is {minutes}.", hint=f"Give 1 to {MOST_MINUTES:,}, or 0 for none.")
    return minutes or None
