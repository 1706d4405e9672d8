"""Attachments: files that belong to a note, how they are uploaded, and how their contents are sent to the browser.

A content is only ever sent as a download: a browser that opened it here would run its scripts as a page of ours.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from starlette.datastructures import UploadFile
from starlette.responses import Response

from panorama.calls import Answer
from panorama.domain.items.files import CONTENT_BYTES
from panorama.errors import ConflictError, InvalidInputError
from panorama.services.importing.attachments import free_name
from panorama.web.page_calls import PageCalls
from panorama.web.texts import Texts

MAX_LINKED = 200
"""The maximum number of items linked to a note among which its files are looked for."""

RELATION = "part_of"
LIMITS: Mapping[str, int] = {"files": 10, "megabytes": CONTENT_BYTES >> 20, "total": 35}
"""The maximum number of files of one form, of megabytes of a file, and of megabytes of all files of a form."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that a browser sent."""

    name: str
    content: bytes


def read_uploads(files: Sequence[object], texts: Texts, max_files: int) -> list[Upload]:
    """Return the files of a form.

    Raises:
        InvalidInputError: There are none or too many, one is too large, or two have the same name.
    """
    uploads: list[Upload] = []
    chosen = [file for file in files if isinstance(file, UploadFile) and file.filename]
    if not 1 <= len(chosen) <= max_files:
        raise InvalidInputError(
            texts("{number} files were chosen.", number=len(chosen)),
            hint=texts("Choose 1 to {limit}.", limit=max_files),
        )
    if sum(file.size or 0 for file in chosen) > LIMITS["total"] << 20:
        raise InvalidInputError(
            texts("These files are too large together."), hint=texts("Send them one after another.")
        )
    for file in chosen:
        name = _last_part(file.filename or "")
        if (file.size or 0) > CONTENT_BYTES:
            raise InvalidInputError(
                texts("{name} is too large.", name=name),
                hint=texts("A file may have at most {limit} MB.", limit=LIMITS["megabytes"]),
            )
        if name.casefold() in {upload.name.casefold() for upload in uploads}:
            raise InvalidInputError(
                texts("Two files are called {name}.", name=name), hint=texts("Send them one after another.")
            )
        uploads.append(Upload(name, file.file.read()))
    return uploads


def attach_files(calls: PageCalls, note: str, uploads: Sequence[Upload]) -> Answer:
    """Store files beside a note, in its project and linked to it, as one write.

    A name that another file of the project has gets a number, because a write by name would replace that file.

    Raises:
        PanoramaError: A name is none, or the note is not there.
    """
    owner = calls.get("notes.get", note=note)
    project = owner.get("project")
    place = {"project": project} if project else {}
    steps: list[Mapping[str, Any]] = []
    for upload in uploads:
        with calls.app.context.database.reading() as session:
            name = free_name(session, upload.name, project)
        content = {"base64": b64encode(upload.content).decode()} if upload.content else {"text": ""}
        file = f"${len(steps)}.data.id"
        steps.append({"tool": "write_file", "args": {"name": name, **content, **place}})
        steps.append({"tool": "create_relation", "args": {"from_item": file, "kind": RELATION, "to_item": owner["id"]}})
    return calls.call("batch", operations=steps, atomic=True)


def list_attachments(calls: PageCalls, note: str) -> list[Mapping[str, Any]]:
    """Return the files that belong to a note or that its text links to, by name."""
    linked = calls.get("graph.related", item=note, limit=MAX_LINKED)["neighbours"]
    files = {row["id"]: row for row in linked if row["kind"] == "file"}
    return sorted(files.values(), key=lambda row: row["title"].casefold())


def send_content(calls: PageCalls, file: str) -> Response:
    """Return the content of a file as a download, which no browser shows in place.

    Raises:
        NotFoundError: There is no such file.
        ConflictError: It was written meanwhile.
    """
    first = calls.get("files.content", file=file)
    content = bytearray(b64decode(first["base64"]))
    while len(content) < first["size"]:
        part = calls.get("files.content", file=file, start=len(content))
        if part["sha256"] != first["sha256"]:
            raise ConflictError("The file was changed meanwhile.", hint="Load it again.")
        content += b64decode(part["base64"])
    headers = {
        "content-disposition": f"attachment; filename*=UTF-8''{quote(first['name'], safe='')}",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    }
    return Response(bytes(content), media_type="application/octet-stream", headers=headers)


def _last_part(name: str) -> str:
    """Return the last part of a name that a browser sent: some send the path of a file in a folder."""
    return name.replace("\\", "/").rpartition("/")[2]
