"""Reads and writes YAML front matter; the only module that uses YAML, and it accepts little of it."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, cast

import yaml

from panorama.domain.items.item import TAG_CHARS, TITLE_CHARS
from panorama.domain.items.notes import PROPERTIES_CHARS, TYPE_CHARS
from panorama.domain.markdown.lines import collapse_whitespace, parse_link_target
from panorama.domain.time.times import MAX_DATE, MIN_DATE

FRONT_MATTER_CHARS = 65_536

_MAX_YAML_DEPTH = 20
_OUR_ID = re.compile(r"[a-z]_[0-9a-z]{10}")
_CREATED_KEYS = ("created", "date", "date created")
FILES_PROPERTY = "panorama_files"
"""Lists the imported files that a note embeds; rewritten by each import."""

_KNOWN_KEYS = frozenset(
    {"title", "type", "project", "pinned", "tags", "tag", "alias", "aliases", "created", "updated", FILES_PROPERTY}
)
"""Fields that a note has, or that an export writes; `date` and its aliases are read and also kept."""

MAX_PROPERTY_SIZE = PROPERTIES_CHARS // 2
"""The maximum number of values and characters of all properties."""

_MODIFIED_KEYS = ("updated", "modified", "date modified", "last modified")

# libyaml is eight times faster; a build of PyYAML without it reads the same.
_Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_SafeDumper = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
_YAML = "tag:yaml.org,2002:"


_RESOLVERS = {
    sign: [entry for entry in entries if entry[0] != f"{_YAML}timestamp"]
    for sign, entries in _SafeDumper.yaml_implicit_resolvers.items()
}
# It writes texts without quotes that other programs read as days; `split` reads them as text.
_Dumper = type("_Dumper", (_SafeDumper,), {"yaml_implicit_resolvers": _RESOLVERS})
# The stubs leave these two untyped.
_events = cast("Callable[..., Iterator[yaml.Event]]", yaml.parse)  # pyright: ignore[reportUnknownMemberType] (PyYAML has no types)
_node = cast("Callable[..., yaml.Node | None]", yaml.compose)  # pyright: ignore[reportUnknownMemberType] (PyYAML has no types)

# Possessive quantifiers (*+ and ++) keep the time linear on hostile text.
_OPENING = re.compile(r"---[ \t]*+(?:\r\n|[\r\n])")
_CLOSING = re.compile(r"[\r\n](?:---|\.\.\.)[ \t]*+(?:\r\n|[\r\n]|\Z)")
_BREAK = re.compile(r"\r\n|[\r\n]")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[Tt ]\s*([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
    r"\s*([Zz]|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})?)?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """The parsed front matter; absent fields are "". `body` is the text below it, from `first_line` on.

    `tags` are as they were written, without `#`; `created` and `modified` are dates or date-times in ISO form.
    `properties` are the fields that notes do not have, as JSON values.
    """

    body: str
    first_line: int = 1
    title: str = ""
    project: str = ""
    pinned: bool = False
    created: str = ""
    modified: str = ""
    tags: tuple[str, ...] = ()
    type: str = ""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])
    warnings: tuple[str, ...] = ()


def split(text: str) -> FrontMatter:
    """Split off the front matter. A block that is not YAML fields stays in the body, with a warning."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end() - 1) if opening else None
    if not opening or not closing:
        return FrontMatter(body=text)
    source = text[opening.end() : closing.start() + 1]
    if len(source) > FRONT_MATTER_CHARS:
        return FrontMatter(body=text, warnings=("line 1: the front matter is over 64 KB and stays in the text",))
    try:
        fields, root = _parse_fields(source)
        properties, lost = _read_properties(root, source)
    except (yaml.YAMLError, ValueError, RecursionError):
        return FrontMatter(body=text, warnings=("line 1: the front matter is not YAML and stays in the text",))
    if fields is None:
        return FrontMatter(body=text, warnings=("line 1: the front matter has no fields and stays in the text",))
    first_line = 1 + len(_BREAK.findall(text, 0, closing.end()))
    front = _from_fields(fields, text[closing.end() :], first_line)
    return replace(front, properties=properties, warnings=(*front.warnings, *lost))


