"""Shipped scripts that look at what is there: reviews, reports and finders, on the sample workspace."""

import csv
import io
import re
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from typing import Any

from tests.conftest import StandingClock
from tests.scripts.conftest import SCRIPTS, Call, Run, Snapshot

Result = Callable[..., Any]

ALIKE = "One morning the tiles arrived, and every one of them was the green that nobody had ordered. " * 3


# weekly_review


def test_the_review_tells_what_was_done_what_slipped_and_what_comes(result: Result, rows: Callable[..., Any]) -> None:
    before = rows()

    text = result("weekly_review")

    assert text.startswith("# Thu 14 May to Wed 20 May 2026\n\n**8 done, 5 slipped, 32 new tasks, 41 notes")
    assert "1 task overdue from before." in text
    assert "- Spices and baking, box 1 (Kitchen renovation), Tue 19 May\n" in text
    assert "- Send bio and portrait to Aurélie (Conference talk), was due Sun 17 May\n" in text
    assert "- Fri 22 May: Decide the grout colour (Kitchen renovation)\n" in text
    assert re.search(r"## Notes\n\n(- \[\[.+\]\]\n){8}- … and 33 more\n", text)
    assert text.endswith(
        "## Projects that went up or down\n\n"
        "- Kitchen renovation: health 84 (-16)\n- Japan trip: health 92 (-8)\n- Studio: health 92 (-8)\n"
    )
    assert rows() == before


def test_the_review_of_one_project_names_no_other(result: Result) -> None:
    text = result("weekly_review", project="Kitchen renovation", days=3, end=date(2026, 5, 18))

    assert text.startswith("# Sat 16 May to Mon 18 May 2026: Kitchen renovation\n\n**2 done, 1 slipped, 0 new tasks")
    assert "(Studio)" not in text


def test_a_review_that_is_kept_is_one_file_however_often_it_is_made(result: Result, run: Run, call: Call) -> None:
    text = result("weekly_review", keep=True)
    again = run("weekly_review", keep=True)

    (file,) = call("list_files").data
    assert file["name"] == "review-2026-05-14-to-2026-05-20.md"
    assert text.endswith(f"Kept as the file {file['name']} ({file['id']}).")
    assert (again["result"], again["changes"]) == (text, {})


# project_report


def test_the_report_is_a_table_of_all_tasks_that_is_written_again_only_if_one_has_changed(
    result: Result, run: Run, call: Call
) -> None:
    answer = result("project_report")
    again = run("project_report")

    call("update_task", task="Decide the grout colour", status="done")
    changed = run("project_report")
    assert answer == {"file": "all-tasks.csv", "id": answer["id"], "rows": 67, "open": 51, "late": 6}
    assert (again["result"], again["changes"]) == (answer, {})
    assert (changed["result"]["open"], changed["changes"]) == (50, {"updated": 1})


def test_the_report_of_a_project_lies_in_it_and_a_spreadsheet_reads_it(result: Result, call: Call) -> None:
    call("create_task", title='=SUM(A1), "Größe"; 金沢', project="Running", tags=["-1"], deadline="2026-05-18T09:30")

    answer = result("project_report", project="running", style="excel", closed_since=date(2026, 5, 19))

    (file,) = call("list_files", project="Running", detail="full").data
    text = call("get_file", file=file["id"]).data["text"]
    table = list(csv.DictReader(io.StringIO(text), delimiter=";"))
    assert (file["name"], answer["rows"], answer["late"]) == ("running-tasks.csv", 4, 1)
    assert sha256(b"\xef\xbb\xbf" + text.encode()).hexdigest() == file["sha256"]
    assert table[0]["task"] == '\'=SUM(A1), "Größe"; 金沢'
    assert (table[0]["tags"], table[0]["deadline"], table[0]["days_late"]) == ("'-1", "2026-05-18 09:30", "2")


# duplicate_notes


