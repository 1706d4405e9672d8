"""Hiding the values of secrets."""

import base64
import json
from urllib.parse import quote

import pytest

from panorama.domain.sources.hiding import SecretHider

SECRET = 'ntn_"ä/+9x'


@pytest.mark.parametrize(
    "form",
    [SECRET, json.dumps(SECRET)[1:-1], quote(SECRET, safe=""), base64.b64encode(SECRET.encode()).decode()],
)
def test_a_secret_is_hidden_in_each_form(form: str) -> None:
    hider = SecretHider([SECRET])

    assert hider.hide(f"key={form};") == "key=•••;"


def test_secrets_are_hidden_in_names_and_nested_values() -> None:
    hider = SecretHider(["abcdef123", "short"])

    assert hider.hide_in({"abcdef123": ["x abcdef123", 5, None, "short"]}) == {"•••": ["x •••", 5, None, "short"]}
