"""Keys of web services: in no result, error or log, and at no other host."""

import base64
import json
import logging
import traceback
from collections.abc import Callable
from urllib.parse import quote

import pytest

from panorama.errors import InvalidInputError, PanoramaError, SourceError, UnavailableError
from panorama.sources.config import SourceConfig
from panorama.sources.secrets import open_secrets
from panorama.sources.source import open_source
from tests.sources.conftest import OpenCaller
from tests.sources.documented import answer_as_claap, answer_as_notion
from tests.sources.stand_ins import Reply, serve

AWKWARD_KEY = 'k"ey/+=&\\0123456789'

FORMS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "escaped": lambda key: json.dumps(key)[1:-1],
    "quoted": lambda key: quote(key, safe=""),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "basic": lambda key: base64.b64encode(f":{key}".encode()).decode(),
}


def _contains(text: str, key: str) -> bool:
    return any(encode(key) in text for encode in FORMS.values())


@pytest.mark.parametrize("form", FORMS)
def test_a_key_that_a_service_repeats_is_hidden_in_the_result(open_caller: OpenCaller, form: str) -> None:
    echo = Reply(body={"_id": "x", "note": f"<{FORMS[form](AWKWARD_KEY)}>"})
    caller = open_caller("lemlist", lambda _: echo, options={"key": AWKWARD_KEY})

    assert not _contains(json.dumps(caller.call("team")).replace("\\\\", "\\"), AWKWARD_KEY)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 418, 500])
def test_a_key_that_a_service_repeats_is_hidden_in_errors_and_logs(
    open_caller: OpenCaller, caplog: pytest.LogCaptureFixture, form: str, status: int
) -> None:
    echo = Reply(status=status, body={"message": f"bad {FORMS[form](AWKWARD_KEY)} here"}, headers={"Retry-After": "0"})
    caller = open_caller("lemlist", lambda _: echo, options={"key": AWKWARD_KEY})

    with caplog.at_level(logging.DEBUG), pytest.raises(PanoramaError) as refused:
        caller.call("team", seconds=5)

    shown = [json.dumps(refused.value.to_dict()), "".join(traceback.format_exception(refused.value)), caplog.text]
    assert not any(_contains(text.replace("\\\\", "\\"), AWKWARD_KEY) for text in shown)


def test_a_refused_key_is_not_shown_even_in_part(open_caller: OpenCaller) -> None:
    caller = open_caller("claap", lambda _: Reply(status=401, body={"message": "no such key: k3y-01234…"}))

    with pytest.raises(SourceError, match=r"Claap does not accept the key \(401\)\.$") as refused:
        caller.call("recordings")

    assert refused.value.hint == "Set it with `panorama sources secret claap`."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_carries_no_key_to_another_host(open_caller: OpenCaller, status: int) -> None:
    with serve(answer_as_claap) as other:
        reply = Reply(status=status, headers={"Location": f"{other.url}/recordings?from=elsewhere"})
        caller = open_caller("claap", lambda _: reply)

        with pytest.raises(SourceError, match=r"Claap redirects to 127\.0\.0\.1"):
            caller.call("recordings")

        assert other.calls == []


@pytest.mark.parametrize("name", ["..", ".", "", " ", "../users/me", "a/../../users/me", "..\\users", "x\r\nA: b"])
def test_an_id_that_leads_to_another_address_is_refused(open_caller: OpenCaller, name: str) -> None:
    caller = open_caller("notion", answer_as_notion)

    with pytest.raises(InvalidInputError, match="is not an id"):
        caller.call("database", database=name)

    assert caller.stand_in.calls == []


@pytest.mark.parametrize("name", ["x?filter=1", "x#y", "x;y", "x%2F..%2Fusers"])
def test_an_id_adds_nothing_to_the_address(open_caller: OpenCaller, name: str) -> None:
    caller = open_caller("notion", answer_as_notion)

    caller.call("database", database=name)

    assert [(call.path, call.query) for call in caller.stand_in.calls] == [(f"/databases/{name}", {})]


@pytest.mark.parametrize("key", ["abc\r\nX-Evil: 1", "schlüssel-0123456", "abc\x000123456", "abc\x7f0123456"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(open_caller: OpenCaller, key: str) -> None:
    caller = open_caller("claap", answer_as_claap, options={"key": key})

    with pytest.raises(InvalidInputError, match="contains an invalid character") as refused:
        caller.call("recordings")

    assert key not in str(refused.value.to_dict())


def test_an_empty_key_is_not_sent(open_caller: OpenCaller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAAP_KEY", "  ")
    caller = open_caller("claap", answer_as_claap, options={"key": "${CLAAP_KEY}"})

    with pytest.raises(UnavailableError, match="The secret key of the source claap is empty"):
        caller.call("recordings")

    assert caller.stand_in.calls == []


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://example.org", "would send a key without encryption"),
        ("http://127.0.0.1.example.org", "would send a key without encryption"),
        ("http://localhost.example.org", "would send a key without encryption"),
        ("https://user:password@example.org", "a url with more than an address"),
        ("https://example.org/?key=1", "a url with more than an address"),
        ("https://[", "a url that cannot be read"),
        ("https://", "needs a url"),
    ],
)
def test_a_key_is_sent_only_to_a_plain_encrypted_address(
    tmp_path_factory: pytest.TempPathFactory, url: str, problem: str
) -> None:
    home = tmp_path_factory.mktemp("home")
    config = SourceConfig(name="claap", kind="claap", url=url, options={"key": "k"})

    with pytest.raises(InvalidInputError, match=problem) as refused:
        open_source(config, open_secrets(home), home)

    assert "password" not in refused.value.message
