"""The verbs that all nouns share: each builds the command of one noun."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from inspect import Parameter
from typing import Annotated, Any, Literal

from panorama.cli.client import Answer, Client
from panorama.cli.console import console, noun_tables
from panorama.cli.console.confirm import call_confirmed
from panorama.cli.nouns import fields
from panorama.cli.nouns.body import edit_body, print_note, read_note
from panorama.cli.nouns.table import Noun
from panorama.cli.options import AsJson, Limit, Yes, option
from panorama.errors import InvalidInputError
from panorama.kinds import with_article

Command = Callable[..., Any]

LIMIT, AS_JSON = fields.field("limit", Limit, 50), fields.field("as_json", AsJson, False)
YES = fields.field("yes", Yes, False)
RAW = fields.field("raw", Annotated[bool, option("Print the raw Markdown (always in a pipe).", "--raw")], False)
BELONGING = fields.field(
    "items",
    Annotated[
        Literal["keep", "trash"] | None,
        option("Items that belong to it: keep or trash them.", "--items", metavar="keep|trash"),
    ],
)


def make_list(noun: Noun) -> Command:
    """Return the command that lists a noun."""

    def run(limit: int, as_json: bool, **filters: Any) -> None:
        with Client() as panorama:
            answer = panorama.list_rows(f"{noun.group}.list", filters, limit)
            now = panorama.now
        names = answer.metadata.get("names", {})
        console.print_rows(answer, as_json, lambda: console.print_table(noun.table(answer.data, names, now)))

    return fields.with_parameters(run, noun.list_help, *noun.filters, LIMIT, AS_JSON)


def make_show(noun: Noun) -> Command:
    """Return the command that shows one item."""

    def show_item(item: str, as_json: bool) -> None:
        with Client() as panorama:
            answer = panorama.call("items.get", {"item": _resolve(panorama, noun, item)}, whole=True)
            now = panorama.now
        console.print_answer(answer, as_json, lambda: print_item(answer, noun.body, now))

    def show_note(item: str, raw: bool, as_json: bool) -> None:
        with Client() as panorama:
            answer = read_note(panorama, item)
            now = panorama.now
        console.print_answer(answer, as_json, lambda: print_note(answer, raw, now))

    if noun.kind == "note":
        return _for_item(noun, show_note, "Show a note.", RAW, AS_JSON)
    return _for_item(noun, show_item, f"Show {with_article(noun.word)} and the items that belong to it.", AS_JSON)


def print_item(answer: Answer, body: str, now: datetime) -> None:
    """Print an item: its fields, its long text, and the items that belong to it."""
    item: Mapping[str, Any] = answer.data["item"]
    console.print_blocks(noun_tables.item_lines(item, body, answer.metadata.get("names", {}), now))
    if text := item.get(body, "") if body != "text" else "":
        console.print_report(f"\n{text}")
    console.print_blocks(noun_tables.belonging(answer.data.get("belonging", {}), now))


def make_add(noun: Noun) -> Command:
    """Return the command that adds one."""

    def run(as_json: bool, **values: Any) -> None:
        if noun.kind == "note" and values["content"] is None:
            values["content"] = _read_stdin()
        with Client() as panorama:
            answer = panorama.call(f"{noun.group}.create", fields.drop_empty(values))
        console.print_result(answer, as_json)

    return fields.with_parameters(
        run,
        f"Add {with_article(noun.word)}.",
        fields.required_argument(*noun.main),
        *noun.fields,
        *noun.add_fields,
        AS_JSON,
    )


def _read_stdin() -> str:
    if sys.stdin.isatty():
        console.print_message("Type the note; end it with Ctrl-D on its own line.")
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError("Standard input is not UTF-8 text.", hint="Convert it first.") from error


def make_edit(noun: Noun) -> Command:
    """Return the command that changes fields, or opens the long text in an editor."""

    def run(item: str, as_json: bool, **values: Any) -> None:
        changed = fields.drop_empty(values)
        with Client() as panorama:
            changed = changed or edit_body(panorama, noun, item)
            answer = panorama.call(f"{noun.group}.update", {noun.argument: item, **changed})
        console.print_result(answer, as_json)

    editing = f" Without an option, your editor opens with its {noun.body}." if noun.body else ""
    help_ = f"Change {with_article(noun.word)}; omitted fields are kept.{editing}"
    return _for_item(noun, run, help_, fields.text(*noun.main), *noun.fields, AS_JSON)


def make_done(noun: Noun) -> Command:
    """Return the command that finishes one."""
    return _make_status_change(noun, noun.states[0], f"Mark {with_article(noun.word)} as done.")


def make_reopen(noun: Noun) -> Command:
    """Return the command that reopens one."""
    return _make_status_change(noun, noun.states[1], f"Reopen {with_article(noun.word)}.")


def _make_status_change(noun: Noun, status: str, help_: str) -> Command:
    def run(item: str, as_json: bool) -> None:
        answer = _update(noun, item, {"status": status})
        if "undo" not in answer.metadata:
            word = "done" if status == "done" else "open"
            summary = f"{noun.word.capitalize()} “{answer.data[noun.label]}” is already {word}"
            answer = replace(answer, summary=summary, metadata={**answer.metadata, "hint": ""})
        console.print_result(answer, as_json)

    return _for_item(noun, run, help_, AS_JSON)


def make_move(noun: Noun) -> Command:
    """Return the command that moves one to another project."""
    target = fields.required_argument("project", 'The project, by name or id; "" for none.')

    def run(item: str, project: str, as_json: bool) -> None:
        console.print_result(_update(noun, item, {"project": project}), as_json)

    return _for_item(noun, run, f"Move {with_article(noun.word)} to another project.", target, AS_JSON)


def make_rename(noun: Noun) -> Command:
    """Return the command that renames one."""
    target = fields.required_argument("name", "The new name.")

    def run(item: str, name: str, as_json: bool) -> None:
        field, *others = noun.name_fields or (noun.label,)
        console.print_result(_update(noun, item, {field: name, **dict.fromkeys(others, "")}), as_json)

    return _for_item(noun, run, f"Rename {with_article(noun.word)}.", target, AS_JSON)


def make_delete(noun: Noun) -> Command:
    """Return the command that moves one to the trash."""
    owning = (BELONGING,) if noun.states[0] else ()

    def run(item: str, yes: bool, as_json: bool, items: str | None = None) -> None:
        with Client() as panorama:
            arguments = {"item": _resolve(panorama, noun, item), "items": items}
            answer = call_confirmed(panorama, "items.delete", arguments, yes=yes)
        console.print_result(answer, as_json)

    return _for_item(noun, run, f"Move {with_article(noun.word)} to the trash.", *owning, YES, AS_JSON)


def _for_item(noun: Noun, run: Command, help_: str, *parameters: Parameter) -> Command:
    """Return a command with an item of the noun as its first argument."""
    which = f"The {noun.word}, by name or id." if noun.kind != "journal" else "The entry's id."

    def command(**values: Any) -> None:
        run(values.pop(noun.argument), **values)

    return fields.with_parameters(command, help_, fields.required_argument(noun.argument, which), *parameters)


def _resolve(panorama: Client, noun: Noun, item: str) -> str:
    """Resolve an item of the noun to its id, because other kinds may have the same name."""
    return str(panorama.call("items.resolve", {"kind": noun.kind, "item": item}).data["id"])


def _update(noun: Noun, item: str, values: Mapping[str, Any]) -> Answer:
    with Client() as panorama:
        return panorama.call(f"{noun.group}.update", {noun.argument: item, **values})


MAKERS: Mapping[str, Callable[[Noun], Command]] = {
    "list": make_list, "show": make_show, "add": make_add, "edit": make_edit, "done": make_done,
    "reopen": make_reopen, "move": make_move, "rename": make_rename, "delete": make_delete,
}  # fmt: skip
