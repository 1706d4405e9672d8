"""Quick add through the tool, the terminal's default and the page: one parser, and an answer that says what it took."""

from collections.abc import Callable

import pytest

from panorama.calls import Answer
from panorama.errors import InvalidInputError
from panorama.services.items import quick_add

Call = Callable[..., Answer]


def test_a_parsed_title_sets_fields_and_the_answer_says_what_was_taken(call: Call) -> None:
    call("projects.create", name="Kitchen")
    made = call("tasks.create", title="order tiles fri 3pm #bath !high @kitch", parse=True)

    assert made.data["title"] == "order tiles"
    assert (made.data["priority"], made.data["tags"]) == (3, ["bath"])
    assert made.metadata["names"] == {made.data["project"]: "Kitchen"}
    assert made.metadata["hint"] == (
        "Taken from the title: tags bath (“#bath”), project (“@kitch”), priority 3 (“!high”), "
        "deadline Fri 2026-05-22 15:00 (“fri 3pm”)."
    )


def test_a_title_is_kept_unless_it_is_to_be_parsed(call: Call) -> None:
    assert call("tasks.create", title="Call mum on friday #x").data["title"] == "Call mum on friday #x"


def test_the_answer_names_a_day_that_stays_in_the_title(call: Call) -> None:
    made = call("tasks.create", title="Sunday Times subscription #news", parse=True)

    assert made.data["title"] == "Sunday Times subscription"
    assert "deadline" not in made.data
    assert made.metadata["hint"] == (
        "Taken from the title: tags news (“#news”). “Sunday” stays in the title; write “on Sunday” if it is the day."
    )


def test_the_answer_says_that_a_repetition_stays_in_the_title(call: Call) -> None:
    made = call("tasks.create", title="Read every day except sunday #books", parse=True)

    assert (made.data["title"], made.data.get("recurrence")) == ("Read every day except sunday", None)
    assert "The repetition stays in the title" in made.metadata["hint"]


def test_a_day_stays_in_the_title_if_it_begins_the_name_of_a_person_team_or_project(call: Call) -> None:
    before = call("tasks.create", title="Freitag Verlag anschreiben", parse=True)
    call("people.create", name="Lena Lenz", aliases=["Freitag Verlag"])
    after = call("tasks.create", title="Freitag Verlag anschreiben", parse=True)

    assert (before.data["title"], before.data["deadline"]) == ("Verlag anschreiben", "2026-05-22")
    assert (after.data["title"], after.data.get("deadline")) == ("Freitag Verlag anschreiben", None)
    assert "“Freitag” stays in the title; write “am Freitag” if it is the day." in after.metadata["hint"]


def test_a_repetition_in_a_title_begins_on_its_first_day(call: Call) -> None:
    made = call("tasks.create", title="Water plants every friday", parse=True)

    assert (made.data["recurrence"], made.data["deadline"]) == ("FREQ=WEEKLY;BYDAY=FR", "2026-05-22")
    assert "deadline Fri 2026-05-22" in made.metadata["hint"]
    assert "(next Fri 2026-05-29, Fri 2026-06-05, Fri 2026-06-12)" in made.metadata["hint"]


def test_arguments_win_over_words_in_the_title(call: Call) -> None:
    made = call("tasks.create", title="Pay tomorrow #rent", deadline="2026-06-01", parse=True)

    assert (made.data["title"], made.data["deadline"], made.data["tags"]) == ("Pay tomorrow", "2026-06-01", ["rent"])


def test_a_line_too_long_for_a_title_is_refused_before_it_is_parsed(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(quick_add, "list_day_names", lambda line: parsed.append(line) or [])

    with pytest.raises(InvalidInputError, match="500"):
        call("create_task", title="tea on friday #home " * 40_000, parse=True)

    assert not parsed
    assert call("list_tasks").data == []
