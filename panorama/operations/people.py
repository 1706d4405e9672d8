"""The operations on people, teams, sessions and events."""

from collections.abc import Iterator
from typing import Any

from panorama.operation import Operation, read, write
from panorama.services import Services
from panorama.services import summaries as say

_UPDATE: dict[str, Any] = {"summary": say.summarize_update, "idempotent": True}


def list_people_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on people and teams."""
    people = {"toolset": "people"}
    yield read("people.list", do.people.list, "list_people", summary=say.make_list_summary("person"), **people)
    yield read("people.dashboard", do.person_dashboards.dashboard, "person_dashboard", recalls="person", **people)
    yield write("people.create", do.people.create, "create_person", summary=say.summarize_create, **people)
    yield write("people.update", do.people.update, "update_person", **people, **_UPDATE)
    merging: dict[str, Any] = {"summary": say.summarize_update, "split": do.people.split_merge, **people}
    yield write("people.merge", do.people.merge, "merge_person", **merging)
    yield read("teams.list", do.teams.list, "list_teams", summary=say.make_list_summary("team"), **people)
    yield write("teams.create", do.teams.create, "create_team", summary=say.summarize_create, **people)
    yield write("teams.update", do.teams.update, "update_team", **people, **_UPDATE)


def list_session_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on sessions."""
    yield write("sessions.log", do.sessions.log, "log_session", summary=say.summarize_session_log)
    sessions = {"toolset": "sessions"}
    yield read("sessions.list", do.sessions.list, "list_sessions", summary=say.make_list_summary("session"), **sessions)
    yield read("sessions.get", do.sessions.get, "get_session", recalls="session", **sessions)
    yield write("sessions.create", do.sessions.create, "create_session", summary=say.summarize_create, **sessions)
    yield write(
        "sessions.update",
        do.sessions.update,
        "update_session",
        summary=say.summarize_update,
        idempotent=True,
        **sessions,
    )
    yield read("sessions.export", do.sessions.export, "export_session", recalls="session", **sessions)
    yield read("sessions.analyze", do.sessions.analyze, "analyze_session", recalls="session", **sessions)


def list_event_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on events."""
    calendar = {"toolset": "calendar"}
    yield read("events.list", do.events.list, "list_events", summary=say.make_list_summary("event"), **calendar)
    yield write("events.create", do.events.create, "create_event", summary=say.summarize_create, **calendar)
    yield write("events.update", do.events.update, "update_event", **calendar, **_UPDATE)
