"""What is left out of config.toml where a copy of it is made."""

import tomllib

import pytest

from panorama.services.archive.secrets import remove_secrets


@pytest.mark.parametrize(
    "text",
    [
        'qdrant_key = "geheim"\n',
        'password = "geheim"\n',
        '[sources.notion]\ntoken = "geheim"\n',
        '[sources.a]\napi_key = "geheim"\n',
        'sources = [{name = "x", secret = "geheim"}]\n',
        'qdrant_url = "https://me:geheim@example.org"\n',
        'embedder = "openai:https://me:geheim@example.org/v1#m"\n',
        '# qdrant_key = "geheim"\n',
        '[env]\nAPI_TOKEN = "geheim"\n',
    ],
)
def test_a_secret_is_left_out_wherever_it_stands(text: str) -> None:
    kept, _ = remove_secrets('timezone = "UTC"\n' + text)

    assert "geheim" not in kept
    assert tomllib.loads(kept)["timezone"] == "UTC"


def test_all_else_stays_as_it_is() -> None:
    text = '# mine\ntimezone = "UTC"   # here\nlog_days = 7\nqdrant_url = "http://localhost:6333"\n'

    assert remove_secrets(text) == (text, ())


def test_what_was_left_out_is_named() -> None:
    assert remove_secrets('qdrant_key = "k"\n[sources.notion]\ntoken = "t"\n')[1] == (
        "qdrant_key",
        "sources.notion.token",
    )


def test_an_empty_key_is_no_secret() -> None:
    assert remove_secrets('qdrant_key = ""\n')[1] == ()


def test_what_is_no_toml_is_refused() -> None:
    with pytest.raises(ValueError):
        remove_secrets("timezone = ")
