"""The kind `folder`: files of one folder, to read, or to read and write."""

import mimetypes
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from panorama.domain.items.files import decode_text
from panorama.domain.sources.functions import SourceFile, SourceFunction, SourceResult
from panorama.errors import InvalidInputError, UnavailableError
from panorama.sources.config import CONFIG_FILE, SourceConfig
from panorama.sources.folder.tree import FolderTree
from panorama.sources.options import KindOption, check_options
from panorama.sources.rest.endpoints import Endpoint, EndpointIndex
from panorama.sources.rest.paging import Page, Rows
from panorama.sources.secrets import SecretLookup
from panorama.sources.source import Deadline
from panorama.transport.address import data_directory

OPTIONS = (
    KindOption(name="path", description="The folder, such as ~/Papers."),
    KindOption(name="write", description="Scripts may write files.", is_required=False, is_flag=True),
    KindOption(name="hidden", description="Show names that begin with a dot.", is_required=False, is_flag=True),
)
MAX_ROWS = 20_000


class FolderSession:
    """One call to a folder."""

    def __init__(self, tree: FolderTree, deadline: Deadline) -> None:
        self.tree = tree
        self._deadline = deadline

    def check_deadline(self) -> None:
        """Check that there is time left.

        Raises:
            UnavailableError: There is none.
        """
        if not self._deadline.seconds_left:
            raise UnavailableError("The folder has too many files for one call.", hint="List a folder in it.")


def list_files(session: FolderSession, *, pattern: str = "*", folder: str = "", limit: int | None = None) -> Page:
    """List files by path: path, size_bytes, modified_at. Hidden files, keys and links are left out.

    Args:
        pattern: A pattern of the path or the name, such as `*.md`.
        folder: Only files below this folder.
        limit: The most rows, at most 20,000.
    """
    rows: Rows = []
    most = MAX_ROWS if limit is None else max(0, min(limit, MAX_ROWS))
    for entry in session.tree.iter_files(folder):
        session.check_deadline()
        if not fnmatchcase(entry.path, pattern) and not fnmatchcase(entry.path.rpartition("/")[2], pattern):
            continue
        if len(rows) == most:
            if limit is None:
                raise InvalidInputError(f"There are more than {MAX_ROWS:,} files.", hint="Name a folder or a pattern.")
            break
        modified_at = datetime.fromtimestamp(entry.modified_at, UTC).isoformat(timespec="seconds")
        rows.append({"path": entry.path, "size_bytes": entry.size_bytes, "modified_at": modified_at})
    return Page(rows)


def read(session: FolderSession, path: str) -> str:
    """Read a text file of at most 10 MB.

    Args:
        path: Its path, as in the list.
    """
    text = decode_text(session.tree.read(path))
    if text is None:
        raise InvalidInputError(f"{path} is not text.", hint="Use read_file, which stores it as a file.")
    return text


def read_file(session: FolderSession, path: str) -> SourceFile:
    """Read any file of at most 10 MB, and store it as a file in Panorama.

    Args:
        path: Its path, as in the list.
    """
    media_type = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return SourceFile(name=path.rpartition("/")[2], media_type=media_type, content=session.tree.read(path))


def write(session: FolderSession, path: str, text: str, *, replace: bool = False) -> None:
    """Write a text file, whole or not at all; missing folders are made.

    Args:
        path: Its path.
        text: Its content.
        replace: Replace a file that exists.
    """
    session.tree.write(path, text.encode(), replaces=replace)


READING = tuple(Endpoint(run=run, reach="here", reads_only=True) for run in (list_files, read, read_file))
WRITING = (Endpoint(run=write, reach="here", reads_only=False, destructive=True),)


class FolderSource:
    """A folder; implements `Source`. Thread-safe."""

    def __init__(self, tree: FolderTree, endpoints: Sequence[Endpoint], call_seconds: float) -> None:
        self._tree = tree
        self._endpoints = EndpointIndex(endpoints)
        self._call_seconds = call_seconds

    def list_functions(self, deadline: Deadline) -> Sequence[SourceFunction]:  # noqa: ARG002 (nothing is asked)
        """Return its functions; those that write only if the user allowed it."""
        return self._endpoints.functions

    def call(self, function: SourceFunction, arguments: Mapping[str, Any], deadline: Deadline) -> SourceResult:
        """Call a function and return its result.

        Raises:
            NotFoundError: There is no such file.
            InvalidInputError: The path leads outside, or the file cannot be read this way.
        """
        seconds = min(self._call_seconds, deadline.seconds_left)
        session = FolderSession(self._tree, Deadline.after(seconds, deadline.is_stopped))
        value = self._endpoints.run(function.name, session, arguments)
        if isinstance(value, SourceFile):
            return SourceResult(files=(value,), size_bytes=len(value.content))
        value = value.rows if isinstance(value, Page) else value
        return SourceResult(value=value, size_bytes=len(value) if isinstance(value, str) else 0)

    def close(self) -> None:
        """Do nothing: every call opens and closes the folder."""


def open_source(config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> FolderSource:  # noqa: ARG001 (kinds share it)
    """Return the source of an entry without opening the folder.

    Raises:
        InvalidInputError: An option cannot be used, or the folder is Panorama's own.
    """
    check_options(config, OPTIONS)
    root = Path(str(config.options["path"])).expanduser().resolve()
    own = Path(data_directory()).resolve()
    if own == root or own in root.parents or root in own.parents:
        raise InvalidInputError(
            f"The source {config.name} in {CONFIG_FILE} holds Panorama's own data, or lies in it.",
            hint="Choose another folder.",
        )
    endpoints = (*READING, *WRITING) if config.options.get("write") else READING
    tree = FolderTree(root, shows_hidden=bool(config.options.get("hidden")))
    return FolderSource(tree, endpoints, config.call_seconds)
