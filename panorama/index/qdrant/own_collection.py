"""The collections of one space and one model: the live one has an alias, a new one is built beside it.

panorama-<space>-<model>-live      the alias; replacing it is the swap
panorama-<space>-<model>-<number>  a collection; those without the alias are left over from a crash
panorama-<space>-<model>           the collection of the former layout

A build deletes what is left over: a crash in a build is followed by another build, because its end was not recorded.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from panorama.errors import UnavailableError
from panorama.index.points import Model, Point
from panorama.index.qdrant.collection import DIGEST_CHARS, Collection, find_info, vector_size
from panorama.index.qdrant.connection import MEANWHILE, WRITE_SECONDS, Connection
from panorama.index.qdrant.layout import ServerLayout

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

NUMBER_CHARS = 12


class OwnCollection(Collection):
    """The collections of one space and one model."""

    def __init__(self, connection: Connection, store: str, model: Model, layout: ServerLayout) -> None:
        super().__init__(connection, store, model, layout)
        self._base = f"panorama-{store}-{model.digest[:DIGEST_CHARS]}"
        self._alias = f"{self._base}-live"
        self._live = ""

    @property
    def identity(self) -> str:
        """The name of the live collection."""
        return self._live or self._base

    @property
    def read_name(self) -> str:
        """The alias, so that searches find points while the live collection is replaced."""
        return self._alias

    @property
    def write_name(self) -> str:
        """The live collection: writes for a replaced one fail."""
        return self._live

    def _find(self, client: "QdrantClient", *, writes: bool) -> None:
        info = find_info(client, self._alias)
        size = vector_size(info) if info else self.model.size
        if info is None:
            self._start(client)
        elif size != self.model.size:
            self._reset_identity(size)
            if not writes:
                raise UnavailableError(self.note, hint=f"Ask again in a moment. {MEANWHILE}")
            self._start(client)
            self._remove_others(client)
        else:
            self._live = self._find_live(client)

    def _start(self, client: "QdrantClient") -> None:
        """Make an empty collection the live one."""
        if find_info(client, self._base) is not None:
            self.note = (
                f"The collection at {self._connection.address} had the layout of an earlier version; its vectors are "
                "copied from the database into a new one."
            )
        name = self._create_beside(client)
        self._make_live(client, name)

    def _reset_identity(self, size: int) -> None:
        """Force a complete rewrite with a new identity."""
        self._live, self.counted = "", None
        self.note = (
            f"The collection at {self._connection.address} held vectors of another size ({size} instead of "
            f"{self.model.size}); it is rebuilt."
        )

    def _create_beside(self, client: "QdrantClient") -> str:
        name = f"{self._base}-{uuid4().hex[:NUMBER_CHARS]}"
        self._create(client, name, {})
        self._create_indexes(client, name)
        return name

    def _make_live(self, client: "QdrantClient", name: str) -> None:
        """Point the alias to a collection, in one call."""
        from qdrant_client import models

        client.update_collection_aliases(
            [
                models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=self._alias)),
                models.CreateAliasOperation(
                    create_alias=models.CreateAlias(collection_name=name, alias_name=self._alias)
                ),
            ]
        )
        self._live = name

    def _find_live(self, client: "QdrantClient") -> str:
        """Return the collection of the alias, "" if there is none."""
        names = {entry.alias_name: entry.collection_name for entry in client.get_aliases().aliases}
        return names.get(self._alias, "")

    def refresh(self) -> None:
        """Count the points, and notice if another program has replaced the collection."""
        self.count()
        live = self._request(WRITE_SECONDS, self._find_live)
        if live != self._live:
            self.is_found = False

    def replace(self, points: Iterable[Point], change: int) -> None:
        """Build a collection beside the live one, make it live in one call, and delete the others."""
        name = self._request(WRITE_SECONDS, self._prepare)
        try:
            chunks = self._upload(name, points, change)
            self._wait_for_count(name, len(chunks))
        except BaseException:
            with suppress(UnavailableError):  # otherwise the next build deletes it
                self._connection.call(WRITE_SECONDS, lambda client: client.delete_collection(name))
            raise
        self._connection.call(WRITE_SECONDS, lambda client: self._make_live(client, name))
        with suppress(UnavailableError):  # likewise
            self._connection.call(WRITE_SECONDS, self._remove_others)

    def _prepare(self, client: "QdrantClient") -> str:
        self._remove_others(client, keeps_former=True)
        return self._create_beside(client)

    def remove(self) -> None:
        """Delete the collections of the model."""
        self._live, self.is_found = "", False
        self._connection.call(WRITE_SECONDS, self._remove_others)

    def _remove_others(self, client: "QdrantClient", *, keeps_former: bool = False) -> None:
        """Delete all collections of the space and model but the live one."""
        for entry in client.get_collections().collections:
            is_left = entry.name.startswith(f"{self._base}-") and entry.name != self._live
            if is_left or (entry.name == self._base and not keeps_former):
                client.delete_collection(entry.name)
