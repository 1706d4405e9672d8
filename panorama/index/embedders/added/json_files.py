"""Reads the untrusted JSON files of models."""

import json
from pathlib import Path
from typing import Any, TypeVar, cast

from panorama.domain.text.sizes import format_size
from panorama.errors import InvalidInputError

T = TypeVar("T")

MAX_JSON_BYTES = 64 << 20
"""The largest file that is read: a tokenizer of 250,000 pieces has 17 MB."""


def read_json(file: Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        InvalidInputError: It cannot be read, is too large, or is not JSON.
    """
    try:
        if not file.is_file():
            raise InvalidInputError(f"{file} is not a file.", hint="Check the folder.")
        check_size(file)
        return json.loads(file.read_bytes())
    except OSError as error:
        raise InvalidInputError(f"{file} cannot be read: {error.strerror or error}.", hint="Check it.") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{file} is not valid JSON: {error}.", hint="Download the model again.") from error


def check_size(file: Path) -> None:
    """Check the size of a JSON file.

    Raises:
        InvalidInputError: It is too large.
    """
    if (size := file.stat().st_size) > MAX_JSON_BYTES:
        limit = format_size(MAX_JSON_BYTES)
        raise InvalidInputError(f"{file} has {format_size(size)}, more than {limit}.", hint="Check the folder.")


def read_object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file, {} if the file does not exist.

    Raises:
        InvalidInputError: As of `read_json`, or it is not an object.
    """
    if not file.exists():
        return {}
    content: Any = read_json(file)
    if not isinstance(content, dict):
        raise InvalidInputError(f"{file} is not a JSON object.", hint="Download the model again.")
    return cast("dict[str, Any]", content)


def get_typed(content: Any, key: str, type_: type[T], default: T) -> T:
    """Return a value of an object, or the default if it is missing, null, or of another type."""
    value: Any = cast("dict[str, Any]", content).get(key) if isinstance(content, dict) else None
    if isinstance(value, bool) and type_ is not bool:
        return default
    return cast("T", value) if isinstance(value, type_) else default
