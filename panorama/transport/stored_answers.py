"""Answers that depend only on the kind of client, stored for the time while the daemon starts; standard library only.

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
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_TOOLSETS = "PANORAMA_TOOLSETS"
APPS_EXTENSION = "io.modelcontextprotocol/ui"
"""The extension of clients that show pages in a chat: their list of tools is another one."""

APPS_LIST = "tools/list"
_WITH_APPS = " apps"


def describe_client(version: Any, capabilities: Any) -> str:
    """Return the properties that a client's answers depend on: protocol version, and support for pages in a chat."""
    is_with_apps = APPS_EXTENSION in _as_mapping(_as_mapping(capabilities).get("extensions"))
    return f"{version}{_WITH_APPS}" if is_with_apps else str(version)


def settings_key(address: Address) -> str:
    """Return a key for this process's settings that affect the answers, without parsing them."""
    config = ""
    with suppress(OSError):
        status = os.stat(os.path.join(address.home, "config.toml"))
        config = f"{status.st_size} {status.st_mtime_ns}"
    return f"{__version__}|{os.environ.get(_TOOLSETS, '')}|{config}"


class StoredAnswers:
    """The results of some requests by method and client, as `describe_client` describes it.

    Args:
        digest: What the lists were made of: version, settings and promoted scripts.
        settings: The `settings_key` of the process that made them.
        results: Results as JSON by "METHOD CLIENT".
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
            negotiated: The client of the handshake, as `describe_client` describes it; "" if there was none.
        """
        method, params = request.get("method"), _as_mapping(request.get("params"))
        if method in LISTS and params.keys() - {"_meta"}:
            return None
        meta = _as_mapping(params.get("_meta"))
        if method == "initialize":
            client = str(params.get("protocolVersion"))
        elif _VERSION_KEY in meta:
            client = describe_client(meta[_VERSION_KEY], meta.get(_CAPABILITIES_KEY))
        else:
            client = negotiated
        if method != APPS_LIST:
            client = client.removesuffix(_WITH_APPS)
        result = self._results.get(f"{method} {client}")
        if result is None or not _is_id(request.get("id")):
            return None
        return b'{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (json.dumps(request["id"]).encode(), result)


def _as_mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType] (JSON of any shape)


def _is_id(id_: object) -> bool:
    return isinstance(id_, str | int) and not isinstance(id_, bool)