def test_the_sample_has_no_note_twice(result: Result) -> None:
    assert result("duplicate_notes") == "None of 41 notes is there twice."


def test_notes_that_are_there_twice_are_found_by_title_text_and_phrases(result: Result, call: Call) -> None:
    for title, content in [
        ("kitchen   BUDGET", "Another text."),
        ("Tiles", ALIKE),
        ("Tiles (copy)", ALIKE.upper()),
        ("Decisions", call("get_note", note="Kitchen decisions").data["content"].replace("Oak", "Beech")),
        ("メモ", "今日は天気がいい。散歩に行く。"),
        ("別のメモ", "今日は天気がいい。散歩に行く。"),
        ("Empty", ""),
        ("Empty too", ""),
    ]:
        call("create_note", title=title, content=content)

    text = result("duplicate_notes")

    found = [tuple(cell.strip() for cell in line.split("|")[1:4]) for line in text.splitlines()[4:]]
    pairs = [({one.partition(" (n_")[0], other.partition(" (n_")[0]}, why) for one, other, why in found]
    assert text.startswith("4 pairs among 49 notes. Nothing was changed.")
    assert ({"Tiles", "Tiles (copy)"}, "same text") in pairs
    assert ({"メモ", "別のメモ"}, "same text") in pairs
    assert ({"Kitchen budget", "kitchen BUDGET"}, "same title") in pairs
    assert [names for names, why in pairs if why.endswith("% of the phrases")] == [{"Kitchen decisions", "Decisions"}]


def test_the_notes_of_two_days_are_not_taken_for_one_another(result: Result, call: Call) -> None:
    for day in range(1, 4):
        call("create_note", title=f"Log {day} May", content=ALIKE)

    assert result("duplicate_notes").startswith("None of 44")


def test_many_copies_of_a_note_are_each_told_once(result: Result, call: Call) -> None:
    for word in "abcdefghijklmnopqrstuvwxyz":
        call("create_note", title=f"Copy {word}", content=ALIKE)

    text = result("duplicate_notes")

    assert text.startswith("25 pairs among 67 notes.")
    assert text.endswith("… and 10 more.")


# stale_projects


def test_projects_that_were_just_touched_and_have_tasks_do_not_stand_still(result: Result) -> None:
    assert result("stale_projects").startswith("None of 8 projects stands still")


def test_weeks_later_the_projects_that_nobody_touched_stand_still(
    result: Result, call: Call, clock: StandingClock
) -> None:
    clock.advance(days=30)
    call("append_to_note", note="Routes", block="A new one.")
    call("create_project", name="Attic")
    call("create_project", name="Balcony", status="planned")

    text = result("stale_projects")

    lines = {line.split("|")[1].strip(): line for line in text.splitlines()[4:]}
    assert text.startswith("8 of 9 projects stand still or have no next step.")
    assert lines["Attic"] == "| Attic | 0 | 0 | 0 | mark it done, or add a next step |"
    assert lines["Kitchen renovation"].endswith("| do or move what is overdue |")
    assert "Running" not in lines
    assert "Balcony" in result("stale_projects", planned=True)


# What none of them does.


def test_long_titles_stay_short_in_what_is_told(result: Result, call: Call, everything: Snapshot) -> None:
    steps = [
        {"tool": f"create_{kind}", "args": {word: f"{number} " + "長い題名|" * 30, **more}}
        for number in range(16)
        for kind, word, more in [
            ("project", "name", {}),
            ("task", "title", {"deadline": "2026-05-19"}),
            ("note", "title", {}),
            ("note", "title", {"content": ALIKE}),
        ]
    ]
    call("batch", operations=steps)
    before = everything()

    as_data = ("project_report", "tasks_from_meeting", "meeting_campaign_report", "claap_meetings", "notion_pages")
    results = {name: result(name) for name in SCRIPTS if name not in as_data}

    assert [name for name, text in results.items() if len(text.encode()) > 6_500] == []
    assert everything() == before
