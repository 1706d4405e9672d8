"""Files: named contents of any kind; scripts have no other files."""

from __future__ import annotations

import builtins
from base64 import b64encode
from collections.abc import Sequence

from panorama.sdk.core import text_ranges, wire
from panorama.sdk.core.lookup import check_item, delete_item
from panorama.sdk.core.signatures import explain_misuse
from panorama.sdk.core.types import File, FileText, Project, Removed
from panorama.sdk.core.unset import UNSET
from panorama.sdk.errors import InvalidInputError

_EMPTY = {"file": None, "project": "", "tags": ()}
"""The value that clears each field in an update; sent for None."""

__all__ = ("delete", "get", "list", "text", "update", "write")


@explain_misuse
def list(  # noqa: A001 (its name in scripts)
    project: str | Project | None = None, tag: str | None = None, name: str = "", limit: int | None = None
) -> builtins.list[File]:
    """List files without their content, the last written first.

    Args:
        project: Its id, its name, or its row; all projects if left out.
        tag: Only those with this tag.
        name: Only those whose name contains this, such as .csv.
        limit: The most rows; all if left out.

    Returns:
        Rows with id, name, media_type, size (bytes), project (an id), tags, version, updated_at.

    Raises:
        NotFoundError: No project has this name.
        InvalidInputError: `limit` is below 1.

    Example:
        for file in sdk.files.list(name=".csv"):
            print(file.name, file.size)
    """
    return wire.list_rows(
        "files.list", limit, project="" if project is None else project, tag=tag, name=name, detail="full"
    )


@explain_misuse
def get(file: str | File, start: int = 0, chars: int | None = None) -> FileText:
    """Read a file: its text, or a range of it; only type and size if it is not text.

    Args:
        file: Its id, its name, or its row.
        start: First character, counted from 0.
        chars: How many characters at most, 1 to 35,000; all if left out, however many.

    Returns:
        Its fields; `text` is all of it if `start` and `end` are None, else the part from `start` to before `end` of
        `chars`; None if it is not text.

    Raises:
        NotFoundError: No file has this name; `candidates` are the nearest.
        ConflictError: Several have this name; `candidates` lists them; or it was changed again and again meanwhile.
        InvalidInputError: `start` or `chars` is out of range, or it is not a file.

    Example:
        sdk.files.write("hello.txt", "Hello")
        print(sdk.files.get("hello.txt").text)
    """

    def read(item: str | File, begin: int) -> FileText:
        stretch = text_ranges.MAX_CHARS if chars is None else chars
        return wire.call("files.get", file=item, start=begin, chars=stretch)

    return read(file, start) if chars is not None else text_ranges.read_all(read, file, start, "text")


@explain_misuse
def text(file: str | File) -> str:
    """Return the whole text of a file, however long it is.

    Args:
        file: Its id, its name, or its row.

    Returns:
        The text, "" if the file is empty.

    Raises:
        NotFoundError: No file has this name.
        InvalidInputError: It is not text, or no file.
        ConflictError: Several have this name, or it kept changing while it was read.

    Example:
        import csv, io
        sdk.files.write("grout.csv", "colour,price\\ngrey,12\\n")
        print(list(csv.DictReader(io.StringIO(sdk.files.text("grout.csv")))))
    """
    check_item("file", file, "text")
    return text_ranges.require_text(get(file), "text")


@explain_misuse
def write(
    name: str,
    text: str | bytes | None = None,
    base64: str | None = None,
    media_type: str = "",
    project: str | Project | None = None,
    tags: Sequence[str] = (),
    idempotency_key: str = "",
) -> File:
    """Write a file for use elsewhere, such as report.csv.

    If the project has a file of that name, this becomes its next version; undo restores the old content.

    Args:
        name: Such as report.csv, 1 to 200 characters; no path.
        text: Up to 10 MB, and 1 MB in one call of a script; bytes are sent in base64.
        base64: Instead of text.
        media_type: As text/csv; from the name if left out.
        project: Its id, its name, or its row; none if left out.
        tags: Words, up to 50 of up to 60 characters each; none if left out, or those the file has.
        idempotency_key: The same key within a day returns the first answer again.

    Returns:
        The file: id, name, media_type, size (bytes).

    Raises:
        InvalidInputError: The name is a path, the content is too long, or not one of text and base64 is given.
        NotFoundError: No project has this name.
        ConflictError: Several files there have this name, or the key was used for another call.

    Example:
        file = sdk.files.write("tasks.md", sdk.markdown_table(sdk.tasks.list(), ["title", "deadline"]))
        print(file.id, file.size)
    """
    if isinstance(text, builtins.list | dict | tuple):
        raise InvalidInputError(
            "text must be a string, not a list or a dict.", hint="Write json.dumps(value), or join the lines."
        )
    if isinstance(text, bytes):
        text, base64 = None, b64encode(text).decode()
    return wire.call(
        "files.write", name=name, text=text, base64=base64, media_type=media_type, project=project, tags=tags,
        idempotency_key=idempotency_key or None,
    )  # fmt: skip


@explain_misuse
def update(
    file: str | File,
    name: str = UNSET,
    project: str | Project | None = UNSET,
    tags: Sequence[str] | None = UNSET,
    media_type: str = UNSET,
) -> File:
    """Rename a file, or change its project, tags or media type; omitted fields stay, "" or [] clears.

    None clears too. To change its content use write with the same name and project.

    Args:
        file: Its id, its name, or its row.
        name: The new name, 1 to 200 characters; no path.
        project: Its id, its name, or its row.
        tags: All its tags; they replace those it had.
        media_type: As text/csv; "" to derive it from the name.

    Returns:
        The file as it is now.

    Raises:
        NotFoundError: No file or project has this name.
        ConflictError: Another file there has this name, or several match `file`.
        InvalidInputError: The name is a path, or it is not a file.

    Example:
        file = sdk.files.write("draft.txt", "Dear all")
        sdk.files.update(file, name="letter.txt", tags=["letters"])
    """
    return wire.call_update(
        "files.update", _EMPTY, file=file, name=name, project=project, tags=tags, media_type=media_type
    )


@explain_misuse
def delete(file: str | File) -> Removed:
    """Move a file to the trash.

    Undo brings it back.

    Args:
        file: Its id, its name, or its row.

    Returns:
        Its id, kind and label, and `trashed`: how many went to the trash.

    Raises:
        NotFoundError: No file has this name.
        ConflictError: Several have this name; `candidates` lists them.
        InvalidInputError: It is not a file.

    Example:
        file = sdk.files.write("old.txt", "")
        sdk.files.delete(file)
    """
    return delete_item("file", file)
