"""Operations on notes."""

from collections.abc import Callable, Mapping
from typing import Any

from panorama.domain.items import notes as rules
from panorama.domain.items.item import normalize_aliases, normalize_name, normalize_tags, single_line, validate_text
from panorama.domain.items.notes import Note, NoteHeader, Position
from panorama.domain.items.references import NoteRef, ProjectRef
from panorama.domain.markdown.lines import parse_title
from panorama.domain.markdown.parser import list_heading_titles, parse_headings
from panorama.domain.markdown.wiki_links import UNFOLLOWED_LINKS
from panorama.domain.paging import Page, PageRequest, Result
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.services.base import LargeCall, Service, ServiceContext, drop_none
from panorama.services.graph.link_renames import LinkRenames, rename_own_links
from panorama.services.graph.task_lines import TaskLines
from panorama.services.items import duplicates
from panorama.services.items.results import NoteText
from panorama.services.search.hints import join_hints
from panorama.services.search.semantic import SemanticSearch
from panorama.store.backend import Session
from panorama.store.items import notes, rows

READ_CHARS = 7000
"""The default length of a shown note."""

MAX_READ_CHARS = 35_000
MAX_HEADINGS = 40
SHRINK_WARNING_RATIO = 0.5


class Notes(Service):
    """Notes: texts in Markdown."""

    def __init__(self, context: ServiceContext, meaning: SemanticSearch | None = None) -> None:
        super().__init__(context)
        self._meaning = meaning
        self._renames = LinkRenames(context)
        self._lines = TaskLines(context)

    def list(
        self, page: PageRequest, project: ProjectRef | None = None, tag: str | None = None, pinned: bool | None = None
    ) -> Page[NoteHeader]:
        """List notes without their text: pinned first, then the last changed.

        Args:
            project: "@last" for the one read last.
        """
        with self._reading() as session:
            return notes.list_notes(session, page, project=project or None, tag=tag, pinned=pinned)

    def get(self, note: NoteRef, heading: str = "", start: int = 0, chars: int = READ_CHARS) -> NoteText:
        """Read a note: whole, the section under a heading, or a range of characters.

        A long one is cut; the answer says how to read on and lists its headings.

        Args:
            start: First character.
            chars: At most 35000.
        """
        if start < 0 or not 1 <= chars <= MAX_READ_CHARS:
            raise InvalidInputError(
                f"start is {start}, chars is {chars}.", hint=f"Give start 0 or more, chars 1 to {MAX_READ_CHARS:,}."
            )
        with self._reading() as session:
            loaded: Note = rows.load(session, "note", note)
        first, last = _get_section(loaded, heading) if heading else (0, loaded.chars)
        begin = min(max(first, start), last)
        end = min(begin + chars, last)
        titles = list_heading_titles(loaded.content, MAX_HEADINGS) if end < loaded.chars or heading else ()
        return NoteText.of(loaded, begin, end, titles)

    def create(
        self,
        title: str,
        content: str = "",
        project: ProjectRef | None = None,
        tags: tuple[str, ...] = (),
        pinned: bool = False,
        type: str = "",
        aliases: tuple[str, ...] = (),
        properties: Mapping[str, Any] | None = None,
    ) -> Result[Note]:
        """Create a note in Markdown.

        For a memo, a document, anything to remember. To add to an existing note use append_to_note. [[Title]] links to
        another note.

        Args:
            content: Markdown.
            type: Such as decision.
        """
        now = self._now()
        with self._writing() as session:
            note = Note(
                **self._new_item_fields("note", now),
                title=single_line(parse_title(title)),
                content=rules.validate_content(content),
                project=project or None,
                tags=normalize_tags(tags),
                pinned=pinned,
                type=rules.normalize_type(type),
                aliases=normalize_aliases(aliases),
                properties=rules.validate_properties(properties or {}),
            )
            rows.add(session, note)
            duplicate = duplicates.duplicate_hint(session, self._meaning, note, self._context.zone)
            return Result(note, hint=join_hints(duplicate, _describe_links(session, note)))

    def update(
        self,
        note: NoteRef,
        title: str | None = None,
        content: str | None = None,
        project: ProjectRef | None = None,
        tags: tuple[str, ...] | None = None,
        pinned: bool | None = None,
        type: str | None = None,
        aliases: tuple[str, ...] | None = None,
        properties: Mapping[str, Any] | None = None,
        expected_version: int | None = None,
    ) -> Result[Note]:
        """Change a note's fields; omitted fields stay, "" or [] clears.

        `content` replaces the text: to add use append_to_note, to change a part edit_note.

        Args:
            expected_version: Refused if it differs.
        """
        values = _validate_fields(
            title=title, content=content, tags=tags, pinned=pinned, type=type, aliases=aliases, properties=properties
        )
        if project is not None:
            values["project"] = project or None
        renamed = ""
        if "title" in values:
            with self._reading() as session:
                check_version(rows.load(session, "note", note), expected_version)
            renamed = self._renames.rename_item(note, values["title"])
        with self._writing() as session:
            old: Note = rows.load(session, "note", note)
            check_version(old, expected_version)
            new = old.with_changes(self._now(), **rename_own_links(old, values, values.get("title")))
            saved, changed = self._lines.save_note(session, old, new)
            return Result(
                saved, hint=join_hints(renamed or _warn_if_shrunk(old, new), changed, _describe_links(session, new)),
                wrote=new is not old,
            )  # fmt: skip

    def split_update(self, note: NoteRef, title: str | None = None, **values: Any) -> LargeCall | None:
        """Return an update that changes the links of too many items for one transaction; None for any other."""
        return self._renames.split(note, title, {"note": note, "title": title, **values})

    def append(
        self,
        note: NoteRef,
        block: str,
        position: Position = "bottom",
        after_marker: str = "",
        separator: str = "\n\n",
        skip_if_contains: str = "",
    ) -> Result[Note]:
        """Add a block to a note, without sending its text.

        At the bottom, the top, or under a line.

        Args:
            after_marker: Put it under the only line with this.
            skip_if_contains: Do nothing if the note contains this.
        """
        if not block.strip():
            raise InvalidInputError("block is empty.", hint="Give the text to add.")
        with self._writing() as session:
            old: Note = rows.load(session, "note", note)
            if skip_if_contains and skip_if_contains in old.content:
                return Result(old, hint="Nothing was added: the note already contains skip_if_contains.", wrote=False)
            text = rules.append_block(
                old.content, validate_text(block, "block", limit=rules.CONTENT_BYTES), position=position,
                after_marker=after_marker, separator=validate_text(separator, "separator", limit=1000),
            )  # fmt: skip
            new = old.with_changes(self._now(), content=rules.validate_content(text))
            saved, changed = self._lines.save_note(session, old, new)
            return Result(saved, hint=join_hints(changed, _describe_links(session, new)), wrote=new is not old)

    def edit(self, note: NoteRef, old_text: str, new_text: str) -> Result[Note]:
        """Replace a piece of a note's text that occurs exactly once.

        It fails, and changes nothing, if the piece is missing or not unique.

        Args:
            old_text: Copied exactly from the note.
            new_text: "" removes it.
        """
        with self._writing() as session:
            old: Note = rows.load(session, "note", note)
            if new_text and old_text not in old.content and old.content.count(new_text) == 1:
                return Result(old, hint="Nothing was changed: the note already contains new_text.", wrote=False)
            new = old.with_changes(
                self._now(), content=rules.validate_content(rules.replace_once(old.content, old_text, new_text))
            )
            saved, changed = self._lines.save_note(session, old, new)
            return Result(saved, hint=join_hints(changed, _describe_links(session, new)), wrote=new is not old)