def render(fields: Mapping[str, Any], source: str = "") -> str:
    """Render front matter with these fields; `split` reads the text below it back unchanged.

    Args:
        source: More lines of YAML.
    """
    return f"---\n{''.join(_render_field(name, value) for name, value in fields.items())}{source}---\n"


def _render_field(name: str, value: Any) -> str:
    """Render a field on its own lines; a list of texts is written on one line."""
    return cast("Callable[..., str]", yaml.dump)(
        {name: value},
        Dumper=_Dumper,
        allow_unicode=True,
        width=FRONT_MATTER_CHARS,
        sort_keys=False,
        default_flow_style=None if isinstance(value, list) else False,
    )


def _from_fields(fields: Mapping[str, yaml.Node], body: str, first_line: int) -> FrontMatter:
    created, wrong_created = _parse_time(fields, _CREATED_KEYS)
    modified, wrong_modified = _parse_time(fields, _MODIFIED_KEYS)
    title = _get_scalar(fields, "title")
    return FrontMatter(
        body=body,
        first_line=first_line,
        title=title,
        project=parse_link_target(_get_scalar(fields, "project")),
        pinned=_get_scalar(fields, "pinned").lower() in {"true", "yes", "on"},
        created=created,
        modified=modified,
        tags=tuple(_parse_tags(fields)),
        type=_get_scalar(fields, "type")[:TYPE_CHARS],
        aliases=tuple(_parse_aliases(fields)),
        warnings=(*_title_warnings(title), *wrong_created, *wrong_modified),
    )


