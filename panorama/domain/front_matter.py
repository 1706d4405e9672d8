"""Front matter: the only module that knows YAML, and how little of it the head of a Markdown file is trusted with."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import cast

import yaml

from panorama.domain.items import TAG_CHARS, TITLE_CHARS
from panorama.domain.markdown_lines import link_target, one_line
from panorama.domain.times import FIRST, LAST

FRONT_MATTER_CHARS = 65_536

_DEEPEST_YAML = 20

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
    """What the head of a text says, "" where it says nothing; `body` is the text below it, from `first_line` on.

    `tags` are as they were written, without `#`; `created` is a date or date-time in ISO form.
    """

    body: str
    first_line: int = 1
    title: str = ""
    project: str = ""
    pinned: bool = False
    created: str = ""
    tags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def split(text: str) -> FrontMatter:
    """Split the front matter off; whatever is not a block of YAML fields stays in the body, and is told."""
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end() - 1) if opening else None
    if not opening or not closing:
        return FrontMatter(body=text)
    source = text[opening.end() : closing.start() + 1]
    if len(source) > FRONT_MATTER_CHARS:
        return FrontMatter(body=text, warnings=("line 1: the front matter is over 64 KB and stays in the text",))
    try:
        fields = _fields(source)
    except (yaml.YAMLError, ValueError, RecursionError):
        return FrontMatter(body=text, warnings=("line 1: the front matter is not YAML and stays in the text",))
    if fields is None:
        return FrontMatter(body=text, warnings=("line 1: the front matter has no fields and stays in the text",))
    return _read(fields, text[closing.end() :], 1 + len(_BREAK.findall(text, 0, closing.end())))


def written(fields: Mapping[str, str | bool | list[str]]) -> str:
    """Return front matter that says these fields; what is below it is read back unchanged by `split`."""
    source = cast("Callable[..., str]", yaml.dump)(
        dict(fields),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=FRONT_MATTER_CHARS,
        default_flow_style=None,
    )
    return f"---\n{source}---\n"


def _read(fields: Mapping[str, yaml.Node], body: str, first_line: int) -> FrontMatter:
    created, wrong_dates = _created(fields)
    title = _scalar(fields, "title")
    return FrontMatter(
        body=body,
        first_line=first_line,
        title=title,
        project=link_target(_scalar(fields, "project")),
        pinned=_scalar(fields, "pinned").lower() in {"true", "yes", "on"},
        created=created,
        tags=tuple(_tags(fields)),
        warnings=(*_cut_title(title), *wrong_dates),
    )


def _fields(source: str) -> dict[str, yaml.Node] | None:
    """Return the top level's values as nodes, by key in lower case; None if there are no keys.

    Nodes, because building values is where bombs of aliases and merges go off, dates that do not exist raise, and a
    title of `1.10` turns into 1.1. The depth is checked on the flat stream of events first: libyaml's own recursion
    ends the whole process on 60,000 brackets.
    """
    depth = 0
    for event in _events(source, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST_YAML:
            raise yaml.YAMLError(f"nested deeper than {_DEEPEST_YAML}")
    root = _node(source, Loader=_Loader)
    if isinstance(root, yaml.MappingNode):
        return {key.value.lower(): value for key, value in root.value if isinstance(key, yaml.ScalarNode)}
    return None if source.strip() else {}


def _scalar(fields: Mapping[str, yaml.Node], key: str) -> str:
    return _text(fields[key]) if key in fields else ""


def _text(node: yaml.Node) -> str:
    """Return a scalar as it was written, on one line; nulls, lists and mappings are ""."""
    if not isinstance(node, yaml.ScalarNode) or node.tag == "tag:yaml.org,2002:null":
        return ""
    return one_line(node.value)


def _tags(fields: Mapping[str, yaml.Node]) -> list[str]:
    """Return the tags of `tags` and `tag`: a list, or one text divided by commas or spaces."""
    words: list[str] = []
    for node in (fields[key] for key in ("tags", "tag") if key in fields):
        if isinstance(node, yaml.SequenceNode):
            words += [_text(item) for item in node.value]
        else:
            words += _text(node).split("," if "," in _text(node) else None)
    cleaned = (word.strip(" '\"").lstrip("#").strip() for word in words)
    return [tag for tag in cleaned if 0 < len(tag) <= TAG_CHARS]


def _created(fields: Mapping[str, yaml.Node]) -> tuple[str, list[str]]:
    """Return the first of `created` and `date` that is a date, in ISO form, and a warning for each that is not."""
    warnings: list[str] = []
    for key in ("created", "date"):
        written = _scalar(fields, key)
        moment = dated(written)
        if moment:
            return moment, warnings
        if written:
            warnings.append(f"front matter: {key} “{written[:40]}” is not a date")
    return "", warnings


def dated(written: str) -> str:
    """Return a date or date-time in ISO form, "" if it is none that exists and the product can hold."""
    found = _MOMENT.fullmatch(written)
    try:
        if not found or not FIRST <= date.fromisoformat(found[1]) <= LAST:
            return ""
        if not found[2]:
            return found[1]
        return datetime.fromisoformat(f"{found[1]}T{found[2]}{(found[3] or '').upper()}").isoformat()
    except ValueError:
        return ""


def _cut_title(title: str) -> list[str]:
    return [f"front matter: the title was cut to {TITLE_CHARS} characters"] if len(title) > TITLE_CHARS else []