def _describe_links(session: Session, note: Note) -> str:
    """Describe that a written text has links that are not followed, "" if it has none."""
    return UNFOLLOWED_LINKS if note.id in session.unfollowed else ""


def _validate_fields(**fields: Any) -> dict[str, Any]:
    values = drop_none(**fields)
    validators: Mapping[str, Callable[[Any], Any]] = {
        "title": lambda title: single_line(parse_title(title)), "content": rules.validate_content,
        "tags": normalize_tags, "type": rules.normalize_type, "aliases": normalize_aliases,
        "properties": rules.validate_properties,
    }  # fmt: skip
    return {name: validators[name](value) if name in validators else value for name, value in values.items()}


def check_version(note: Note, expected: int | None) -> None:
    """Check that a note is still as a client read it.

    Raises:
        ConflictError: It has another version than the expected one.
    """
    if expected is not None and expected != note.version:
        raise ConflictError(
            f"The note “{note.title}” has version {note.version}, not {expected}: it was changed since you read it.",
            hint="Read it again with get_note, then repeat with the new version.",
        )


def _warn_if_shrunk(old: Note, new: Note) -> str:
    if old.chars < READ_CHARS // 10 or new.chars >= old.chars * SHRINK_WARNING_RATIO:
        return ""
    return f"The text went from {old.chars:,} to {new.chars:,} characters; undo brings it back."


def _get_section(note: Note, heading: str) -> tuple[int, int]:
    key = normalize_name(heading.lstrip("#"))
    known = parse_headings(note.content)
    matching = [section for section in known if normalize_name(section.title) == key]
    if matching:
        return matching[0].start, matching[0].end
    raise NotFoundError(
        f"The note “{note.title}” has no heading {heading[:80]!r}.",
        hint="Use one of its headings, or read a range with start and chars.",
        candidates=[{"heading": section.title} for section in known[:MAX_HEADINGS]],
    )
