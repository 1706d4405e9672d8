"""Edits settings in `config.toml`; the only module that writes it. Everything else stays as it is, byte for byte."""

import os
import re
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import Any

from panorama.domain.text import toml
from panorama.errors import InvalidInputError, UnavailableError

CONFIG_FILE = "config.toml"
EMBEDDER_VARIABLE = "PANORAMA_EMBEDDER"
PRIVATE_MODE = 0o600
"""The mode of a new file: it may contain a key."""

SECRET_SETTINGS = frozenset({"database_url", "files_key", "qdrant_key"})
"""Settings whose values are not printed."""

SettingValue = str | bool | int | float | list[str]

_VALUE = re.compile(r"^[ \t]*[^\s#\[][^\n]*$", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_HEAD = re.compile(r"(?:[ \t]*#[^\n]*\n)+(?=[ \t]*\r?\n|\Z)")


def write_setting(home: Path, name: str, value: SettingValue) -> bool:
    """Set a setting; return whether the file changed.

    Raises:
        InvalidInputError: The file cannot be read as TOML.
        UnavailableError: The file cannot be changed; it is as before.
    """
    return _update_file(home, {name: value}, lambda text: _iter_candidates(text, name, value))


def remove_setting(home: Path, name: str) -> bool:
    """Reset a setting to its default; return whether the file changed.

    Raises:
        InvalidInputError: The file cannot be read as TOML.
        UnavailableError: The file cannot be changed; it is as before.
    """
    return _update_file(home, {name: None}, lambda text: iter([toml.delete_value(text, (name,))]))


def _update_file(home: Path, settings: dict[str, SettingValue | None], written: Callable[[str], Iterator[str]]) -> bool:
    path = home / CONFIG_FILE
    ((name, value),) = settings.items()
    with _translate_errors(path, _manual_hint(name, value)):
        text = path.read_bytes().decode() if path.exists() else ""
        before = _parse_file(path, text)
        old = before.get(name, value)
        if isinstance(old, dict) or (isinstance(old, str) != isinstance(value, str) and value is not None):
            raise ValueError(f"{name} is {'text' if isinstance(old, str) else 'not text'} there")
        after = {
            **{key: setting for key, setting in before.items() if key != name},
            **({} if value is None else settings),
        }
        if before == after:
            return False
        new_text = next((candidate for candidate in written(text) if _is_equivalent(candidate, after)), None)
        if new_text is None:
            raise ValueError("its format is unusual, and other parts would change too")
        _replace(path, new_text.encode())
    return True


def _manual_hint(name: str, value: SettingValue | None) -> str:
    if value is None:
        return f"Remove the line {name} by hand."
    if name in SECRET_SETTINGS:
        return f'Add the line {name} = "…" at its top by hand, with your value.'
    return f"Add this line at its top by hand: {name} = {toml.format_value(value)}"


def _iter_candidates(text: str, name: str, value: SettingValue) -> Iterator[str]:
    """Yield candidate texts with the setting, the best first; at least one is correct for usual files."""
    if name not in toml.parse(text):
        yield _insert_line(text, f"{name} = {toml.format_value(value)}")
    yield toml.set_value(text, (name,), value)


def _insert_line(text: str, line: str) -> str:
    """Insert a line after the existing settings; comments above a table stay with it."""
    table = _TABLE.search(text)
    values = list(_VALUE.finditer(text, 0, table.start() if table else len(text)))
    head = _HEAD.match(text)
    place = values[-1].end() + 1 if values else head.end() if head else 0
    before, after = text[:place], text[place:]
    end = "\r\n" if "\r\n" in text else "\n"
    gap = end if before and not before.endswith("\n") else ""
    blank = end if after.strip() and not values and not after.startswith(("\n", "\r\n")) else ""
    return f"{before}{gap}{line}{end}{blank}{after}"


def _is_equivalent(text: str, settings: dict[str, Any]) -> bool:
    with suppress(ValueError):
        return toml.parse(text) == settings
    return False


def _parse_file(path: Path, text: str) -> dict[str, Any]:
    try:
        return dict(toml.parse(text))
    except ValueError as error:
        raise InvalidInputError(f"{path} cannot be read: {error}.", hint="Fix it and run this again.") from error


def _replace(path: Path, content: bytes) -> None:
    """Replace a file atomically; the target of a link is replaced."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mode = S_IMODE(target.stat().st_mode) if target.exists() else PRIVATE_MODE
    handle, name = tempfile.mkstemp(prefix=f".{CONFIG_FILE}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


@contextmanager
def _translate_errors(path: Path, hint: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise UnavailableError(f"{path} cannot be changed: {error.strerror}.", hint=hint) from error
    except ValueError as error:
        raise UnavailableError(f"{path} cannot be changed: {error}.", hint=hint) from error


def env_override(used: str) -> str:
    """Return why a model other than that of config.toml is in use, "" if it is not."""
    value = os.environ.get(EMBEDDER_VARIABLE)
    if value is None:
        return ""
    return f"{EMBEDDER_VARIABLE}={value} is set and overrides config.toml" + (
        f"; {used} is in use." if value != used else "."
    )
