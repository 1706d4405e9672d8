"""The endpoint for writes: a form's address names the operation, its fields are the arguments."""

import binascii
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request

from panorama import sample
from panorama.calls import Answer
from panorama.domain.markdown.quick_add.line import parse_quick_add
from panorama.domain.text.json_types import is_object
from panorama.errors import ConflictError, InvalidInputError, NotFoundError
from panorama.translations.explanations import explain
from panorama.web.attachments import Upload, attach_files
from panorama.web.dropped_files import store_dropped
from panorama.web.page_calls import PageCalls
from panorama.web.texts import Texts
from panorama.web.views.saved_views import pick_filters, remove_view, save_view
from panorama.web.views.settings import change_setting

OPERATIONS = frozenset(
    {
        "tasks.create", "tasks.update", "notes.create", "notes.update", "projects.create", "projects.update",
        "items.delete", "items.restore", "history.undo", "jobs.cancel", "scripts.approve", "scripts.reject",
        "import.markdown", "import.memory", "people.create", "people.update", "events.create", "events.update",
        "sources.decide", "sources.revoke",
    }
)  # fmt: skip
"""The operations that forms may call; all else stays with other doors."""

LIST_FIELDS = frozenset({"tags", "aliases", "attendees"})
"""Fields whose values are separated by commas."""

CHECKBOX = "has_"
"""A hidden field with this prefix says that a form has a checkbox, which browsers leave out if it is not checked."""

UNCHANGED = "was_"
"""A hidden field with this prefix has the value that a field had; one that still has it is left out."""

CONFIRM = "confirm"
"""An argument that no form may send: the user agrees by answering the question they were shown."""

MAX_CHOSEN = 100

ENCODED = "application/x-www-form-urlencoded"
MAX_FIELDS = 1000
PIECE_BYTES = 1 << 18
"""How much is decoded at a time, in some milliseconds."""

_BARE_PERCENT = re.compile(rb"%(?![0-9A-Fa-f]{2})")

RunDecoding = Callable[[Callable[[], FormData]], Awaitable[FormData]]

Fields = Mapping[str, Sequence[str]]
"""The values of a form by the names of its fields."""

_DONE = {
    "tasks.create": "Added: {title}", "notes.create": "Added: {title}", "projects.create": "Added: {title}",
    "people.create": "Added: {title}", "events.create": "Added: {title}",
    "people.update": "Saved: {title}", "events.update": "Saved: {title}",
    "tasks.update": "Saved: {title}", "notes.update": "Saved: {title}", "projects.update": "Saved: {title}",
    "history.undo": "Undone", "items.restore": "Restored", "jobs.cancel": "The job stops",
    "sources.revoke": "Taken back", "sources.decide": "Decided: {title}",
    "scripts.approve": "Approved", "scripts.reject": "Rejected", "items.delete": "Moved to the trash",
}  # fmt: skip
_CONFLICT_HINTS = {
    "notes.update": "Your text is still here: copy it, open the note again, and paste it.",
    "history.undo": "Undo the later changes first, in the history.",
}
"""Hints for conflicts; those of the operations are written for models."""

