"""The language of scripts: one `visit_X` per syntax node that needs a decision; unknown means refused. Pure.

What RestrictedPython allows without a condition (literals, operators, `if`, `while`, …) is inherited. Loads of plain
attributes, items, iteration and calls stay as they are: their guards could only ever agree (see `tables.plain`), and
native code keeps its speed. Whatever has to be decided while the script runs becomes a call of a hook, whose name no
script can spell.
"""

# ruff: noqa: N802, N815 - `visit_X` is what ast.NodeVisitor calls

import ast
from collections.abc import Iterable
from typing import Any

from RestrictedPython.transformer import copy_locations

from panorama.sandbox import hints, rewriting, tables
from panorama.sandbox.formats import reads
from panorama.sandbox.matching import Patterns

TOP, CLASS, FUNCTION = "top", "class", "function"

_Node = ast.AST | list[ast.AST]


class Policy(Patterns):
    """Changes the tree of a script in place; `refusals` must be empty before it is compiled.

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
        self._comprehensions = 0
        self._gone_through: frozenset[str] = frozenset()

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
            return self._loaded(node)
        self._check_set(node, node.id)
        return node

    def _loaded(self, node: ast.Name) -> ast.expr:
        if node.id == "__name__":
            return ast.copy_location(ast.Constant("__main__"), node)
        if node.id in hints.WAY_OUT and node.id not in self._bound:
            self.error(node, f"{node.id}() is not available", hints.WAY_OUT[node.id])
        self._check_bound(node, node.id)
        return node

    def _check_bound(self, node: ast.AST, name: str) -> None:
        """Refuse a name with two underscores; in a class, the methods of `tables.METHODS` may be named."""
        if not tables.dunder(name) or (self._scopes[-1] == CLASS and name in tables.METHODS):
            return
        if name not in tables.HEADER_NAMES:
            hint = hints.METHOD_HINTS.get(name, hints.UNDERSCORE_HINT)
            self.error(node, f'the name "{name}" is not available', hint)

    def _check_set(self, node: ast.AST, name: str) -> None:
        """Refuse the same, and in a class, where a name becomes an attribute, what no attribute may be called."""
        self._check_bound(node, name)
        if self._scopes[-1] == CLASS and name in tables.REFUSED_ATTRIBUTES:
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
        """`o.x` stays, `o._x` becomes `READ(o, "_x")`, `o.x = …` becomes `CHANGED(o, "x").x = …`."""
        load = isinstance(node.ctx, ast.Load)
        node.attr = self._attribute(node, node.attr, load=load)
        node.value = self.visit(node.value)
        if not load:
            node.value = rewriting.guarded(tables.CHANGED, node, holds=self._holds())
        elif not tables.plain(node.attr):
            return rewriting.read(node, holds=self._holds())
        return node

    def _holds(self) -> bool:
        """Return whether an expression may set a variable here.

        In a class it would be an attribute, and in a comprehension Python refuses it, also in a lambda there.
        """
        return self._scopes[-1] != CLASS and not self._comprehensions

    def _attribute(self, node: ast.AST, name: str, *, load: bool) -> str:
        """Return the attribute's name as the compiler would mangle it, after a look whether it may be used."""
        readable = load and (name in tables.READABLE or name in tables.METHODS)
        if name in tables.REFUSED_ATTRIBUTES or (tables.dunder(name) and not readable):
            self.error(node, f'the attribute "{name}" is not available', hints.attribute_hint(name, load=load))
        return self._mangled(name)

    def _mangled(self, name: str) -> str:
        owner = self._classes[-1].lstrip("_") if self._classes else ""
        private = name.startswith("__") and not name.endswith("__")
        return f"_{owner}{name}" if owner and private else name

    # --- items, iteration and calls: nothing to decide while the script runs

    def visit_Subscript(self, node: ast.Subscript) -> _Node:
        """Allow items without a guard: every type with items that a script can reach is its own to change."""
        return self.node_contents_visit(node)

    def visit_Slice(self, node: ast.Slice) -> _Node:
        """Have each part looked at that may be an object: see `slices`."""
        node.lower, node.upper, node.step = map(self._part, (node.lower, node.upper, node.step))
        return node

    def _part(self, part: ast.expr | None) -> ast.expr | None:
        if part is None:
            return None
        names = rewriting.of_numbers(part, self._gone_through, lengths="len" not in self._bound)
        seen: ast.expr = self.visit(part)
        if names is None:
            return rewriting.part(seen, holds=self._holds())
        return rewriting.part_of(seen, names) if names else seen

    def visit_Call(self, node: ast.Call) -> _Node:
        """Leave `"{:>4}".format(x)` as it is: the text stands there, and its fields read no attributes."""
        match node.func:
            case ast.Attribute(value=ast.Constant(value=str(text)), attr="format") if not reads(text):
                node.args = [self.visit(each) for each in node.args]
                node.keywords = [self.visit(each) for each in node.keywords]
                return node
            case _:
                return self.node_contents_visit(node)

    def visit_For(self, node: ast.For) -> _Node:
        return self.node_contents_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> _Node:
        node.is_async = 0
        return self.node_contents_visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> _Node:
        """Know its variables while its element is visited: nobody else gives them another value meanwhile."""
        self._comprehensions += 1
        around, self._gone_through = self._gone_through, frozenset[str]()
        node.generators = [self.visit(each) for each in node.generators]
        self._gone_through = rewriting.variables(node.generators)
        for field in ("elt", "key", "value"):
            if hasattr(node, field):
                setattr(node, field, self.visit(getattr(node, field)))
        self._gone_through = around
        self._comprehensions -= 1
        return node

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp

    def visit_With(self, node: ast.With) -> _Node:
        return self.node_contents_visit(node)

    def visit_Try(self, node: ast.Try) -> _Node:
        self._tries += 1
        node = self.node_contents_visit(node)
        self._tries -= 1
        return node

    def visit_Yield(self, node: ast.Yield) -> _Node:
        return self._yielded(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> _Node:
        return self._yielded(node)

    def _yielded(self, node: ast.Yield | ast.YieldFrom) -> _Node:
        if self._scopes[-1] == TOP:
            self.error(node, "`yield` stands outside a function", "put it in a function, or collect a list")
        return self.node_contents_visit(node)

    # --- assignments

    def visit_Assign(self, node: ast.Assign) -> _Node:
        match node.targets:
            case [ast.Name(id=name)] if name in tables.LITERAL_NAMES and self._scopes[-1] == CLASS:
                self._check_literal_names(node, name)
                return node
            case _:
                return self.node_contents_visit(node)

    def _check_literal_names(self, node: ast.Assign, name: str) -> None:
        value = node.value
        parts: list[ast.expr] = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        for part in parts:
            word = part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "__"
            if tables.dunder(word) or not tables.plain(word.lstrip("_") if name == "__slots__" else word):
                self.error(part, f"{name} takes plain names, written out", f'{name} = ("first", "second")')

    def visit_AugAssign(self, node: ast.AugAssign) -> _Node:
        """`d[k] += 1` stays, `o.x += 1` becomes `CHANGED(o, "x").x += 1`, `o._x += 1` `AUGMENTED(o, "_x")._x += 1`."""
        target = node.target
        if isinstance(target, ast.Attribute):
            target.attr = self._attribute(target, target.attr, load=False)
            target.value = self.visit(target.value)
            hook = tables.CHANGED if tables.plain(target.attr) else tables.AUGMENTED
            target.value = rewriting.guarded(hook, target, holds=self._holds())
        else:
            node.target = self.visit(target)
        node.value = self.visit(node.value)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> _Node:
        """Drop the annotation; in a class body the field stays, for dataclasses, with a constant in its place."""
        if self._scopes[-1] == CLASS and isinstance(node.target, ast.Name):
            self._check_field(node, node.target.id)
            kind = ast.Name(rewriting.field_kind(node.annotation), ast.Load())
            node.annotation = ast.copy_location(kind, node.annotation)
            node.value = self.visit(node.value) if node.value else None
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return self.visit_Assign(ast.copy_location(ast.Assign([node.target], node.value), node))

    def _check_field(self, node: ast.AST, name: str) -> None:
        """Refuse a dunder as a field: a dataclass with slots would take it past what wraps such methods."""
        self._check_set(node, name)
        if name in tables.METHODS:
            self.error(node, f'the method "{name}" cannot be a field', "define it with `def`, or without an annotation")

    def visit_TypeAlias(self, node: Any) -> _Node:
        """`type Rows = list[Row]` binds the name to something that means nothing when the script runs."""
        return self._bound_to_anything(node, node.name)

    def _bound_to_anything(self, node: ast.expr | ast.stmt, target: ast.Name) -> ast.stmt:
        self._check_set(node, target.id)
        made = ast.Assign([target], ast.Name(tables.ANYTHING, ast.Load()))
        copy_locations(made, node)
        return made

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
        """Refuse an unknown module, unless a `try` stands around it: then the script is ready for its ImportError."""
        if module in self._importable or (self._tries and not module.startswith("_")):
            return
        self.error(node, f'the module "{module}" is not available', hints.import_hint(module, self._importable))

    # --- functions and classes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> _Node:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> _Node:
        """Erase `async`: the function runs when it is called, `await` takes its value."""
        parts = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
        return self._function(ast.copy_location(ast.FunctionDef(**parts), node))

    def _function(self, node: ast.FunctionDef) -> _Node:
        if self._scopes[-1] == CLASS:
            node.name = tables.ASYNC_METHODS.get(node.name, node.name)
        self._check_set(node, node.name)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.args = self.visit(node.args)
        node.returns = node.type_comment = None
        rewriting.without_parameters(node)
        node.body = self._body(node.body, FUNCTION)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> _Node:
        node.args = self.visit(node.args)
        self._scopes.append(FUNCTION)
        around, self._gone_through = self._gone_through, frozenset[str]()
        node.body = self.visit(node.body)
        self._gone_through = around
        self._scopes.pop()
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> _Node:
        """Let `MAKE_CLASS` make the class, whatever its bases."""
        self._check_set(node, node.name)
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.bases = [*map(self._base, node.bases), *self._keyword_bases(node)]
        if rewriting.without_parameters(node):
            node.bases.append(ast.copy_location(ast.Name(tables.GENERIC, ast.Load()), node))
        self._classes.append(node.name)
        node.body = self._body(node.body, CLASS)
        self._classes.pop()
        maker = ast.copy_location(ast.Name(tables.MAKE_CLASS, ast.Load()), node)
        node.keywords = [ast.copy_location(ast.keyword("metaclass", maker), node)]
        return node

    def _base(self, base: ast.expr) -> ast.expr:
        if isinstance(base, ast.Starred):
            self.error(base, "`*` in the bases of a class is not available", "write the bases out")
        return self.visit(base)

    def _keyword_bases(self, node: ast.ClassDef) -> list[ast.expr]:
        """Return what stands for `metaclass=ABCMeta`; `total=` of a TypedDict means nothing when the script runs."""
        bases: list[ast.expr] = []
        for keyword in node.keywords:
            match keyword:
                case ast.keyword(arg="metaclass", value=ast.Name(id="ABCMeta") | ast.Attribute(attr="ABCMeta")):
                    bases.append(ast.copy_location(ast.Name(tables.ABSTRACT, ast.Load()), keyword))
                case ast.keyword(arg="total", value=ast.Constant()):
                    pass
                case ast.keyword(arg="metaclass"):
                    self.error(keyword, "metaclass= is not available", "write a decorator that is given the class")
                case _:
                    self.error(keyword, "keywords in a class statement are not available", "use class attributes")
        return bases

    def _body(self, statements: list[ast.stmt], scope: str) -> list[ast.stmt]:
        self._scopes.append(scope)
        body = [self.visit(statement) for statement in statements]
        self._scopes.pop()
        return body

    # --- async: erased

    def visit_Await(self, node: ast.Await) -> _Node:
        return rewriting.call(tables.AWAITED, node, self.visit(node.value))

    def visit_AsyncFor(self, node: ast.AsyncFor) -> _Node:
        return self.visit_For(ast.copy_location(ast.For(node.target, node.iter, node.body, node.orelse), node))

    def visit_AsyncWith(self, node: ast.AsyncWith) -> _Node:
        return self.visit_With(ast.copy_location(ast.With(node.items, node.body), node))
