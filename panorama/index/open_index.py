"""Opens the configured index, or the best one available on this machine."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from panorama.domain.text.hosts import is_loopback
from panorama.errors import InvalidInputError, UnavailableError
from panorama.index import edge_index
from panorama.index.points import Model, ModelMismatchError
from panorama.index.qdrant.layout import DEFAULT_LAYOUT, ServerLayout

if TYPE_CHECKING:
    from panorama.index.exact_index import ExactIndex
    from panorama.index.qdrant.server_index import ServerIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLocation:
    """The location of the vectors: on a server if `url` is given, else in `folder`, or in memory with the engine
    exact.
    """

    folder: Path
    engine: str = "auto"
    url: str = ""
    key: str = ""
    layout: ServerLayout = DEFAULT_LAYOUT

    @property
    def is_remote(self) -> bool:
        """Whether a search goes over a network."""
        return bool(self.url)


def open_index(
    place: IndexLocation, model: Model, store: str
) -> "tuple[edge_index.EdgeIndex | ServerIndex | ExactIndex, str]":
    """Open the index; also return why it is not the configured one, "" if it is.

    An index with another model's vectors is opened unchanged: see `state().model`.

    Args:
        store: The name of this data directory on a server.

    Raises:
        InvalidInputError: The server's address or key is invalid.
        UnavailableError: The engine edge is configured, but not available.
    """
    if place.url:
        from panorama.index.qdrant.server_index import ServerIndex

        url, key = validate_server(place.url, place.key)
        return ServerIndex(url, key, store, model, layout=place.layout), ""
    if place.engine == "exact":
        return _create_exact(model), ""
    try:
        return _open_edge(place.folder, model), ""
    except UnavailableError as error:
        if place.engine == "edge":
            raise
        return _create_exact(model), f"{error.message} Vectors are searched in memory instead."


def validate_server(url: str, key: str) -> tuple[str, str]:
    """Validate the address and the key of a Qdrant server: a key is not sent unencrypted over a network.

    Raises:
        InvalidInputError: One of them is invalid.
    """
    url, key = validate_url(url), validate_key(key)
    parts = urlsplit(url)
    if key and parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise InvalidInputError(
            "The setting qdrant_url (PANORAMA_QDRANT_URL) begins with http://: qdrant_key would be sent unencrypted.",
            hint="Use https://, or leave the key empty. Keyword search works meanwhile.",
        )
    return url, key


def validate_url(url: str) -> str:
    """Validate the address of a Qdrant server and strip its final slash; errors do not show it, as it may contain a
    password.

    Raises:
        InvalidInputError: It is not a valid address.
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # it would show the address
        raise _address_error("it has no host") from None
    if parts.scheme not in ("http", "https"):
        raise _address_error("it does not begin with http:// or https://")
    if not parts.hostname or any(character.isspace() for character in parts.netloc):
        raise _address_error("it has no host")
    if not _is_host(parts.hostname):
        raise _address_error("its host is not a valid name")
    if not _has_usable_port(parts):
        raise _address_error("its port is not a number from 1 to 65535")
    return parts.geturl().rstrip("/")


def validate_key(key: str) -> str:
    """Validate the key of a Qdrant server and strip it; errors do not show it.

    Raises:
        InvalidInputError: It cannot be sent.
    """
    key = key.strip()
    if key.isascii() and key.isprintable():
        return key
    raise InvalidInputError(
        "The setting qdrant_key (PANORAMA_QDRANT_KEY) contains an invalid character, such as an accent, a typographic "
        "quote or a line break.",
        hint="Copy the key again, then: panorama daemon restart. Keyword search works meanwhile.",
    )


def _is_host(host: str) -> bool:
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return True


def _has_usable_port(parts: SplitResult) -> bool:
    try:
        return parts.port != 0
    except ValueError:
        return False


def _address_error(wrong: str) -> InvalidInputError:
    return InvalidInputError(
        f"The setting qdrant_url (PANORAMA_QDRANT_URL) is not the address of a Qdrant server: {wrong}.",
        hint="Use one such as http://localhost:6333 (or leave it empty to keep the vectors in the data directory), "
        "then: panorama daemon restart. Keyword search works meanwhile.",
    )


def _open_edge(folder: Path, model: Model) -> edge_index.EdgeIndex:
    try:
        return edge_index.open_index(folder, model)
    except ModelMismatchError as error:
        return edge_index.open_index(folder, error.model)


def _create_exact(model: Model) -> "ExactIndex":
    from panorama.index.exact_index import ExactIndex  # numpy takes 100 ms to import

    return ExactIndex(model)
