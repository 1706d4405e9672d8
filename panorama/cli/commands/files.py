"""`panorama files`: besides the shared verbs, `get` and `add` for files on disk and pipes."""

from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from panorama.cli.client import Client
from panorama.cli.console import console
from panorama.cli.nouns.groups import build_group
from panorama.cli.nouns.table import FILES
from panorama.cli.options import AsJson, Project, Tags, argument, examples, option
from panorama.domain.items.files import CONTENT_BYTES, validate_file_name
from panorama.errors import ConflictError, InvalidInputError, UnavailableError

app = build_group(FILES)


@app.command(
    epilog=examples(
        "panorama files get report.csv --to ~/Desktop",
        "panorama files get report.csv | head",
    )
)
def get(
    file: Annotated[str, argument("The file, by name or id.")],
    to: Annotated[Path | None, option("The target file or folder; by default standard output.", "--to")] = None,
    force: Annotated[bool, option("Overwrite an existing file.", "--force", "-f")] = False,
) -> None:
    """Write a file's content to the disk, or to standard output."""
    with Client() as panorama:
        name, content = _read_content(panorama, file)
    if to is None:
        console.print_content(content)
        return
    target = to.expanduser()
    if target.is_dir():
        target /= _get_plain_name(name)
    _write(target, content, force)
    console.print_message(f"Wrote {len(content):,} bytes to {target}")


def _get_plain_name(name: str) -> str:
    """Return a safe file name for a folder: a name from a foreign database may lead out of it."""
    try:
        return validate_file_name(name)
    except InvalidInputError as error:
        hint = "Give the full path of the new file, such as --to ~/Desktop/file.txt."
        raise InvalidInputError(f"The name of the file cannot be used: {error.message}", hint=hint) from error


def _read_content(panorama: Client, file: str) -> tuple[str, bytes]:
    """Read a file in parts; return its name and content.

    Raises:
        ConflictError: It was changed meanwhile.
        UnavailableError: The content is damaged.
    """
    first = panorama.call("files.content", {"file": file}).data
    content = bytearray(b64decode(first["base64"]))
    while len(content) < first["size"]:
        read = panorama.call("files.content", {"file": first["id"], "start": len(content)}).data
        if read["sha256"] != first["sha256"]:
            raise ConflictError("The file was changed while it was read.", hint="Try again.")
        if not read["base64"]:
            break
        content += b64decode(read["base64"])
    if sha256(content).hexdigest() != first["sha256"]:
        raise UnavailableError(
            "The content of the file is damaged.", hint="Write the file again, or undo to an earlier version."
        )
    return str(first["name"]), bytes(content)


def _write(target: Path, content: bytes, force: bool) -> None:
    try:
        with target.open("wb" if force else "xb") as file:
            file.write(content)
    except FileExistsError as error:
        raise ConflictError(f"{target} already exists.", hint="Choose another path, or add --force.") from error
    except OSError as error:
        raise UnavailableError(f"{target} cannot be written: {error.strerror}.", hint="Choose another path.") from error


@app.command(
    epilog=examples(
        "panorama files add report.csv --project Garden",
        "panorama files add ~/Downloads/plan.pdf --tag plans",
    )
)
def add(
    path: Annotated[Path, argument("The file on the disk.")],
    project: Project = None,
    tag: Tags = None,
    as_json: AsJson = False,
) -> None:
    """Add a file from the disk; an existing file of the same name in the project gets a new version."""
    arguments: dict[str, Any] = {"name": path.name, "base64": _read(path.expanduser()), "project": project, "tags": tag}
    with Client() as panorama:
        answer = panorama.call("files.write", arguments)
    console.print_result(answer, as_json)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(CONTENT_BYTES + 1)
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read: {error.strerror}.", hint="Check the path.") from error
    if len(content) > CONTENT_BYTES:
        raise InvalidInputError(f"{path} is larger than {CONTENT_BYTES:,} bytes.", hint="Split it into several files.")
    return b64encode(content).decode()
