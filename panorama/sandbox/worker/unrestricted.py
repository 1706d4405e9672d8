"""All of Python as the language of a run; only for tests of the other layers."""

import builtins
from collections.abc import Callable, Collection, Mapping
from types import CodeType

from panorama.sandbox.rules.printing import Print


class UnrestrictedLanguage:
    """Texts that define `main()`, with everything that Python has."""

    filename = "<script>"
    entry = "main"
    broad = small = "def main(): return 1"

    def __init__(self, sdk: object) -> None:
        self._sdk = sdk

    def compile(self, source: str, _: Collection[str], /) -> CodeType:
        """Return a text as code."""
        return compile(source, self.filename, "exec", dont_inherit=True)

    def build_namespace(self, output: Callable[..., None]) -> dict[str, object]:
        """Return Python's own names, and the SDK."""
        names = {**vars(builtins), "print": Print(output)}
        return {"__builtins__": names, "__name__": "script", "sdk": self._sdk}

    def add_inputs(self, names: dict[str, object], inputs: Mapping[str, object]) -> None:
        """Add the inputs."""
        names.update(inputs)

    def add_sources(self, sources: Collection[str]) -> None:
        """Add nothing: no test of the other layers calls sources."""
