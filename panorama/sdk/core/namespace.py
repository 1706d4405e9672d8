"""The surface: the only place that lists what `sdk` is."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType, ModuleType

from panorama.kinds import ITEM_KINDS
from panorama.sdk import charts, errors, graph, items, overview, scripts
from panorama.sdk.core.history import batch, history, status, undo
from panorama.sdk.core.parallel import parallel, parallel_map, progress
from panorama.sdk.core.rows import Row
from panorama.sdk.core.search import query, search, similar
from panorama.sdk.core.sources import attempt
from panorama.sdk.core.tables import markdown_table


def _public_names(module: ModuleType) -> Mapping[str, object]:
    return MappingProxyType({name: getattr(module, name) for name in module.__all__})


_NOUNS = (
    *(import_module(f"panorama.sdk.{kind.collection}") for kind in ITEM_KINDS),
    graph,
    items,
    overview,
    charts,
    scripts,
)
_FUNCTIONS = (
    search, similar, query, batch, history, undo, status, attempt, parallel, parallel_map, progress,
    markdown_table,
)  # fmt: skip

SURFACE: Mapping[str, object] = MappingProxyType(
    {
        **{module.__name__.rpartition(".")[2]: _public_names(module) for module in _NOUNS},
        **{function.__name__: function for function in _FUNCTIONS},
        "errors": _public_names(errors),
        **_public_names(errors),
        "Row": Row,
    }
)
"""What `sdk` is: functions and classes by name, those of a noun in a mapping of their own.

The host adds `state`, the transport's, which is another dict for each run.
"""
