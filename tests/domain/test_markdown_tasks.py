"""Tasks in Markdown, as people write them, read by `panorama.domain.markdown.parser`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.domain.markdown.parser import TaskLine, parse_markdown
from panorama.domain.time.recurrence import normalize_rule
from panorama.domain.time.recurrence_phrases import parse_phrase
from tests.domain.reading import read

PHRASE_WORDS = ("every", "other", "2", "31st", "last", "day", "weeks", "month", "on the", "and", "monday", "feb", "may")


def task(text: str) -> TaskLine:
    (found,) = read(f"- [ ] {text}").tasks
    return found


# Tasks


@pytest.mark.parametrize(
    ("mark", "status"),
    [
        (" ", "todo"),
        ("/", "in_progress"),
        ("x", "done"),
        ("X", "done"),
        ("-", "cancelled"),
        (">", "todo"),
        ("🔥", "todo"),
    ],
)
def test_the_mark_in_the_box_is_the_status(mark: str, status: str):
    (found,) = read(f"- [{mark}] Pay").tasks

    assert (found.title, found.status) == ("Pay", status)


@pytest.mark.parametrize("bullet", ["-", "*", "+", "1.", "23)", "  -", "\t*"])
def test_any_bullet_can_hold_a_task(bullet: str):
    (found,) = read(f"{bullet} [ ] Pay").tasks

    assert found == TaskLine(title="Pay", status="todo", line=1)


@pytest.mark.parametrize(
    "text",
    [
        "- [ ]",
        "- [ ] \t",
        "-[ ] Pay",
        "- [x](link)",
        "- [] Pay",
        "- [ ] \x00",
        "[ ] Pay",
        "- [[ ]] Pay",
        "a - [ ] b",
    ],
)
def test_what_only_looks_like_a_task_is_none(text: str):
    assert read(text).tasks == ()


def test_tasks_in_code_are_none():
    document = read("```md", "- [ ] a", "````", "- [ ] Pay", "> ```", "> - [ ] b", "- [ ] Call", "~~~", "- [ ] c")

    assert [found.title for found in document.tasks] == ["Pay", "Call"]


def test_line_numbers_count_from_the_top_of_the_file():
    document = parse_markdown("\ufeff---\r\ntitle: Tea\r\n---\r\n\r\n- [ ] Pay\r- [ ] Call\u2028now\n", name="note")

    assert [(found.line, found.title) for found in document.tasks] == [(5, "Pay"), (6, "Call now")]


@pytest.mark.parametrize(
    ("written", "field"),
    [
        *((f"{mark} 2026-01-02", "deadline") for mark in ("📅", "📆", "🗓", "🗓\ufe0f", "due::", "Due::")),
        *(("[due:: 2026-01-02]", "deadline"), ("(due::2026-01-02)", "deadline")),
        *((f"{mark}2026-01-02", "scheduled") for mark in ("⏳", "⌛", "⏳\ufe0f ")),
        *(("🛫 2026-01-02", "start"), ("➕ 2026-01-02", "created"), ("✅ 2026-01-02", "completed")),
        *(("❌ 2026-01-02", "cancelled"), ("[completion:: 2026-01-02]", "completed")),
    ],
)
def test_a_date_field_is_read_and_leaves_the_title(written: str, field: str):
    found = task(f"Pay rent {written}")

    assert (found.title, getattr(found, field)) == ("Pay rent", "2026-01-02")
    assert found.unmapped == ()


@pytest.mark.parametrize(
    "text",
    [
        "Pay 📅 tomorrow",
        "Pay 📅 2026-1-2",
        "Pay `📅 2026-01-02`",
        "Pay overdue:: 2026-01-02",
        "✅ tests pass",
        "Pay 📅 2026-01-023",
        "Pay 📅 2026-01-02 rent",
        "Pay ⏫ rent",
        "Pay [priority:: huge]",
        "Pay [due:: tomorrow]",
    ],
)
def test_what_is_not_a_date_field_stays_in_the_title(text: str):
    assert task(text) == TaskLine(title=text, status="todo", line=1)


def test_a_date_that_does_not_exist_is_kept_and_told():
    document = read("Bills", "- [ ] Pay 📅 2026-02-30 ⏳ 2026-02-28")

    (found,) = document.tasks
    assert (found.title, found.deadline, found.scheduled) == ("Pay", "", "2026-02-28")
    assert found.unmapped == ("Due: 2026-02-30",)
    assert document.warnings == ("line 2: 2026-02-30 is not a date that exists (1900 to 2199)",)


def test_of_two_different_dates_the_one_nearest_to_the_title_counts_and_the_other_is_kept():
    found = task("Pay 📅 2026-01-02 📅 2026-01-03")

    assert (found.title, found.deadline, found.unmapped) == ("Pay", "2026-01-02", ("Due: 2026-01-03",))


@pytest.mark.parametrize(
    ("written", "unmapped"),
    [
        ("⏬", "Priority: lowest"),
        ("[priority:: Lowest]", "Priority: lowest"),
        ("🔁 every full moon when done", "Repeats: every full moon when done"),
        ("🆔 dcf64c", "Id: dcf64c"),
        ("[id:: a-b_1]", "Id: a-b_1"),
        ("⛔ abc, def", "Depends on: abc, def"),
        ("[dependsOn:: abc,def]", "Depends on: abc,def"),
        ("🏁 delete", "On completion: delete"),
        ("[onCompletion:: keep]", "On completion: keep"),
        ("^ab-1", "Block: ^ab-1"),
    ],
)
def test_a_field_that_a_task_here_does_not_have_leaves_the_title_and_is_kept(written: str, unmapped: str):
    found = task(f"Pay rent {written}")

    assert (found.title, found.unmapped) == ("Pay rent", (unmapped,))


def test_all_fields_are_read_from_the_end_in_any_order():
    found = task(
        "Pay #home rent ⏫ 🔁 every month [due:: 2026-01-02], #money (scheduled:: 2026-01-01) ➕ 2025-12-01 🆔 a1 ^b2"
    )

    assert (found.title, found.important, found.recurrence) == ("Pay #home rent", True, "FREQ=MONTHLY")
    assert (found.deadline, found.scheduled, found.created) == ("2026-01-02", "2026-01-01", "2025-12-01")
    assert (found.tags, found.anchor) == (("home", "money"), "a1")


@pytest.mark.parametrize("written", ["#task Pay", "Pay #task", "Pay #task 📅 2026-01-02"])
def test_the_tag_that_marks_a_task_is_no_part_of_its_title(written: str):
    assert task(written).title == "Pay"


def test_with_a_global_filter_only_boxes_that_hold_it_are_tasks():
    document = parse_markdown("- [ ] Pay #todo\n- [ ] milk\n- [ ] #todo Call #tel", name="n", task_filter="#todo")

    assert [(found.title, found.tags) for found in document.tasks] == [("Pay", ()), ("Call", ("tel",))]


def test_tasks_in_callouts_are_read_with_what_is_below_them():
    document = read(
        "> [!todo] Today", "> - [ ] Pay", ">   - [x] Ask", ">   why", "> - [ ] Call", ">> - [ ] Deep", "- [ ] Out",
        "    > - [ ] In",
    )  # fmt: skip

    assert [found.title for found in document.tasks] == ["Pay", "Ask", "Call", "Deep", "Out", "In"]
    assert [found.parent for found in document.tasks] == [None, 0, None, None, None, 4]
    assert (document.tasks[0].notes, document.tasks[1].status) == ("why", "done")


@pytest.mark.parametrize(
    ("mark", "urgent", "important", "priority"),
    [
        ("🔺", True, True, 4), ("⏫", False, True, 3), ("🔼", False, False, 2), ("🔽\ufe0f", False, False, 1),
        ("⏬", False, False, 1), ("[priority:: Medium]", False, False, 2), ("", False, False, 0),
    ],
)  # fmt: skip
def test_a_priority_leaves_the_title(mark: str, urgent: bool, important: bool, priority: int):
    found = task(f"Pay rent {mark}")

    assert (found.title, found.urgent, found.important, found.priority) == ("Pay rent", urgent, important, priority)


@pytest.mark.parametrize(
    ("written", "repeat_from"),
    [("🔁 every week when done", "done"), ("(repeat:: every! week)", "done"), ("🔁 every week", "due")],
)
def test_a_repetition_counts_from_the_deadline_or_from_completion(written: str, repeat_from: str):
    found = task(f"Pay rent {written}")

    assert (found.title, found.recurrence, found.repeat_from) == ("Pay rent", "FREQ=WEEKLY", repeat_from)


@pytest.mark.parametrize(
    ("text", "title", "tags"),
    [
        ("Call #anna about tea #phone #Phone", "Call #anna about tea", ("anna", "phone")),
        ("Pay #home 📅 2026-01-02 #money", "Pay", ("home", "money")),
        ("Pay #home, #money", "Pay", ("home", "money")),
        ("#home", "#home", ("home",)),
        ("Pay bill #12", "Pay bill #12", ()),
        ("Read [[Tea #1|tea]] `#x` https://x.y/#z", "Read [[Tea #1|tea]] `#x` https://x.y/#z", ()),
    ],
)
def test_only_the_closing_tags_leave_the_title(text: str, title: str, tags: tuple[str, ...]):
    found = task(text)

    assert (found.title, found.tags) == (title, tags)


@pytest.mark.parametrize("text", ["📅 2026-01-02", "⏫", "🔁 every day #a"])
def test_a_task_of_only_fields_keeps_its_text_as_its_title(text: str):
    assert task(text).title == text


def test_a_title_over_500_characters_stands_in_full_in_the_notes():
    (found,) = read(f"- [ ] {'x' * 600}", "  More").tasks

    assert (len(found.title), found.title[-2:]) == (500, "x…")
    assert found.notes == f"{'x' * 600}\n\nMore"


def test_tasks_are_nested_by_their_indentation():
    document = read(
        "- [ ] a", "\t- [ ] b", "      - [ ] c", "  - [ ] d", " - [ ] e", "", "   - [ ] f", "Words", "  - [ ] g"
    )

    assert [found.parent for found in document.tasks] == [None, 0, 1, 0, None, 4, None]


def test_a_plain_bullet_between_two_tasks_is_a_note_of_the_upper_one():
    upper, lower = read("- [ ] a", "  - why", "    - [ ] b", "      how").tasks

    assert (upper.notes, lower.parent, lower.notes) == ("- why", 0, "how")


def test_the_lines_below_a_task_are_its_notes():
    (found,) = read("- [ ] a", "", "    - one", "      - two", "", "\tthree", "  ", "outside", "    code").tasks

    assert found.notes == "- one\n  - two\n\nthree"


def test_code_below_a_task_is_part_of_its_notes():
    (found,) = read("- [ ] a", "  ```", "  - [ ] no", "", "    x", "  ```", "- plain").tasks

    assert found.notes == "```\n- [ ] no\n\n  x\n```"


# Recurrence


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("every day", "FREQ=DAILY"),
        ("Every 3 days when done", "FREQ=DAILY;INTERVAL=3"),
        ("every weekday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"),
        ("every week", "FREQ=WEEKLY"),
        ("every other week", "FREQ=WEEKLY;INTERVAL=2"),
        ("every second day", "FREQ=DAILY;INTERVAL=2"),
        ("jede dritte Woche am Montag", "FREQ=WEEKLY;INTERVAL=3;BYDAY=MO"),
        ("every 2 weeks", "FREQ=WEEKLY;INTERVAL=2"),
        ("every week on tuesday, thursday", "FREQ=WEEKLY;BYDAY=TU,TH"),
        ("every 2 weeks on Tue and thu,tue", "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,TH"),
        ("every monday", "FREQ=WEEKLY;BYDAY=MO"),
        ("every monday and friday", "FREQ=WEEKLY;BYDAY=MO,FR"),
        ("every month", "FREQ=MONTHLY"),
        ("every month on the 15th", "FREQ=MONTHLY;BYMONTHDAY=15"),
        ("every 3 months on the 1st and 15th", "FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=1,15"),
        ("every month on the last", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("every month on the last day", "FREQ=MONTHLY;BYMONTHDAY=-1"),
        ("every month on the last friday", "FREQ=MONTHLY;BYDAY=-1FR"),
        ("every month on the 2nd tuesday", "FREQ=MONTHLY;BYDAY=2TU"),
        ("every month on the 2nd last friday", "FREQ=MONTHLY;BYDAY=-2FR"),
        ("every year", "FREQ=YEARLY"),
        ("every january on the 15th", "FREQ=YEARLY;BYMONTH=1;BYMONTHDAY=15"),
        ("every march and sep", "FREQ=YEARLY;BYMONTH=3,9"),
    ],
)
def test_a_phrase_of_repetition_is_a_rule(phrase: str, expected: str):
    found = task(f"Water plants 🔁 {phrase} 📅 2026-01-02 #home")

    assert (found.title, found.recurrence, found.deadline) == ("Water plants", expected, "2026-01-02")
    assert normalize_rule(found.recurrence) == found.recurrence


@pytest.mark.parametrize(
    "phrase",
    [
        *("", "every", "every full moon", "every week until June", "every week on", "every week on the 3rd", "week"),
        *("every 0 days", "every 1000 days", "every 2 mondays", "every month on the", "every month on the 32nd"),
        *(
            "every month on the 6th monday",
            "every february on the 30th",
            "every january on",
            "every on the 1st",
            "every 2",
        ),
        "every " + "monday and " * 30 + "friday",
    ],
)
def test_a_phrase_that_is_not_understood_is_kept_beside_the_task(phrase: str):
    found = task(f"Water plants 🔁 {phrase}")

    kept = (f"Repeats: {phrase}",) if phrase else ()
    assert (found.title, found.recurrence) == ("Water plants" if phrase else "Water plants 🔁", "")
    assert found.unmapped == kept


@given(st.lists(st.sampled_from(PHRASE_WORDS)))
def test_a_rule_from_a_phrase_is_one_that_can_be_kept(chosen: list[str]):
    found = parse_phrase(" ".join(chosen))

    assert not found or normalize_rule(found) == found
