"""`panorama related` and `panorama relations`."""

from typing import Annotated, Literal

from panorama.cli.client import Client
from panorama.cli.console import console, graph_tables
from panorama.cli.console.confirm import call_confirmed
from panorama.cli.options import AsJson, Limit, Yes, argument, examples, group, option

Direction = Literal["both", "out", "in"]
Item = Annotated[str, argument("Any item, by id or name.")]
RELATED_EXAMPLES = examples(
    'panorama related "Kitchen renovation"',
    'panorama related "Order tiles" --kind blocked_by --depth 3',
    "panorama related n_7k3q9xv2mh --direction in         # only links to it",
)

app = group("relations", "List relations between items; add or delete one.", default="list")


def related(
    item: Item,
    kind: Annotated[list[str] | None, option("Only relations of this kind. Can be repeated.", "--kind")] = None,
    depth: Annotated[int, option("Steps, up to 4.", "--depth")] = 1,
    direction: Annotated[Direction, option("out: relations from it; in: relations to it.", "--direction")] = "both",
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """Show what is linked or related to an item, and why."""
    asked = {"item": item, "kinds": kind, "depth": depth, "direction": direction, "limit": limit}
    with Client() as panorama:
        answer = panorama.call("graph.related", asked, whole=True)

    def render() -> None:
        console.print_table(graph_tables.neighbours(answer.data["neighbours"]))
        console.print_message(answer.summary)

    console.print_answer(answer, as_json, render)


@app.command("list", epilog=examples("panorama relations", 'panorama relations --item "Order tiles"'))
def list_relations(
    item: Annotated[str | None, option("Only those from or to this item.", "--item")] = None,
    kind: Annotated[str | None, option("Only those of this kind.", "--kind")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List relations, the newest first."""
    with Client() as panorama:
        answer = panorama.list_rows("relations.list", {"item": item, "kind": kind}, limit)
    console.print_rows(answer, as_json, lambda: console.print_table(graph_tables.relations(answer.data)))


@app.command("add", epilog=examples('panorama relations add "Lay tiles" blocked_by "Order tiles"'))
def add_relation(
    from_item: Item,
    kind: Annotated[str, argument("The kind: blocked_by, part_of, supports, or any word.")],
    to_item: Annotated[str, argument("The other item, by id or name.")],
    note: Annotated[str | None, option("Why.", "--note")] = None,
    as_json: AsJson = False,
) -> None:
    """Relate two items."""
    asked = {"from_item": from_item, "kind": kind, "to_item": to_item, "note": note}
    with Client() as panorama:
        answer = panorama.call("relations.create", {name: value for name, value in asked.items() if value is not None})
    console.print_result(answer, as_json)


@app.command("delete", epilog=examples("panorama relations delete k_7k3q9xv2mh"))
def delete_relation(
    relation: Annotated[str, argument("The relation's id.")], yes: Yes = False, as_json: AsJson = False
) -> None:
    """Move a relation to the trash."""
    with Client() as panorama:
        panorama.call("items.resolve", {"kind": "relation", "item": relation})
        answer = call_confirmed(panorama, "items.delete", {"item": relation}, yes=yes)
    console.print_result(answer, as_json)
