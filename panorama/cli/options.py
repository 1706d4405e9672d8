"""Shared options, and the group with a default subcommand."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from panorama.domain.items.item import KINDS

_HELP = ("--help", "-h")


def argument(help_: str, **settings: Any) -> Any:
    """Return a typer argument whose default is not shown."""
    return typer.Argument(help=help_, show_default=False, **settings)


def option(help_: str, *names: str, **settings: Any) -> Any:
    """Return a typer option whose default is not shown."""
    return typer.Option(*names, help=help_, show_default=False, **settings)


def _validate_kinds(kinds: list[str] | None) -> list[str] | None:
    if unknown := [kind for kind in kinds or () if kind not in KINDS]:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {', '.join(KINDS)}.")
    return kinds


AsJson = Annotated[bool, option("Print the whole answer as JSON: data, summary, metadata.", "--json")]
Yes = Annotated[bool, option("Answer yes to all questions.", "--yes", "-y")]
Background = Annotated[bool, option("Do not wait: `panorama jobs` shows it.", "--background")]
Project = Annotated[str | None, option('Project, by name or id; "" for none.', "--project", "-p")]
Tags = Annotated[list[str] | None, option("A tag; may be given several times.", "--tag", "-t")]
Tag = Annotated[str | None, option("Only with this tag.", "--tag", "-t")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="The maximum number of rows.")]
Kinds = Annotated[
    list[str] | None,
    option(
        f"Only this kind ({', '.join(KINDS)}); may be given several times.", "--kind", "-k",
        metavar="KIND", callback=_validate_kinds, autocompletion=lambda: list(KINDS),
    ),
]  # fmt: skip


class DefaultGroup(TyperGroup):
    """A group with a default command: `panorama tasks --view overdue` lists, `panorama tasks "Order seeds"` shows."""

    default = ""
    """The default command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default command if no command is given."""
        named = args[0] in self.commands or args[0] in _HELP if args else ctx.resilient_parsing
        return super().parse_args(ctx, args if named else [self._choose(args), *args])

    def _choose(self, args: list[str]) -> str:
        is_name = bool(args) and not args[0].startswith("-")
        return "show" if is_name and "show" in self.commands else self.default

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the default command's options too."""
        items = super().shell_complete(ctx, incomplete)
        return items + self.commands[self.default].shell_complete(ctx, incomplete) if incomplete[:1] == "-" else items

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the default command's help too."""
        super().format_help(ctx, formatter)
        command = self.commands[self.default]
        with command.make_context(self.default, [], parent=ctx, resilient_parsing=True) as context:
            command.format_help(context, formatter)


def examples(*commands: str) -> str:
    """Render the examples at the end of a help text, with comments after `#`."""
    shown = [f"  {command}" for command in commands]
    return "[bold]Examples[/bold]\n" + "\n".join(shown)


def group(name: str, help_: str, *, default: str = "") -> typer.Typer:
    """Return a group of commands; `default` is its default command."""
    kind = type("DefaultGroup", (DefaultGroup,), {"default": default}) if default else TyperGroup
    return typer.Typer(name=name, help=help_, cls=kind, **SETTINGS)


SETTINGS: dict[str, Any] = {
    "rich_markup_mode": "rich",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": list(reversed(_HELP))},
}
