"""Checks a Qdrant server for the doctor: its version, the key, the collections and their replicas."""

import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from panorama.index.qdrant.connection import GUARD_VERSION, READ_SECONDS, Connection
from panorama.index.qdrant.layout import ServerLayout

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

MAX_COLLECTIONS = 20
"""How many collections are checked; a server may have hundreds."""

REINDEX = "panorama reindex index"


class ServerHealth(NamedTuple):
    """The result of the check, and how to repair the problem."""

    state: Literal["ok", "warn"]
    found: str
    mend: str = ""


def check_server(url: str, key: str, layout: ServerLayout) -> ServerHealth:
    """Check a server that is configured as its address, key and layout say; nothing is written.

    Raises:
        UnavailableError: It cannot be reached, is too old, or refuses the key.
    """
    connection = Connection(url, key, time.monotonic)
    try:
        return connection.call(READ_SECONDS, lambda client: _check(client, connection, layout))
    finally:
        connection.close()


def _check(client: "QdrantClient", connection: Connection, layout: ServerLayout) -> ServerHealth:
    connection.check_version(client)
    names = [entry.name for entry in client.get_collections().collections if entry.name.startswith("panorama-")]
    version = ".".join(map(str, connection.version)) if connection.version else "of an unknown version"
    found = f"{connection.address}, Qdrant {version}, collections of Panorama: {len(names)}"
    for name in names[:MAX_COLLECTIONS]:
        if problem := _find_problem(client, name, layout):
            return ServerHealth("warn", f"{found}; {name} {problem[0]}", problem[1])
    if connection.version and connection.version < GUARD_VERSION:
        return ServerHealth("warn", f"{found}; it cannot refuse late writes", "Upgrade it to Qdrant 1.16 or later.")
    return ServerHealth("ok", found)


def _find_problem(client: "QdrantClient", name: str, layout: ServerLayout) -> tuple[str, str] | None:
    """Return what is wrong with a collection, and how to repair it; None if nothing is."""
    info = client.get_collection(name)
    if info.status in ("red", "grey"):
        return f"has the status {info.status.value}", "See the log of the server."
    replicas = info.config.params.replication_factor or 1
    if replicas < layout.replicas:
        return f"has {replicas} of {layout.replicas} replicas (qdrant_replicas)", REINDEX
    shards = client.collection_cluster_info(name)
    states = [shard.state.value for shard in (*shards.local_shards, *shards.remote_shards)]
    if inactive := [state for state in states if state != "Active"]:
        mend = "Check the nodes of the cluster: GET /cluster shows those that are missing."
        return f"has {len(inactive)} of {len(states)} replicas that are not active ({inactive[0]})", mend
    return None
