"""Messages and hints for limits that a script reached. Pure."""

from collections.abc import Mapping
from datetime import timedelta

from panorama.domain.scripts.scripts import Limits, Reason

_MESSAGES: Mapping[Reason, str] = {
    "time": "The script exceeded its time limit of {0}.",
    "cpu": "The script exceeded its processor time limit of {0}.",
    "memory": "The script exceeded its memory limit of {0}.",
    "calls": "The script made more than {0} calls, the limit of a run.",
    "call_size": "A call had more than {0} of arguments, the limit of a call.",
    "sent_size": "The script sent more than {0} in its calls, the limit of a run.",
    "result_size": "The result is larger than {0}, the limit.",
    "output_size": "The script printed more than {0}, the limit.",
    "state_size": "sdk.state is larger than {0}, the limit.",
    "cancelled": "The script was cancelled: no client waits for it.",
}
_HINTS: Mapping[Reason, str] = {
    "time": "Make fewer calls (sdk.batch for many writes, sdk.query or the filters of a list in place of one call for "
    "each item), do less in one run, or set a longer timeout.",
    "cpu": "Do less in one run, or look for a loop that does more than it needs to.",
    "memory": "Work through the data in parts instead of keeping all of it.",
    "calls": "Read lists instead of one item after another, write with sdk.batch, or do the work in several runs.",
    "call_size": "Send it in parts.",
    "sent_size": "Write less, or do the work in several runs.",
    "result_size": "Return what matters, or write it with sdk.files.write(name, text).",
    "output_size": "Print less, or write it with sdk.files.write(name, text).",
    "state_size": "Keep less in it, or write it with sdk.files.write(name, text).",
}


def format_message(reason: Reason, limits: Limits) -> str:
    """Return the message for a limit that was reached, with its figure."""
    return _MESSAGES[reason].format(_format_limit(reason, limits))


def get_hint(reason: Reason) -> str:
    """Return the hint for a limit, "" if there is none."""
    return _HINTS.get(reason, "")


def _format_limit(reason: Reason, limits: Limits) -> str:
    match reason:
        case "time":
            return _format_seconds(limits.wall)
        case "cpu":
            return _format_seconds(limits.cpu)
        case "calls":
            return f"{limits.calls:,}"
        case "memory":
            return _format_size(limits.memory_bytes)
        case "call_size" | "sent_size" | "result_size" | "output_size" | "state_size":
            return _format_size(getattr(limits, reason.replace("_size", "_bytes")))
        case _:
            return ""


def _format_seconds(span: timedelta) -> str:
    return f"{span.total_seconds():g} s"


def _format_size(count: int) -> str:
    for unit, size in (("MB", 1 << 20), ("KB", 1 << 10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} bytes"
