"""Opens the index that the settings ask for, or the one that this machine can have."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from panorama.errors import UnavailableError
from panorama.index import edge
from panorama.index.points import Model, OtherModelError

if TYPE_CHECKING:
    from panorama.index.exact import Exact
    from panorama.index.server import Server


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where vectors are kept: on a server if `url` is given, else in `folder` or, with the engine exact, nowhere."""

    folder: Path
    engine: str = "auto"
    url: str = ""
    key: str = ""

    @property
    def is_far(self) -> bool:
        """Whether a search goes over a network."""
        return bool(self.url)


def opened(place: Place, model: Model, store: str) -> "tuple[edge.Edge | Server | Exact, str]":
    """Return the index, and why it is not the one that was meant, "" if it is.

    An index that holds another model's vectors is opened as it is: `state().model` tells.

    Args:
        store: By what name a server knows this data directory.

    Raises:
        UnavailableError: The engine edge was asked for, and cannot be had.
    """
    if place.url:
        from panorama.index.server import Server

        return Server(place.url, place.key, store, model), ""
    if place.engine == "exact":
        return _exact(model), ""
    try:
        return _edge(place.folder, model), ""
    except UnavailableError as error:
        if place.engine == "edge":
            raise
        return _exact(model), f"{error.message} Vectors are searched in memory instead."


def _edge(folder: Path, model: Model) -> edge.Edge:
    try:
        return edge.opened(folder, model)
    except OtherModelError as error:
        return edge.opened(folder, error.model)


def _exact(model: Model) -> "Exact":
    from panorama.index.exact import Exact  # numpy takes 100 ms to import

    return Exact(model)
