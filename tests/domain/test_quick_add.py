"""One line of words as a task: what is understood leaves the title, all else stays in it."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from panorama.domain.markdown.quick_add.dates import list_day_names
from panorama.domain.markdown.quick_add.line import QuickAdd, parse_quick_add

NOW = datetime(2026, 5, 20, 8, 0, tzinfo=UTC)
PROJECTS = {"p_1": "Kitchen", "p_2": "Garden", "p_3": "Garden shed", "p_4": "Kiosk"}


def parse(line: str, *given: str, names: tuple[str, ...] = ()) -> QuickAdd:
    """Parse a line on a Wednesday."""
    return parse_quick_add(line, PROJECTS, now=NOW, zone=ZoneInfo("Europe/Berlin"), given=given, names=names)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("Tea", {"title": "Tea"}),
        ("  Call   Ida  ", {"title": "Call Ida"}),
        ("Call Ida #family #phone/work", {"title": "Call Ida", "tags": ["family", "phone/work"]}),
        ("Sow @garden", {"title": "Sow", "project": "p_2"}),
        ('Paint @"Garden shed"', {"title": "Paint", "project": "p_3"}),
        ("Pay !", {"title": "Pay", "urgent": True}),
        ("Pay !!", {"title": "Pay", "urgent": True, "important": True}),
        ("Pay !dringend !low", {"title": "Pay", "urgent": True, "priority": 1}),
        ("order tiles fri 3pm #kitchen !high",
         {"title": "order tiles", "deadline": "fri 3pm", "tags": ["kitchen"], "priority": 3}),
        ("Pay tomorrow", {"title": "Pay", "deadline": "tomorrow"}),
        ("Call mum on friday", {"title": "Call mum", "deadline": "on friday"}),
        ("Pay friday 15:00 rent", {"title": "Pay rent", "deadline": "friday 15:00"}),
        ("Call Ida in 2 weeks, again", {"title": "Call Ida again", "deadline": "in 2 weeks"}),
        ("Meet Ida at 3pm", {"title": "Meet Ida", "deadline": "at 3pm"}),
        ("Buy presents by christmas", {"title": "Buy presents", "deadline": "by christmas"}),
        ("Termin am 5. Juni um halb vier", {"title": "Termin", "deadline": "am 5. Juni um halb vier"}),
        ("jeden Werktag 9:15 Standup",
         {"title": "Standup", "recurrence": "jeden Werktag", "deadline": "2026-05-21T09:15+02:00"}),
        ("werktags 9:15 Standup",
         {"title": "Standup", "recurrence": "werktags", "deadline": "2026-05-21T09:15+02:00"}),
        ("Zahlen morgen", {"title": "Zahlen", "deadline": "morgen"}),
        ("Zahnarzt fr 15:00", {"title": "Zahnarzt", "deadline": "fr 15:00"}),
        ("Pay 2026-06-01", {"title": "Pay", "deadline": "2026-06-01"}),
        ("Water every friday", {"title": "Water", "recurrence": "every friday", "deadline": "2026-05-22"}),
        ("Water every wednesday 7:00",
         {"title": "Water", "recurrence": "every wednesday", "deadline": "2026-05-27T07:00+02:00"}),
        ("Water every wednesday 19:00",
         {"title": "Water", "recurrence": "every wednesday", "deadline": "2026-05-20T19:00+02:00"}),
        ("Sweep every 3 days 7:00",
         {"title": "Sweep", "recurrence": "every 3 days", "deadline": "2026-05-21T07:00+02:00"}),
        ("Sweep every! 3 days", {"title": "Sweep", "recurrence": "every! 3 days", "deadline": "2026-05-20"}),
        ("Müll jeden Dienstag", {"title": "Müll", "recurrence": "jeden Dienstag", "deadline": "2026-05-26"}),
        ("Gießen jeden zweiten Tag", {"title": "Gießen", "recurrence": "jeden zweiten Tag", "deadline": "2026-05-20"}),
        ("Water every other tuesday",
         {"title": "Water", "recurrence": "every other tuesday", "deadline": "2026-05-26"}),
        ("Review freitags 15 Uhr", {"title": "Review", "recurrence": "freitags", "deadline": "2026-05-22T15:00+02:00"}),
        ("Gym on mondays 7pm", {"title": "Gym", "recurrence": "on mondays", "deadline": "2026-05-25T19:00+02:00"}),
        ("Review the last friday of every month",
         {"title": "Review", "recurrence": "the last friday of every month", "deadline": "2026-05-29"}),
        ("Pay rent on the 15th of every month",
         {"title": "Pay rent", "recurrence": "on the 15th of every month", "deadline": "2026-06-15"}),
        ("Miete am 1. jedes Monats",
         {"title": "Miete", "recurrence": "am 1. jedes Monats", "deadline": "2026-06-01"}),
        ("Close the books last workday of every month",
         {"title": "Close the books", "recurrence": "last workday of every month", "deadline": "2026-05-29"}),
        ("Standup every monday to friday 9am",
         {"title": "Standup", "recurrence": "every monday to friday", "deadline": "2026-05-21T09:00+02:00"}),
        ("Dust every weekend", {"title": "Dust", "recurrence": "every weekend", "deadline": "2026-05-23"}),
        ("Call mum once a week", {"title": "Call mum", "recurrence": "once a week", "deadline": "2026-05-20"}),
        ("Birthday Ana every may 5", {"title": "Birthday Ana", "recurrence": "every may 5", "deadline": "2027-05-05"}),
        ("Every Friday the cat gets tuna",
         {"title": "the cat gets tuna", "recurrence": "Every Friday", "deadline": "2026-05-22"}),
        ("Jeden Montag den Müll rausbringen",
         {"title": "den Müll rausbringen", "recurrence": "Jeden Montag", "deadline": "2026-05-25"}),
        ("Folge 7 am Sonntag schauen", {"title": "Folge 7 schauen", "deadline": "am Sonntag"}),
        ("Ende des Monats im Bericht suchen",
         {"title": "im Bericht suchen", "deadline": "Ende des Monats"}),
        ("Save 20 every month", {"title": "Save 20", "recurrence": "every month", "deadline": "2026-05-20"}),
        ("Every week do laundry", {"title": "do laundry", "recurrence": "Every week", "deadline": "2026-05-20"}),
        ("Every friday to do list review",
         {"title": "to do list review", "recurrence": "Every friday", "deadline": "2026-05-22"}),
        ("Work from 9 to 5 every weekday",
         {"title": "Work from 9 to 5", "recurrence": "every weekday", "deadline": "2026-05-20"}),
        ("Order from Friday market every week",
         {"title": "Order from Friday market", "recurrence": "every week", "deadline": "2026-05-20"}),
        ("Gym every wednesday morning starting today",
         {"title": "Gym", "recurrence": "every wednesday", "deadline": "today"}),
        ("Review on the first and third monday of every month",
         {"title": "Review", "recurrence": "on the first and third monday of every month", "deadline": "2026-06-01"}),
        ("Stretch on weekdays", {"title": "Stretch", "recurrence": "on weekdays", "deadline": "2026-05-20"}),
        ("montags bis freitags Standup",
         {"title": "Standup", "recurrence": "montags bis freitags", "deadline": "2026-05-20"}),
        ("Call dad every sunday evening",
         {"title": "Call dad", "recurrence": "every sunday", "deadline": "2026-05-24T19:00+02:00"}),
        ("Call dad every sunday evening starting 7 june",
         {"title": "Call dad", "recurrence": "every sunday", "deadline": "7 june 19:00"}),
        ("Water ferns every 3 days from monday",
         {"title": "Water ferns", "recurrence": "every 3 days", "deadline": "monday"}),
        ("Report weekly on monday", {"title": "Report", "recurrence": "weekly on monday", "deadline": "2026-05-25"}),
        ("Reifen jedes Jahr im März",
         {"title": "Reifen", "recurrence": "jedes Jahr im März", "deadline": "2027-03-01"}),
        ("Every Friday: send report",
         {"title": "send report", "recurrence": "Every Friday", "deadline": "2026-05-22"}),
        ("Get bread every friday from Ana",
         {"title": "Get bread from Ana", "recurrence": "every friday", "deadline": "2026-05-22"}),
        ("Rechnung jeden Freitag bis 9 Uhr",
         {"title": "Rechnung", "recurrence": "jeden Freitag", "deadline": "2026-05-22T09:00+02:00"}),
        ("Call Ana May 25 about the plan", {"title": "Call Ana about the plan", "deadline": "May 25"}),
        ("Rechnung Ende Mai zahlen", {"title": "Rechnung zahlen", "deadline": "Ende Mai"}),
        ("Pay tax by good friday", {"title": "Pay tax", "deadline": "by good friday"}),
        ("Flug LH 430 am 2.6. um 7:45", {"title": "Flug LH 430", "deadline": "am 2.6. um 7:45"}),
        ("Friday: send the plan", {"title": "send the plan", "deadline": "Friday"}),
        ("friday send the plan", {"title": "send the plan", "deadline": "friday"}),
        ("Tomorrow call the plumber", {"title": "call the plumber", "deadline": "Tomorrow"}),
        ("Freitag Müll rausbringen", {"title": "Müll rausbringen", "deadline": "Freitag"}),
        ("Heute Müll rausbringen", {"title": "Müll rausbringen", "deadline": "Heute"}),
        ("Call Ana Friday about the plan", {"title": "Call Ana about the plan", "deadline": "Friday"}),
        ("Monday 9am standup", {"title": "standup", "deadline": "Monday 9am"}),
        ("Sunday Times subscription friday", {"title": "Sunday Times subscription", "deadline": "friday"}),
        ("Der Freitag kündigen bis 31.05.", {"title": "Der Freitag kündigen", "deadline": "bis 31.05."}),
    ],
)  # fmt: skip
def test_what_is_understood_leaves_the_title(line: str, fields: dict[str, Any]) -> None:
    quick = parse(line)

    assert {"title": quick.title, **quick.fields} == fields


@pytest.mark.parametrize(
    "line",
    ["tomorrow", "#kitchen", "Sow @ki", "Write C# notes", "Mail a@b.example now", "Pay 2026-13-99", "Fix issue #12",
     "Tea !unknown", "Wow!", "Buy sun screen", "Look at 5 offers", "Increase by 5", "Read the 15th chapter",
     "watch Friday Night Lights", "email Sunday Times", "read The Wednesday Wars", "Call Tuesday Anna 5pm",
     "Watch 1984", "Write the weekly report", "Buy christmas presents", "Black Friday deals",
     "Sunday Times subscription", "Sunday roast recipe", "Friday Night Lights box set", "Today Show notes",
     "USA Today article", "Ruby Tuesday gift card", "Buy a sunday roast", "Edit the friday report",
     "Pay my friday invoice", "Mark Freitag zurückrufen", "Der Freitag kündigen", "Guten Morgen Tasse kaufen",
     "Protokoll vom Montag lesen", "Read the notes from monday", "Mails seit gestern lesen",
     "Fix the bug from last friday", "Move the party to friday", "Trip from 2 june to 5 june",
     "Holiday from monday until friday", "Zahnarzt Montag oder Dienstag", "Flug 2.13. 7:45",
     "Report on last friday", "Call Ida 3 days ago", "May I ask", "Good morning call", "Do it every now and then",
     "Mail an Montag Stiftung", "Call Mr. Friday", "Rückruf Herr Sonntag", "Rede auf Frau Freitag", "Call after friday",
     "Buy 2 tickets for friday", "Tickets für 2.6. kaufen", "Text über Montag", "Freitag ist frei",
     "Do the dishes", "Enjoy the sun", "Standup mondays 9am", "Water every third tuesday", "Ask Jan 5 questions",
     "Prepare end of year report", "12.5. bis 14.5. Urlaub", "Good Friday service", "Ostern planen",
     "Friday is off", "Nach 15 Uhr anrufen", "Plan weekends", "Backup every 15th", "Gym twice a week",
     "Schedule monthly 1 on 1 with Anna", "Monatlich 20 Euro sparen", "Monthly first draft", "Weekly do laundry",
     "Alle zwei, drei Tage gießen", "Check oven every 20, 30 minutes", "Read every second and third chapter",
     "Write daily morning pages", "Book monthly night train", "More than once a week call", "Once a week do laundry",
     "Alle Tage im Kalender prüfen", "Den Hund von 9 bis 17 Uhr betreuen", "Abends 3 Zeilen schreiben",
     "Write an essay on the September 11 attacks", "Straße des 17. Juni suchen", "Send 12 May roses to Ida",
     "Call Fr. Becker", "Sonntagabends anrufen", "Kapitel 3.4. lesen", "Ask Robinson and Friday",
     "Ask once a month passes", "Weekly sun report", "Jeder so wie er will"],
)  # fmt: skip
def test_what_may_mean_something_else_stays_in_the_title(line: str) -> None:
    quick = parse(line)

    assert (quick.title, quick.fields, quick.taken) == (line, {}, {})


@pytest.mark.parametrize(
    "line",
    ["Read every day except sunday", "Run every day but not friday", "Water every monday until 24 december",
     "Gießen jeden Tag außer Sonntag", "Third day of every quarter", "Erster Tag jedes Quartals",
     "Pills every day until friday", "Blutdruck täglich außer sonntags", "Open never on mondays",
     "Gym every monday and every thursday", "Dust every weekend and friday", "Walk every day at 8am except sunday",
     "Jeden Tag um 8 Uhr bis Freitag Tabletten", "Milk every friday and eggs on monday",
     "Fix the job that fires every Monday", "Fragen, wer montags arbeitet",
     "Den Bericht, der jeden Montag kommt, prüfen",
     "Pills every day for 10 days", "Pills every Friday 10 times", "Jeden Freitag, 10 Mal",
     "Müll alle 14 Tage samstags",
     "Jeden Freitag, am 24.12. nicht", "Alle 4 Jahre der Steuerunterlagen", "Yoga every day of the week",
     "Remind me every monday not tuesday", "Limit sweets to once a day"],
)  # fmt: skip
def test_a_repetition_that_says_more_stays_in_the_title_and_is_reported(line: str) -> None:
    quick = parse(line)

    assert quick == QuickAdd(line, {}, {}, has_kept_repetition=True)


@pytest.mark.parametrize("line", ["Freitag Verlag anschreiben", "Mail: Der Freitag Verlag, zweimal"])
def test_a_day_within_a_known_name_stays_in_the_title(line: str) -> None:
    known = set(list_day_names(line)).intersection({"freitag verlag"})

    quick = parse(line, names=tuple(known))

    assert (quick.title, quick.fields, quick.kept_day) == (line, {}, "Freitag")


@pytest.mark.parametrize(
    ("line", "day"), [("Tickets for friday", "friday"), ("Call Mr. Friday", "Friday"), ("Tea", ""), ("Pay friday", "")]
)
def test_a_day_that_stays_in_the_title_is_named(line: str, day: str) -> None:
    assert parse(line).kept_day == day


def test_a_day_beside_a_known_name_is_the_deadline() -> None:
    quick = parse("Freitag Verlag anschreiben am Freitag", names=("freitag verlag",))

    assert (quick.title, quick.fields) == ("Freitag Verlag anschreiben", {"deadline": "am Freitag"})


def test_a_part_of_the_day_stays_in_the_title_if_the_deadline_is_given() -> None:
    quick = parse("Call dad every sunday evening", "deadline")

    assert (quick.title, quick.fields) == ("Call dad evening", {"recurrence": "every sunday"})


def test_fields_that_are_given_are_not_read_from_the_title() -> None:
    quick = parse("Pay tomorrow #rent !high @garden", "deadline", "tags", "priority", "project")

    assert quick == QuickAdd("Pay tomorrow #rent !high @garden", {}, {})


def test_a_long_hostile_line_is_read_in_time() -> None:
    line = "every friday " * 20_000 + "#a " * 20_000 + "!high " * 2_000

    assert parse(line).title.startswith("every friday")
