"""Hides the values of secrets wherever a source returns them. Pure."""

import base64
import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from panorama.domain.text.json_types import is_list, is_object
from panorama.domain.text.secrets import REDACTED

MIN_SECRET_CHARS = 6
"""Shorter values are not hidden: they occur in ordinary text."""


class SecretHider:
    """Replaces secrets in texts and plain data: as they are, JSON-escaped, URL-quoted, and in Base64."""

    def __init__(self, secrets: Iterable[str]) -> None:
        usable = {secret.strip() for secret in secrets}
        forms = {form for secret in usable if len(secret) >= MIN_SECRET_CHARS for form in _encode(secret)}
        self._forms = sorted(forms, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return a text without secrets."""
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def hide_in(self, value: Any) -> Any:
        """Return plain data without secrets in its texts and names."""
        if not self._forms:
            return value
        if isinstance(value, str):
            return self.hide(value)
        if is_object(value):
            return {self.hide(name): self.hide_in(entry) for name, entry in value.items()}
        return [self.hide_in(entry) for entry in value] if is_list(value) else value


def _encode(secret: str) -> Iterable[str]:
    in_base64 = base64.b64encode(secret.encode()).decode()
    return (
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret, safe=""),
        in_base64,
    )
