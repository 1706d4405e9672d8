"""Violations of the policy: where they are, and what to write instead."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from RestrictedPython.transformer import RestrictingNodeTransformer

FILENAME = "<script>"
"""The file name of a script in tracebacks."""


class PolicyError(SyntaxError):
    """The text is Python, but holds something that scripts may not say.

    `lineno`, `offset`, `text` and `msg` are those of the first refusal; `hint` says what to write instead.
    """

    def __init__(self, message: str, place: tuple[str, int, int, str], hint: str = "") -> None:
        super().__init__(message, place)
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One thing that was refused; `line` and `column` count from 1."""

    line: int
    column: int
    message: str
    hint: str = ""


def make_policy_error(refusals: Sequence[Violation], source: str) -> PolicyError:
    """Return the error for violations: the first by line, and how many follow."""
    first, *others = sorted(refusals, key=lambda refusal: (refusal.line, refusal.column))
    lines = source.splitlines()
    text = lines[first.line - 1] if first.line <= len(lines) else ""
    return PolicyError(
        f"{first.message}{_format_others(others)}", (FILENAME, first.line, first.column, text), first.hint
    )


def _format_others(others: Sequence[Violation]) -> str:
    if not others:
        return ""
    lines = sorted({refusal.line for refusal in others})
    where = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    return f" ({len(others)} more on line{'s' if len(lines) > 1 else ''} {where})"


class ViolationCollector(RestrictingNodeTransformer):
    """Collects violations in `refusals`; refuses nodes without a `visit_X`."""

    def __init__(self) -> None:
        super().__init__()
        self.refusals: list[Violation] = []
        self._place = (1, 0)

    def visit(self, node: ast.AST) -> Any:
        """Visit a node; one without a position gets that of the node before."""
        self._place = self._get_position(node)
        return super().visit(node)

    def error(self, node: ast.AST, info: str, hint: str = "") -> None:
        """Note that something is refused."""
        line, column = self._get_position(node)
        self.refusals.append(Violation(line=line, column=column + 1, message=info, hint=hint))

    def generic_visit(self, node: ast.AST) -> Any:
        """Refuse a node without a `visit_X`: new syntax is refused until it is allowed."""
        self.error(node, f"{type(node).__name__} is not part of the language of scripts")
        return node

    def _get_position(self, node: ast.AST) -> tuple[int, int]:
        line, column = self._place
        return getattr(node, "lineno", line), getattr(node, "col_offset", column)
