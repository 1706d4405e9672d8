"""Checks of each answer in the demo, with numbers from the answers themselves."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from panorama.cli.demo import stand_ins
from panorama.domain.items.choices import OPEN_STATUSES

CHARS_PER_TOKEN = 4
"""The usual ratio for English text and current models."""

MIN_SAVED_SHARE = 0.98
"""What a script at least saves of what reading all pages would cost."""

LONG_RUN = "Long run, slowly enough to talk"
OPEN_BEFORE = "Still open: grout, and the handles."
OPEN_AFTER = "Grout is linen. Still open: the handles."
HOB = "induction hob"
JOINT, KNEE = ("painful", "joint", "jogging"), "Knee"
"""Search words, and the matching note that contains none of them."""

_COUNTED = ("open", "in_progress", "done", "cancelled", "ideas", "overdue", "due_soon", "notes")
_BOX = re.compile(r"\s*[-*] \[(.)\] ")
_COUNT = re.compile(r"\b(\d+) (?:task|note|link)s?\b")
_DUE = re.compile(r"📅 (\d{4}-\d\d-\d\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """The result of a step and its duration; `code` is the error's, "" on success.

    `tokens` estimates those read by a model, 0 if none, and `sent_tokens` those that it wrote; `asked` are the
    questions that Hanne agreed to.
    """

    text: str
    data: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    code: str = ""
    took: timedelta = timedelta()
    tokens: int = 0
    sent_tokens: int = 0
    asked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expectation:
    """A claim about an answer; it holds if `found` equals `expected`."""

    text: str
    expected: object
    found: object


@dataclass(frozen=True, slots=True)
class DemoFacts:
    """The context of the steps: the day, the Markdown on disk, and the answers so far by step."""

    day: date
    workspace: Path
    answers: dict[str, StepResult] = field(default_factory=dict[str, StepResult])

    def data(self, step: str) -> Any:
        """Return the data of an earlier step."""
        return self.answers[step].data

    def iter_texts(self) -> Iterator[tuple[str, str]]:
        """Yield the name and text of each Markdown file."""
        for path in sorted(self.workspace.rglob("*.md")):
            yield path.stem, path.read_text(encoding="utf-8")

    def iter_checkboxes(self) -> Iterator[tuple[str, str]]:
        """Yield the mark and the due date (or "") of each checkbox, parsed independently."""
        for _, text in self.iter_texts():
            fenced = False
            for line in text.splitlines():
                fenced ^= line.startswith("```")
                if (box := _BOX.match(line)) and not fenced:
                    due = _DUE.search(line)
                    yield box[1], due[1] if due else ""


Check = Callable[[StepResult, DemoFacts], Iterable[Expectation]]


def pluralize(count: int, noun: str, plural: str = "") -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def check_import(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """Each file became a note, and each checkbox a task."""
    counts, unread = answer.data, answer.data.get("unread", 0)
    files, boxes = len(list(morning.iter_texts())), len(list(morning.iter_checkboxes()))
    yield Expectation(
        f"{pluralize(files, 'file')}, {pluralize(counts['notes_created'], 'note')}", files, counts["notes_created"]
    )
    summary = f"{pluralize(boxes, 'checkbox', 'checkboxes')}, {pluralize(counts['tasks_created'], 'task')}"
    yield Expectation(summary, boxes, counts["tasks_created"])
    yield Expectation(pluralize(unread, "unread file"), 0, unread)


def check_import_again(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """A second import creates nothing."""
    created = sum(answer.data.get(f"{kind}_created", 0) for kind in ("notes", "tasks", "projects"))
    unchanged = answer.data.get("unchanged", 0)
    yield Expectation(f"{pluralize(created, 'new item')}", 0, created)
    yield Expectation(f"{pluralize(unchanged, 'file')} unchanged", len(list(morning.iter_texts())), unchanged)


def check_overdue(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """Every row is late, and no late box of the files is missing."""
    rows, today = answer.data, morning.day.isoformat()
    late = [row for row in rows if row["status"] in OPEN_STATUSES and row["deadline"] < today]
    yield Expectation(f"each of the {len(rows)} is open and past its day", len(rows), len(late))
    written = sum(mark in " /" and "" < due < today for mark, due in morning.iter_checkboxes())
    yield Expectation(f"the files hold {pluralize(written, 'such box', 'such boxes')}", written, len(rows))


def check_keyword_search(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """The hits are the files that hold the words."""
    titles = [name for name, text in morning.iter_texts() if HOB in text]
    found = [row["title"] for row in answer.data]
    yield Expectation(f"the words stand in {pluralize(len(found), 'file')}: {', '.join(found)}", titles, found)


def check_indexed(answer: StepResult, _: DemoFacts) -> Iterator[Expectation]:
    """Every passage is in the index."""
    count = answer.data["passages"]
    yield Expectation(f"{pluralize(count, 'passage')} can be found by meaning", True, count > 0)


def check_semantic_search(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """The first hit is the note that is meant, though it holds none of the words."""
    text = next(text for name, text in morning.iter_texts() if name == KNEE).lower()
    shared = sum(word in text for word in JOINT)
    first = answer.data[0]["title"] if answer.data else ""
    yield Expectation(f"“{first}” comes first, and holds none of these words", (KNEE, 0), (first, shared))


def check_created(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """The user's word became a date."""
    tomorrow = (morning.day + timedelta(days=1)).isoformat()
    yield Expectation(f"“tomorrow” became {answer.data['deadline']}", tomorrow, answer.data["deadline"])


