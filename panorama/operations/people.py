"""The operations on people, teams, sessions and events."""

from collections.abc import Iterator

from panorama.operation import Operation, read, write
from panorama.services import Services
from panorama.services import summaries as say


def list_people_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on people and teams."""
    people = {"toolset": "people"}
    yield read("people.list", do.people.list, say.make_list_summary("person"), "list_people", **people)
    yield write("people.create", do.people.create, say.summarize_create, "create_person", **people)
    yield write("people.update", do.people.update, say.summarize_update, "update_person", idempotent=True, **people)
    yield write("people.merge", do.people.merge, say.summarize_update, "merge_person", **people)
    yield read("teams.list", do.teams.list, say.make_list_summary("team"), "list_teams", **people)
    yield write("teams.create", do.teams.create, say.summarize_create, "create_team", **people)
    yield write("teams.update", do.teams.update, say.summarize_update, "update_team", idempotent=True, **people)


def list_session_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on sessions."""
    yield write("sessions.log", do.sessions.log, say.summarize_session_log, "log_session")
    sessions = {"toolset": "sessions"}
    yield read("sessions.list", do.sessions.list, say.make_list_summary("session"), "list_sessions", **sessions)
    yield read("sessions.get", do.sessions.get, say.summarize_session, "get_session", recalls="session", **sessions)
    yield write("sessions.create", do.sessions.create, say.summarize_create, "create_session", **sessions)
    yield write(
        "sessions.update", do.sessions.update, say.summarize_update, "update_session", idempotent=True, **sessions
    )
    yield read(
        "sessions.export", do.sessions.export, say.summarize_session_export, "export_session", recalls="session",
        **sessions,
    )  # fmt: skip
    yield read(
        "sessions.analyze", do.sessions.analyze, say.summarize_session_analysis, "analyze_session", recalls="session",
        **sessions,
    )  # fmt: skip


def list_event_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on events."""
    calendar = {"toolset": "calendar"}
    yield read("events.list", do.events.list, say.make_list_summary("event"), "list_events", **calendar)
    yield write("events.create", do.events.create, say.summarize_create, "create_event", **calendar)
    yield write("events.update", do.events.update, say.summarize_update, "update_event", idempotent=True, **calendar)
