"""Versions of scripts: every overwritten text is stored first, so that none is lost."""

from collections.abc import Iterator
from datetime import datetime

from panorama.domain.changes import PERSON_ACTORS
from panorama.domain.scripts.library import DRAFT, ScriptText
from panorama.errors import NotFoundError
from panorama.services.base import Service, ServiceContext
from panorama.services.scripts.library.results import ScriptVersion
from panorama.services.scripts.library.script_files import ScriptFiles
from panorama.store.backend import Session
from panorama.store.log import library as rows
from panorama.store.log import script_writes
from panorama.store.log.script_writes import ScriptWrite

EDITOR_DOOR = "file"
"""The interface of a text that the user wrote into its file."""


class ScriptVersions(Service):
    """Writes the files of scripts, and stores every previous text."""

    def __init__(self, context: ServiceContext, shelf: ScriptFiles) -> None:
        super().__init__(context)
        self._shelf = shelf

    def find_own_digest(self, name: str) -> str:
        """Return the digest of the user's file of a script, "" if there is none."""
        text = self._shelf.read(name)
        return text.digest if text and not text.is_shipped else ""

    def write(self, session: Session, name: str, new: ScriptText | None, undoes: int = 0) -> None:
        """Write a script's file, or delete it with None. The previous text is stored first; undo restores it.

        Args:
            undoes: The number of the write that this one undoes, 0 for none.
        """
        old, now, origin = self._shelf.read(name), self._now(), session.origin
        if old:
            store_version(session, old, rows.WRITTEN, now)
        if new:
            store_version(session, new, rows.SAVED, now)
        if origin:
            script_writes.add_write(
                session,
                ScriptWrite(
                    name=name, at=now, unit=origin.unit, conversation=origin.conversation, undoes=undoes,
                    before=old.digest if old and not old.is_shipped else "", after=new.digest if new else "",
                ),
            )  # fmt: skip
        if new:
            self._shelf.write(name, new.content)
        else:
            self._shelf.remove(name)


def store_version(session: Session, text: ScriptText, verdict: str, now: datetime) -> None:
    """Store a text as a version of its script, unless it is already one or is shipped."""
    if text.is_shipped or any(version.digest == text.digest for version in list_versions(session, text.name)):
        return
    is_saved = session.origin is not None and verdict == rows.SAVED
    door, client = (session.origin.actor, session.origin.client) if session.origin and is_saved else (EDITOR_DOOR, "")
    entry = rows.Review(
        name=text.name, at=now, verdict=verdict, digest=text.digest, text=text.source, door=door, client=client
    )
    rows.add_review(session, entry)


def list_versions(session: Session, name: str) -> list[rows.Review]:
    """Return the versions of a script, the first one first; their numbers count from 1."""
    return [text for text in rows.list_texts(session, name) if text.verdict in rows.VERSIONS][::-1]


def get_version(session: Session, name: str, number: int | None) -> rows.Review:
    """Return a version by its number, or the last approved one.

    Raises:
        NotFoundError: There is no such version.
    """
    versions = list_versions(session, name)
    approved = [version for version in versions if version.verdict == rows.APPROVED]
    if approved and number is None:
        return approved[-1]
    if number is not None and 1 <= number <= len(versions):
        return versions[number - 1]
    which = f"version {number}" if number is not None else "approved version"
    hint = f"There are 1 to {len(versions)}." if versions else "Nothing was approved yet."
    raise NotFoundError(f"The script {name} has no {which}.", hint=hint)


def get_text(session: Session, name: str, digest: str) -> ScriptText:
    """Return a previous text of a script by its digest.

    Raises:
        NotFoundError: It is not stored.
    """
    for text in rows.list_texts(session, name):
        if text.digest == digest:
            return ScriptText(name=name, content=text.text.encode(), digest=digest)
    raise NotFoundError(
        f"The former text of the script {name} is not stored; nothing was changed.",
        hint=f"`panorama scripts history {name}` lists its texts.",
    )


def find_previous_approved(session: Session, name: str) -> int:
    """Return the number of the last but one approved version; 1 if there is none."""
    versions = enumerate(list_versions(session, name), 1)
    approved = [number for number, version in versions if version.verdict == rows.APPROVED]
    return approved[-2] if len(approved) > 1 else (approved or [1])[0]


def is_by_assistant(session: Session, text: ScriptText) -> bool:
    """Return whether an assistant, not the user, wrote a text."""
    known = [version for version in list_versions(session, text.name) if version.digest == text.digest]
    return any(version.verdict == rows.SAVED and version.door not in PERSON_ACTORS for version in known)


def iter_history(session: Session, name: str) -> Iterator[ScriptVersion]:
    """Yield the texts of a script and the decisions on them, the newest first."""
    texts, standing = rows.list_texts(session, name), rows.find_state(session, name) or DRAFT
    number = sum(text.verdict in rows.VERSIONS for text in texts)
    for text in texts:
        is_version, is_approved = text.verdict in rows.VERSIONS, text.verdict == rows.APPROVED
        yield ScriptVersion(
            version=number if is_version else None, at=text.at, verdict=text.verdict, digest=text.digest,
            by=text.door, lines=text.text.count("\n"), current=is_approved and text.digest == standing.digest,
        )  # fmt: skip
        number -= is_version
