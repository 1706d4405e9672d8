"""People: the list, one person with all that concerns them, and one meeting."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from panorama.web.markdown import render_markdown
from panorama.web.view import Context, ViewRequest
from panorama.web.views.notes import make_finder
from panorama.web.views.search import address_of
from panorama.web.views.tasks import add_due

PAGE_ROWS = 100
LEAP_YEAR = 2000
EVENT_PERIOD = timedelta(days=60)


def show_people(request: ViewRequest) -> Context:
    """Show the people by name, or those of a team."""
    chosen = {name: request.query[name] for name in ("team", "cursor") if request.query.get(name)}
    answer = request.calls.call("people.list", limit=PAGE_ROWS, **chosen)
    teams = request.calls.list_all("teams.list")
    names = {team["id"]: team["name"] for team in teams}
    return {
        "people": [{**row, "initials": make_initials(row["full_name"])} for row in answer.data],
        "count": answer.metadata.get("total"),
        "cursor": answer.metadata.get("next_cursor", ""),
        "teams": teams,
        "team_names": names,
        "chosen": chosen,
    }


def show_person(request: ViewRequest) -> Context:
    """Show a person: how to reach them, open tasks, appointments, meetings, and where they are mentioned."""
    id_ = request.path["id"]
    dashboard = request.calls.get("people.dashboard", person=id_)
    person = dashboard["person"]
    belonging = request.calls.get("items.get", item=person["id"])["belonging"]
    names = {key: _find_name(request, person.get(key)) for key in ("team", "manager")}
    tasks = {row["id"]: row for row in (*dashboard["waited_for"], *dashboard["assigned"])}
    awaited = {row["id"] for row in dashboard["waited_for"]}
    return {
        "title": person["full_name"],
        "person": person,
        "initials": make_initials(person["full_name"]),
        "names": names,
        "birthday": _describe_birthday(request, dashboard),
        "reports": belonging.get("reports", ()),
        "html": render_markdown(person["notes"], make_finder(request.calls)),
        "tasks": [{**row, "waits": row["id"] in awaited} for row in add_due(request, list(tasks.values()))],
        "events": _list_next(request, person["id"]),
        "sessions": dashboard["sessions"],
        "mentions": [{**row, "address": address_of(row["kind"], row["id"])} for row in dashboard["mentions"]],
        "more": dashboard["more"],
    }


def edit_person(request: ViewRequest) -> Context:
    """Show the fields of a person in a form."""
    person = request.calls.get("items.get", item=request.path["id"])["item"]
    return {"title": person["full_name"], "person": person, **_list_choices(request)}


def create_person(request: ViewRequest) -> Context:
    """Show an empty form for a person."""
    return {"person": None, **_list_choices(request)}


def show_session(request: ViewRequest) -> Context:
    """Show the lines of a meeting, or of a chain of thoughts."""
    session = request.calls.get("sessions.get", session=request.path["id"])
    people = [(id_, _find_name(request, id_)) for id_ in session.get("people", ())]
    names = {name for _, name in people}
    return {
        "title": session["title"],
        "session": session,
        "people": people,
        "others": [name for name in session["attendees"] if name not in names],
        "html": render_markdown(session["summary"], make_finder(request.calls)),
    }


def make_initials(name: str) -> str:
    """Return the first letters of the first and the last word of a name."""
    words = name.split()
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


def _list_next(request: ViewRequest, person: str) -> list[Mapping[str, Any]]:
    """Return the next occurrence of each event with a person in the next weeks, so that a daily one hides no other."""
    today = request.calls.today
    occurrences = request.calls.get(
        "events.list", attendee=person, since=today.isoformat(), until=(today + EVENT_PERIOD).isoformat(), limit=500
    )
    results: dict[str, Mapping[str, Any]] = {}
    for row in occurrences:
        if row["kind"] == "event":
            results.setdefault(row["id"], row)
    return list(results.values())


def _list_choices(request: ViewRequest) -> Context:
    return {
        "teams": request.calls.list_all("teams.list"),
        "managers": request.calls.list_all("people.list"),
    }


def _find_name(request: ViewRequest, id_: str | None) -> str:
    """Return the name of a person or team, "" for none."""
    if not id_:
        return ""
    item = request.calls.get("items.get", item=id_)["item"]
    return str(item.get("full_name") or item["name"])


def _describe_birthday(request: ViewRequest, dashboard: Mapping[str, Any]) -> str:
    """Return a birthday in words, with the age where the year is known; "" for none."""
    birthday, turns = dashboard["person"]["birthday"], dashboard.get("turns")
    if not birthday:
        return ""
    if turns is None:
        return request.texts.day(date.fromisoformat(f"{LEAP_YEAR}-{birthday[-5:]}"))
    age = turns if dashboard["next_birthday"] == request.calls.today.isoformat() else turns - 1
    return f"{request.texts.day(date.fromisoformat(birthday), with_year=True)} ({age})"
