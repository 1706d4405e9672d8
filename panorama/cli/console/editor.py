"""The person's editor: opens a file, or a text in a file of its own."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from panorama.cli.console import console
from panorama.errors import InvalidInputError


def edit_file(path: Path) -> None:
    """Open a file in the editor and wait until it is closed.

    Raises:
        InvalidInputError: The editor failed, or none is set and nobody sits at a terminal.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("vi" if console.is_interactive() else "")
    if not editor:
        raise InvalidInputError("There is no editor.", hint="Set EDITOR, or give the change as an option.")
    try:
        subprocess.run([*shlex.split(editor), str(path)], check=True)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise InvalidInputError(
            f"The editor {editor!r} failed.", hint=f"Set EDITOR, or edit {path} yourself."
        ) from error


def create_draft(text: str, name: str) -> Path:
    """Write a text to a new file for the editor, readable by its owner alone."""
    descriptor, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".md")
    with open(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return Path(path)
