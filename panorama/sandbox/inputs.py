"""Inputs: what a script was given, by name, and what it is told of a name that it was not given."""

from typing import Any

SHOWN = 10


class NoInputError(KeyError):
    """A run was not given this input; the text names those that it was given."""

    def __init__(self, name: object, given: tuple[str, ...]) -> None:
        super().__init__(name)
        self._given = given

    def __str__(self) -> str:
        """Return what is missing, what there is, and how inputs are given."""
        name = self.args[0]
        more = ", …" if len(self._given) > SHOWN else ""
        had = f"the inputs are {', '.join(self._given[:SHOWN])}{more}" if self._given else "there were none"
        return (
            f"There is no input {name!r}: {had}. They are given beside the code, as inputs={{{name!r}: …}}, or "
            f"--input {name}=… at the command line; inputs.get({name!r}) reads one that may be missing."
        )


NoInputError.__module__ = "builtins"  # what a script prints of it names no place of ours


class Inputs(dict[str, Any]):
    """The inputs of a run, as the dict that `inputs` is."""

    __slots__ = ()

    def __missing__(self, name: object) -> Any:
        """Say what there is instead.

        Raises:
            NoInputError: Always.
        """
        raise NoInputError(name, (*self,))
