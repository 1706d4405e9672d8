"""The configured sources of a data directory: read again when the file changes, opened at their first use."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock

from panorama.errors import PanoramaError
from panorama.sources.config import CONFIG_FILE, SourceConfig, load_sources
from panorama.sources.mcp.child_records import end_orphans
from panorama.sources.secrets import is_reference, open_secrets
from panorama.sources.source import Source, open_source

FOLDER = "sources"
"""The folder in the data directory where sources keep what they need: logs, the records of their processes."""


class SourcePool:
    """The sources of one data directory. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._configs: dict[str, SourceConfig] = {}
        self._error: PanoramaError | None = None
        self._open: dict[str, Source] = {}

    def list_configs(self) -> Sequence[SourceConfig]:
        """Return the enabled sources; a look at the file's time and size is all that it costs.

        Raises:
            InvalidInputError: The file cannot be used.
        """
        with self._lock:
            outdated = self._reload()
            configs, error = list(self._configs.values()), self._error
        for source in outdated:
            source.close()
        if error is not None:
            raise error
        return configs

    def find(self, name: str) -> tuple[SourceConfig, Source] | None:
        """Return a source and its configuration; opening it is free.

        Raises:
            InvalidInputError: The file cannot be used.
        """
        self.list_configs()
        with self._lock:
            config = self._configs.get(name)
            if config is None:
                return None
            if name not in self._open:
                self._open[name] = open_source(config, open_secrets(self._home), self._home / FOLDER)
            return config, self._open[name]

    def has_sources(self) -> bool:
        """Return whether any source is configured; False if the configuration cannot be read."""
        try:
            return bool(self.list_configs())
        except PanoramaError:
            return False

    def end_orphans(self) -> None:
        """End the server processes that a killed daemon left behind."""
        if (self._home / FOLDER).is_dir():
            end_orphans(self._home / FOLDER)

    def close(self) -> None:
        """Close every open source."""
        with self._lock:
            sources, self._open = self._open, {}
        for source in sources.values():
            source.close()

    def _reload(self) -> Sequence[Source]:
        """Read the file if it changed; return the open sources whose entry or secrets may have changed."""
        stamp = self._read_stamp()
        if stamp == self._stamp:
            return ()
        self._stamp, self._error, before = stamp, None, self._configs
        configs: Mapping[str, SourceConfig] = {}
        try:
            configs = {config.name: config for config in load_sources(self._home) if not config.disabled}
        except PanoramaError as error:
            self._error = error
        self._configs = dict(configs)
        changed = [
            name
            for name in self._open
            if configs.get(name) != before.get(name) or any(map(is_reference, configs[name].texts))
        ]
        return [self._open.pop(name) for name in changed]

    def _read_stamp(self) -> tuple[int, int, int] | None:
        try:
            status = (self._home / CONFIG_FILE).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino
