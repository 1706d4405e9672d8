"""Errors of services in one form: what they say, and how long they ask to wait. Pure."""

import json
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from panorama.domain.text.json_types import is_object
from panorama.errors import ConflictError, InvalidInputError, NotFoundError, PanoramaError, SourceError

MAX_MESSAGE_CHARS = 300
_WAIT_HEADERS = ("retry-after", "x-ratelimit-retry-after")


def parse_wait_seconds(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return for how many seconds a service asks to wait, None if it does not say.

    Args:
        headers: The answer's headers: Retry-After in seconds or as a date, or Help Scout's X-RateLimit-Retry-After.
        now: The time since the epoch.
    """
    text = next((headers[name].strip() for name in _WAIT_HEADERS if headers.get(name)), "")
    if text.isascii() and text.replace(".", "", 1).isdigit():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - (time.time() if now is None else now))
    except (ValueError, TypeError, OverflowError):
        return None


def parse_message(text: str) -> str:
    """Return the message and code in the body of an error, on one line; "" if there is none.

    The body is JSON as `{"message"}`, `{"error": {"message"}}`, `{"error", "error_description"}`, or a plain text.
    """
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError):
        return "" if "<" in text else _shorten(text)  # the HTML page of a proxy helps nobody
    if is_object(body) and is_object(body.get("error")):
        body = body["error"]
    if not is_object(body):
        return _shorten(body) if isinstance(body, str) else ""
    code = next((body[name] for name in ("code", "type", "error") if isinstance(body.get(name), str)), "")
    names = ("message", "error_description", "detail")
    message = next((body[name] for name in names if isinstance(body.get(name), str)), "")
    return _shorten(f"{message} ({code})" if message and code else message or code)


def build_refusal(title: str, source: str, status: int, message: str) -> PanoramaError:
    """Return the error for the status of an answer.

    Args:
        title: The service's name, such as "Help Scout".
        source: The name of the source, for the hint.
        message: What the service says; not shown for a refused key, because it may contain a part of it.
    """
    if status == 401:
        return SourceError(
            f"{title} does not accept the key ({status}).", hint=f"Set it with `panorama sources secret {source}`."
        )
    text = f"{title} answered {status}" + (f": {message}" if message else ".")
    if status == 403:
        return SourceError(text, hint="Give the key more permissions at the service, or share the item with it.")
    if status in (404, 410):
        return NotFoundError(text, hint="Check the id; the key may not see the item.")
    if status == 409:
        return ConflictError(text, hint="Read the item again, then repeat the call.")
    if status in (400, 413, 422):
        return InvalidInputError(text, hint="Correct the arguments.")
    return SourceError(text, hint="See the service's documentation of errors.")


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_MESSAGE_CHARS else f"{line[: MAX_MESSAGE_CHARS - 1]}…"
