"""Functions of sources, and the results of their calls."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Reach = Literal["here", "own", "others", "anywhere"]
"""Who can see what a call sends: this machine, the own account, other people, or any address that the caller names."""

HintOrigin = Literal["declared", "name", "none"]
"""Where `reads_only` comes from: the source declares it, its name suggests it, or nothing says it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFunction:
    """A function of a source, as scripts call it: `sdk.<source>.<name>(…)`.

    `own_name` is its name at the source, such as `API-get-user`. `parameters` and `returns` are JSON schemas;
    `returns` is None if the source has none. `signature` replaces the Python signature that is derived from them, for
    hand-written wrappers. `takes_address` means that an argument decides where data is sent: a URL, a host, code.
    `repeatable` means that a call that died can be made again.
    """

    name: str
    own_name: str
    description: str
    parameters: Mapping[str, Any]
    returns: Mapping[str, Any] | None = None
    signature: str = ""
    reach: Reach
    reads_only: bool
    hint_origin: HintOrigin = "declared"
    destructive: bool = False
    repeatable: bool = False
    takes_address: bool = False

    @property
    def digest(self) -> str:
        """Identifies what the source says of the function: a grant holds for this definition alone."""
        definition = [
            self.own_name, self.description, self.parameters, self.signature, self.reach, self.reads_only,
            self.destructive,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(definition, sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """An image or another binary content of a result; it becomes a file item."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceResult:
    """The result of a call: a value of JSON types, and files.

    `size_bytes` is what was received. With files and no text `value` is None. `next_cursor` means that `value` holds
    the rows of one page; the same call with this `cursor` returns the next page.
    """

    value: Any = None
    files: tuple[SourceFile, ...] = ()
    size_bytes: int = 0
    next_cursor: str = ""
