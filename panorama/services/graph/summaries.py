"""The results of operations on the graph in one line."""

from panorama.services.archive.results import pluralize
from panorama.services.graph.results import Components, GraphContext, GraphStats, Paths, Related


def summarize_related(related: Related) -> str:
    """Summarize the neighbours of an item."""
    parts = [f"{pluralize(len(related.neighbours), 'item')} related to “{related.title}” ({related.id})"]
    parts += [f"{related.more:,} more: give a limit, kinds or a smaller depth"] if related.more else []
    parts += ["only the first of very many were followed"] if related.is_partial else []
    parts += [f"{pluralize(len(related.unresolved), 'link')} to nothing"] if related.unresolved else []
    return "; ".join(parts)


def summarize_paths(paths: Paths) -> str:
    """Summarize the ways between two items."""
    if not paths.paths:
        return "No way in so many steps"
    way = " → ".join(str(step["title"]) for step in paths.paths[0])
    return f"{pluralize(len(paths.paths), 'way')} of {pluralize(paths.length, 'step')}: {way}"


def summarize_stats(stats: GraphStats) -> str:
    """Summarize the size of the graph."""
    unread = f"; the links of {pluralize(stats.unread, 'item')} are still being read" if stats.unread else ""
    return (
        f"{pluralize(stats.edges, 'relation')} between {pluralize(stats.nodes, 'item')}; "
        f"{pluralize(stats.unresolved, 'link')} to nothing{unread}"
    )


def summarize_components(components: Components) -> str:
    """Summarize the groups of items."""
    largest = max((int(group["size"]) for group in components.components), default=0)
    return f"{pluralize(components.count, 'group')}; the largest has {pluralize(largest, 'item')}"


def summarize_context(context: GraphContext) -> str:
    """Summarize what is known about a topic."""
    cut = f"; {pluralize(context.cut, 'row')} left out to keep it short" if context.cut else ""
    return f"{pluralize(len(context.hits), 'hit')} for “{context.topic[:80]}” and what is related to them{cut}"
