"""Errors in words for the user of the page: the hints of operations are written for models."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Translate = Callable[..., str]
"""Returns an English text in the user's language, with its values filled in."""

_DATE_HINT = "Write a date such as 2026-05-31, 2026-05-31 15:00, today, friday 3pm, in 2 weeks or +3d."
_REVIEW_HINT = "Load the page again, and read the new text."
FIELDS = {
    "title": "Title", "name": "Name", "deadline": "Deadline", "recurrence": "Repeats", "starts_at": "Begins",
    "ends_at": "Ends", "target_date": "Target day", "birthday": "Birthday", "email": "E-mail", "folder": "Folder",
    "project": "Project", "line": "Title", "tags": "Tags", "notes": "Notes", "description": "Description",
    "content": "Text in Markdown", "location": "Place", "calendar": "Calendar", "aliases": "Other names",
    "attendees": "Attendees", "status": "Status", "manager": "Reports to", "team": "Team", "file": "File",
    "item": "Item", "task": "Task", "note": "Note", "person": "Person", "event": "Event",
}  # fmt: skip
"""The labels of the fields whose values are refused most often, by the names of arguments."""
KINDS = {
    **{word: word.capitalize() for word in (
        "item", "project", "task", "note", "link", "reminder", "journal entry", "file", "person", "team", "session",
        "event", "relation", "job", "run", "script", "schedule",
    )},
    "source": "Data source",
}  # fmt: skip
"""What may not be found, by its words in messages."""
_ITEMS = "item|project|task|note|link|reminder|journal entry|file|person|team|session|event|relation"


@dataclass(frozen=True, slots=True)
class Rule:
    """The texts for errors whose message matches a pattern; its groups are values of the texts."""

    pattern: re.Pattern[str]
    message: str
    hint: str = ""


RULES = tuple(
    Rule(re.compile(pattern), *words)
    for pattern, *words in (
        (
            r"There is no folder (?P<quote>['\"])(?P<name>.*)(?P=quote)\.$", "There is no folder {name}.",
            "Check the path.",
        ),
        (
            rf"(?:\w+: )?[Tt]here is no (?P<kind>{_ITEMS}) “(?P<name>[^”]*)”\.$", "{kind} not found: {name}.",
            "It may have been deleted: look in the trash, or search for it.",
        ),
        (r"There is no (?P<kind>job|run|script|source) '(?P<name>[^']*)'\.$", "{kind} not found: {name}."),
        (r"There is no (?P<kind>schedule) “(?P<name>[^”]*)”\.$", "{kind} not found: {name}."),
        (
            rf"(?:\w+: )?There is no (?P<kind>{_ITEMS}) (?P<name>[a-z]_[0-9a-z]{{10}})\.$", "{kind} not found: {name}.",
            "It may have been deleted: look in the trash, or search for it.",
        ),
        (
            r"(?:\w+: )?The \w+ “(?P<name>.*)” \(\w+\) is in the trash\.$", "{name} is in the trash.",
            "Restore it first: see Trash.",
        ),
        (r"The \w+ “(?P<name>.*)” is not in the trash\.$", "{name} is not in the trash: it was restored already."),
        (
            r"\w+: (?P<number>\d+) \w+ are called “(?P<name>.*)”\.$", "{number} items are called {name}.",
            "Rename one of them, or open the one that you mean.",
        ),
        (r"(?P<field>\w+) is (?:empty|not a date .*: '')\.$", "“{field}” is empty.", "Fill this field in."),
        (r"[\w.]+ was not called: (?P<field>\w+) is missing", "“{field}” is empty.", "Fill this field in."),
        (
            r"(?P<field>\w+) has (?P<size>[\d,]+) characters; the limit is (?P<limit>[\d,]+)\.$",
            "“{field}” is too long: {size} characters, and at most {limit} are allowed.", "Shorten it.",
        ),
        (
            r"(?P<field>\w+) has (?P<size>\d+) words; the limit is (?P<limit>\d+)\.$",
            "“{field}” has too many words: {size}, and at most {limit} are allowed.", "Keep the few that matter.",
        ),
        (
            r"[\w.]+ was not called: (?P<field>\w+) contains a NUL byte\.$",
            "“{field}” contains a character that cannot be stored.", "Write the text again, without it.",
        ),
        (
            r"[\w.]+ was not called: (?P<field>\w+) must be .*, not '(?P<value>.*)'\.$",
            "“{field}” cannot be {value}.", "Load the page again, and choose another value.",
        ),
        (
            r"(?P<field>\w+) is outside the years (?P<first>\d+) to (?P<last>\d+): '(?P<value>.*)'\.$",
            "“{field}” is outside the years {first} to {last}: {value}.", "Choose a year between them.",
        ),
        (r"(?P<field>\w+) is not a date .*: '(?P<value>.*)'\.$", "“{field}” is not a date: {value}.", _DATE_HINT),
        (
            r"recurrence is neither .*: '(?P<value>.*)'\.$", "This is not a rule of repetition: {value}.",
            "Write every day, every friday, every 2 weeks, or every month on the 1st.",
        ),
        (
            r"email is not an address: '(?P<value>.*)'\.$", "This is not an e-mail address: {value}.",
            "Write an address such as ana@example.org.",
        ),
        (
            r"A project “(?P<name>.*)” already exists", "There is a project {name} already.",
            "Choose another name.",
        ),
        (
            r"starts_at and ends_at are a day and a moment\.$",
            "One of beginning and end has a time, the other has none.",
            "Give both a time, or neither for a whole day.",
        ),
        (
            r"A task cannot be under itself or its own subtask\.$", "A task cannot be under itself or its own subtask.",
            "Choose another task.",
        ),
        (
            r"A person cannot report to themselves\.$", "A person cannot report to themselves.",
            "Choose somebody else.",
        ),
        (
            r"There is no change, call or batch '(?P<name>.*)'\.$", "This change is not in the history: {name}.",
            "Load the page again.",
        ),
        (
            r"\w+ is already undone\.$|Nothing remains of \w+:", "This is undone already; nothing was changed.",
            "Load the page again.",
        ),
        (r"There is nothing left to undo;", "There is nothing left to undo."),
        (
            r"The (?:job|script) .* still writes this; nothing was undone\.$",
            "This is still being written; nothing was undone.", "Wait for its end, or stop it first.",
        ),
        (r"'(?P<name>.*)' is not a folder\.$", "{name} is not a folder.", "Choose the folder that holds it."),
        (
            r"(?P<name>.*) belongs to Panorama's own data directory\.$", "{name} belongs to Panorama's own data.",
            "Choose the folder that holds your Markdown files.",
        ),
        (
            r"'(?P<name>.*)' cannot be imported: it is missing\.$", "There is no file {name}.",
            "Check the path.",
        ),
        (
            r"'(?P<name>.*)' holds no entities or relations\.$",
            "{name} contains no entities or relations.",
            "Choose .md files, or one memory.jsonl.",
        ),
        (r"The event ends before it begins\.$", "The event ends before it begins.", "Change one of the two."),
        (r"The note “(?P<name>.*)” has version \d+, not", "The note {name} was changed since you opened it."),
        (
            r"\d+ of \d+ changes of .* were changed again since",
            "Some of it was changed again since; nothing was undone.",
        ),
        (
            r"The script (?P<name>\S+) was changed since it was shown",
            "The script {name} was changed since it was shown; nothing was decided.", _REVIEW_HINT,
        ),
        (
            r"Approve the script (?P<name>\S+)\? Its text has the digest (?P<digest>[0-9a-f]+)\.$",
            "Approve the script {name}? Its text has the digest {digest}.",
        ),
        (r"Invalid cursor\.$", "This part of the list is no longer there.", "Open the list again."),
        (
            r"The settings cannot be used: \w+: [^;]*there is no time zone '(?P<name>.*?)'",
            "There is no time zone {name}.",
            "Write a name such as Europe/Berlin.",
        ),
        (
            r"The settings cannot be used: (?P<name>\w+): [^;]*valid (?:integer|number)",
            "{name} has to be a number.",
        ),
        (
            r"The settings cannot be used: (?P<name>\w+): [^;]*greater than or equal to (?P<limit>\d+(?:\.\d+)?)",
            "{name} has to be at least {limit}.",
        ),
        (
            r"The settings cannot be used: (?P<name>\w+): [^;]*less than or equal to (?P<limit>\d+(?:\.\d+)?)",
            "{name} may be at most {limit}.",
        ),
    )
)  # fmt: skip
"""Errors and questions that users of the page meet, with the message and the hint for them."""

