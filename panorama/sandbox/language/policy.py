"""The policy: one `visit_X` per syntax node; unknown nodes are refused. Pure.

Unconditional syntax (literals, operators, `if`, `while`, …) is inherited from RestrictedPython. Loads of plain
attributes, items, iteration and calls stay native: their guards would always agree (see `allowlist.is_plain`).
Decisions at run time become calls of hooks, whose names no script can spell.
"""

# ruff: noqa: N802, N815 - `visit_X` is what ast.NodeVisitor calls

import ast
from collections.abc import Iterable
from typing import Any

from RestrictedPython.transformer import copy_locations

from panorama.sandbox.language import rewriting
from panorama.sandbox.language.match_patterns import MatchPatterns
from panorama.sandbox.rules import allowlist, hints
from panorama.sandbox.rules.str_format import can_read_attribute

TOP, CLASS, FUNCTION = "top", "class", "function"

_Node = ast.AST | list[ast.AST]


class Policy(MatchPatterns):
    """Rewrites the tree of a script in place; compile it only if `refusals` is empty.

    Args:
        bound: Names that the script or its inputs give a value; a refused built-in of this name is the script's own.
        importable: Modules that can be imported.
    """

    def __init__(self, bound: frozenset[str], importable: frozenset[str]) -> None:
        super().__init__()
        self._bound = bound
        self._importable = importable
        self._scopes = [TOP]
        self._classes: list[str] = []
        self._tries = 0

    # --- refused

    def visit_TryStar(self, node: ast.AST) -> _Node:
        self.error(node, "`except*` is not available", "write `except`, and look at the error with isinstance()")
        return node

    def visit_TemplateStr(self, node: ast.AST) -> _Node:
        self.error(node, "template strings are not available", 'write an f-string: f"{name}"')
        return node

    visit_Interpolation = visit_TemplateStr

    # --- names

    def visit_Name(self, node: ast.Name) -> _Node:
        if isinstance(node.ctx, ast.Load):
            return self._visit_load(node)
        self._check_set(node, node.id)
        return node

    def _visit_load(self, node: ast.Name) -> ast.expr:
        if node.id == "__name__":
            return ast.copy_location(ast.Constant("__main__"), node)
        if node.id in hints.BUILTIN_HINTS and node.id not in self._bound:
            self.error(node, f"{node.id}() is not available", hints.BUILTIN_HINTS[node.id])
        self._check_bound(node, node.id)
        return node

    def _check_bound(self, node: ast.AST, name: str) -> None:
        """Refuse a dunder name; in a class, those in `allowlist.METHODS` are allowed."""
        if not allowlist.is_dunder(name) or (self._scopes[-1] == CLASS and name in allowlist.METHODS):
            return
        if name not in allowlist.HEADER_NAMES:
            hint = hints.METHOD_HINTS.get(name, hints.UNDERSCORE_HINT)
            self.error(node, f'the name "{name}" is not available', hint)

    def _check_set(self, node: ast.AST, name: str) -> None:
        """Also refuse, in a class, names that no attribute may have."""
        self._check_bound(node, name)
        if self._scopes[-1] == CLASS and name in allowlist.REFUSED_ATTRIBUTES:
            self.error(node, f'the name "{name}" is not available in a class', "choose another name")

    def visit_arg(self, node: ast.arg) -> _Node:
        self._check_bound(node, node.arg)
        node.annotation = None
        return node

    def visit_keyword(self, node: ast.keyword) -> _Node:
        if node.arg:
            self._check_bound(node, node.arg)
        return self.node_contents_visit(node)

    def visit_Global(self, node: ast.Global) -> _Node:
        self.check_names(node, node.names)
        return ast.copy_location(ast.Pass(), node) if self._scopes[-1] == TOP else node  # `wrapped` declares it

    def visit_Nonlocal(self, node: ast.Nonlocal) -> _Node:
        self.check_names(node, node.names)
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> _Node:
        self.check_names(node, [node.name])
        return self.node_contents_visit(node)

    def check_names(self, node: ast.AST, names: Iterable[str | None]) -> None:
        """Refuse names that a script may not bind."""
        for name in filter(None, names):
            self._check_set(node, name)

    # --- attributes

    def visit_Attribute(self, node: ast.Attribute) -> _Node:
        """Turn `o._x` into `READ(o, "_x")`, and `o.x = …` into `WRITABLE(o, "x").x = …`."""
        load = isinstance(node.ctx, ast.Load)
        node.attr = self._check_attribute(node, node.attr, load=load)
        node.value = self.visit(node.value)
        if not load:
            node.value = rewriting.guard_owner(allowlist.WRITABLE, node)
        elif not allowlist.is_plain(node.attr):
            return rewriting.build_read(node)
        return node

    def _check_attribute(self, node: ast.AST, name: str, *, load: bool) -> str:
        """Check an attribute's name and return it as the compiler would mangle it."""
        readable = load and (name in allowlist.READABLE or name in allowlist.METHODS)
        if name in allowlist.REFUSED_ATTRIBUTES or (allowlist.is_dunder(name) and not readable):
            self.error(node, f'the attribute "{name}" is not available', hints.get_attribute_hint(name, load=load))
        return self._mangle(name)

    def _mangle(self, name: str) -> str:
        owner = self._classes[-1].lstrip("_") if self._classes else ""
        private = name.startswith("__") and not name.endswith("__")
        return f"_{owner}{name}" if owner and private else name

    # --- items, iteration and calls: nothing to decide while the script runs

    def visit_Subscript(self, node: ast.Subscript) -> _Node:
        """Allow items without a guard: scripts may change every container they can reach."""
        return self.node_contents_visit(node)

    def visit_Call(self, node: ast.Call) -> _Node:
        """Skip the guard for `"{:>4}".format(x)` if the literal reads no attributes."""
        match node.func:
            case ast.Attribute(value=ast.Constant(value=str(text)), attr="format") if not can_read_attribute(text):
                node.args = [self.visit(argument) for argument in node.args]
                node.keywords = [self.visit(argument) for argument in node.keywords]
                return node
            case _:
                return self.node_contents_visit(node)

    def visit_For(self, node: ast.For) -> _Node:
        return self.node_contents_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> _Node:
        node.is_async = 0
        return self.node_contents_visit(node)

    def visit_With(self, node: ast.With) -> _Node:
        return self.node_contents_visit(node)

    def visit_Try(self, node: ast.Try) -> _Node:
        self._tries += 1
        node = self.node_contents_visit(node)
        self._tries -= 1
        return node

    def visit_Yield(self, node: ast.Yield) -> _Node:
        return self._check_yield(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> _Node:
        return self._check_yield(node)

    def _check_yield(self, node: ast.Yield | ast.YieldFrom) -> _Node:
        if self._scopes[-1] == TOP:
            self.error(node, "`yield` is outside a function", "put it in a function, or collect a list")
        return self.node_contents_visit(node)

    # --- assignments

    def visit_Assign(self, node: ast.Assign) -> _Node:
        match node.targets:
            case [ast.Name(id=name)] if name in allowlist.LITERAL_NAMES and self._scopes[-1] == CLASS:
                self._check_literal_names(node, name)
                return node
            case _:
                return self.node_contents_visit(node)

    def _check_literal_names(self, node: ast.Assign, name: str) -> None:
        value = node.value
        parts: list[ast.expr] = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        for part in parts:
            word = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "__"
            if allowlist.is_dunder(word) or not allowlist.is_plain(word.lstrip("_") if name == "__slots__" else word):
                self.error(part, f"{name} takes plain names, written out", f'{name} = ("first", "second")')

    def visit_AugAssign(self, node: ast.AugAssign) -> _Node:
        """Turn `o.x += 1` into `WRITABLE(o, "x").x += 1`, guarded names by `AUGMENT`."""
        target = node.target
        if isinstance(target, ast.Attribute):
            target.attr = self._check_attribute(target, target.attr, load=False)
            target.value = self.visit(target.value)
            hook = allowlist.WRITABLE if allowlist.is_plain(target.attr) else allowlist.AUGMENT
            target.value = rewriting.guard_owner(hook, target)
        else:
            node.target = self.visit(target)
        node.value = self.visit(node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> _Node:
        """Drop the annotation; in a class body a constant replaces it, for dataclasses."""
        if self._scopes[-1] == CLASS and isinstance(node.target, ast.Name):
            self._check_field(node, node.target.id)
            kind = ast.Name(rewriting.find_field_hook(node.annotation), ast.Load())
            node.annotation = ast.copy_location(kind, node.annotation)
            node.value = self.visit(node.value) if node.value else None
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _check_field(self, node: ast.AST, name: str) -> None:
        """Refuse a dunder as a field: a dataclass with slots would bypass its wrapper."""
        self._check_set(node, name)
        if name in allowlist.METHODS:
            self.error(node, f'the method "{name}" cannot be a field', "define it with `def`, or without an annotation")

    def visit_TypeAlias(self, node: Any) -> _Node:
        """Bind the name of `type Rows = list[Row]` to a placeholder."""
        return self._bind_to_anything(node, node.name)

    def _bind_to_anything(self, node: ast.expr | ast.stmt, target: ast.Name) -> ast.stmt:
        self._check_set(node, target.id)
        assignment = ast.Assign([target], ast.Name(allowlist.ANYTHING, ast.Load()))
        copy_locations(assignment, node)
        return assignment

    # --- imports

    def visit_Import(self, node: ast.Import) -> _Node:
        for alias in node.names:
            self._check_module(node, alias.name)
            self._check_set(node, alias.asname or alias.name.partition(".")[0])
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> _Node:
        if node.module == "__future__" and not node.level:
            return ast.copy_location(ast.Pass(), node)
        if node.level or not node.module:
            self.error(node, "relative imports are not available", "name the module in full")
            return node
        names = [alias.name for alias in node.names]
        if "*" in names:
            self.error(node, f"`from {node.module} import *` is not available", "import the names that you use")
        self._check_module(node, node.module)
        self.check_names(node, (part for alias in node.names for part in (alias.name, alias.asname or "")))
        return node

    def _check_module(self, node: ast.AST, module: str) -> None:
        """Refuse an unknown module, except in a `try`, which can catch its ImportError."""
        if module in self._importable or (self._tries and not module.startswith("_")):
            return
        self.error(node, f'the module "{module}" is not available', hints.get_import_hint(module, self._importable))

    # --- functions and classes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> _Node:
        return self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> _Node:
        """Erase `async`: the function runs when it is called, `await` takes its value."""
        parts = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
        return self._visit_function(ast.copy_location(ast.FunctionDef(**parts), node))

    def _visit_function(self, node: ast.FunctionDef) -> _Node:
        if self._scopes[-1] == CLASS:
            node.name = allowlist.ASYNC_METHODS.get(node.name, node.name)
        self._check_set(node, node.name)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.args = self.visit(node.args)
        node.returns = node.type_comment = None
        rewriting.drop_type_parameters(node)
        node.body = self._visit_body(node.body, FUNCTION)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> _Node:
        node.args = self.visit(node.args)
        self._scopes.append(FUNCTION)
        node.body = self.visit(node.body)
        self._scopes.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> _Node:
        """Let `MAKE_CLASS` make the class, whatever its bases."""
        self._check_set(node, node.name)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.bases = [*map(self._visit_base, node.bases), *self._convert_keywords(node)]
        if rewriting.drop_type_parameters(node):
            node.bases.append(ast.copy_location(ast.Name(allowlist.GENERIC, ast.Load()), node))
        self._classes.append(node.name)
        node.body = self._visit_body(node.body, CLASS)
        self._classes.pop()
        maker = ast.copy_location(ast.Name(allowlist.MAKE_CLASS, ast.Load()), node)
        node.keywords = [ast.copy_location(ast.keyword("metaclass", maker), node)]
        return node

    def _visit_base(self, base: ast.expr) -> ast.expr:
        if isinstance(base, ast.Starred):
            self.error(base, "`*` in the bases of a class is not available", "write the bases out")
        return self.visit(base)

    def _convert_keywords(self, node: ast.ClassDef) -> list[ast.expr]:
        """Return the base for `metaclass=ABCMeta`; drop `total=` of a TypedDict."""
        bases: list[ast.expr] = []
        for keyword in node.keywords:
            match keyword:
                case ast.keyword(arg="metaclass", value=ast.Name(id="ABCMeta") | ast.Attribute(attr="ABCMeta")):
                    bases.append(ast.copy_location(ast.Name(allowlist.ABSTRACT, ast.Load()), keyword))
                case ast.keyword(arg="total", value=ast.Constant()):
                    pass
                case ast.keyword(arg="metaclass"):
                    self.error(keyword, "metaclass= is not available", "write a decorator that is given the class")
                case _:
                    self.error(keyword, "keywords in a class statement are not available", "use class attributes")
        return bases

    def _visit_body(self, statements: list[ast.stmt], scope: str) -> list[ast.stmt]:
        self._scopes.append(scope)
        body = [self.visit(statement) for statement in statements]
        self._scopes.pop()
        return body

    # --- async: erased

    def visit_Await(self, node: ast.Await) -> _Node:
        return rewriting.build_call(allowlist.AWAIT, node, self.visit(node.value))

    def visit_AsyncFor(self, node: ast.AsyncFor) -> _Node:
        return self.visit_For(ast.copy_location(ast.For(node.target, node.iter, node.body, node.orelse), node))

    def visit_AsyncWith(self, node: ast.AsyncWith) -> _Node:
        return self.visit_With(ast.copy_location(ast.With(node.items, node.body), node))
