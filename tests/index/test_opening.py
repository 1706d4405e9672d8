"""The address of a Qdrant server: which can be asked, and what is wrong with the others."""

import pytest

from panorama.errors import InvalidInputError
from panorama.index.open_index import validate_key, validate_server, validate_url


@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("localhost:6333", "begin with http"), ("localhost", "begin with http"), ("ftp://h", "begin with http"),
        (" ", "begin with http"), ("http://", "no host"), ("http://:6333", "no host"), ("http://a b", "no host"),
        ("http://[::1", "no host"), ("http://h:port", "port"), ("http://h:99999", "port"), ("http://h:0", "port"),
        ("http://ex..ample", "not a valid name"),
        ("http://.example:6333", "not a valid name"), (f"http://{'h' * 64}.example", "not a valid name"),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_asked_is_refused_with_the_form_of_one(url: str, wrong: str) -> None:
    with pytest.raises(InvalidInputError, match=wrong) as refused:
        validate_url(url)

    assert "http://localhost:6333" in refused.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "http://h",
        "https://h.example/qdrant/",
        " http://[::1]:6333\n",
        "HTTP://me:x@h:80//",
        "http://my_q.",
        "http://bücher.example",
    ],
)
def test_an_address_that_can_be_asked_is_taken_without_its_last_slash(url: str) -> None:
    assert validate_url(url).lower() == url.strip().rstrip("/").lower()


def test_a_password_in_an_address_is_not_shown_by_its_refusal() -> None:
    with pytest.raises(InvalidInputError) as refused:
        validate_url("http://me:geheim@host:port")

    assert "geheim" not in f"{refused.value.to_dict()} {refused.value.__cause__}"


@pytest.mark.parametrize("key", ["schlüssel", "“abc”", "abc\ndef", "abc\x00"])
def test_a_key_that_cannot_be_sent_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(InvalidInputError, match="PANORAMA_QDRANT_KEY") as refused:
        validate_key(key)

    assert key not in f"{refused.value.to_dict()}"


def test_a_key_is_taken_without_the_blanks_around_it() -> None:
    assert validate_key(" a-B_9.=\n") == "a-B_9.="


@pytest.mark.parametrize("url", ["http://qdrant:6333", "http://10.0.0.8:6333", "http://localhost.example"])
def test_a_key_is_not_sent_unencrypted_over_a_network(url: str) -> None:
    with pytest.raises(InvalidInputError, match="unencrypted") as refused:
        validate_server(url, "geheim")

    assert "geheim" not in f"{refused.value.to_dict()}"
    assert validate_server(url, "") == (url, "")


@pytest.mark.parametrize("url", ["https://h:6333", "http://localhost:6333", "http://127.0.0.2", "http://[::1]:6333"])
def test_a_key_is_sent_encrypted_or_on_this_machine(url: str) -> None:
    assert validate_server(url, "key") == (url, "key")
