"""What is hidden of texts that are logged and shown."""

import time

import pytest

from panorama.domain.text.secrets import REDACTED, redact_text, redact_values


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("password=hunter2 and more", f"password={REDACTED} and more"),
        ("DB_PASSWORD = 'hunter2 with spaces'", f"DB_PASSWORD = {REDACTED}"),
        ('{"api_key": "a\\"b c", "n": 1}', f'{{"api_key": {REDACTED}, "n": 1}}'),
        ('"{\\"token\\": \\"hunter2\\"}"', f'"{{\\"token\\": {REDACTED}'),
        ("token: Bearer abc.def-ghi", f"token: Bearer {REDACTED}"),
        ("passphrase:\nhunter2\nnext", f"passphrase:\n{REDACTED}\nnext"),
        ('secret = "no end of it', f"secret = {REDACTED}"),
        ("with sk-proj-abcdefghijklmnop it goes", f"with {REDACTED} it goes"),
        ("https://me:hunter2@example.org/x y", f"https{REDACTED} y"),
        ("the password of the door, 3 tokens, tokens=3", "the password of the door, 3 tokens, tokens=3"),
    ],
)
def test_a_secret_is_hidden_and_the_rest_is_shown(text: str, shown: str) -> None:
    assert redact_text(text) == shown


def test_a_key_is_hidden_to_its_end_and_the_lines_keep_their_numbers() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc+/\nhunter2=\n-----END RSA PRIVATE KEY-----"
    text = f'a = 1\nkey = """{key}"""\nif not token:\n    raise ValueError\nlast'

    shown = redact_text(text)

    assert "MIIabc" not in shown
    assert "hunter2" not in shown
    assert [line for line in shown.split("\n") if line in ("a = 1", "if not token:", "last")] == [
        text.split("\n")[at] for at in (0, 5, 7)
    ]
    assert shown.split("\n")[7] == "last"


def test_plain_data_keeps_its_shape() -> None:
    details = {"message": "password=x", "line": 3, "trace": ("token=y", "line 2"), "nothing": None}

    assert redact_values(details) == {
        "message": f"password={REDACTED}", "line": 3, "trace": [f"token={REDACTED}", "line 2"], "nothing": None,
    }  # fmt: skip


@pytest.mark.parametrize("piece", ["eyJ-", "password ", "password" + " " * 200, 'token="\\', "://a:", "-----BEGIN A "])
def test_no_text_takes_long_to_look_through(piece: str) -> None:
    text = (piece * 300_000)[: 256 << 10]

    began = time.process_time()
    redact_text(text)

    assert time.process_time() - began < 5
