"""The script library: names, metadata and states of saved scripts. Pure.

A script's docstring and the parameters of its `main` are parsed from its text; it is never run for that.
"""

import ast
import keyword
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal

from panorama.domain.scripts.script_types import (
    Dated,
    ParameterType,
    TypeMismatchError,
    UnknownTypeError,
    coerce,
    parse_annotation,
)
from panorama.domain.text.lenient_json import fit_to_schema
from panorama.domain.text.visible_text import escape_controls
from panorama.errors import ConflictError, InvalidInputError

State = Literal["draft", "reviewed", "promoted", "retired"]
NAME_CHARS = 33
"""Limits `script_<name>`, the name of its tool, to 40 characters."""

TEXT_BYTES = 256 << 10
"""The largest script."""

MAX_PROMOTED = 12
"""The maximum number of promoted scripts: each tool costs every conversation some tokens."""

DESCRIPTION_CHARS = 600
TOOL_PREFIX = "script_"
TOOL_ARGUMENTS = frozenset({"background", "idempotency_key"})
"""Arguments that each script tool takes besides the script's own parameters."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_SECTION = re.compile(r"^\s*(Args|Arguments|Parameters|Returns|Raises|Example|Examples|Notes):\s*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^\s{4,}(\w+)(?: \([^)]*\))?: (.*(?:\n\s{8,}.*)*)", re.MULTILINE)
_SENTENCE = re.compile(r"(.+?[.!?])(?:\s|$)", re.DOTALL)


def validate_script_name(name: str, existing: Collection[str] = ()) -> str:
    """Check a script's name and return it.

    Args:
        existing: Names in use: tools, nouns of the SDK, sources.

    Raises:
        InvalidInputError: It is not a valid name for a script.
    """
    hint = f"Use up to {NAME_CHARS} lower-case letters, digits and underscores, such as weekly_review."
    if not _NAME.fullmatch(name) or "__" in name:
        raise InvalidInputError(f"{escape_controls(name[:60])!r} cannot be the name of a script.", hint=hint)
    if len(name) > NAME_CHARS:
        raise InvalidInputError(f"{name[:60]!r} has {len(name)} characters; the limit is {NAME_CHARS}.", hint=hint)
    if keyword.iskeyword(name) or keyword.issoftkeyword(name):
        raise InvalidInputError(f"{name!r} is a Python keyword.", hint="Add a word, such as its noun.")
    if name in existing or name == "main":
        raise InvalidInputError(f"The name {name!r} is already in use.", hint="Add a word.")
    return name


def digest_of(content: bytes) -> str:
    """Return the sha256 of a text."""
    return sha256(content).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument of a script; `default` is None also where it is computed when the script runs."""

    name: str
    type: ParameterType
    required: bool
    default: Any = None
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """The parsed signature of a script; `summary` is the first sentence of its docstring."""

    summary: str
    description: str
    parameters: tuple[Parameter, ...] = ()

    def to_json_schema(self) -> dict[str, Any]:
        """Return its parameters as a JSON schema, without nulls and without computed defaults."""
        properties = {entry.name: _parameter_schema(entry) for entry in self.parameters}
        required = [entry.name for entry in self.parameters if entry.required]
        return {"type": "object", "properties": properties, **({"required": required} if required else {})}

    def coerce_arguments(self, arguments: Mapping[str, Any], dated: Dated) -> dict[str, Any]:
        """Return the arguments in the script's types; omitted ones stay omitted, so that its defaults apply.

        Raises:
            InvalidInputError: Arguments are missing, unknown or of the wrong type; every problem is listed.
        """
        known = {entry.name: entry for entry in self.parameters}
        problems = [
            f"{escape_controls(name[:60])} is not one of its parameters" for name in arguments if name not in known
        ]
        problems += [
            f"{entry.name} is missing" for entry in self.parameters if entry.required and entry.name not in arguments
        ]
        results: dict[str, Any] = {}
        for name, value in arguments.items():
            if name in known and not (value is None and not known[name].required):
                kind = known[name].type
                try:
                    results[name] = coerce(kind, fit_to_schema(value, kind.to_json_schema()), name, dated)
                except TypeMismatchError as misfit:
                    problems.append(str(misfit))
                except InvalidInputError as wrong:
                    problems.append(wrong.message.rstrip("."))
        if problems:
            raise InvalidInputError(f"The script was not run: {'; '.join(problems)}.", hint=self.describe_usage())
        return results

    def describe_usage(self) -> str:
        """Describe its parameters in one sentence."""
        parts = ", ".join(
            f"{entry.name}{'*' if entry.required else ''} ({entry.type.label})" for entry in self.parameters
        )
        needed = " (* needed)" if any(entry.required for entry in self.parameters) else ""
        return f"Its parameters are {parts}{needed}." if parts else "It takes no arguments."


