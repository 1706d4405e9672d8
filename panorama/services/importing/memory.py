"""Imports the graph of the MCP server “memory”: entities become people, projects and notes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from panorama.domain.items.item import PREFIXES, TITLE_CHARS, Item, Kind, kind_of, normalize_name, validate_text
from panorama.domain.items.notes import TYPE_CHARS, Note, normalize_type
from panorama.domain.items.people import Person
from panorama.domain.items.projects import Project
from panorama.domain.items.relations import KIND_CHARS, Relation, normalize_kind
from panorama.domain.markdown.import_fields import merge_fields, to_snapshot
from panorama.domain.markdown.memory_graph import Entity, EntityRelation, MemoryGraph, parse_memory_graph
from panorama.errors import InvalidInputError
from panorama.services.base import Plan, Service, ServiceContext
from panorama.services.importing.folder import UnreadableError, decode, read_file
from panorama.services.importing.import_run import MAX_LISTED_PROBLEMS
from panorama.services.importing.results import MemoryImportReport
from panorama.services.jobs.portions import apply_in_portions
from panorama.services.jobs.progress import load_checkpoint, save_checkpoint
from panorama.store.backend import Session
from panorama.store.graph import relations
from panorama.store.items import lookup, projects, rows
from panorama.store.log import imports
from panorama.store.log.imports import MISSING, ImportedPart
from panorama.store.people.names import list_owners

MAX_FILE_BYTES = 64 << 20
ADOPTED = "adopted"
"""Marks the stored fields of an entity for which an item of that name was there before."""

_WRITTEN = ("_created", "_updated")
"""The ends of the names of counts of what was written."""

_PEOPLE = frozenset(
    ("person", "people", "human", "user", "contact", "individual", "colleague", "friend", "family member", "customer")
)
_CLASSES: Mapping[Kind, type[Item]] = {"person": Person, "project": Project, "note": Note}


class MemoryImports(Service):
    """Imports of the graphs of other memory servers."""

    def import_memory(self, file: str, dry_run: bool = False) -> MemoryImportReport:
        """Import the file of the MCP server “memory”, which is not changed.

        Entities become people and projects by their type, all others notes with their observations; relations stay
        relations. Run it again to import changes; what was changed in both places stays as it is here and is listed.
        One undo reverts an import.

        Args:
            file: Path of a .jsonl or .json file; ~ is your home.
            dry_run: Only report what would be imported.

        Raises:
            InvalidInputError: The file cannot be read, or holds no graph.
        """
        path = _to_path(file)
        graph = _read_graph(path)
        with self._reading() as session:
            run = _MemoryImport(self._context, str(path), graph, imports.list_imported(session, str(path)), session)
        run.resume(load_checkpoint())
        entries: list[Entity | EntityRelation] = [*graph.entities.values(), *graph.relations.values()]
        transaction = self._reading if dry_run else self._writing
        apply_in_portions(transaction, entries, partial(run.write, dry_run=dry_run), path.name)
        with transaction() as session:
            run.mark_missing(session, dry_run=dry_run)
        return run.report(dry_run=dry_run)

    def plan_import_memory(self, file: str, **_: object) -> Plan:
        """Refuse a file that cannot be imported."""
        _read_graph(_to_path(file))
        return Plan()


def _to_path(file: str) -> Path:
    return Path(file).expanduser().absolute()


def _read_graph(path: Path) -> MemoryGraph:
    try:
        graph = parse_memory_graph(decode(read_file(str(path.parent), path.name, limit=MAX_FILE_BYTES)))
    except UnreadableError as error:
        hint = "Give the file of the server, such as memory.jsonl."
        raise InvalidInputError(f"{str(path)[:200]!r} cannot be imported: {error}.", hint=hint) from error
    if not graph.entities and not graph.relations:
        raise InvalidInputError(
            f"{str(path)[:200]!r} holds no entities or relations.",
            hint="Give the file of the MCP server “memory”; for a folder of notes use panorama import markdown.",
        )
    return graph


class _MemoryImport:
    """One import: the record of the file, the items of its entities, and the counts so far."""

    def __init__(
        self,
        context: ServiceContext,
        file: str,
        graph: MemoryGraph,
        known: Mapping[str, Mapping[str, ImportedPart]],
        session: Session,
    ) -> None:
        self._context = context
        self._file = file
        self._graph = graph
        self._known = dict(known.get("", {}))
        self._living = {e.item for e in self._known.values() if rows.exists(session, kind_of(e.item) or "", e.item)}
        if not self._living:  # the import was undone, and starts again
            self._known = {}
        self._items: dict[str, str] = {}
        self._counts: Counter[str] = Counter(unread=len(graph.problems))
        self._problems = [(f"line {line}" if line else "", why) for line, why in graph.problems]
        self._present: set[str] = set()
        self._before: Counter[str] = Counter()
        self._now = context.now()

    def resume(self, checkpoint: Mapping[str, Any]) -> None:
        """Count what a job wrote before it was interrupted; the run finds it unchanged now."""
        self._before.update(checkpoint)

    def write(self, session: Session, entries: Sequence[Entity | EntityRelation], *, dry_run: bool) -> None:
        """Write some entities and relations; in a dry run, only count what would be written.

        An entry that is no valid item is reported and left out.
        """
        parts: dict[str, ImportedPart] = {}
        for entry in entries:
            try:
                part = self._write_entry(session, entry, dry_run)
            except InvalidInputError as error:
                self._counts["unread"] += 1
                self._problems.append((f"line {entry.line}", error.message.rstrip(".")))
                continue
            if part:
                parts[part.part] = part
        if not dry_run:
            imports.save(session, self._file, list(parts.values()))
            save_checkpoint({name: count for name, count in self._total.items() if name.endswith(_WRITTEN)})

    def mark_missing(self, session: Session, *, dry_run: bool) -> None:
        """Mark entries that are no longer in the file, and report each living item once."""
        gone = [entry for part, entry in self._known.items() if part not in self._present]
        fresh = [entry for entry in gone if MISSING not in entry.fields and entry.item in self._living]
        for entry in fresh:
            self._counts["gone"] += 1
            self._problems.append(("", f"“{entry.part.partition(':')[2]}” is no longer in the file; it is kept"))
        if fresh and not dry_run:
            imports.save(session, self._file, [replace(e, fields={**e.fields, MISSING: True}) for e in fresh])

    @property
    def _total(self) -> Counter[str]:
        """The counts, with what was written before an interruption instead of unchanged."""
        total = self._counts + self._before
        total["unchanged"] = max(0, self._counts["unchanged"] - self._before.total())
        return total

    def report(self, *, dry_run: bool) -> MemoryImportReport:
        """Return the counts."""
        total = self._total
        problems = tuple({"place": place, "why": why} for place, why in self._problems[:MAX_LISTED_PROBLEMS])
        names = ("unchanged", "notes_created", "notes_updated", "people_created", "people_updated",
                 "projects_created", "projects_updated", "relations_created", "gone", "skipped", "unread")  # fmt: skip
        return MemoryImportReport(
            file=self._file, dry_run=dry_run, entities=len(self._graph.entities), relations=len(self._graph.relations),
            problems=problems, problem_count=len(self._problems), **{name: total[name] for name in names},
        )  # fmt: skip

    def _write_entry(self, session: Session, entry: Entity | EntityRelation, dry_run: bool) -> ImportedPart | None:
        if isinstance(entry, Entity):
            return self._write_entity(session, entry, dry_run)
        return self._write_relation(session, entry, dry_run)

    # Entities

    def _write_entity(self, session: Session, entity: Entity, dry_run: bool) -> ImportedPart | None:
        key = normalize_name(entity.name)
        part = f"entity:{key}"
        self._present.add(part)
        entry = self._known.get(part)
        if entry and entry.item not in self._living:
            self._counts["skipped"] += 1
            return None
        kind = kind_of(entry.item) if entry else _choose_kind(entity)
        values = _to_fields(kind or "note", entity)
        if entry is None and (found := _find_item(session, kind or "note", key)):
            entry = ImportedPart(path="", part=part, digest="", item=found, fields={ADOPTED: True})
        if entry is None:
            item = self._create(session, kind or "note", values, dry_run)
        else:
            item = self._update(session, entity, entry, values, dry_run)
        self._items[key] = item
        adopted = {ADOPTED: True} if entry and ADOPTED in entry.fields else {}
        return ImportedPart(path="", part=part, digest="", item=item, fields={**to_snapshot(values), **adopted})

    def _create(self, session: Session, kind: Kind, values: Mapping[str, Any], dry_run: bool) -> str:
        item = _CLASSES[kind](
            id=self._context.new_id(PREFIXES[kind]), created_at=self._now, updated_at=self._now, **values
        )
        self._count(kind, "created")
        if not dry_run:
            rows.add(session, item)
        return item.id

    def _update(
        self, session: Session, entity: Entity, entry: ImportedPart, values: Mapping[str, Any], dry_run: bool
    ) -> str:
        old: Item = rows.load(session, kind_of(entry.item) or "", entry.item)
        if ADOPTED in entry.fields:
            changes: Mapping[str, Any] = {old.LINKED: _add_lines(old.linked_text(), values[old.LINKED])}
        else:
            merged = merge_fields(entry.fields, values, old)
            changes = merged.changes
            for name in merged.conflicts:
                why = f"{name} of “{old.label}” was changed in both places; the value in Panorama is kept"
                self._problems.append((f"line {entity.line}", why))
        new = old.with_changes(self._now, **changes)
        if new is old:
            self._counts["unchanged"] += 1
        else:
            self._count(old.KIND, "updated")
            if not dry_run:
                rows.save(session, old, new)
        return old.id

    def _count(self, kind: Kind, action: str) -> None:
        noun = {"person": "people", "project": "projects", "note": "notes"}[kind]
        self._counts[f"{noun}_{action}"] += 1

    # Relations

    def _write_relation(self, session: Session, entity_relation: EntityRelation, dry_run: bool) -> ImportedPart | None:
        part = f"relation:{entity_relation.from_name} {entity_relation.kind} {entity_relation.to_name}"
        self._present.add(part)
        entry = self._known.get(part)
        kind = normalize_kind(entity_relation.kind[:KIND_CHARS], is_quoted=True)
        ends = [self._find_end(session, name) for name in (entity_relation.from_name, entity_relation.to_name)]
        if why := _refuse_relation(entity_relation, kind, ends):
            self._problems.append((f"line {entity_relation.line}", why))
            self._counts["skipped"] += 1
            return None
        relation = Relation(
            id=self._context.new_id(PREFIXES["relation"]), created_at=self._now, updated_at=self._now,
            from_item=ends[0], kind=kind, to_item=ends[1],
        )  # fmt: skip
        known = entry.item if entry else relations.find_same(session, relation)
        if known is None:
            self._counts["relations_created"] += 1
            if not dry_run:
                rows.add(session, relation)
        else:
            self._counts["unchanged" if entry is None or entry.item in self._living else "skipped"] += 1
        return ImportedPart(path="", part=part, digest="", item=known or relation.id, fields={})

    def _find_end(self, session: Session, name: str) -> str:
        """Return the item of an entity, or the only one here that has its name; "" if there is none."""
        key = normalize_name(name)
        if key not in self._items:
            found = lookup.list_exact(session, ["note", "project", "person"], key)
            self._items[key] = found[0][1] if len(found) == 1 else ""
        return self._items[key]


def _refuse_relation(entity_relation: EntityRelation, kind: str, ends: Sequence[str]) -> str:
    """Return why a relation cannot be taken, "" if it can."""
    if not kind:
        return f"{entity_relation.kind[:60]!r} is not a kind of relation"
    for name, end in zip((entity_relation.from_name, entity_relation.to_name), ends, strict=True):
        if not end:
            return f"the relation is to nothing: there is no entity “{name[:60]}”"
    return "an item cannot be related to itself" if ends[0] == ends[1] else ""


def _choose_kind(entity: Entity) -> Kind:
    words = entity.type.casefold().replace("_", " ").replace("-", " ").strip()
    return "person" if words in _PEOPLE else "project" if words == "project" else "note"


def _find_item(session: Session, kind: Kind, key: str) -> str | None:
    """Return the person or project that has a name already; a note of an equal title is another one."""
    if kind == "project":
        return projects.find_by_name(session, key)
    return list_owners(session, [key, key.replace("_", " ")]).get(key.replace("_", " ")) if kind == "person" else None


def _to_fields(kind: Kind, entity: Entity) -> dict[str, Any]:
    """Return the fields of an entity's item."""
    name = entity.name[:TITLE_CHARS].strip()
    text = validate_text("\n".join(f"- {line}" for line in entity.observations), "observations")
    if kind == "project":
        return {"name": name, "description": text}
    if kind == "person":
        plain = name.replace("_", " ").strip() or name
        return {"name": plain, "aliases": () if plain == name else (name,), "notes": text}
    return {"title": name, "type": normalize_type(entity.type[:TYPE_CHARS]), "content": text}


def _add_lines(text: str, lines: str) -> str:
    """Return a text with those lines at its end that it does not have."""
    known = set(text.splitlines())
    missing = "\n".join(line for line in lines.splitlines() if line not in known)
    return "\n".join(filter(None, (text.rstrip("\n"), missing))) if missing else text
