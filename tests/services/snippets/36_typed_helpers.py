# expect: {"Ravi": ["Slides"], "Zoë": ["Agenda", "Room"]}
from __future__ import annotations
from typing import NamedTuple, Optional, TypedDict, Callable
import re


class Action(NamedTuple):
    owner: str
    what: str


class Meeting(TypedDict):
    title: str
    actions: list[Action]


def parse(title: str, text: str, predicate: Optional[Callable[[str], bool]] = None) -> Meeting:
    actions: list[Action] = []
    for line in text.split("\n"):
        if predicate and not predicate(line):
            continue
        if (m := re.search(r"@(\w+)\s*:\s*(.+)", line)) is not None:
            actions.append(Action(owner=m.group(1), what=m.group(2).strip()))
    return {"title": title, "actions": actions}


sdk.notes.create("Kick-off", "# Minutes\n- @Zoë: Room\n- @Ravi: Slides\n- nothing\n- @Zoë : Agenda")
meetings: list[Meeting] = [parse(n.title, sdk.notes.text(n.id), lambda l: l.startswith("-")) for n in sdk.notes.list()]
by_owner: dict[str, list[str]] = {}
for action in (a for m in meetings for a in m["actions"]):
    by_owner.setdefault(action.owner, []).append(action.what)
return {k: sorted(v) for k, v in sorted(by_owner.items())}
