"""The scripts of a database that several machines use: approved texts are read from its reviews.

A file of this machine with a text that was never approved is a draft, and only of this machine. A missing file, a
shipped one, and one whose text was approved earlier give way to the text that is approved now.
"""

from pathlib import Path

from panorama.domain.scripts.library import ScriptText, digest_of
from panorama.services.base import ServiceContext
from panorama.services.scripts.library.script_files import ScriptFiles
from panorama.store.log import library as rows

MAX_CACHED_TEXTS = 200


class SharedScripts(ScriptFiles):
    """Scripts by name: the files of this machine, and the approved texts of the database."""

    def __init__(self, folder: Path, shipped: Path, context: ServiceContext) -> None:
        super().__init__(folder, shipped)
        self._context = context
        self._approved: dict[tuple[str, str], ScriptText] = {}

    def list_names(self) -> list[str]:
        """Return the sorted names of all scripts, with and without a file on this machine."""
        with self._context.database.reading() as session:
            approved = rows.list_approved_names(session)
        return sorted({*super().list_names(), *approved})

    def read(self, name: str) -> ScriptText | None:
        """Read a script; return None if there is none.

        Raises:
            InvalidInputError: Its file is a link, not a regular file, or too large.
            UnavailableError: It cannot be read.
        """
        return self._choose(name, super().read(name), self.find_approved(name))

    def read_cached(self, name: str, approved_digest: str | None = None) -> ScriptText | None:
        """Read a script, from the cache if its file is unchanged."""
        return self._choose(name, super().read_cached(name), self.find_approved(name, approved_digest))

    def contains(self, name: str) -> bool:
        """Return whether a script has a file, or an approved text."""
        return super().contains(name) or self.find_approved(name) is not None

    def find_approved(self, name: str, digest: str | None = None) -> ScriptText | None:
        """Return the text of a script that is approved, whatever this machine has; None if none is.

        The stored text is used only if it has the approved digest, which the caller may know.
        """
        if digest is not None and (not digest or (name, digest) in self._approved):
            return self._approved.get((name, digest))
        with self._context.database.reading() as session:
            digest = rows.find_approved_digest(session, name)
            if not digest or (name, digest) in self._approved:
                return self._approved.get((name, digest))
            content = rows.find_text(session, name, digest).encode()
        if digest_of(content) != digest:
            return None
        if len(self._approved) >= MAX_CACHED_TEXTS:
            self._approved.clear()
        text = self._approved[name, digest] = ScriptText(name=name, content=content, digest=digest)
        return text

    def _choose(self, name: str, local: ScriptText | None, approved: ScriptText | None) -> ScriptText | None:
        """Return the approved text, unless the file of this machine has it or is a draft."""
        if approved is None or (local and local.digest == approved.digest):
            return local
        if local and not local.is_shipped and not self._was_approved(name, local.digest):
            return local
        return approved

    def _was_approved(self, name: str, digest: str) -> bool:
        with self._context.database.reading() as session:
            return rows.was_approved(session, name, digest)