def _parameter_schema(parameter: Parameter) -> dict[str, Any]:
    shown = parameter.default if parameter.default not in (None, "", [], {}, False) else None
    schema = {"description": parameter.description, "default": shown}
    return parameter.type.to_json_schema() | {name: value for name, value in schema.items() if value not in (None, "")}


def parse_signature(text: str) -> Signature:
    """Parse a script's docstring and parameters.

    Raises:
        InvalidInputError: It is not valid Python, has no `main`, or has parameters that cannot be passed by name.
    """
    tree = parse_source(text)
    main = find_main(tree)
    if main is None:
        raise InvalidInputError(
            "The script has no function main.",
            hint="Write `def main(project: str, days: int = 7):` and return a result.",
        )
    shape = main.args
    if shape.posonlyargs or shape.vararg or shape.kwarg:
        raise InvalidInputError(
            "main has parameters that cannot be passed by name (*, ** or /).",
            hint="Name each parameter, with its type.",
        )
    doc = ast.get_docstring(tree) or ast.get_docstring(main) or ""
    docs = _parse_argument_docs(doc) | _parse_argument_docs(ast.get_docstring(main) or "")
    text_ = re.sub(r"\s*\n\s*", " ", re.sub(r"\n\s*\n", "\n", _SECTION.split(doc)[0].strip()))
    first = _SENTENCE.match(text_)
    return Signature(
        summary=escape_controls((first[1] if first else text_)[:200]),
        description=escape_controls(text_[:DESCRIPTION_CHARS]),
        parameters=tuple(_parse_parameters(shape, docs)),
    )


def parse_source(text: str) -> ast.Module:
    """Parse a text to a syntax tree.

    Raises:
        InvalidInputError: It is not valid Python.
    """
    try:
        return ast.parse(text)
    except SyntaxError as error:
        where = f" (line {error.lineno})" if error.lineno else ""
        raise InvalidInputError(
            f"The script is not valid Python: {error.msg}{where}.", hint="Fix that line."
        ) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InvalidInputError("The script cannot be read as Python.", hint="Make it simpler.") from error


