"""The language of a run: the only place that joins what scripts are written in to the worker that runs them."""

from collections.abc import Callable, Collection, Mapping
from types import CodeType
from typing import Protocol

from panorama.sandbox import language
from panorama.sandbox.facades import Facade

BROAD = """
from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
import csv, io, json, math, re, statistics

@dataclass
class Pair:
    left: int = 0

class Colour(Enum):
    RED = 1

def double(x: int) -> int:
    return x * 2

found = defaultdict(int)
for i, (a, b) in enumerate([(1, 2)]):
    found[a] += b
try:
    raise ValueError("x")
except ValueError as error:
    said = f"{type(error).__name__} {error!r:>10} {3.14159:.2f}"
match found:
    case {1: x}:
        pass
day = datetime.strptime("2024-01-01", "%Y-%m-%d") + timedelta(days=1)
text = re.sub(r"a+", "b", "caat")
print(text, day.strftime("%A %d %B %Y"), json.dumps({"a": [1]}), statistics.mean([1, 2]))
rows = sorted(found.items(), key=lambda pair: -pair[1])
total = sum(double(y) for y in range(3))
{"pair": Pair(1), "colour": Colour.RED, "rows": rows, "day": day, "sum": total, "nan": math.nan}
"""
"""A script that goes through what scripts do, so that each copy of the template has done it before."""

SMALL = """
found = {}
for i, (a, b) in enumerate([("k", 2)]):
    found[a] = found.get(a, 0)
    found[a] += b
def lines(pairs):
    return [f"{key}={value}" for key, value in sorted(pairs.items(), key=lambda pair: pair[0])]
try:
    said = lines(found)[0].upper()
except ValueError as error:
    said = str(error)
print(said)
return {"said": said, "count": len(found)}
"""
"""The same in small, for a worker that waits: it touches the memory that a run writes to (a copy for each 4 KB)."""

Printed = Callable[..., None]


class Language(Protocol):
    """How a script's text becomes something that runs; its modules are made in the template, once."""

    @property
    def filename(self) -> str:
        """What its code objects are called."""
        ...

    @property
    def entry(self) -> str:
        """The function that its code defines."""
        ...

    @property
    def broad(self) -> str:
        """A script that goes through what scripts do."""
        ...

    @property
    def small(self) -> str:
        """A script that goes through a little of it."""
        ...

    def compiled(self, source: str, given: Collection[str], /) -> CodeType:
        """Return a text as code that defines `entry`; `given` are the names of its inputs.

        Raises:
            SyntaxError: The text is no script; one with a `hint` comes from the policy.
        """
        ...

    def namespace(self, printed: Printed, /) -> dict[str, object]:
        """Return the names that every script begins with."""
        ...

    def give(self, names: dict[str, object], inputs: Mapping[str, object], /) -> None:
        """Add the inputs of a script.

        Raises:
            ValueError: One has a name that no script could use.
        """
        ...


class Guarded:
    """The language of scripts."""

    filename = language.FILENAME
    entry = language.ENTRY
    broad = BROAD
    small = SMALL

    def __init__(self, sdk: Facade) -> None:
        self._sdk = sdk
        self._modules = language.modules(sdk)

    def compiled(self, source: str, given: Collection[str]) -> CodeType:
        """Return a script as code."""
        return language.compiled(source, given)

    def namespace(self, printed: Printed) -> dict[str, object]:
        """Return the names that every script begins with."""
        return language.namespace(self._modules, printed=printed, sdk=self._sdk)

    def give(self, names: dict[str, object], inputs: Mapping[str, object]) -> None:
        """Add the inputs of a script."""
        language.give(names, inputs)
