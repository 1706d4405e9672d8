"""The languages that a worker can run: restricted, or all of Python for tests."""

from collections.abc import Callable, Collection, Mapping
from types import CodeType
from typing import Protocol

from panorama.sandbox.language import restricted
from panorama.sandbox.rules.facades import Facade
from panorama.sandbox.stdlib.sdk_module import add_sources

BROAD_SCRIPT = """
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
"""Uses most features of scripts once in the template, so that first-time costs are paid before a fork."""

SMALL_SCRIPT = """
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
"""A short version for a waiting worker: it touches the pages that a run writes to (copied per 4 KB)."""

WriteOutput = Callable[..., None]


class Language(Protocol):
    """How a script is compiled and run; its modules are built once, in the template."""

    @property
    def filename(self) -> str:
        """The name of its code objects."""
        ...

    @property
    def entry(self) -> str:
        """The function that its code defines."""
        ...

    @property
    def broad(self) -> str:
        """A warm-up script that uses most features."""
        ...

    @property
    def small(self) -> str:
        """A short warm-up script."""
        ...

    def compile(self, source: str, input_names: Collection[str], /) -> CodeType:
        """Return a script as code that defines `entry`.

        Raises:
            SyntaxError: The text is not a script; one with a `hint` comes from the policy.
        """
        ...

    def build_namespace(self, output: WriteOutput, /) -> dict[str, object]:
        """Return the names that every script begins with."""
        ...

    def add_inputs(self, names: dict[str, object], inputs: Mapping[str, object], /) -> None:
        """Add the inputs of a script.

        Raises:
            ValueError: One has a name that no script could use.
        """
        ...

    def add_sources(self, sources: Collection[str], /) -> None:
        """Add sources to the `sdk` of this process."""
        ...


class RestrictedLanguage:
    """The language of scripts."""

    filename = restricted.FILENAME
    entry = restricted.ENTRY
    broad = BROAD_SCRIPT
    small = SMALL_SCRIPT

    def __init__(self, sdk: Facade) -> None:
        self._sdk = sdk
        self._modules = restricted.build_modules(sdk)

    def compile(self, source: str, input_names: Collection[str]) -> CodeType:
        """Return a script as code."""
        return restricted.compile_script(source, input_names)

    def build_namespace(self, output: WriteOutput) -> dict[str, object]:
        """Return the names that every script begins with."""
        return restricted.build_namespace(self._modules, output=output, sdk=self._sdk)

    def add_inputs(self, names: dict[str, object], inputs: Mapping[str, object]) -> None:
        """Add the inputs of a script."""
        restricted.add_inputs(names, inputs)

    def add_sources(self, sources: Collection[str]) -> None:
        """Add sources to the `sdk` of this process."""
        add_sources(self._sdk, sources)
