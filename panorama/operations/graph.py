"""The operations on the graph."""

from collections.abc import Iterator

from panorama.operation import Operation, read, write
from panorama.services import Services
from panorama.services import summaries as say

_GRAPH = {"toolset": "graph"}


def list_everyday_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations of the default tool list."""
    yield read("graph.related", do.graph.related, "related", recalls="item")


def list_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations of the toolset."""
    yield read(
        "relations.list", do.relations.list, "list_relations", summary=say.make_list_summary("relation"), **_GRAPH
    )
    yield write("relations.create", do.relations.create, "create_relation", summary=say.summarize_create, **_GRAPH)
    yield read("graph.context", do.graph.context, "graph_context", **_GRAPH)
    yield read("graph.paths", do.graph.paths, "graph_paths", **_GRAPH)
    yield read("graph.stats", do.graph.stats, "graph_stats", **_GRAPH)
    yield read("graph.components", do.graph.components, "graph_components", **_GRAPH)
    yield read("graph.subgraph", do.graph.subgraph, exempt=True)
