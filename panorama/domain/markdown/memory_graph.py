"""Reads the graph of the MCP server “memory”: entities with observations, and relations between them.

Its file has one JSON object a line; an older one is a single object with both lists. Unreadable lines are reported by
number; the others are read.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from panorama.domain.items.item import normalize_name
from panorama.domain.markdown.lines import collapse_whitespace
from panorama.domain.text.json_types import is_list, is_object

TYPE_FIELD = "type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A named thing with observations; `line` is the one on which it begins in the file, 0 if there are no lines."""

    line: int
    name: str
    type: str
    observations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityRelation:
    """A relation between two entities by their names."""

    line: int
    from_name: str
    to_name: str
    kind: str


@dataclass(slots=True)
class MemoryGraph:
    """The contents of a file; `problems` are unreadable lines, with the reason."""

    entities: dict[str, Entity] = field(default_factory=dict[str, Entity])
    relations: dict[tuple[str, str, str], EntityRelation] = field(
        default_factory=dict[tuple[str, str, str], EntityRelation]
    )
    problems: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])

    def add(self, line: int, value: object) -> None:
        """Add an entity or a relation; entities of one name are one, and so are equal relations."""
        if not is_object(value):
            self.problems.append((line, "it is not a JSON object"))
        elif value.get(TYPE_FIELD) == "entity":
            self._add_entity(line, value)
        elif value.get(TYPE_FIELD) == "relation":
            self._add_relation(line, value)
        else:
            self.problems.append((line, "its type is neither entity nor relation"))

    def _add_entity(self, line: int, value: Any) -> None:
        name = _read_word(value.get("name"))
        if not name:
            self.problems.append((line, "the entity has no name"))
            return
        observations = _read_observations(value.get("observations"))
        key = normalize_name(name)
        before = self.entities.get(key)
        known: tuple[str, ...] = before.observations if before else ()
        self.entities[key] = Entity(
            line=before.line if before else line,
            name=before.name if before else name,
            type=_read_word(value.get("entityType")),
            observations=tuple(dict.fromkeys((*known, *observations))),
        )

    def _add_relation(self, line: int, value: Any) -> None:
        ends = [_read_word(value.get(name)) for name in ("from", "to", "relationType")]
        if not all(ends):
            self.problems.append((line, "the relation has no from, to or relationType"))
            return
        key = normalize_name(ends[0]), normalize_name(ends[1]), ends[2]
        self.relations.setdefault(key, EntityRelation(line=line, from_name=ends[0], to_name=ends[1], kind=ends[2]))


def parse_memory_graph(text: str) -> MemoryGraph:
    """Return the entities and relations of a file."""
    graph = MemoryGraph()
    for line, value in _iter_whole(text) or _iter_lines(text, graph):
        graph.add(line, value)
    return graph


def _iter_whole(text: str) -> list[tuple[int, object]]:
    """Return the entries of a file that is one object, [] if it is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if not is_object(value) or not (is_list(value.get("entities")) or is_list(value.get("relations"))):
        return []
    entries: list[tuple[int, object]] = []
    for name, kind in (("entities", "entity"), ("relations", "relation")):
        listed = value.get(name)
        found: Sequence[object] = listed if is_list(listed) else ()
        entries += [(0, {**entry, TYPE_FIELD: kind} if is_object(entry) else entry) for entry in found]
    return entries


def _iter_lines(text: str, graph: MemoryGraph) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            graph.problems.append((number, "it is not JSON; a program may have been stopped while writing it"))


def _read_observations(value: object) -> list[str]:
    """Return the observations of an entity; one that is no text as its JSON."""
    listed: Sequence[object] = value if is_list(value) else (value,)
    texts = [
        entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
        for entry in listed
        if entry is not None
    ]
    return [word for entry in texts if (word := _read_word(entry))]


def _read_word(value: object) -> str:
    """Return a text on one line, "" for anything else."""
    return collapse_whitespace(value) if isinstance(value, str) else ""
