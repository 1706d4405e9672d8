"""Checkbox lines of notes that are tasks: how they are followed through edits, and what is written into them."""

import random
import sys
from collections import Counter
from dataclasses import replace
from datetime import date

import pytest

from panorama.domain.markdown import task_lines as lines
from panorama.domain.markdown.parser import build_task, list_drafts
from panorama.domain.markdown.task_lines import LinePlace, compare_texts, follow_lines

DAY = date(2026, 11, 24)
Line = tuple[str, str]
"""The name of a task, "" for other lines, and the text of a line."""

VERBS = ("call", "mail", "buy", "fix", "book", "ask", "plan")
NOUNS = ("tiler", "Anna", "paint", "hotel", "boiler", "tax", "bike", "room")


def _find_places(content: str, names: dict[int, str]) -> dict[str, LinePlace]:
    boxes = {number: build_task(draft) for number, draft in list_drafts(content).items()}
    return {names[number]: LinePlace.of(box) for number, box in boxes.items()}


def _make_note(rng: random.Random) -> list[Line]:
    made: list[Line] = []
    for number in range(rng.randint(5, 25)):
        title = f"{rng.choice(VERBS)} {rng.choice(NOUNS)}{rng.choice(('', ' today', ' again'))}"
        made += [] if rng.random() < 0.7 else [("", f"text {rng.random()}")]
        made.append((f"t{number}", f"- [ ] {title}"))
    return made


def _edit(rng: random.Random, edited: list[Line]) -> None:
    at, kind = rng.randrange(len(edited)), rng.random()
    name, text = edited[at]
    if kind < 0.35 and name:
        edited[at] = (name, text.replace("[ ]", "[x]") + (" ✅ 2026-11-24" if rng.random() < 0.5 else ""))
    elif kind < 0.55 and name:
        edited[at] = (name, text + rng.choice((" before noon", " (Mon)", "!")))
    elif kind < 0.7:
        edited.insert(at, ("new", f"- [ ] {rng.choice(VERBS)} {rng.choice(NOUNS)}"))
    elif kind < 0.85:
        edited.insert(rng.randrange(len(edited)), edited.pop(at))
    else:
        del edited[at]
    if not edited:
        edited.append(("", "x"))


def test_lines_are_followed_through_random_edits(capsys: pytest.CaptureFixture[str]) -> None:
    """Each note has 1 to 5 edits: boxes are ticked, reworded, added, moved or deleted; many have the same words."""
    rng, counts = random.Random(5), Counter[str]()
    for _ in range(500):
        old = _make_note(rng)
        new = list(old)
        for _ in range(rng.randint(1, 5)):
            _edit(rng, new)
        before, after = ("\n".join(text for _, text in line) for line in (old, new))
        places = _find_places(before, {at: name for at, (name, _) in enumerate(old, 1)})

        found = {
            place.line: name
            for name, place in follow_lines(places, compare_texts(before, after)).items()
            if place.line > 0
        }

        for at, (name, _) in enumerate(new, 1):
            if name:
                guess = found.get(at, "new")
                counts["right" if guess == name else "lost" if guess == "new" else "wrong"] += 1
    shares = {word: count / counts.total() for word, count in counts.items()}
    with capsys.disabled():
        sys.stdout.write("\n" + ", ".join(f"{word} {share:.2%}" for word, share in shares.items()) + "\n")
    assert shares["right"] >= 0.997
    assert shares["wrong"] <= 0.0025


BLOCKS = ("```", "~~~", "> ```", "> x", "<!--", "-->", "", "text", "---", "- [ ] one", "- [x] one", "- [ ] two ^b2")


def test_changed_lines_alone_say_where_tasks_are() -> None:
    """Reading all lines finds the same, whatever blocks of code and comments they are in."""
    rng, local = random.Random(7), 0
    for _ in range(2_000):
        pool = rng.sample(BLOCKS, rng.randint(3, len(BLOCKS)))
        old = [rng.choice(pool) for _ in range(rng.randint(0, 10))]
        at = rng.randint(0, len(old))
        new = old[:at] + rng.choices(BLOCKS, k=rng.randint(0, 2)) + old[at + rng.randint(0, 2) :]
        before, after = "\n".join(old), "\n".join(new)
        places = _find_places(before, {number: f"t{number}" for number in range(1, len(old) + 1)})
        difference = compare_texts(before, after)
        assert difference
        local += difference.is_local

        assert follow_lines(places, difference) == follow_lines(places, replace(difference, is_local=False))
    assert local > 500


def test_a_line_that_comes_back_is_known_by_its_words_or_its_id() -> None:
    content = "- [ ] one\n- [ ] two ^b2\n- [ ] two"
    places = _find_places(content, {1: "a", 2: "b", 3: "c"})

    gone = follow_lines(places, compare_texts(content, "- [ ] one"))
    back = follow_lines(gone, compare_texts("- [ ] one", "- [ ] two\n- [ ] other words ^b2\n- [ ] one"))

    assert {task: place.line for task, place in gone.items()} == {"a": 1, "b": -2, "c": -3}
    assert {task: place.line for task, place in back.items()} == {"a": 3, "b": 2, "c": 1}


def test_a_box_that_is_no_task_never_takes_one_over() -> None:
    content = "- [ ] call Anna\n- [ ] call Anna again"
    places = _find_places("- [ ] call Anna", {1: "a"})

    assert follow_lines(places, compare_texts(content, "- [ ] call Anna again"))["a"].line == -1


def test_a_line_with_all_of_its_words_changed_in_place_is_another() -> None:
    places = _find_places("- [ ] call Anna", {1: "a"})

    assert follow_lines(places, compare_texts("- [ ] call Anna", "- [ ] pay the tax"))["a"].line == -1


def test_only_the_mark_is_written_and_the_day_where_others_have_one() -> None:
    line = "  - [ ] call *Ünder*  📅 2026-01-02  ^ab1  "
    dated = f"{line}\r\n- [x] a ✅ 2026-01-01"

    assert lines.write_status(line, 1, "done", DAY) == line.replace("[ ]", "[x]")
    assert lines.write_status(dated, 1, "done", DAY).startswith(
        "  - [x] call *Ünder*  📅 2026-01-02 ✅ 2026-11-24  ^ab1  \r\n"
    )
    assert lines.write_status(dated, 2, "todo", DAY) == dated.replace("[x] a ✅ 2026-01-01", "[ ] a")
    assert lines.write_status("1. [X] a", 1, "done", DAY) == "1. [X] a"


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("- [ ] a 📅 2026-01-02 #b ^c", "- [ ] new 📅 2026-01-02 #b ^c"),
        ("> 1) [x] a [due:: 2026-01-02]", "> 1) [x] new [due:: 2026-01-02]"),
        ("* [/] **a** `b`", "* [/] new"),
        ("no box", "no box"),
    ],
)
def test_a_title_is_written_between_box_and_fields(line: str, written: str) -> None:
    assert lines.write_title(line, 1, "new") == written


def test_a_due_day_is_written_where_one_is_and_removed_with_its_sign() -> None:
    assert lines.write_due_day("- [ ] a [due:: 2026-01-02] b", 1, DAY) == "- [ ] a [due:: 2026-11-24] b"
    assert lines.write_due_day("- [ ] a 📅 2026-01-02 ^c", 1, None) == "- [ ] a ^c"
    assert lines.write_due_day("- [ ] a (due:: 2026-01-02)", 1, None) == "- [ ] a"
    assert lines.write_due_day("- [ ] a", 1, DAY) == "- [ ] a"
