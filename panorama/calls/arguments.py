"""Arguments: what an operation takes, derived from its method, and error messages for invalid input."""

import difflib
import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Annotated, Any, Literal, Optional, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails, PydanticUndefined

from panorama.calls.rendering import MAX_ROWS, MODEL, Audience
from panorama.domain.items.references import Reference
from panorama.domain.paging import Page, PageRequest
from panorama.domain.text.docstrings import parse_docstring
from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.lenient_json import fit_to_schema
from panorama.errors import InvalidInputError
from panorama.operation import Operation

KEY_CHARS = 200
INT_LIMIT = 1 << 63
MAX_DEPTH = 40
"""The maximum nesting of arguments."""

MAX_VALUES = 20_000
"""The maximum number of values in one call; validating more would take seconds."""

MAX_PROBLEMS = 5
NAME_CHARS = 100

Detail = Literal["brief", "full"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an operation, as declared by its method."""

    name: str
    annotation: Any
    default: Any
    description: str
    reference: Reference | None


class Arguments:
    """The arguments of one operation: its method's parameters and the common ones."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation

    @cached_property
    def description(self) -> str:
        """The method's docstring without its arguments."""
        return self._docstring_parts[0]

    @cached_property
    def _docstring_parts(self) -> tuple[str, dict[str, str]]:
        return parse_docstring(inspect.getdoc(self.operation.call) or "")

    @cached_property
    def _signature(self) -> inspect.Signature:
        return inspect.signature(self.operation.call)

    @cached_property
    def _hints(self) -> Mapping[str, Any]:
        return get_type_hints(self.operation.call, include_extras=True)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The method's own parameters, without the page."""
        return tuple(
            self._parameter(name, parameter)
            for name, parameter in self._signature.parameters.items()
            if self._hints[name] is not PageRequest
        )

    def _parameter(self, name: str, declared: inspect.Parameter) -> Parameter:
        annotation = self._hints[name]
        default = PydanticUndefined if declared.default is declared.empty else declared.default
        if name == self.operation.recalls and default is PydanticUndefined:
            annotation, default = Optional[annotation], None  # noqa: UP045 (a value, not an annotation)
        return Parameter(name, annotation, default, self._docstring_parts[1].get(name, ""), _find_reference(annotation))

    def is_optional(self, name: str) -> bool:
        """Return whether the method does not require a parameter."""
        return self._signature.parameters[name].default is not inspect.Parameter.empty

    @cached_property
    def page_parameter(self) -> str:
        """The name of the parameter for the page request, "" if there is none."""
        return next((name for name in self._signature.parameters if self._hints[name] is PageRequest), "")

    @cached_property
    def returns(self) -> Any:
        """The method's return type."""
        return self._hints.get("return")

    @property
    def has_confirm(self) -> bool:
        """Whether the caller may confirm for the user."""
        return self.operation.asks and not self.operation.person

    @cached_property
    def has_detail(self) -> bool:
        """Whether rows can be brief or full."""
        return get_origin(self.returns) is Page and bool(getattr(get_args(self.returns)[0], "BRIEF", ()))

    @cached_property
    def model(self) -> type[BaseModel]:
        """The model of the input schema."""
        fields: dict[str, Any] = {}
        for parameter in self.parameters:
            metadata: dict[str, Any] = {"description": parameter.description} if parameter.description else {}
            fields[parameter.name] = (parameter.annotation, Field(default=parameter.default, **metadata))
        name = self.operation.tool or self.operation.name
        config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
        return create_model(name, __config__=config, **fields, **self._standard_fields())

    def _standard_fields(self) -> dict[str, Any]:
        defaults: dict[str, Any] = {}
        if self.page_parameter:
            defaults["limit"] = (Optional[Annotated[int, Field(ge=1, le=MAX_ROWS)]], None)  # noqa: UP045 (a value, not an annotation)
            defaults["cursor"] = (str, "")
        if self.has_detail:
            defaults["detail"] = (Detail, "brief")
        if self.has_confirm:
            defaults["confirm"] = (bool, Field(default=False, description="The user has agreed."))
        if self.operation.takes_background:
            defaults["background"] = (bool, Field(default=False, description="Return a job at once."))
        if self.operation.writes:
            defaults["idempotency_key"] = (Annotated[str, Field(max_length=KEY_CHARS)], "")
        return defaults

    def parse(self, arguments: Mapping[str, Any], reader: Audience = MODEL) -> dict[str, Any]:
        """Return the arguments' values by name, defaults filled in.

        Raises:
            InvalidInputError: Arguments are missing, unknown or of the wrong type; the first problems are listed.
        """
        limit = arguments.get("limit")
        is_larger = type(limit) is int and MAX_ROWS < limit <= reader.most_rows
        parsed = self._validate({**arguments, "limit": MAX_ROWS} if is_larger else arguments, reader)
        values = {name: getattr(parsed, name) for name in type(parsed).model_fields}
        return {**values, "limit": limit} if is_larger else values

    def _validate(self, arguments: Mapping[str, Any], reader: Audience) -> BaseModel:
        """Validate the arguments, accepting the forms that clients use."""
        try:
            return self.model.model_validate(arguments)
        except ValidationError:
            fitted = self._fit(arguments)
        try:
            return self.model.model_validate(fitted)
        except ValidationError as error:
            problems = error.errors(include_url=False, include_context=True)
            raise self._refusal(self._problems(problems), reader) from error

    def _fit(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        fitted = {name: fit_to_schema(value, self._schemas.get(name, {})) for name, value in arguments.items()}
        if problem := find_unusable(fitted):
            raise unusable_error(self.operation.tool or self.operation.name, problem)
        return fitted

    @cached_property
    def _schemas(self) -> Mapping[str, Mapping[str, Any]]:
        """The JSON schema of each argument, without null."""
        schema = self.model.model_json_schema()
        return {name: _without_null(part, schema.get("$defs", {})) for name, part in schema["properties"].items()}

    def name_for(self, reader: Audience) -> str:
        """Return the operation's name for an audience."""
        return f"sdk.{self.operation.sdk}" if reader.wants_all else self.operation.tool or self.operation.name

    def _refusal(self, problems: list[str], reader: Audience) -> InvalidInputError:
        hidden = ("cursor", "detail") if reader.wants_all else ()
        fields = {name: field for name, field in self.model.model_fields.items() if name not in hidden}
        signature = ", ".join(f"{name}*" if field.is_required() else name for name, field in fields.items())
        needed = " (* needed)" if "*" in signature else ""
        name = self.name_for(reader)
        return InvalidInputError(
            f"{name} was not called: {'; '.join(dict.fromkeys(problems))}.",
            hint=f"Its parameters are {signature}{needed}." if signature else f"{name} takes no parameters.",
        )

    def _problems(self, errors: Iterable[ErrorDetails]) -> list[str]:
        """Return the problems; choices split over a union are reported once."""
        choices: dict[str, tuple[object, list[str]]] = {}
        by_field: dict[tuple[str, str], ErrorDetails] = {}
        for error in errors:
            where = _field_path(error)
            if error["type"] == "literal_error":
                choices.setdefault(where, (error["input"], []))[1].extend(_expected_choices(error))
            by_field.setdefault((where, error["type"]), error)
        sentences = [
            _choice_problem(where, *choices[where]) if kind == "literal_error" else self._problem(error)
            for (where, kind), error in islice(by_field.items(), MAX_PROBLEMS)
        ]
        more = len(by_field) - len(sentences)
        return [*sentences, f"{more:,} more are wrong"] if more else sentences

    def _problem(self, error: ErrorDetails) -> str:
        where = _field_path(error)
        kind, value = error["type"], error["input"]
        if kind == "missing":
            return f"{where} is missing"
        if kind == "extra_forbidden":
            near = difflib.get_close_matches(where, self.model.model_fields, 1, 0.5)
            return f"{where} is not one of its parameters" + (f" (did you mean {near[0]}?)" if near else "")
        return f"{where} {_expectation(error)}, not {_preview(value)}"


def _without_null(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of an argument's values, with resolved references and joined choices."""
    if "$ref" in schema:
        return definitions[schema["$ref"].rsplit("/", 1)[-1]]
    branches = [
        _without_null(branch, definitions) for branch in schema.get("anyOf", ()) if branch.get("type") != "null"
    ]
    if branches and all("enum" in branch or "const" in branch for branch in branches):
        return {"enum": [word for branch in branches for word in branch.get("enum", [branch.get("const")])]}
    return branches[0] if len(branches) == 1 else schema


def drop_nulls(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """Remove null arguments: many clients send null for absent ones."""
    return (
        {name: value for name, value in arguments.items() if value is not None}
        if None in arguments.values()
        else arguments
    )


def unusable_error(name: str, problem: str) -> InvalidInputError:
    """Return the error for arguments that cannot be stored or compared."""
    return InvalidInputError(f"{printable(name)} was not called: {problem}.", hint="Correct the arguments.")


def find_unusable(arguments: Mapping[str, Any]) -> str:
    """Return why arguments cannot be stored or compared; "" if they can."""
    if len(arguments) > MAX_VALUES:
        return _TOO_MANY
    if all(_is_plain(name) and _is_plain(value) for name, value in arguments.items()):
        return ""
    level: list[tuple[str, object]] = list(arguments.items())
    left = MAX_VALUES - len(level)
    for _ in range(MAX_DEPTH):
        problems = filter(None, (_find_value_problem(name, value) for name, value in level))
        if problem := next(problems, ""):
            return problem
        inside = ((f"{name}.{key}", inner) for name, value in level for key, inner in _children(value))
        level = list(islice(inside, left + 1))
        left -= len(level)
        if left < 0:
            return _TOO_MANY
        if not level:
            return ""
    return f"{level[0][0][:60]}… is nested deeper than {MAX_DEPTH}"


_TOO_MANY = f"it contains more than {MAX_VALUES:,} values; give fewer at a time, in several calls"


def _is_plain(value: object) -> bool:
    """Return quickly whether a value is certainly valid."""
    if type(value) is str:
        return value.isascii() and "\x00" not in value
    return value is None or type(value) is bool


def _children(value: object) -> Iterable[tuple[object, object]]:
    if is_object(value):
        return value.items()
    return enumerate(value) if is_list(value) else ()


def _find_value_problem(name: str, value: object) -> str:
    if isinstance(value, int) and not -INT_LIMIT <= value < INT_LIMIT:
        return f"{name} is a number of more than 64 bits"
    if isinstance(value, str) and "\x00" in value:
        return f"{printable(name)} contains a NUL byte"
    for text in (name, value):
        if (
            isinstance(text, str)
            and not text.isascii()
            and text.encode("utf-8", "replace") != text.encode("utf-8", "surrogatepass")
        ):
            return f"{printable(name)} contains an unpaired surrogate"
    return ""


def printable(text: object, limit: int = 200) -> str:
    """Return the beginning of a text without lone surrogates, which databases and clients reject."""
    begin = str(text)[:limit]
    return begin if begin.isascii() else begin.encode("utf-8", "replace").decode()


def _is_internal(part: str | int) -> bool:
    return isinstance(part, str) and ("[" in part or part in ("str", "int", "float", "bool", "none", "list", "tuple"))


def _expectation(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "enum":
        return f"must be one of {str(context.get('expected', '')).replace(' or ', ', ')}"
    if kind.startswith("int_"):
        return "must be a whole number"
    if kind.startswith("bool_"):
        return "must be true or false"
    if kind in ("tuple_type", "list_type"):
        return "must be a list"
    if kind in ("dict_type", "mapping_type", "model_type", "model_attributes_type"):
        return "must be an object"
    words = {
        "string_type": "must be text",
        "string_unicode": "must be valid Unicode text",
        "string_too_long": f"must be at most {context.get('max_length')} characters",
        "greater_than_equal": f"must be at least {context.get('ge')}",
        "less_than_equal": f"must be at most {context.get('le')}",
    }
    return words.get(kind, error["msg"].lower().replace("input should be", "must be"))


_SYNONYMS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("completed", "complete", "finished", "closed", "resolved"), ("done",)),
    **dict.fromkeys(("open", "pending", "new", "not_started"), ("todo", "active")),
    **dict.fromkeys(("doing", "started", "active", "wip"), ("in_progress",)),
    **dict.fromkeys(("all", "every", "*"), ("any",)),
    **dict.fromkeys(("canceled", "dropped", "abandoned"), ("cancelled",)),
    **dict.fromkeys(("someday", "parked", "backlog"), ("idea",)),
    **dict.fromkeys(("late", "due"), ("overdue",)),
    **dict.fromkeys(("paused", "waiting", "on_hold"), ("blocked",)),
    "week": ("this_week",),
}
"""Other names of choices, and their names in Panorama."""


def _choice_problem(where: str, value: object, choices: Sequence[str]) -> str:
    """Describe the choices, with a suggestion."""
    if is_list(value):
        onward = '; query takes {"status": {"in": […]}}' if where == "status" else ""
        note = f" (one word, not a list{onward})"
    else:
        word = str(value)[:NAME_CHARS].strip().lower()
        known = next((word for word in _SYNONYMS.get(word, ()) if word in choices), "")
        near = [known] if known else difflib.get_close_matches(word, choices, 1)
        note = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{where} must be one of {', '.join(map(repr, choices))}, not {_preview(value)}{note}"


def _expected_choices(error: ErrorDetails) -> list[str]:
    return re.findall(r"'([^']*)'", str(error.get("ctx", {}).get("expected", "")))


def _field_path(error: ErrorDetails) -> str:
    return ".".join(str(part) for part in error["loc"] if not _is_internal(part))[:NAME_CHARS]


def _preview(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _find_reference(annotation: Any) -> Reference | None:
    """Find the Reference annotation, also inside a union with None."""
    marks = [mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, Reference)]
    if marks:
        return marks[0]
    return next((reference for part in get_args(annotation) if (reference := _find_reference(part))), None)
