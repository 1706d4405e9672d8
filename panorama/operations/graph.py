"""The operations on the graph."""

from collections.abc import Iterator

from panorama.operation import Operation, read, write
from panorama.services import Services
from panorama.services import summaries as say
from panorama.services.graph import summaries

_GRAPH = {"toolset": "graph"}


def list_everyday_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations of the default tool list."""
    yield read("graph.related", do.graph.related, summaries.summarize_related, "related", recalls="item")


def list_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations of the toolset."""
    yield read("relations.list", do.relations.list, say.make_list_summary("relation"), "list_relations", **_GRAPH)
    yield write("relations.create", do.relations.create, say.summarize_create, "create_relation", **_GRAPH)
    yield read("graph.context", do.graph.context, summaries.summarize_context, "graph_context", **_GRAPH)
    yield read("graph.paths", do.graph.paths, summaries.summarize_paths, "graph_paths", **_GRAPH)
    yield read("graph.stats", do.graph.stats, summaries.summarize_stats, "graph_stats", **_GRAPH)
    yield read("graph.components", do.graph.components, summaries.summarize_components, "graph_components", **_GRAPH)
