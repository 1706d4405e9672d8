"""Renders entries of the SDK reference as Python, and an overview with one line per entry."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from panorama.sdk.reference import GUIDE, KEPT, RECIPES, Entry, fields
from panorama.services.scripts.sdk_search.collections import COLLECTIONS, format_collections
from panorama.services.scripts.sdk_search.sources import SOURCE_GROUP, format_source_names
from panorama.services.scripts.sdk_search.tools import BATCH_TOOLS

Detail = Literal["brief", "signatures", "full"]

MAX_CHARS = 5_700
"""The maximum number of characters of an answer; with its summary it stays under 6 KB."""

MAX_ENTRIES: Mapping[Detail, int] = {"brief": 25, "signatures": 3, "full": 3}
MAX_SCRIPT_NAMES = 12
"""The maximum number of saved scripts that the overview names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SdkSearchResult:
    """The result of a search of the SDK: `shown` of `total` functions and recipes that fit, as Python."""

    shown: int
    total: int
    python: str

    def summarize(self) -> str:
        """Return a one-line summary."""
        if not self.total:
            return "No function matches"
        more = '; detail="brief" or other words show more' if self.shown < self.total else ""
        return f"{self.shown} of {self.total} functions and recipes{more}"


def render_entries(entries: Sequence[Entry], detail: Detail) -> SdkSearchResult:
    """Return the first entries, as many as an answer holds."""
    shown: list[Entry] = []
    for entry in entries[: MAX_ENTRIES[detail]]:
        if len(_render_python([*shown, entry], detail)) > MAX_CHARS and shown:
            break
        shown.append(entry)
    return SdkSearchResult(shown=len(shown), total=len(entries), python=_render_python(shown, detail))


def _render_python(shown: Sequence[Entry], detail: Detail) -> str:
    """Return entries as Python, and the fields of the rows that they return."""
    if detail == "brief":
        return "\n".join(entry.brief for entry in shown)
    texts = [entry.full if detail == "full" else entry.stub for entry in shown]
    rows = fields(name for entry in shown for name in entry.rows)
    return "\n\n".join([*texts, *(["Fields:\n" + "\n".join(rows)] if rows else [])])


def render_overview(entries: Sequence[Entry]) -> SdkSearchResult:
    """Return one line per entry, grouped by noun."""
    lines = [GUIDE]
    for group, members in groupby(entries, lambda entry: entry.group):
        lines.append(f"\n{group or 'sdk'}:")
        shorten = format_source_names if group.startswith(SOURCE_GROUP) else _shorten_all
        lines += _GROUP_LINES.get(group, shorten)(members)
    return SdkSearchResult(shown=len(entries), total=len(entries), python="\n".join(lines))


def _format_script_names(entries: Iterable[Entry]) -> list[str]:
    """Return the names of saved scripts in one line."""
    names = [entry.name.rpartition(".")[2] for entry in entries]
    shown = names[:MAX_SCRIPT_NAMES]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return [f"sdk.scripts.NAME(…): {', '.join(shown)}{more}. Search for one to see its arguments."]


def _shorten_all(members: Iterable[Entry]) -> list[str]:
    return [_shorten(member) for member in members]


def _shorten(entry: Entry) -> str:
    if entry.group == RECIPES:
        return entry.name.partition(":")[0]
    return entry.brief.removeprefix(f"sdk.{entry.group}." if entry.group else "sdk.")


def _format_batch_tools(tools: Iterable[Entry]) -> list[str]:
    return [f'{", ".join(tool.name for tool in tools)}. get_item("tool:NAME") shows what one takes.']


_GROUP_LINES: Mapping[str, Callable[[Iterable[Entry]], list[str]]] = {
    KEPT: _format_script_names,
    BATCH_TOOLS: _format_batch_tools,
    COLLECTIONS: format_collections,
}
"""How the overview shows groups that do not have a line for each member."""