def _parse_fields(source: str) -> tuple[dict[str, yaml.Node] | None, yaml.Node | None]:
    """Return the top level's values as nodes, by key in lower case, None if there are no keys; and the top level.

    Nodes are used because constructing values expands alias and merge bombs, raises on dates that do not exist, and
    turns a title of `1.10` into 1.1. The depth is checked on the flat event stream first: libyaml's recursion crashes
    the process on 60,000 brackets.
    """
    depth = 0
    for event in _events(source, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_YAML_DEPTH:
            raise yaml.YAMLError(f"nested deeper than {_MAX_YAML_DEPTH}")
    root = _node(source, Loader=_Loader)
    if not isinstance(root, yaml.MappingNode):
        return (None if source.strip() else {}), root
    fields = {key.value.lower(): value for key, value in root.value if isinstance(key, yaml.ScalarNode)}
    return fields, root


def _read_properties(root: yaml.Node | None, source: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the fields that notes do not have as JSON, and warnings about what of them is not kept."""
    pairs = _list_pairs(root) if isinstance(root, yaml.MappingNode) else []
    properties: dict[str, Any] = {}
    warnings = ["front matter: comments are not kept"] if re.search(r"^[ \t]*#", source, re.MULTILINE) else []
    left = [MAX_PROPERTY_SIZE]
    for key, value in pairs:
        if not _has_place((key, value)):
            try:
                properties[_key_text(key)] = _to_json(value, left)
            except (ValueError, RecursionError):
                warnings.append(f"front matter: “{_key_text(key)[:40]}” repeats values endlessly and was left out")
                left = [MAX_PROPERTY_SIZE]
    return properties, tuple(warnings)


def _to_json(node: yaml.Node, left: list[int]) -> Any:
    """Return a value as JSON; a scalar that JSON would write otherwise, such as 1.10 or a day, stays text.

    Raises:
        ValueError: It is larger than the size that is left: aliases can repeat a value endlessly.
    """
    left[0] -= 1 if not isinstance(node, yaml.ScalarNode) else 1 + len(node.value)
    if left[0] < 0:
        raise ValueError("too large")
    if isinstance(node, yaml.SequenceNode):
        return [_to_json(entry, left) for entry in cast("list[yaml.Node]", node.value)]
    if isinstance(node, yaml.MappingNode):
        return {_key_text(key): _to_json(value, left) for key, value in _list_pairs(node)}
    return _to_scalar(str(node.value), node.tag.removeprefix(_YAML))


def _to_scalar(written: str, tag: str) -> str | int | float | bool | None:
    if tag == "null":
        return None
    if tag == "bool" and written.lower() in ("true", "false"):
        return written.lower() == "true"
    if tag in ("int", "float"):
        for read in (int, float):
            with suppress(ValueError, OverflowError):
                if str(value := read(written)) == written and (value == value and abs(value) != math.inf):
                    return value
    return written


def _list_pairs(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    return cast("list[tuple[yaml.Node, yaml.Node]]", node.value)


def _key_text(node: yaml.Node) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else "?"


def _has_place(pair: tuple[yaml.Node, yaml.Node]) -> bool:
    key, value = pair
    if not isinstance(key, yaml.ScalarNode):
        return False
    name = key.value.lower()
    return name in _KNOWN_KEYS or (name == "id" and _OUR_ID.fullmatch(_node_text(value)) is not None)


def _get_scalar(fields: Mapping[str, yaml.Node], key: str) -> str:
    return _node_text(fields[key]) if key in fields else ""


def _node_text(node: yaml.Node) -> str:
    """Return a scalar as it was written, on one line; nulls, lists and mappings are ""."""
    if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        return ""
    return collapse_whitespace(node.value)


def _parse_tags(fields: Mapping[str, yaml.Node]) -> list[str]:
    """Return the tags of `tags` and `tag`: a list, or one text separated by commas or spaces."""
    words: list[str] = []
    for node in (fields[key] for key in ("tags", "tag") if key in fields):
        if isinstance(node, yaml.SequenceNode):
            words += [_node_text(item) for item in node.value]
        else:
            words += _node_text(node).split("," if "," in _node_text(node) else None)
    cleaned = (word.strip(" '\"").lstrip("#").strip() for word in words)
    return [tag for tag in cleaned if 0 < len(tag) <= TAG_CHARS]


def _parse_aliases(fields: Mapping[str, yaml.Node]) -> list[str]:
    """Return the names of `aliases` and `alias`: a list, or one text separated by commas."""
    names: list[str] = []
    for node in (fields[key] for key in ("aliases", "alias") if key in fields):
        if isinstance(node, yaml.SequenceNode):
            names += [_node_text(item) for item in node.value]
        else:
            names += _node_text(node).split(",")
    return [name for name in (parse_link_target(name.strip()) for name in names) if 0 < len(name) <= TITLE_CHARS]


def _parse_time(fields: Mapping[str, yaml.Node], keys: tuple[str, ...]) -> tuple[str, list[str]]:
    """Return the first field that is a date, in ISO form, and a warning for each that is not."""
    warnings: list[str] = []
    for key in keys:
        written = _get_scalar(fields, key)
        moment = normalize_date(written)
        if moment:
            return moment, warnings
        if written:
            warnings.append(f"front matter: {key} “{written[:40]}” is not a date")
    return "", warnings


def normalize_date(written: str) -> str:
    """Return a date or date-time in ISO form, "" if it does not exist or is out of range."""
    match = _MOMENT.fullmatch(written)
    try:
        if not match or not MIN_DATE <= date.fromisoformat(match[1]) <= MAX_DATE:
            return ""
        if not match[2]:
            return match[1]
        return datetime.fromisoformat(f"{match[1]}T{match[2]}{(match[3] or '').upper()}").isoformat()
    except ValueError:
        return ""


def _title_warnings(title: str) -> list[str]:
    return [f"front matter: the title was cut to {TITLE_CHARS} characters"] if len(title) > TITLE_CHARS else []
