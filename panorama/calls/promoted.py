"""Promoted scripts as operations: each has a tool of its own, made of what its text says, and no longer there than it.

Nothing is registered: which tools there are follows, at every list and call, from what was approved and from the files.
"""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import WithJsonSchema

from panorama.calls.arguments import Arguments
from panorama.catalogue import Operation
from panorama.domain.library import TOOL_PREFIX, Parameter, Signature
from panorama.services import summaries as say
from panorama.services.library import Kept, Library, told_of
from panorama.services.library_run import KeptScripts
from panorama.services.run_views import Ran

_Key = tuple[str, str, bool]
DRY_RUN = "dry_run"


class Promoted:
    """The tools that are scripts. Safe to use from several threads."""

    def __init__(self, library: Library, scripts: KeptScripts) -> None:
        self._library = library
        self._scripts = scripts
        self._known: dict[_Key, Arguments] = {}
        self._seen: tuple[_Key, ...] | None = None

    def tell(self, ear: Callable[[], None]) -> Callable[[], None]:
        """Tell somebody when tools come or go; return how to stop that."""
        return self._library.tell(ear)

    def all(self) -> list[Arguments]:
        """Return what each of these tools takes, in the order of their names."""
        kept = self._library.promoted()
        keys = tuple(map(_key, kept))
        known = {key: self._known.get(key) or self._made(each) for key, each in zip(keys, kept, strict=True)}
        seen, self._seen, self._known = self._seen, keys, known
        if seen is not None and keys != seen:
            self._library.changed()
        return list(known.values())

    def found(self, tool: str) -> Arguments | None:
        """Return what a tool takes, None if there is none of this name (any more)."""
        if not tool.startswith(TOOL_PREFIX):
            return None
        for each in self._library.promoted(tool.removeprefix(TOOL_PREFIX)):
            return self._known.get(_key(each)) or self._made(each)
        if any(name == tool.removeprefix(TOOL_PREFIX) for name, _, _ in self._seen or ()):
            self.all()  # it is gone: those hear of it who have it in their list
        return None

    def _made(self, kept: Kept) -> Arguments:
        told, name = told_of(kept.text), kept.name
        reads = kept.standing.read_only
        deletes = any(each.endswith(".delete") for each in told.uses.writes)
        run = self._called(name, told.signature, reads_only=reads)
        return Arguments(
            Operation(
                name=f"{TOOL_PREFIX}{name}", call=run, summary=say.ran, tool=f"{TOOL_PREFIX}{name}", toolset="scripts",
                policy="read" if reads else "delete" if deletes else "write", transactional=False, composed=True,
                long=True,
            )
        )  # fmt: skip

    def _called(self, name: str, signature: Signature, *, reads_only: bool) -> Callable[..., Ran]:
        """Return a function with the parameters of a script, as `Arguments` reads those of a service's method."""
        own = {each.name for each in signature.parameters}
        may_try = not reads_only and DRY_RUN not in own

        def run(**values: Any) -> Ran:
            tries = bool(values.pop(DRY_RUN, False)) if may_try else False
            sent = {key: value for key, value in values.items() if value is not None}
            return self._scripts.run_tool(name, sent, dry_run=tries)

        parameters = [_parameter(each) for each in signature.parameters]
        if may_try:
            parameters.append(_keyword(DRY_RUN, bool, default=False))
        run.__doc__ = signature.description
        run.__annotations__ = {each.name: each.annotation for each in parameters} | {"return": Ran}
        run.__signature__ = inspect.Signature(parameters, return_annotation=Ran)
        return run


def _key(kept: Kept) -> _Key:
    return kept.name, kept.text.digest, kept.standing.read_only


def _parameter(each: Parameter) -> inspect.Parameter:
    schema = each.type.schema() | ({"description": each.description} if each.description else {})
    default = inspect.Parameter.empty if each.required else each.default
    return _keyword(each.name, Annotated[Any, WithJsonSchema(schema)], default=default)


def _keyword(name: str, annotation: Any, *, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