def check_idempotent(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """A repeated call gives the first answer."""
    first, second = morning.data("create")["id"], answer.data["id"]
    repeated = bool(answer.metadata.get("repeated"))
    yield Expectation(f"the same task {second}, not a second one", (first, True), (second, repeated))


def check_completed(answer: StepResult, _: DemoFacts) -> Iterator[Expectation]:
    """The task is done."""
    yield Expectation(f"its status is {answer.data['status']}", "done", answer.data["status"])


def check_recurrence(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """The new task is there once, and the recurring one has a next occurrence."""
    ids = [row["id"] for row in answer.data]
    yield Expectation("the new task is listed once", 1, ids.count(morning.data("create")["id"]))
    ran = date.fromisoformat(morning.data("complete")["deadline"])
    in_a_week = (ran + timedelta(weeks=1)).isoformat()
    following = [row["deadline"] for row in answer.data if row["title"] == LONG_RUN]
    yield Expectation(f"the next long run is on {', '.join(following)}, a week after this one", [in_a_week], following)


def check_new_version(answer: StepResult, _: DemoFacts) -> Iterator[Expectation]:
    """The note has a newer version."""
    version = answer.data["version"]
    yield Expectation(f"the note is at version {version}", True, version > 1)


def decision_line(morning: DemoFacts) -> str:
    """Return the line added to the list of decisions."""
    return f"- **{morning.day}** Grout in linen, the same on both walls."


def check_note_text(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """The note holds what was edited and appended, and nothing else wrote it."""
    text, version = answer.data["content"], answer.data["version"]
    read = (text.count(OPEN_BEFORE), text.count(OPEN_AFTER), text.count(decision_line(morning)))
    yield Expectation("the new words are there once, the old ones are gone", (0, 1, 1), read)
    yield Expectation(f"version {version}, as after the last write", morning.data("append")["version"], version)


def check_batch(answer: StepResult, _: DemoFacts) -> Iterator[Expectation]:
    """Each operation made its item inside the project that the first one made."""
    project, *rest = (result["data"] for result in answer.data["results"])
    inside = [item["project"] for item in rest]
    yield Expectation(f"a project and {pluralize(len(rest), 'item')} inside it", [project["name"]] * len(rest), inside)


def check_batch_undone(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """One undo reverted everything that the batch created."""
    created = sorted(result["data"]["id"] for result in morning.data("batch")["results"])
    undone = sorted(item["id"] for item in answer.data.get("undone", ()))
    yield Expectation(f"one undo took back all {len(created)}", created, undone)


def check_dashboard(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """The dashboard counts what the list of overdue tasks showed."""
    numbers = answer.data["project"]
    late = sum(row.get("project") == numbers["name"] for row in morning.data("overdue"))
    yield Expectation(f"{late} overdue, as the list at the beginning said", late, numbers.get("overdue", 0))


def check_trashed(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """The project went, with everything that the dashboard counted in it, and not without a question."""
    board = morning.data("dashboard")
    counters = ("open", "done", "cancelled", "ideas", "notes")
    inside = sum(board["project"].get(counter, 0) for counter in counters) + len(board.get("links", ()))
    named = sum(int(count) for question in answer.asked for count in _COUNT.findall(question))
    yield Expectation(f"it asked first, naming {pluralize(inside, 'item')}", inside, named)
    yield Expectation(
        f"the project and the {pluralize(inside, 'item')} in it are in the trash", 1 + inside, answer.data["trashed"]
    )


def check_not_found(answer: StepResult, _: DemoFacts) -> Iterator[Expectation]:
    """The error says that it is not there."""
    yield Expectation("it says so, and does not guess", "not_found", answer.code)


def check_restored(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """As much came back as had gone."""
    trashed = morning.data("delete")["trashed"]
    yield Expectation(f"{pluralize(trashed, 'item')} out of the trash", trashed, answer.data.get("count", 0))


def check_counts_restored(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """Each count of the project is what it was before the mistake."""
    before, after = (_project_counts(board["project"]) for board in (morning.data("dashboard"), answer.data))
    summary = ", ".join(f"{before[name]} {name}" for name in ("open", "done", "overdue", "notes"))
    yield Expectation(f"every count is what it was: {summary}", before, after)


def _project_counts(numbers: Mapping[str, Any]) -> dict[str, int]:
    return {name: numbers.get(name, 0) for name in _COUNTED}


def check_week(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """What slipped is what is overdue since the week began."""
    start = answer.data["start"]
    slipped = sum(row["deadline"] >= start for row in morning.data("overdue"))
    summary = f"{slipped} of the {len(morning.data('overdue'))} overdue slipped since {start}"
    yield Expectation(summary, slipped, _part_count(answer.data, "slipped"))


def _part_count(review: Mapping[str, Any], part: str) -> int:
    return review.get(part, {}).get("count", 0)  # empty values and 0 are not sent


def make_sum_check(part: str) -> Check:
    """Return a check that the groups' counts add up to the review's total."""

    def check(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
        count = _part_count(morning.data("week"), part)
        total = sum(row["count"] for row in answer.data)
        yield Expectation(f"together {count}, as the review said", count, total)

    return check


def check_status(answer: StepResult, morning: DemoFacts) -> Iterator[Expectation]:
    """There is what was imported and created since; the batch lies in the trash."""
    report, counts = morning.data("import"), answer.data["counts"]
    again = {row["id"] for row in morning.data("list") if row["title"] == LONG_RUN}
    new = again | {morning.data("create")["id"]}
    trash = len(morning.data("undo batch")["undone"])
    expected = {"project": report["projects_created"], "task": report["tasks_created"] + len(new)}
    expected |= {"note": report["notes_created"], "trash": trash}
    summary = f"what was imported, {pluralize(len(new), 'new task')}, and the {trash} of the batch in the trash"
    yield Expectation(summary, expected, {kind: counts.get(kind, 0) for kind in expected})


def check_join(answer: StepResult, morning: DemoFacts) -> Iterable[Expectation]:
    """Check the joined table against the data of the stand-ins."""
    recordings = [row for row in stand_ins.list_recordings(morning.day) if "product" in row["labels"]]
    result = answer.data["result"]
    yield Expectation("every product meeting is in the CSV", len(recordings), result["meetings"])
    head, first, *_ = result["lines"]
    yield Expectation(f"it is the file {result['file']}", "date,meeting,stage,campaigns", head)
    yield Expectation(f"the newest meeting comes first: “{first}”", recordings[0]["title"], first.split(",")[1])


def check_join_cost(answer: StepResult, morning: DemoFacts) -> Iterable[Expectation]:
    """Compare what a model read with the sizes of the services' answers in the call log."""
    sizes = [row["chars"] for row in answer.data if row["name"].partition(".")[0] in stand_ins.KINDS]
    tokens = sum(sizes) // CHARS_PER_TOKEN
    used = morning.answers["join"].tokens + morning.answers["join"].sent_tokens
    saved = 1 - used / tokens
    yield Expectation("the log has a call for each service", len(stand_ins.KINDS), len(sizes))
    yield Expectation(
        f"a model would have read {tokens:,} tokens; the script and its answer took {used:,} ({saved:.1%} less)",
        True,
        saved >= MIN_SAVED_SHARE,
    )
