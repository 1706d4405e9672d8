"""The user's editor: opens a file, or a text in a temporary file."""

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
        InvalidInputError: The editor failed, or none is set and there is no terminal.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("vi" if console.is_interactive() else "")
    if not editor:
        raise InvalidInputError("No editor is set.", hint="Set EDITOR, or give the change as an option.")
    try:
        subprocess.run([*shlex.split(editor), str(path)], check=True)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise InvalidInputError(
            f"The editor {editor!r} failed.", hint=f"Set EDITOR, or edit {path} yourself."
        ) from error


def create_draft(text: str, name: str) -> Path:
    """Write a text to a new file for the editor, readable only by its owner."""
    descriptor, path = tempfile.mkstemp(prefix=f"{name}-", suffix=".md")
    with open(descriptor, "w", encoding="utf-8", newline="") as file:
        file.write(text)
    return Path(path)
