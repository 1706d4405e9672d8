"""The dashboard of a person: tasks, sessions, events, mentions and the next birthday."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from panorama.domain.items.people import Person
from panorama.domain.items.references import PersonRef
from panorama.domain.paging import PageRequest
from panorama.services.base import Service
from panorama.services.graph.backlinks import describe_links
from panorama.services.graph.mentions import list_mentioning
from panorama.services.items.results import count_left_out, drop_zeros
from panorama.services.people.attendees import describe_person
from panorama.services.people.results import PersonDashboard
from panorama.store import sessions
from panorama.store.backend import Session
from panorama.store.events import list_occurrences
from panorama.store.graph import walks
from panorama.store.items import overview, rows, tasks

ROWS = PageRequest(limit=5)
MENTIONS_SHOWN = 10
COMING_PERIOD = timedelta(days=366)
"""How far ahead events are listed: a yearly one is among them."""

_MOMENT = timedelta(seconds=1)
"""A meeting that begins now counts as past: it is among the sessions."""


class PersonDashboards(Service):
    """Everything about one person."""

    def dashboard(self, person: PersonRef) -> PersonDashboard:
        """Show everything about one person.

        Their tasks, tasks that wait for them, the last meetings and the next appointments with them, the birthday, and
        the notes that mention them.
        """
        now, zone = self._now(), self._context.zone
        with self._reading() as session:
            found: Person = rows.load(session, "person", person)
            attendee = describe_person(session, found)
            assigned = tasks.build_conditions(assignee=person, status="open", zone=zone)
            awaited = tasks.build_conditions(waiting_for=person, status="open", zone=zone)
            pages = {
                "assigned": tasks.list_tasks(session, ROWS, assigned),
                "waited_for": tasks.list_tasks(session, ROWS, awaited),
                "sessions": sessions.list_sessions(session, ROWS, attendee=attendee, until=now + _MOMENT),
            }
            coming = list_occurrences(session, now + _MOMENT, now + COMING_PERIOD, zone, attendee=attendee)
            mentions, left_out = _list_mentions(session, found)
            birthday = found.next_birthday(self._today())
            lists: dict[str, Any] = {name: page.items for name, page in pages.items()}
            return PersonDashboard(
                person=found, next_birthday=birthday, turns=found.age_on(birthday) if birthday else None,
                waiting=overview.count_tasks(session, [*assigned, tasks.waits_for_somebody()]),
                **lists, events=tuple(coming[: ROWS.limit]), mentions=mentions,
                more={
                    **count_left_out(pages),
                    **drop_zeros({"events": max(0, len(coming) - ROWS.limit), "mentions": left_out}),
                },
            )  # fmt: skip


def _list_mentions(session: Session, person: Person) -> tuple[tuple[Mapping[str, Any], ...], int]:
    """Return rows of the items that link to a person or name them, and how many more are known."""
    lists, counts = describe_links(session, person)
    linked = lists.get("backlinks", ())
    near = walks.walk(session, person.id, depth=1)
    named, has_more = list_mentioning(session, person, MENTIONS_SHOWN, known=near, with_attendees=False)
    rows_ = tuple(
        {"id": entry.item.id, "kind": entry.item.KIND, "title": entry.item.label, "why": entry.why} for entry in named
    )
    every = (*linked, *rows_)
    return every[:MENTIONS_SHOWN], len(every[MENTIONS_SHOWN:]) + counts.get("backlinks", 0) + has_more
