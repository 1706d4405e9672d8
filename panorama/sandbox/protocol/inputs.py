"""The inputs of a run, and the error for one that is missing."""

from typing import Any

MAX_SHOWN = 10


class NoInputError(KeyError):
    """A run was not given this input; the text names those that it was given."""

    def __init__(self, name: object, names: tuple[str, ...]) -> None:
        super().__init__(name)
        self._names = names

    def __str__(self) -> str:
        """Return the missing name, the available inputs, and how to pass one."""
        name = self.args[0]
        more = ", …" if len(self._names) > MAX_SHOWN else ""
        available = f"the inputs are {', '.join(self._names[:MAX_SHOWN])}{more}" if self._names else "there were none"
        return (
            f"There is no input {name!r}: {available}. They are given beside the code, as inputs={{{name!r}: …}}, or "
            f"--input {name}=… at the command line; inputs.get({name!r}) reads one that may be missing."
        )


NoInputError.__module__ = "builtins"  # shown instead of our own module


class Inputs(dict[str, Any]):
    """The inputs of a run, as the dict that `inputs` is."""

    __slots__ = ()

    def __missing__(self, name: object) -> Any:
        """Report the missing input.

        Raises:
            NoInputError: Always.
        """
        raise NoInputError(name, (*self,))
