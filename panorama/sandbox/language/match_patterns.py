"""Allows only plain names in `match` patterns: Python reads them unguarded."""

# ruff: noqa: N802 - `visit_X` is what ast.NodeVisitor calls

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterable

from panorama.sandbox.rules import allowlist
from panorama.sandbox.rules.violations import ViolationCollector

_GUARD_HINT = "compare it in a guard: `case x if x.… == …`"


class MatchPatterns(ViolationCollector, ABC):
    """The part of the policy for `match`."""

    @abstractmethod
    def check_names(self, node: ast.AST, names: Iterable[str | None]) -> None:
        """Refuse names that a script may not bind."""

    def visit_Match(self, node: ast.Match) -> ast.AST:
        return self.node_contents_visit(node)

    def visit_match_case(self, node: ast.match_case) -> ast.AST:
        return self.node_contents_visit(node)

    def visit_MatchSingleton(self, node: ast.MatchSingleton) -> ast.AST:
        return node

    def visit_MatchSequence(self, node: ast.MatchSequence) -> ast.AST:
        return self.node_contents_visit(node)

    def visit_MatchOr(self, node: ast.MatchOr) -> ast.AST:
        return self.node_contents_visit(node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        self._check_path(node.value)
        return self.node_contents_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:
        self.check_names(node, [node.name])
        return node

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        self.check_names(node, [node.name])
        return self.node_contents_visit(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        self.check_names(node, [node.rest])
        for key in node.keys:
            self._check_path(key)
        return self.node_contents_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        self._check_path(node.cls)
        for name in node.kwd_attrs:
            if not allowlist.is_plain(name):
                self.error(node, f'the attribute "{name}" cannot be matched', _GUARD_HINT)
        return self.node_contents_visit(node)

    def _check_path(self, value: ast.expr) -> None:
        while isinstance(value, ast.Attribute):
            if not allowlist.is_plain(value.attr):
                self.error(value, f'the attribute "{value.attr}" cannot be used in a pattern', _GUARD_HINT)
            value = value.value
