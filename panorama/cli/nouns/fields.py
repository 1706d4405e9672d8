"""Fields: options and arguments as values, so that one table defines the commands of every noun."""

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, get_args

from panorama.cli.options import Project, Tag, argument, option
from panorama.domain.items.choices import ProjectStatus, RepeatFrom, TaskStatus, TaskView
from panorama.domain.items.events import EventStatus
from panorama.domain.items.sessions import SessionKind

DATE_HELP = "2026-05-31, 2026-05-31T15:00, today, friday 3pm, in 2 weeks, +3d."
MOMENT_HELP = "2026-05-31T15:00, today 9:00, friday 3pm, +2h."
TaskFilter = Literal[TaskStatus, "open", "any"]
ProjectFilter = Literal[ProjectStatus, "any"]


def field(name: str, annotation: Any, default: Any = None) -> Parameter:
    """Return an option of a command."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def text(name: str, help_: str, *names: str) -> Parameter:
    """Return an option that takes text."""
    return field(name, Annotated[str | None, option(help_, *(names or (f"--{name.replace('_', '-')}",)))])


def flag(name: str, help_: str) -> Parameter:
    """Return an option that is on, off, or unchanged."""
    return field(name, Annotated[bool | None, option(help_, f"--{name}/--no-{name}")])


def choice(name: str, kinds: Any, help_: str, *names: str) -> Parameter:
    """Return an option with a choice of words."""
    return field(name, Annotated[kinds | None, option(help_, *names, metavar=name.upper())])


def required_argument(name: str, help_: str) -> Parameter:
    """Return a required argument."""
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=Annotated[str, argument(help_)])


def with_parameters(run: Callable[..., Any], help_: str, *parameters: Parameter) -> Callable[..., Any]:
    """Return a function with parameters and help for Typer."""

    def command(**given: Any) -> Any:
        return run(**given)

    command.__doc__ = help_
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    vars(command)["__signature__"] = Signature(parameters)
    return command


def drop_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values: omitted options are None, omitted lists empty."""
    return {name: value for name, value in values.items() if value is not None and value != []}


PROJECT = field("project", Project)
TAG = field("tag", Tag)
TAGS = field(
    "tags",
    Annotated[list[str] | None, option("A tag; can be repeated. `edit` replaces existing tags.", "--tag", "-t")],
)
NOTE_ALIASES = field(
    "aliases", Annotated[list[str] | None, option("Another name that links may use. Can be repeated.", "--alias")]
)
ALIASES = field(
    "aliases", Annotated[list[str] | None, option('Another name; "me" is you. Can be repeated.', "--alias")]
)
TASK_STATUS = choice("status", TaskStatus, f"The state: {', '.join(get_args(TaskStatus))}.", "--status", "-s")
PROJECT_STATUS = choice("status", ProjectStatus, f"The state: {', '.join(get_args(ProjectStatus))}.", "--status", "-s")
TASK_FILTER = choice(
    "status", TaskFilter, f"Only in this state ({', '.join(get_args(TaskFilter))}); else open ones.", "--status", "-s"
)
PROJECT_FILTER = choice(
    "status", ProjectFilter, f"Only in this state ({', '.join(get_args(ProjectFilter))}).", "--status", "-s"
)
SESSION_KIND = choice("kind", SessionKind, f"The kind: {', '.join(get_args(SessionKind))}.", "--kind", "-k")
EVENT_STATUS = choice("status", EventStatus, f"The state: {', '.join(get_args(EventStatus))}.", "--status", "-s")
ATTENDEES = field(
    "attendees",
    Annotated[
        list[str] | None,
        option("A name or e-mail address; can be repeated. `edit` replaces existing ones.", "--attendee", "-a"),
    ],
)
REPEAT_FROM = choice("repeat_from", RepeatFrom, "Repeat from the deadline (due) or completion (done).", "--repeat-from")
PRIORITY = field(
    "priority", Annotated[int | None, option("From 1 (low) to 4 (highest); 0 for none.", "--priority", metavar="0-4")]
)
PARSE = field(
    "parse",
    Annotated[bool, option("Read #tag, @project, !high and dates in the title, or keep it.", "--parse/--no-parse")],
    True,
)
VIEW = choice("view", TaskView, f"A view: {', '.join(get_args(TaskView))}.", "--view", "-v")
