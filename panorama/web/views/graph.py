"""The graph: all items with links, or those around one, as a drawing with a list beside it."""

from panorama.domain.items.item import kind_of
from panorama.web.graph_drawing import draw_graph
from panorama.web.view import Context, ViewRequest
from panorama.web.views.search import address_of

DEPTHS = (1, 2, 3)
DEFAULT_DEPTH = 2


def show_graph(request: ViewRequest) -> Context:
    """Show the whole graph if it is small, else its most linked items; or the neighbourhood of an item."""
    item = request.query.get("item", "").strip()
    depth = request.get_number("depth", DEFAULT_DEPTH, DEPTHS[-1])
    graph = request.calls.get("graph.subgraph", depth=depth, **({"item": item} if item else {}))
    nodes = graph["nodes"]
    centre = nodes[0] if item else None
    return {
        "centre": centre,
        "address": address_of(centre["kind"], centre["id"]) if centre else "",
        "depth": depth,
        "depths": DEPTHS,
        "drawing": draw_graph(nodes, graph["edges"]),
        "rows": [
            {**node, "address": address_of(kind_of(node["id"]) or "", node["id"])}
            for node in sorted(nodes, key=lambda node: (node is not centre, -node["links"], node["title"].casefold()))
        ],
        "edge_count": len(graph["edges"]),
        "total": graph.get("total"),
        "is_partial": graph["is_partial"],
        "relations": sorted({edge["kind"] for edge in graph["edges"]} - {"mentions", "part_of"}),
    }
