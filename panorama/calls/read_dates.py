"""Describes how dates in words were parsed, so that the user can check them."""

import re
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.text.json_types import is_object
from panorama.domain.time.recurrence import describe_rule, parse_repetition
from panorama.domain.time.times import Deadline, parse_date

_ISO_DATE = re.compile(r"\s*\d{4}-\d\d-\d\d(?:\s*$|[T ])")


def list_read_dates(arguments: Mapping[str, Any], data: Any, now: datetime, zone: ZoneInfo) -> str:
    """Return the dates of an item that were sent in words, with weekdays, and its rule with the next days; "" if none.

    Args:
        arguments: The arguments.
        data: The item as plain data, its dates as ISO text in the person's zone.
    """
    values = [(name, data.get(name), text) for name, text in arguments.items()] if is_object(data) else []
    rules = [
        f"{name} {_describe_rule(text, value, arguments, data, now, zone)}"
        for name, value, text in values
        if name == "recurrence" and value and value != text
    ]
    dates = [
        f"{name} {datetime.fromisoformat(value):%a %Y-%m-%d}{value[10:16].replace('T', ' ')}"
        for name, value, text in values
        if isinstance(value, str) and _ISO_DATE.match(value) and isinstance(text, str) and not _ISO_DATE.match(text)
    ]
    return ", ".join(dates + rules)


def _describe_rule(
    text: str, rule: str, arguments: Mapping[str, Any], data: Mapping[str, Any], now: datetime, zone: ZoneInfo
) -> str:
    from_completion = (arguments.get("repeat_from") or ("done" if parse_repetition(text)[1] else "due")) == "done"
    return describe_rule(rule, _find_start(data, now), zone, from_completion=from_completion)


DATE_FILTERS = frozenset({"day", "due_from", "due_until", "since", "until", "first_day", "last_day", "start", "end"})
"""The parameters of lists that take a day."""


def list_read_filters(arguments: Mapping[str, Any], now: datetime, zone: ZoneInfo) -> str:
    """Return the days that a list was asked for in words, with their weekdays; "" if there are none."""
    words = [
        (name, text)
        for name, text in arguments.items()
        if name in DATE_FILTERS and isinstance(text, str) and text.strip()
    ]
    return ", ".join(
        f"{name} {parse_date(text, name, now=now, zone=zone):%a %Y-%m-%d}"
        for name, text in words
        if not _ISO_DATE.match(text)
    )


def _find_start(data: Mapping[str, Any], now: datetime) -> Deadline:
    """Return when a series begins: the deadline of a task, the time of a reminder or event, else now."""
    text = next((str(data[name]) for name in ("deadline", "starts_at", "at") if data.get(name)), "")
    if not text:
        return now
    return date.fromisoformat(text) if len(text) == len("2026-05-31") else datetime.fromisoformat(text)
