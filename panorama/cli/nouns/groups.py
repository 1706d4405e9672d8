"""The command groups of the nouns, of tags and of the trash."""

from typing import Annotated

import typer

from panorama.cli.client import Client
from panorama.cli.console import console, noun_tables, person_tables, tables
from panorama.cli.nouns import table, verbs
from panorama.cli.nouns.table import Noun
from panorama.cli.options import AsJson, Limit, argument, examples, group, option

_EXAMPLE_WORDS = {"move": " Home", "rename": ' "Another name"'}
TagName = Annotated[str, argument("The tag.")]


def build_group(noun: Noun) -> typer.Typer:
    """Return the group of a noun, with its verbs."""
    app = group(noun.group, noun.help, default="list")
    add_verbs(app, noun)
    return app


def add_verbs(app: typer.Typer, noun: Noun) -> None:
    """Add the shared verbs of a noun to a group."""
    for verb in noun.verbs:
        app.command(verb, epilog=examples(*_examples_of(noun, verb)))(verbs.MAKERS[verb](noun))


def _examples_of(noun: Noun, verb: str) -> list[str]:
    name, words = noun.examples
    examples = list(noun.extra_examples.get(verb, ()))
    if verb == "list":
        return examples or [f"panorama {noun.group}", f"panorama {noun.group} --json"]
    arguments = words if verb == "add" else f"{name}{_EXAMPLE_WORDS.get(verb, '')}"
    return [f"panorama {noun.group} {verb} {arguments}", *examples]


tags = group("tags", "List the tags in use; show, rename or delete one.", default="list")


@tags.command("list", epilog=examples("panorama tags                          # the most used first"))
def list_tags(as_json: AsJson = False) -> None:
    """List the tags in use, and how many items have each."""
    with Client() as panorama:
        answer = panorama.call("tags.list", {}, whole=True)
    console.print_rows(answer, as_json, lambda: console.print_table(noun_tables.tags(answer.data)))


@tags.command("show", epilog=examples("panorama tags show spring"))
def show_tag(tag: TagName, as_json: AsJson = False) -> None:
    """List the items that have a tag."""
    with Client() as panorama:
        answer = panorama.call("tags.get", {"tag": tag}, whole=True)
    console.print_rows(answer, as_json, lambda: console.print_table(noun_tables.tagged(answer.data)))


@tags.command("rename", epilog=examples("panorama tags rename spring summer"))
def rename_tag(
    tag: TagName, name: Annotated[str, argument("The new name of the tag.")], as_json: AsJson = False
) -> None:
    """Rename a tag on every item that has it."""
    with Client() as panorama:
        answer = panorama.call("tags.rename", {"tag": tag, "name": name})
    console.print_result(answer, as_json)


@tags.command("delete", epilog=examples("panorama tags delete spring"))
def delete_tag(tag: TagName, as_json: AsJson = False) -> None:
    """Remove a tag from every item that has it; the items stay."""
    with Client() as panorama:
        answer = panorama.call("tags.delete", {"tag": tag})
    console.print_result(answer, as_json)


trash = group("trash", "List deleted items; show one.", default="list")


@trash.command("list", epilog=examples("panorama trash                         # the last deleted first"))
def list_trash(limit: Limit = 50, as_json: AsJson = False) -> None:
    """List the trash; restore items with `panorama restore`."""
    with Client() as panorama:
        answer = panorama.list_rows("items.trash", {}, limit)
        now = panorama.now
    console.print_rows(answer, as_json, lambda: console.print_table(tables.trash(answer.data, now)))


@trash.command("show", epilog=examples('panorama trash show "Order seeds"'))
def show_trashed(item: Annotated[str, argument("A deleted item, by name or id.")], as_json: AsJson = False) -> None:
    """Show a deleted item."""
    with Client() as panorama:
        answer = panorama.call("items.get_trashed", {"item": item}, whole=True)
        now = panorama.now
    body = next((noun.body for noun in table.NOUNS if noun.kind == answer.data["kind"]), "")
    console.print_answer(answer, as_json, lambda: verbs.print_item(answer, body, now))


PEOPLE_GROUP = build_group(table.PEOPLE)


@PEOPLE_GROUP.command("merge", epilog=examples('panorama people merge "A. Kovač" "Ana Kovač"'))
def merge_person(
    person: Annotated[str, argument("The duplicate, by name or id.")],
    into: Annotated[str, argument("The person who stays, by name or id.")],
    as_json: AsJson = False,
) -> None:
    """Merge a duplicate into another person; `panorama undo` takes it back."""
    with Client() as panorama:
        answer = panorama.call("people.merge", {"person": person, "into": into})
    console.print_result(answer, as_json)


@PEOPLE_GROUP.command("dashboard", epilog=examples("panorama people dashboard Ana"))
def show_person_dashboard(
    person: Annotated[str, argument("The person, by name or id.")], as_json: AsJson = False
) -> None:
    """Show everything about one person: tasks, meetings, appointments, birthday and mentions."""
    with Client() as panorama:
        answer = panorama.call("people.dashboard", {"person": person}, whole=True)
        now = panorama.now

    def render() -> None:
        names = answer.metadata.get("names", {})
        console.print_blocks(noun_tables.item_lines(answer.data["person"], "notes", names, now))
        console.print_blocks(person_tables.dashboard(answer.data, names, now))
        console.print_message(answer.summary)

    console.print_answer(answer, as_json, render)


NOTES_GROUP = build_group(table.NOTES)


@NOTES_GROUP.command("tasks", epilog=examples('panorama notes tasks "Kitchen meeting"'))
def create_tasks(
    note: Annotated[str, argument("The note, by title or id.")],
    lines: Annotated[list[str] | None, option("Only the box with these words. Can be repeated.", "--line")] = None,
    as_json: AsJson = False,
) -> None:
    """Make tasks of the open checkboxes of a note; ticking one also ticks the other."""
    with Client() as panorama:
        answer = panorama.call("notes.create_tasks", {"note": note, "lines": lines or []})
    console.print_result(answer, as_json)


GROUPS = (
    build_group(table.TASKS), build_group(table.PROJECTS), NOTES_GROUP, build_group(table.LINKS),
    build_group(table.JOURNAL), PEOPLE_GROUP, build_group(table.TEAMS), tags, trash, build_group(table.EVENTS),
)  # fmt: skip
