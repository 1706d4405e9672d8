"""The functions of configured sources: stored when they are read, so that most questions start no server."""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from threading import Lock

from panorama.domain.changes import Origin
from panorama.domain.sources.functions import SourceFunction
from panorama.domain.sources.names import assign_names
from panorama.errors import NotFoundError, PanoramaError, SourceError, UnavailableError
from panorama.services.base import ServiceContext
from panorama.sources.config import SourceConfig
from panorama.sources.pool import SourcePool
from panorama.sources.source import Deadline, Source
from panorama.store.backend import Session
from panorama.store.log import sources as rows
from panorama.store.log.sources import StoredFunction

FIRST_READ_SECONDS = 5.0
"""How long a search of functions waits for sources that were never read."""

RETRY_SECONDS = 60.0
"""How long a source that could not be read is left alone by searches."""

_ORIGIN = Origin(actor="sources", client="", conversation="", operation="", call="", unit="")
_FIELDS = tuple(field.name for field in fields(SourceFunction) if field.name not in ("name", "own_name"))


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A configured source and its functions as last read, by Python name; none if it was never read."""

    config: SourceConfig
    functions: Mapping[str, SourceFunction]


class SourceFunctions:
    """Knows which functions the configured sources have. Thread-safe."""

    def __init__(self, context: ServiceContext, pool: SourcePool, taken: Callable[[], Collection[str]]) -> None:
        """Create it; `taken` returns the names that sources cannot have, because scripts use them already."""
        self._context = context
        self._pool = pool
        self._taken = taken
        self._lock = Lock()
        self._read: dict[str, tuple[Sequence[SourceFunction], dict[str, SourceFunction]]] = {}
        self._failed_at: dict[str, float] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sources that scripts can use; none if the configuration cannot be read."""
        try:
            return tuple(config.name for config in self.list_configs())
        except PanoramaError:
            return ()

    def list_configs(self) -> Sequence[SourceConfig]:
        """Return the configured sources whose names are free.

        Raises:
            InvalidInputError: The configuration cannot be read.
        """
        configs = self._pool.list_configs()
        taken = self._taken() if configs else ()
        return [config for config in configs if config.name not in taken]

    def list_known(self) -> Sequence[KnownSource]:
        """Return the configured sources with their stored functions; starts nothing.

        Raises:
            InvalidInputError: The configuration cannot be read.
        """
        configs = self.list_configs()
        if not configs:
            return ()
        with self._context.database.reading() as session:
            stored = rows.list_functions(session, [config.name for config in configs])
        by_source: dict[str, dict[str, SourceFunction]] = {config.name: {} for config in configs}
        for function in stored:
            if function.definition:
                by_source[function.source][function.name] = _from_row(function)
        for name, (_, functions) in self._read.items():  # an open view may be older than what was just read
            if name in by_source:
                by_source[name] = functions
        return [KnownSource(config, by_source[config.name]) for config in configs]

    def read_unknown(self) -> None:
        """Read the sources that were never read, side by side, for some seconds; failures are skipped."""
        unknown = [known.config.name for known in self.list_known() if not known.functions]
        due = [
            name for name in unknown if time.monotonic() - self._failed_at.get(name, -RETRY_SECONDS) >= RETRY_SECONDS
        ]
        if due:
            with ThreadPoolExecutor(len(due)) as threads:
                list(threads.map(self._try_read, due))

    def find(self, source: str, function: str, deadline: Deadline) -> tuple[SourceConfig, Source, SourceFunction]:
        """Return a function as its source has it now; this may start the source.

        Raises:
            NotFoundError: There is no such source or function.
            UnavailableError: The source cannot be reached.
        """
        found = self._pool.find(source) if source in self.names else None
        if found is None:
            raise _unknown_source_error(source, self.names)
        config, opened = found
        functions = self._update(config, opened, deadline)
        if function not in functions:
            near = get_close_matches(function[:80], functions, 3, 0.5)
            better = f"Did you mean {' or '.join(near)}? " if near else ""
            raise NotFoundError(
                f"The source {source} has no function {function[:60]!r}.",
                hint=f'{better}search_sdk("{source}") lists its functions.',
            )
        return config, opened, functions[function]

    def read(self, source: str, deadline: Deadline) -> KnownSource:
        """Read the functions of a source again.

        Raises:
            NotFoundError: There is no such source.
            UnavailableError: The source cannot be reached.
        """
        found = self._pool.find(source) if source in self.names else None
        if found is None:
            raise _unknown_source_error(source, self.names)
        return KnownSource(found[0], self._update(*found, deadline))

    def read_once(self, source: str, deadline: Deadline) -> None:
        """Read a source that this process has not read yet, so that a user is asked about it as it is now."""
        if source not in self._read:
            with suppress(PanoramaError):  # the call says what is wrong
                self.read(source, deadline)

    def _try_read(self, name: str) -> None:
        try:
            self.read(name, Deadline.after(FIRST_READ_SECONDS))
        except (UnavailableError, SourceError, NotFoundError):
            self._failed_at[name] = time.monotonic()

    def _update(self, config: SourceConfig, opened: Source, deadline: Deadline) -> dict[str, SourceFunction]:
        """Return the functions that a source has now by Python name, and store them if they changed."""
        listed = opened.list_functions(deadline)
        known = self._read.get(config.name)
        if known is not None and known[0] is listed:
            return known[1]
        with self._lock:
            functions = self._store(config.name, listed)
            self._read[config.name] = listed, functions
            return functions

    def _store(self, source: str, listed: Sequence[SourceFunction]) -> dict[str, SourceFunction]:
        database = self._context.database
        with database.reading() as session:
            functions, changed = _name_functions(session, source, listed)
        if changed:
            with database.transaction(_ORIGIN) as session:
                functions, changed = _name_functions(session, source, listed)  # another process may have named some
                if changed:
                    rows.replace_functions(session, source, changed)
        return functions


def _name_functions(
    session: Session, source: str, listed: Sequence[SourceFunction]
) -> tuple[dict[str, SourceFunction], Collection[StoredFunction]]:
    """Return the functions of a source by Python name, and its rows to store; none if they are stored already."""
    stored = {row.own_name: row for row in rows.list_functions(session, [source])}
    names = assign_names((function.own_name for function in listed), {own: row.name for own, row in stored.items()})
    functions = {names[function.own_name]: replace(function, name=names[function.own_name]) for function in listed}
    current = {function.own_name: _to_row(source, function) for function in functions.values()}
    gone = {own: replace(row, definition={}) for own, row in stored.items() if own not in current}
    return functions, () if current | gone == stored else (current | gone).values()


def _to_row(source: str, function: SourceFunction) -> StoredFunction:
    definition = {name: getattr(function, name) for name in _FIELDS}
    return StoredFunction(source=source, own_name=function.own_name, name=function.name, definition=definition)


def _from_row(row: StoredFunction) -> SourceFunction:
    definition = {name: value for name, value in row.definition.items() if name in _FIELDS}
    return SourceFunction(name=row.name, own_name=row.own_name, **definition)


def _unknown_source_error(name: str, known: Collection[str]) -> NotFoundError:
    near = get_close_matches(name[:80], known, 3, 0.5)
    better = f"Did you mean {' or '.join(near)}? " if near else ""
    return NotFoundError(
        f"There is no source {name[:60]!r}.", hint=f"{better}`panorama sources list` shows the configured ones."
    )
