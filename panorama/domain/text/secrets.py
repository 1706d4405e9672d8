"""Finds secrets in logged and displayed data, by name and by form. Pure."""

import re
from typing import Any

from panorama.domain.text.json_types import is_object, is_sequence

REDACTED = "•••"
_NAME = re.compile(r"(?i)pass(word|wd|phrase)?$|secret|token$|api_?key|authorization|credential|private_?key")
_NAMED = r"""((?i:password|passwd|passphrase|secret|token|api[_-]?key)\\?["']?\s*[=:]\s*(?i:bearer\s+)?)"""
_QUOTED = r'"(?:[^"\\\n]|\\.)*"?' + r"|'(?:[^'\\\n]|\\.)*'?"
_VALUE = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAKIA[A-Z0-9]{16}\b"
    r"|\beyJ[A-Za-z0-9_-]{10,1000}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*|(?i:bearer)\s+[A-Za-z0-9._~+/-]{12,}=*"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\[nr])*|\bgithub_pat_[A-Za-z0-9_]{20,}"
    rf"|://[^\s/:@]+:[^\s/@]+@\S*|{_NAMED}(?:{_QUOTED}|\S+)"
)


def is_secret_name(name: str) -> bool:
    """Return whether a name is one of a secret value."""
    return bool(_NAME.search(name))


def redact_text(text: str) -> str:
    """Return a text with its secrets redacted; line numbers do not change."""
    return _VALUE.sub(_replace_secret, text)


def redact_values(value: Any) -> Any:
    """Return plain data with the secrets in its texts redacted; names and structure stay."""
    if isinstance(value, str):
        return redact_text(value)
    if is_object(value):
        return {name: redact_values(entry) for name, entry in value.items()}
    return [redact_values(entry) for entry in value] if is_sequence(value) else value


def _replace_secret(match: re.Match[str]) -> str:
    name = match[1] or ""
    return name + REDACTED + "\n" * match[0].count("\n", len(name))