_IMPORTS = ("import.markdown", "import.memory")
_STATUS = {"done": "Done: {title}", "todo": "Open again: {title}"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a write, in words for the user; `undo` is its unit, "" if there is nothing to undo."""

    message: str
    undo: str
    data: Any


class Forms:
    """Carries out what forms ask for."""

    def __init__(self, calls: PageCalls) -> None:
        self._calls = calls
        self._special: Mapping[str, Callable[[Fields, Texts], Outcome]] = {
            "quick": self._add_quickly,
            "chosen": self._change_chosen,
            "move": self._move,
            "sample": self._import_sample,
            "setting": self._change_setting,
            "save_view": self._save_view,
            "remove_view": self._remove_view,
        }

    def submit(self, name: str, fields: Fields, texts: Texts, agreed: str = "") -> Outcome:
        """Carry out a form.

        Args:
            name: An operation, or the name of one of our own forms.
            agreed: The agreement to the question that this form was asked before.

        Raises:
            NotFoundError: There is no such form.
            ConfirmationError: The user has to agree first.
            PanoramaError: The call failed.
        """
        if special := self._special.get(name):
            return special(fields, texts)
        if name not in OPERATIONS:
            raise NotFoundError(f"There is no form {name[:60]!r}.")
        arguments = parse_fields(fields, is_new=name.endswith(".create"))
        try:
            answer = self._calls.call(name, agreed, **arguments)
        except ConflictError as error:
            if hint := _CONFLICT_HINTS.get(name):
                words = explain(error.message, error.hint, texts, hint)
                raise ConflictError(words["message"], hint=words["hint"]) from error
            raise
        return Outcome(_describe(name, arguments, answer, texts), _get_undo(answer), answer.data)

    def attach(self, note: str, uploads: Sequence[Upload], texts: Texts) -> Outcome:
        """Store files that a browser sent beside a note."""
        answer = attach_files(self._calls, note, uploads)
        message = texts.count("1 file attached", "{number} files attached", len(uploads))
        return Outcome(message, _get_undo(answer), None)

    def prepare_import(self, uploads: Sequence[Upload], texts: Texts) -> Outcome:
        """Store files that a browser sent, to preview and import them; `id` of the data is their path in an address."""
        path = store_dropped(self._calls.app.settings.home, uploads, texts)
        message = texts.count("1 file to import", "{number} files to import", len(uploads))
        return Outcome(message, "", {"id": quote(str(path))})

    def _add_quickly(self, fields: Fields, texts: Texts) -> Outcome:
        line, context = _get(fields, "line"), self._calls.app.context
        arguments: dict[str, Any] = {"title": line, "parse": True}
        if project := _get(fields, "project"):
            quick = parse_quick_add(line, self._calls.list_project_names(), now=context.now(), zone=context.zone)
            if "project" not in quick.fields:
                arguments["project"] = project
        answer = self._calls.call("tasks.create", **arguments)
        message = _describe("tasks.create", arguments, answer, texts)
        if due := texts.due(answer.data.get("deadline") or "", self._calls.today):
            message = f"{message} · {due.words}"
        return Outcome(message, _get_undo(answer), answer.data)

    def _import_sample(self, _: Fields, texts: Texts) -> Outcome:
        """Import the sample workspace, whose dates are around today."""
        with TemporaryDirectory(prefix="panorama-sample-") as folder:
            sample.write_files(Path(folder), self._calls.today)
            answer = self._calls.call("import.markdown", folder=folder)
        return Outcome(texts("The sample is here"), _get_undo(answer), None)

    def _change_setting(self, fields: Fields, texts: Texts) -> Outcome:
        """Write a setting; it counts when the daemon starts again."""
        name = _get(fields, "name")
        change_setting(self._calls.app.settings.home, name, tuple(fields.get("value", ())))
        return Outcome(texts("Saved: {title}", title=name), "", None)

    def _save_view(self, fields: Fields, texts: Texts) -> Outcome:
        """Save the filters of the list of tasks under a name."""
        filters = pick_filters({name: _get(fields, name) for name in fields})
        answer = save_view(self._calls, _get(fields, "name"), filters, texts)
        return Outcome(texts("Saved: {title}", title=_get(fields, "name")), _get_undo(answer), None)

    def _remove_view(self, fields: Fields, texts: Texts) -> Outcome:
        answer = remove_view(self._calls, _get(fields, "name"), texts)
        return Outcome(texts("Removed: {title}", title=_get(fields, "name")), _get_undo(answer), None)

    def _change_chosen(self, fields: Fields, texts: Texts) -> Outcome:
        """Change several tasks at once, as one write.

        Raises:
            InvalidInputError: No task, too many, or no change was chosen.
        """
        ids = list(dict.fromkeys(fields.get("chosen", ())))
        if not ids:
            raise InvalidInputError(texts("No task is selected."), hint=texts("Select tasks first."))
        if len(ids) > MAX_CHOSEN:
            raise InvalidInputError(texts("At most {number} tasks at once.", number=MAX_CHOSEN))
        action, value = _get(fields, "action").partition("=")[::2]
        if action == "delete":
            steps = [{"tool": "delete_item", "args": {"item": id_}} for id_ in ids]
        elif action in ("status", "deadline", "urgent"):
            steps = [{"tool": "update_task", "args": {"task": id_, action: value}} for id_ in ids]
        elif action == "project":
            steps = [{"tool": "update_task", "args": {"task": id_, "project": _get(fields, "project")}} for id_ in ids]
        else:
            raise InvalidInputError(texts("No change was chosen."))
        answer = self._calls.call("batch", operations=steps, atomic=True)
        return Outcome(texts.count("1 task changed", "{number} tasks changed", len(ids)), _get_undo(answer), None)

    def _move(self, fields: Fields, texts: Texts) -> Outcome:
        """Put a task before another one of the same deadline and status, by their ranks; at the end without one.

        Raises:
            InvalidInputError: The two have another deadline or status, which come first in the order.
        """
        moved, before = _get(fields, "task"), _get(fields, "before")
        task = self._calls.get("items.get", item=moved)["item"]
        rows = [row for row in self._calls.get("tasks.list", limit=2000, detail="full") if _is_peer(row, task)]
        ids = [row["id"] for row in rows if row["id"] != moved]
        if before and before not in ids:
            raise InvalidInputError(
                texts("Tasks are in the order of their dates."), hint=texts("Change the date to move it further.")
            )
        ids.insert(ids.index(before) if before else len(ids), moved)
        ranks = {row["id"]: row["rank"] for row in rows}
        steps = [
            {"tool": "update_task", "args": {"task": id_, "rank": rank}}
            for rank, id_ in enumerate(ids, 1)
            if ranks.get(id_) != rank
        ]
        answer = self._calls.call("batch", operations=steps[:MAX_CHOSEN], atomic=True) if steps else None
        return Outcome(texts("Moved: {title}", title=task["title"]), _get_undo(answer) if answer else "", None)


def parse_fields(fields: Fields, *, is_new: bool) -> dict[str, Any]:
    """Return a form's fields as arguments: lists for tags, truth values for checkboxes.

    Args:
        is_new: Leave empty fields out, which would clear something in an update.
    """
    boxes = {name.removeprefix(CHECKBOX) for name in fields if name.startswith(CHECKBOX)}
    arguments: dict[str, Any] = {name: name in fields for name in boxes}
    for name, values in fields.items():
        if name in boxes or name.startswith(CHECKBOX) or name == CONFIRM:
            continue
        text = values[-1].replace("\r\n", "\n")  # browsers send line ends of their own
        if name.startswith(UNCHANGED) or fields.get(f"{UNCHANGED}{name}") == [text]:
            continue
        if name in LIST_FIELDS:
            mark = "#" if name == "tags" else ""
            arguments[name] = [part.strip().removeprefix(mark) for part in text.split(",") if part.strip()]
        elif text or not is_new:
            arguments[name] = text
    return arguments


async def read_form(request: Request, run: RunDecoding, *, max_files: int, max_part_bytes: int) -> FormData:
    """Return the form of a request whose length was checked.

    Args:
        run: Runs a function in a worker thread; only used for a long form.

    Raises:
        HTTPException: It has too many fields or files.
    """
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != ENCODED:
        return await request.form(max_files=max_files, max_part_size=max_part_bytes)
    body = await request.body()
    return parse_encoded(body) if len(body) <= PIECE_BYTES else await run(lambda: parse_encoded(body))


def parse_encoded(body: bytes) -> FormData:
    """Return the fields of an encoded form in order.

    Raises:
        HTTPException: It has too many fields.
    """
    fields = [field for field in body.split(b"&", MAX_FIELDS) if field]
    if body.count(b"&") >= MAX_FIELDS:
        raise HTTPException(400, f"The form has more than {MAX_FIELDS} fields.")
    pairs = (field.partition(b"=") for field in fields)
    return FormData([(_decode(name), _decode(value)) for name, _, value in pairs])


def _decode(encoded: bytes) -> str:
    """Return a decoded name or value; what is not UTF-8 is replaced."""
    return b"".join(map(_decode_bytes, _iter_pieces(encoded))).decode("utf-8", "replace")


def _iter_pieces(encoded: bytes) -> Iterator[bytes]:
    """Yield an encoded text in pieces that end outside a code, so that other threads get their turn between them."""
    start = 0
    while start < len(encoded):
        end = start + PIECE_BYTES
        mark = encoded.rfind(b"%", end - 2, end)
        end = mark if mark > start else end
        yield encoded[start:end]
        start = end


def _decode_bytes(encoded: bytes) -> bytes:
    """Return decoded bytes.

    Quoted-printable is the same code with another mark, and is decoded eight times as fast as by `unquote_to_bytes`.
    """
    plain = encoded.replace(b"+", b" ")
    if b"%" not in plain:
        return plain
    return binascii.a2b_qp(_BARE_PERCENT.sub(b"%25", plain).replace(b"=", b"%3D").replace(b"%", b"="))


def _get(fields: Fields, name: str) -> str:
    values = fields.get(name, ())
    return values[-1] if values else ""


def _get_undo(answer: Answer) -> str:
    return str(answer.metadata.get("undo", ""))


def _describe(name: str, arguments: Mapping[str, Any], answer: Answer, texts: Texts) -> str:
    """Say what was done in words for the user; an answer's own summary is written for models."""
    data: Mapping[str, Any] = answer.data if is_object(answer.data) else {}
    title = str(data.get("title") or data.get("full_name") or data.get("name") or data.get("source") or "")
    if set(arguments) == {"task", "status"} and (text := _STATUS.get(arguments["status"])):
        return texts(text, title=title)
    if name in _IMPORTS and "background" in arguments:
        return texts("The import runs in the background")
    text = _DONE.get(name)
    return texts(text, title=title) if text and (title or "{" not in text) else answer.summary


def _is_peer(row: Mapping[str, Any], task: Mapping[str, Any]) -> bool:
    """Return whether two tasks are ordered by their ranks: same deadline, both or neither in progress."""
    is_same_day = (row.get("deadline") or "") == (task.get("deadline") or "")
    return is_same_day and (row["status"] == "in_progress") == (task["status"] == "in_progress")