_STEP = re.compile(r"Step \d+ \(\w+\): (.*?)(?: No step of the batch was kept\.)?$", re.DOTALL)
"""The error of a step of a batch; a form is one if it changes several items."""
_FOR_MODELS = re.compile(r"\w_\w|\w\(|=|`|\bcall(ed)?\b|\bparameters\b|next_cursor")
"""Signs of a hint that tells a model which tool to call, or with which arguments."""
_COMMAND = re.compile(r"`panorama (?:doctor|restore)\b[^`]*`")
"""A command of the terminal for which the page has no place."""
_SIMILAR = re.compile(r"Did you mean ([^?]+)\?")


def explain(message: str, hint: str, translate: Translate, own_hint: str = "") -> Mapping[str, str]:
    """Return the "message" and the "hint" of an error for a user; `own_hint` replaces any other."""
    plain = _STEP.sub(r"\1", message)
    for rule in RULES:
        if match := rule.pattern.match(plain):
            words = own_hint or rule.hint
            text = translate(rule.message, **_translate_values(match.groupdict(), translate))
            return {"message": text, "hint": translate(words) if words else _explain_hint(hint, translate)}
    return {"message": message, "hint": translate(own_hint) if own_hint else _explain_hint(hint, translate)}


def _explain_hint(hint: str, translate: Translate) -> str:
    """Return a hint if it is of use to a person, else ""."""
    if similar := _SIMILAR.search(hint):
        return translate("Did you mean {names}?", names=similar[1])
    return "" if _FOR_MODELS.search(_COMMAND.sub("", hint)) else hint


def _translate_values(values: Mapping[str, str], translate: Translate) -> dict[str, object]:
    translated: dict[str, object] = dict(values)
    if kind := values.get("kind"):
        translated["kind"] = translate(KINDS[kind])
    if field := values.get("field"):
        translated["field"] = translate(FIELDS.get(field, field))
    return translated
