"""The table of nouns: their names, fields and verbs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from inspect import Parameter
from typing import Annotated

from panorama.cli.console import noun_tables, session_tables, tables, timing_tables
from panorama.cli.console.tables import Row, TextTable
from panorama.cli.nouns import fields as f
from panorama.cli.options import option
from panorama.kinds import Kind, name_kind

BuildTable = Callable[[Sequence[Row], Mapping[str, str], datetime], TextTable]


@dataclass(frozen=True, slots=True, kw_only=True)
class Noun:
    """The definition of a noun's commands.

    `group` is its command and the prefix of its operations, `reference` their argument that names one. `main` is the
    argument of `add` and its help, `label` the field that `rename` changes (the first of `name_fields` if the name has
    several; the others are cleared), `body` the long text that `edit` opens in an editor. `add_fields` are options of
    `add` alone. `states` are those set by `done` and `reopen`. `examples` are a name and arguments of `add` for
    examples.
    """

    group: str
    kind: Kind
    help: str
    word: str
    main: tuple[str, str]
    table: BuildTable
    verbs: tuple[str, ...]
    examples: tuple[str, str]
    reference: str = ""
    label: str = "title"
    name_fields: tuple[str, ...] = ()
    body: str = ""
    fields: tuple[Parameter, ...] = ()
    add_fields: tuple[Parameter, ...] = ()
    filters: tuple[Parameter, ...] = ()
    states: tuple[str, str] = ("", "")
    extra_examples: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])

    @property
    def list_help(self) -> str:
        """The help of `list`."""
        words = "tasks: open ones by default" if self.kind == "task" else self.plural
        return f"List {words}."

    @property
    def plural(self) -> str:
        """The plural."""
        return name_kind(self.kind, 2)

    @property
    def argument(self) -> str:
        """The argument of its operations that names one."""
        return self.reference or self.kind


PROJECTS = Noun(
    group="projects", kind="project", word="project", label="name", body="description",
    help="List projects; show, add, edit, finish, delete one.",
    main=("name", "The name or title."),
    fields=(
        f.text("description", "The description, in Markdown."), f.PROJECT_STATUS,
        f.text("target_date", f.DATE_HELP), f.flag("favorite", "Mark it as a favourite."), f.TAGS,
        f.flag("area", "A lasting concern, never stale."),
    ),
    filters=(f.PROJECT_FILTER, f.TAG),
    table=noun_tables.projects, states=("done", "active"),
    verbs=("list", "show", "add", "edit", "done", "reopen", "rename", "delete"),
    examples=("Garden", 'Garden --target-date 2026-09-30 --tag home'),
    extra_examples={
        "list": ("panorama projects                      # favourites first", "panorama projects --status active"),
        "delete": ("panorama projects delete Garden --items keep", "panorama projects delete Garden --items trash"),
    },
)  # fmt: skip

TASKS = Noun(
    group="tasks", kind="task", word="task", body="notes",
    help="List tasks; show, add, edit, complete, move, delete one.",
    main=("title", "The title of the task."),
    fields=(
        f.PROJECT, f.text("deadline", f.DATE_HELP, "--deadline", "-d"), f.TASK_STATUS, f.TAGS,
        f.flag("urgent", "Mark it as urgent."), f.flag("important", "It matters."),
        f.text("notes", "More details, in Markdown."), f.text("recurrence", "every friday, or an RFC 5545 rule."),
        f.text("parent", "The parent task."), f.text("scheduled_at", "The planned time of work."),
        f.text("start_at", "The day on which it can begin."), f.PRIORITY, f.REPEAT_FROM,
        f.text("assignee", "The person who does it."), f.text("waiting_for", "The person it waits for."),
    ),
    add_fields=(f.PARSE,),
    filters=(f.PROJECT, f.VIEW, f.TASK_FILTER, f.TAG),
    table=tables.tasks, states=("done", "todo"),
    verbs=("list", "show", "add", "edit", "done", "reopen", "move", "rename", "delete"),
    examples=('"Order seeds"', '"Order seeds" --project Garden --deadline +3d --tag spring'),
    extra_examples={
        "list": (
            "panorama tasks                          # open ones, the next deadline first",
            "panorama tasks --view overdue",
            "panorama tasks --project Garden --status any",
            "panorama tasks --json | jq -r '.data[].title'",
        ),
        "add": (
            'panorama tasks add "order tiles fri 3pm #kitchen !high"',
            'panorama tasks add "Water plants" -d today --recurrence "every monday"',
        ),
        "edit": ('panorama tasks edit "Order seeds" --deadline friday', 'panorama tasks edit "Order seeds"'),
    },
)  # fmt: skip

NOTES = Noun(
    group="notes", kind="note", word="note", body="content",
    help="List notes; show, add, edit, move, delete one.",
    main=("title", "The name or title."),
    fields=(
        f.text("content", "The Markdown; `add` reads standard input without it.", "--content", "-c"),
        f.PROJECT, f.TAGS, f.flag("pinned", "Mark it as a favourite."),
        f.text("type", "The type: decision, insight, or any word."), f.NOTE_ALIASES,
    ),
    filters=(f.PROJECT, f.TAG),
    table=tables.notes,
    verbs=("list", "show", "add", "edit", "move", "rename", "delete"),
    examples=('"Meeting minutes"', '"Meeting minutes" --project Garden < minutes.md'),
    extra_examples={
        "list": ("panorama notes                         # the last changed first", "panorama notes --project Garden"),
        "show": ('panorama notes "Meeting minutes" > minutes.md', "panorama notes show n_7k3q9xv2mh --json"),
        "add": ('panorama notes add "Ideas" --content "- a pond"',),
    },
)  # fmt: skip

LINKS = Noun(
    group="links", kind="link", word="link", body="description",
    help="List links; show, add, edit, move, delete one.",
    main=("url", "The address."),
    fields=(
        f.text("title", "The title; by default its address."), f.PROJECT, f.TAGS,
        f.text("description", "More details, in Markdown."),
    ),
    filters=(f.PROJECT, f.TAG),
    table=noun_tables.links,
    verbs=("list", "show", "add", "edit", "move", "rename", "delete"),
    examples=('"Seed catalogue"', 'seeds.example.com --title "Seed catalogue" --project Garden'),
)  # fmt: skip

JOURNAL = Noun(
    group="journal", kind="journal", word="journal entry", reference="entry", label="text", body="text",
    help="List journal entries; show, add, edit, delete one.",
    main=("text", "What happened."),
    fields=(f.text("at", "When it happened; by default now. A day without a time is now if it is today, else noon."),),
    filters=(f.text("first_day", f.DATE_HELP, "--since"), f.text("last_day", f.DATE_HELP, "--until")),
    table=noun_tables.journal,
    verbs=("list", "show", "add", "edit", "delete"),
    examples=("j_7k3q9xv2mh", '"Sowed the tomatoes"'),
)  # fmt: skip

FILES = Noun(
    group="files", kind="file", word="file", label="name",
    help="List files; write one to the disk, add, move, rename, delete one.",
    main=("path", "The file on the disk."),
    filters=(
        f.PROJECT, f.TAG,
        f.field("name", Annotated[str | None, option("Only names that contain this.", "--name")]),
    ),
    table=tables.files,
    verbs=("list", "show", "move", "rename", "delete"),
    examples=("report.csv", ""),
    extra_examples={
        "list": ("panorama files                         # the last written first", "panorama files --name .csv"),
    },
)  # fmt: skip

REMINDERS = Noun(
    group="reminders", kind="reminder", word="reminder",
    help="List reminders that wait; show, add, edit, put off, acknowledge, delete one.",
    main=("title", "The text of the reminder."),
    fields=(
        f.text("at", "A date and time: 2026-06-01T09:00."), f.text("recurrence", "every friday, or an RFC 5545 rule."),
        f.text("item", "The item it is about, by name or id."), f.flag("enabled", "Whether it is enabled."),
    ),
    table=lambda rows, _names, now: timing_tables.reminders(rows, now),
    verbs=("list", "show", "edit", "rename", "delete"),
    examples=('"Call Petra"', ""),
)  # fmt: skip

PEOPLE = Noun(
    group="people", kind="person", word="person", label="full_name", body="notes",
    name_fields=("name", "last_name"),
    help="List people; show, add, edit, rename, merge, delete one.",
    main=("name", "The first name, or the whole name."),
    fields=(
        f.text("last_name", "The last name."), f.ALIASES,
        f.text("role", "The role or occupation."), f.text("email", "The e-mail address."),
        f.text("phone", "The phone number."), f.text("birthday", "1990-05-12, 12 May 1990, or 12 May."),
        f.text("team", "The team, by name or id."), f.text("manager", "The manager, by name or id."),
        f.text("notes", "More details, in Markdown."), f.text("left_at", "The day on which the person left."),
    ),
    filters=(f.text("team", "Only members of this team."), f.text("manager", "Only those who report to this person.")),
    table=noun_tables.people,
    verbs=("list", "show", "add", "edit", "rename", "delete"),
    examples=('"Ana Kovač"', 'Ana --last-name Kovač --alias Anka --role Electrician'),
    extra_examples={
        "list": ("panorama people                        # by name", "panorama people --team Tiling"),
        "edit": ("panorama people edit Anka --phone '0151 23456' --birthday '12 May'",),
    },
)  # fmt: skip

TEAMS = Noun(
    group="teams", kind="team", word="team", label="name",
    help="List teams; show, add, rename, delete one.",
    main=("name", "The name of the team."),
    table=noun_tables.teams,
    verbs=("list", "show", "add", "rename", "delete"),
    examples=("Tiling", "Tiling"),
)  # fmt: skip

SESSIONS = Noun(
    group="sessions", kind="session", word="session", body="summary",
    help="List meetings and thinking sessions; show, add, log, edit, export, analyze, delete one.",
    main=("title", "The title of the session."),
    fields=(
        f.PROJECT, f.SESSION_KIND, f.text("started_at", f.MOMENT_HELP), f.text("ended_at", f.MOMENT_HELP),
        f.ATTENDEES, f.text("location", "The place."), f.text("summary", "The summary, in Markdown."),
    ),
    filters=(
        f.PROJECT, f.SESSION_KIND, f.text("attendee", "Only with this attendee.", "--attendee", "-a"),
        f.text("since", f.DATE_HELP), f.text("until", f.DATE_HELP),
    ),
    table=session_tables.sessions,
    verbs=("list", "add", "edit", "move", "rename", "delete"),
    examples=('"Weekly meeting"', '"Weekly meeting" --attendee Ana --attendee ben@example.org --project Garden'),
    extra_examples={
        "list": ("panorama sessions                      # the latest first", "panorama sessions --attendee Ana"),
    },
)  # fmt: skip

EVENTS = Noun(
    group="events", kind="event", word="event",
    help="List what is in the calendar; show, add, move, edit, delete an event.",
    main=("title", "The title of the event."),
    fields=(
        f.text("starts_at", "A moment (friday 3pm), or a day for an all-day event.", "--at"),
        f.text("ends_at", "A moment (16:00, +2h), or the last day; by default an hour later.", "--end"),
        f.text("location", "The place."), f.ATTENDEES, f.text("calendar", "The name of the calendar."),
        f.text("recurrence", "every friday, or an RFC 5545 rule."), f.EVENT_STATUS,
    ),
    filters=(
        f.text("day", f.DATE_HELP, "--day", "-d"), f.text("since", f.DATE_HELP), f.text("until", f.DATE_HELP),
        f.text("attendee", "Only with this person.", "--attendee", "-a"), f.text("calendar", "Only of this calendar."),
    ),
    table=session_tables.events,
    verbs=("list", "show", "add", "edit", "rename", "delete"),
    examples=('"Tiler comes"', '"Tiler comes" --at "friday 9:00" --end 12:00 --attendee Ben'),
    extra_examples={
        "list": ("panorama events                        # the next seven days", "panorama events --day friday"),
        "edit": ('panorama events edit "Tiler comes" --at "monday 9:00"',),
    },
)  # fmt: skip

NOUNS: tuple[Noun, ...] = (PROJECTS, TASKS, NOTES, LINKS, JOURNAL, FILES, REMINDERS, PEOPLE, TEAMS, SESSIONS, EVENTS)
