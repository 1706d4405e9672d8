"""Renders a session with its lines as Markdown or JSON."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from panorama.domain.items.session_lines import LINE_FIELDS, LineType, SessionLine
from panorama.domain.items.sessions import LoggedSession
from panorama.domain.time.times import format_time

_SECTIONS: Mapping[str, tuple[LineType, ...]] = {
    "Summary": ("summary",),
    "Decisions": ("decision",),
    "Next steps": ("action", "next_step"),
    "Open questions": ("question",),
}
"""The types of lines that a meeting's page repeats in sections above all lines."""

_SESSION_FIELDS = ("id", "title", "kind", "started_at", "ended_at", "attendees", "location", "summary")


def render_markdown(session: LoggedSession, project: str, lines: Sequence[SessionLine], zone: ZoneInfo) -> str:
    """Render a session: its facts, what follows from it, and all its lines in order."""
    parts = [f"# {session.title}", "\n".join(_render_facts(session, project, zone))]
    parts += [f"## Summary\n\n{session.summary}"] if session.summary else []
    if session.kind == "meeting":
        for title, types in _SECTIONS.items():
            chosen = [f"- {_render_inline(line)}" for line in lines if line.type in types]
            parts += ["\n".join((f"## {title}", "", *chosen))] if chosen else []
    if lines:
        parts.append("\n".join(("## Lines", "", *(_render_line(line, zone) for line in lines))))
    return "\n\n".join(filter(None, parts)) + "\n"


def render_json(session: LoggedSession, project: str, lines: Sequence[SessionLine], zone: ZoneInfo) -> str:
    """Render a session and its lines as JSON; empty fields are left out."""
    facts = {name: _to_json(getattr(session, name), zone) for name in _SESSION_FIELDS} | {"project": project}
    rows = [{name: _to_json(getattr(line, name), zone) for name in LINE_FIELDS} for line in lines]
    data = {**_drop_empty(facts), "lines": [_drop_empty(row) for row in rows]}
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _drop_empty(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "", [])}


def _to_json(value: Any, zone: ZoneInfo) -> Any:
    if isinstance(value, tuple):
        return list(value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] (of attendees)
    return format_time(value, zone) if hasattr(value, "isoformat") else value


def _render_facts(session: LoggedSession, project: str, zone: ZoneInfo) -> list[str]:
    begin = session.started_at.astimezone(zone)
    end = f" to {session.ended_at.astimezone(zone):%Y-%m-%d %H:%M}" if session.ended_at else ""
    facts = [f"- When: {begin:%Y-%m-%d %H:%M}{end}"]
    named = {"Project": project, "Attendees": ", ".join(session.attendees), "Place": session.location}
    return facts + [f"- {name}: {value}" for name, value in named.items() if value]


def _render_line(line: SessionLine, zone: ZoneInfo) -> str:
    marks = [] if line.type in ("note", "thought") else [line.type.replace("_", " ")]
    marks += [f"revises {line.revises}"] if line.revises else []
    marks += [f"branch {line.branch}"] if line.branch else []
    marks += [f"confidence {line.confidence:g}"] if line.confidence is not None else []
    about = f" ({', '.join(marks)})" if marks else ""
    return f"{line.position}. {line.at.astimezone(zone):%H:%M}{about} {_render_inline(line)}"


def _render_inline(line: SessionLine) -> str:
    text = "\n   ".join(line.text.splitlines())
    return f"**{line.speaker}**: {text}" if line.speaker else text