def find_main(tree: ast.Module) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """Return the last function named main, which is the one that runs."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return next((entry for entry in reversed(tree.body) if isinstance(entry, kinds) and entry.name == "main"), None)


def _parse_parameters(shape: ast.arguments, docs: Mapping[str, str]) -> list[Parameter]:
    plain = [None] * (len(shape.args) - len(shape.defaults)) + list(shape.defaults)
    results = [_parse_parameter(entry, default, docs) for entry, default in zip(shape.args, plain, strict=True)]
    return results + [
        _parse_parameter(entry, default, docs)
        for entry, default in zip(shape.kwonlyargs, shape.kw_defaults, strict=True)
    ]


def _parse_parameter(argument: ast.arg, default: ast.expr | None, docs: Mapping[str, str]) -> Parameter:
    if argument.arg.startswith("_"):
        raise InvalidInputError(
            f"main's parameter {argument.arg!r} begins with _.", hint="Begin its name with a letter."
        )
    try:
        type_ = parse_annotation(argument.annotation)
    except UnknownTypeError as error:
        raise InvalidInputError(
            f"main's parameter {argument.arg} is annotated as {str(error)[:80]!r}, which cannot be sent as JSON.",
            hint="Use str, int, float, bool, date, datetime, list[…], dict, Literal[…], or one of them | None.",
        ) from error
    value = _eval_literal(default)
    if type_.kind == "any" and isinstance(value, str | int | float | bool):
        kind: Any = {str: "text", int: "integer", float: "number", bool: "boolean"}[type(value)]
        type_ = ParameterType(kind=kind)
    if default is not None and value is None:
        type_ = replace(type_, optional=type_.optional or (isinstance(default, ast.Constant)))
    return Parameter(
        name=argument.arg, type=type_, required=default is None, default=value, description=docs.get(argument.arg, "")
    )


def _eval_literal(default: ast.expr | None) -> Any:
    if default is None:
        return None
    try:
        value = ast.literal_eval(default)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, tuple):
        value = list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] (a literal of any type)
    return value if isinstance(value, str | int | float | bool | list) else None  # pyright: ignore[reportUnknownVariableType] (as above)


def _parse_argument_docs(doc: str) -> dict[str, str]:
    sections = _SECTION.split(doc)
    named = dict(zip(sections[1::2], sections[2::2], strict=True))
    section = next((named[name] for name in ("Args", "Arguments", "Parameters") if name in named), "")
    return {
        match[1]: escape_controls(re.sub(r"\s*\n\s*", " ", match[2]).strip()[:200])
        for match in _ARGUMENT.finditer(section)
    }


# Running a script.

ARGUMENTS_NAME = "_arguments"
"""The name under which a script finds the arguments of `main`."""


def to_runnable(text: str, signature: Signature, names: Collection[str]) -> str:
    """Return the text that runs a script: its own text, followed by the call of `main`.

    Lines keep their numbers. Code under `if __name__ == "__main__":` is removed, because it would run too.
    """
    lines = text.split("\n")
    for node in parse_source(text).body if "__name__" in text else ():
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
            lines[node.lineno - 1 : node.end_lineno] = ["pass", *[""] * ((node.end_lineno or 0) - node.lineno)]
    passed = ", ".join(
        f"{entry.name}={_argument_expression(entry)}" for entry in signature.parameters if entry.name in names
    )
    needed = "import datetime as _datetime; " if "_datetime" in passed else ""
    return "\n".join([*lines, f"{needed}return main({passed})"])


def _argument_expression(parameter: Parameter) -> str:
    return _conversion_expression(parameter.type, f"{ARGUMENTS_NAME}[{parameter.name!r}]")


def _conversion_expression(type_: ParameterType, value: str) -> str:
    if type_.kind in ("day", "moment"):
        kind = "date" if type_.kind == "day" else "datetime"
        converted = f"_datetime.{kind}.fromisoformat({value})"
        return f"(None if {value} is None else {converted})" if type_.optional else converted
    if type_.kind == "list" and type_.items and type_.items.kind in ("day", "moment"):
        return f"[{_conversion_expression(type_.items, '_each')} for _each in {value}]"
    return value


# Review states.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewState:
    """The user's decision on a script, bound to the reviewed text.

    `calls` are the calls shown in the review; None for reviews before 0.1.0.
    """

    state: State = "draft"
    digest: str = ""
    read_only: bool = False
    calls: tuple[str, ...] | None = None

    @property
    def approved_digest(self) -> str:
        """The digest of the text that is reviewed, promoted or retired, "" if none is."""
        return "" if self.state == "draft" else self.digest

    def state_of(self, digest: str) -> State:
        """Return the state of a text: every text except the reviewed one is a draft."""
        return self.state if digest and digest == self.digest else "draft"

    def approve(self, digest: str, calls: tuple[str, ...] | None = None) -> "ReviewState":
        """Return the state after approving a text; a promoted script stays promoted."""
        state: State = "promoted" if self.state == "promoted" else "reviewed"
        return replace(self, digest=digest, state=state, calls=calls)

    def promote(self, digest: str, read_only: bool, calls: tuple[str, ...] | None = None) -> "ReviewState":
        """Return the state after promoting a text."""
        if self.state_of(digest) == "promoted" and self.read_only == read_only:
            raise ConflictError("It is already a tool.", hint="Call it by its name.")
        return ReviewState(state="promoted", digest=digest, read_only=read_only, calls=calls)

    def demote(self, digest: str, listed_state: State | None = None) -> "ReviewState":
        """Return its state without its tool; `listed_state` is its state in lists while there is no decision."""
        if self.state_of(digest) == "promoted" or (self.state == "promoted" and self.digest):
            return replace(self, state="reviewed", read_only=False)
        known = listed_state or self.state_of(digest)
        state = {"draft": "a draft"}.get(known, known)
        raise ConflictError(
            f"The script is {state}, not a tool; nothing was changed.", hint="list_scripts shows the state of each."
        )

    def retire(self, digest: str) -> "ReviewState":
        """Return the state after retiring it."""
        if self.state_of(digest) == "retired":
            raise ConflictError("It is already retired.", hint="Approve it to use it again.")
        return ReviewState(state="retired", digest=digest)


DRAFT = ReviewState()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptText:
    """The text of a script, read once, and its digest, to which a review applies."""

    name: str
    content: bytes = field(repr=False)
    digest: str
    is_shipped: bool = False

    @property
    def source(self) -> str:
        """The text.

        Raises:
            InvalidInputError: It is not text.
        """
        try:
            text = self.content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InvalidInputError(f"The script {self.name} is not UTF-8 text.", hint="Write it again.") from error
        if "\x00" in text:
            raise InvalidInputError(f"The script {self.name} contains a NUL byte.", hint="Write it again.")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @property
    def signature(self) -> Signature:
        """Its docstring and parameters.

        Raises:
            InvalidInputError: It is not a script that can run.
        """
        return parse_signature(self.source)
