"""Lists the sources for models."""

from collections.abc import Mapping
from dataclasses import dataclass

from panorama.domain.sources.policy import decide, list_rules
from panorama.errors import PanoramaError
from panorama.services.sources.functions import KnownSource, SourceFunctions

MAX_FUNCTIONS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLine:
    """A source in one line; `functions` maps names to what happens to a call, the first 40 of `total`."""

    name: str
    kind: str
    total: int
    functions: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceList:
    """The configured sources; `problem` says why the configuration cannot be used, "" if it can."""

    sources: tuple[SourceLine, ...]
    problem: str = ""

    def summarize(self) -> str:
        """Return a one-line summary."""
        if self.problem:
            return self.problem
        count = len(self.sources)
        return f"{count} {'source' if count == 1 else 'sources'}" if count else "No source is configured"


class SourceListing:
    """Lists the sources that scripts can call."""

    def __init__(self, functions: SourceFunctions) -> None:
        self._functions = functions

    def list(self) -> SourceList:
        """List the sources that scripts call as sdk.<source>, their functions, and what is allowed.

        search_sdk(NAME) shows the arguments of a function. Only the user changes sources, with `panorama sources`.
        """
        try:
            self._functions.read_unknown()
            return SourceList(sources=tuple(map(_to_line, self._functions.list_known())))
        except PanoramaError as error:
            return SourceList(sources=(), problem=error.message)


def _to_line(known: KnownSource) -> SourceLine:
    rules = list_rules(known.config.policy)
    decisions = {name: decide(function, rules) for name, function in known.functions.items()}
    shown = dict(list(decisions.items())[:MAX_FUNCTIONS])
    return SourceLine(name=known.config.name, kind=known.config.kind, total=len(decisions), functions=shown)
