"""Reads and writes YAML front matter; the only module that uses YAML, and it accepts little of it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import cast

import yaml

from panorama.domain.items.item import TAG_CHARS, TITLE_CHARS
from panorama.domain.markdown.lines import collapse_whitespace, parse_link_target
from panorama.domain.time.times import MAX_DATE, MIN_DATE

FRONT_MATTER_CHARS = 65_536

_MAX_YAML_DEPTH = 20
_OUR_ID = re.compile(r"[a-z]_[0-9a-z]{10}")
_CREATED_KEYS = ("created", "date", "date created")
FILES_PROPERTY = "panorama_files"
"""Lists the imported files that a note embeds; rewritten by each import."""

_KNOWN_KEYS = frozenset({"title", "project", "pinned", "tags", "tag", "created", "updated", FILES_PROPERTY})
"""Fields that a note has, or that an export writes; `date` and its aliases are read and also kept."""

_MODIFIED_KEYS = ("updated", "modified", "date modified", "last modified")

# libyaml is eight times faster; a build of PyYAML without it reads the same.
_Loader = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_Dumper = yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper
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
    `unknown` is the YAML of the fields that notes do not have, unchanged.
    """

    body: str
    first_line: int = 1
    title: str = ""
    project: str = ""
    pinned: bool = False
    created: str = ""
    modified: str = ""
    tags: tuple[str, ...] = ()
    unknown: str = ""
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
        fields, unknown = _parse_fields(source)
    except (yaml.YAMLError, ValueError, RecursionError):
        return FrontMatter(body=text, warnings=("line 1: the front matter is not YAML and stays in the text",))
    if fields is None:
        return FrontMatter(body=text, warnings=("line 1: the front matter has no fields and stays in the text",))
    first_line = 1 + len(_BREAK.findall(text, 0, closing.end()))
    return replace(_from_fields(fields, text[closing.end() :], first_line), unknown=unknown)


def render(fields: Mapping[str, str | bool | list[str]], unknown: str = "") -> str:
    """Render front matter with these fields; `split` reads the text below it back unchanged.

    Args:
        unknown: More lines of YAML, as returned by `split`.
    """
    return f"---\n{''.join(_render_field(name, value) for name, value in fields.items())}{unknown}---\n"


def _render_field(name: str, value: str | bool | list[str]) -> str:
    """Render a field on its own lines; a list is written on one line."""
    return cast("Callable[..., str]", yaml.dump)(
        {name: value},
        Dumper=_Dumper,
        allow_unicode=True,
        width=FRONT_MATTER_CHARS,
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
        warnings=(*_title_warnings(title), *wrong_created, *wrong_modified),
    )


def _parse_fields(source: str) -> tuple[dict[str, yaml.Node] | None, str]:
    """Return the top level's values as nodes, by key in lower case, None if there are no keys; and unknown lines.

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
        return (None if source.strip() else {}), ""
    fields = {key.value.lower(): value for key, value in root.value if isinstance(key, yaml.ScalarNode)}
    return fields, _find_unknown(source, root)


def _find_unknown(source: str, root: yaml.MappingNode) -> str:
    """Return the YAML of the unknown fields, unchanged."""
    if root.flow_style:  # {title: Tea, email: …} stands on any lines
        return "" if all(map(_has_place, root.value)) else f"front_matter: {' '.join(source.split())}\n"
    lines = source.splitlines(keepends=True)
    starts = [_find_comment_start(lines, key.start_mark.line) for key, _ in root.value]
    parts = zip(root.value, starts, [*starts[1:], len(lines)], strict=True)
    return "".join("".join(lines[start:end]) for pair, start, end in parts if not _has_place(pair))


def _find_comment_start(lines: Sequence[str], line: int) -> int:
    """Return the line where the comments above a field begin; indented lines may belong to a text."""
    while line and lines[line - 1].startswith("#"):
        line -= 1
    return line


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
