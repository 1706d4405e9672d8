"""Opens the configured index, or the best that this machine has."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from panorama.errors import InvalidInputError, UnavailableError
from panorama.index import edge_index
from panorama.index.points import Model, ModelMismatchError

if TYPE_CHECKING:
    from panorama.index.exact_index import ExactIndex
    from panorama.index.qdrant_server import ServerIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLocation:
    """Where vectors are kept: on a server if `url` is given, else in `folder` or, with the engine exact, nowhere."""

    folder: Path
    engine: str = "auto"
    url: str = ""
    key: str = ""

    @property
    def is_remote(self) -> bool:
        """Whether a search goes over a network."""
        return bool(self.url)


def open_index(
    place: IndexLocation, model: Model, store: str
) -> "tuple[edge_index.EdgeIndex | ServerIndex | ExactIndex, str]":
    """Return the index, and why it is not the one that was meant, "" if it is.

    An index that holds another model's vectors is opened as it is: `state().model` tells.

    Args:
        store: By what name a server knows this data directory.

    Raises:
        InvalidInputError: The server's address or key is none.
        UnavailableError: The engine edge was asked for, and cannot be had.
    """
    if place.url:
        from panorama.index.qdrant_server import ServerIndex

        return ServerIndex(validate_url(place.url), validate_key(place.key), store, model), ""
    if place.engine == "exact":
        return _create_exact(model), ""
    try:
        return _open_edge(place.folder, model), ""
    except UnavailableError as error:
        if place.engine == "edge":
            raise
        return _create_exact(model), f"{error.message} Vectors are searched in memory instead."


def validate_url(url: str) -> str:
    """Return the address of a Qdrant server without a slash at its end; no refusal shows it, as it may hold a password.

    Raises:
        InvalidInputError: It is none that can be asked.
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:  # it would show the address
        raise _address_error("it names no host") from None
    if parts.scheme not in ("http", "https"):
        raise _address_error("it does not begin with http:// or https://")
    if not parts.hostname or any(character.isspace() for character in parts.netloc):
        raise _address_error("it names no host")
    if not _is_host(parts.hostname):
        raise _address_error("its host is no name that there can be")
    if not _has_usable_port(parts):
        raise _address_error("its port is no number from 1 to 65535")
    return parts.geturl().rstrip("/")


def validate_key(key: str) -> str:
    """Return the key of a Qdrant server without blanks around it; no refusal shows it.

    Raises:
        InvalidInputError: It cannot be sent.
    """
    key = key.strip()
    if key.isascii() and key.isprintable():
        return key
    raise InvalidInputError(
        "The setting qdrant_key (PANORAMA_QDRANT_KEY) holds a character that no key has: a letter with an accent, a "
        "typographic quote, a line break or the like.",
        hint="Copy the key again, then: panorama daemon restart. Search by keyword works meanwhile.",
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
        hint="Write one such as http://localhost:6333 (or leave it empty, and the vectors stay in the data directory), "
        "then: panorama daemon restart. Search by keyword works meanwhile.",
    )


def _open_edge(folder: Path, model: Model) -> edge_index.EdgeIndex:
    try:
        return edge_index.open_index(folder, model)
    except ModelMismatchError as error:
        return edge_index.open_index(folder, error.model)


def _create_exact(model: Model) -> "ExactIndex":
    from panorama.index.exact_index import ExactIndex  # numpy takes 100 ms to import

    return ExactIndex(model)
