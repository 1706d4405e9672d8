"""Answers that are the same for every client, stored for the time while the daemon starts; standard library only.

The first line of the file is JSON that identifies the answers, followed by one result per line. The daemon writes it;
the proxy reads it.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from panorama import __version__
from panorama.transport.address import Address, open_private

FILE = "answers.json"
LISTS = ("tools/list", "resources/templates/list", "prompts/list")
_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_TOOLSETS = "PANORAMA_TOOLSETS"


def settings_key(address: Address) -> str:
    """Return a key for this process's settings that affect the answers, without parsing them."""
    config = ""
    with suppress(OSError):
        status = os.stat(os.path.join(address.home, "config.toml"))
        config = f"{status.st_size} {status.st_mtime_ns}"
    return f"{__version__}|{os.environ.get(_TOOLSETS, '')}|{config}"


class StoredAnswers:
    """The results of some requests by method and protocol version.

    Args:
        digest: What the lists were made of: version, settings and promoted scripts.
        settings: The `settings_key` of the process that made them.
        results: Results as JSON by "METHOD VERSION".
    """

    def __init__(self, digest: str, settings: str, results: Mapping[str, bytes]) -> None:
        self.digest = digest
        self.settings = settings
        self._results = results

    @classmethod
    def load(cls, address: Address) -> Self | None:
        """Return the stored answers, None if there are none for this process's settings."""
        try:
            with open(os.path.join(address.home, FILE), "rb") as file:
                head = json.loads(file.readline())
                if head["settings"] != settings_key(address):
                    return None
                lines = file.read().splitlines()
            places: dict[str, int] = head["results"]
            return cls(head["digest"], head["settings"], {key: lines[at] for key, at in places.items()})
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None

    def save(self, address: Address) -> None:
        """Store the answers, replacing previous ones.

        Raises:
            OSError: The file cannot be written.
        """
        lines = list(dict.fromkeys(self._results.values()))  # most versions have the same lists
        places = {line: at for at, line in enumerate(lines)}
        results = {key: places[line] for key, line in self._results.items()}
        head = {"settings": self.settings, "digest": self.digest, "results": results}
        path = os.path.join(address.home, FILE)
        with open(f"{path}.new", "wb", opener=open_private) as file:
            file.write(b"\n".join([json.dumps(head).encode(), *lines]))
        os.replace(f"{path}.new", path)

    def find(self, request: Mapping[str, Any], negotiated: str) -> bytes | None:
        """Return the line that answers a request, None if it is not stored.

        Args:
            negotiated: The protocol version of the handshake, "" if there was none.
        """
        method, params = request.get("method"), _as_mapping(request.get("params"))
        if method in LISTS and params.keys() - {"_meta"}:
            return None
        meta = _as_mapping(params.get("_meta"))
        version = params.get("protocolVersion") if method == "initialize" else meta.get(_VERSION_KEY, negotiated)
        result = self._results.get(f"{method} {version}")
        if result is None or not _is_id(request.get("id")):
            return None
        return b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (json.dumps(request["id"]).encode(), result)


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] (JSON of any shape)


def _is_id(id_: object) -> bool:
    return isinstance(id_, str | int) and not isinstance(id_, bool)
