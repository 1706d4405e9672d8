"""Values of Notion's properties as plain values. Pure."""

from collections.abc import Mapping
from typing import Any

from panorama.domain.text.json_types import is_list, is_object


def simplify_properties(properties: object) -> dict[str, Any]:
    """Return the properties of a page by name: texts, numbers, flags, dates, lists of names or ids."""
    if not is_object(properties):
        return {}
    return {name: simplify_value(value) for name, value in properties.items() if is_object(value)}


def simplify_value(value: Mapping[str, Any]) -> Any:
    """Return the plain value of one property.

    A title or text is a string, a select or status its name, a multi-select, people or files a list of names, a
    relation a list of ids, a date its start (`start/end` for a range), a formula or rollup its result.
    """
    kind = str(value.get("type", ""))
    content = value.get(kind)
    if kind in ("title", "rich_text"):
        return join_text(content)
    if kind in ("select", "status", "created_by", "last_edited_by"):
        return content.get("name") if is_object(content) else None
    if kind in ("multi_select", "people", "files"):
        return [row.get("name") for row in _list_objects(content)]
    if kind == "relation":
        return [row.get("id") for row in _list_objects(content)]
    if kind == "date":
        return _format_period(content)
    if kind == "unique_id" and is_object(content):
        number, prefix = content.get("number"), content.get("prefix")
        return f"{prefix}-{number}" if prefix else number
    if kind in ("formula", "rollup") and is_object(content):
        return _simplify_result(content)
    return content


def join_text(parts: object) -> str:
    """Return rich text without its format."""
    return "".join(str(part.get("plain_text", "")) for part in _list_objects(parts))


def find_title(properties: object) -> str:
    """Return the title among the properties of a page, "" if there is none."""
    values = properties.values() if is_object(properties) else ()
    return next((join_text(value.get("title")) for value in values if is_object(value) and "title" in value), "")


def _simplify_result(content: Mapping[str, Any]) -> Any:
    kind = str(content.get("type", ""))
    if kind == "array":
        return [simplify_value(row) for row in _list_objects(content.get("array"))]
    return _format_period(content.get("date")) if kind == "date" else content.get(kind)


def _format_period(value: object) -> str | None:
    if not is_object(value) or not value.get("start"):
        return None
    return f"{value['start']}/{value['end']}" if value.get("end") else str(value["start"])


def _list_objects(value: object) -> list[Mapping[str, Any]]:
    return [row for row in value if is_object(row)] if is_list(value) else []
