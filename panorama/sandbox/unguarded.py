"""All of Python as the language of a run: only for tests of what stands if the language does not hold."""

import builtins
from collections.abc import Callable, Collection, Mapping
from types import CodeType

from panorama.sandbox.printing import Print


class Unguarded:
    """Texts that define `main()`, with everything that Python has."""

    filename = "<script>"
    entry = "main"
    broad = small = "def main(): return 1"

    def __init__(self, sdk: object) -> None:
        self._sdk = sdk

    def compiled(self, source: str, _: Collection[str], /) -> CodeType:
        """Return a text as code."""
        return compile(source, self.filename, "exec", dont_inherit=True)

    def namespace(self, printed: Callable[..., None]) -> dict[str, object]:
        """Return Python's own names, and the SDK."""
        names = {**vars(builtins), "print": Print(printed)}
        return {"__builtins__": names, "__name__": "script", "sdk": self._sdk}

    def give(self, names: dict[str, object], inputs: Mapping[str, object]) -> None:
        """Add the inputs."""
        names.update(inputs)
