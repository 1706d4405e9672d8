"""Services over HTTP: what they are asked, and what becomes of their misbehaviour."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from threading import Thread

import numpy as np
import pytest

from panorama.errors import UnavailableError
from panorama.index.embedders import http
from panorama.index.embedders.apis import OllamaApi, OpenAiApi, refusal
from panorama.index.embedders.http import Limits
from panorama.index.embedders.remote import RemoteEmbedder

from . import service as act
from .conftest import HASTY
from .service import Service, says

NONSENSE = {
    "no JSON": act.raw(b"<html>"),
    "nothing": act.raw(b""),
    "deep JSON": act.raw(b"[" * 100_000),
    "another shape": says(["x"]),
    "no list": says({"embeddings": "x", "data": "x"}),
    "one too many": act.vectors([[1.0], [1.0]]),
    "none": act.vectors([]),
    "no numbers": act.vectors([[]]),
    "words": act.vectors([["1", "2"]]),
    "truths": act.vectors([[True, False]]),
    "null": act.vectors([None]),
    "a number alone": act.vectors([1.0]),
    "nested": act.vectors([[[1.0]]]),
    "zeros": act.vectors([[0.0, 0.0]]),
    "NaN": act.vectors([[float("nan"), 1.0]]),
    "infinite": act.vectors([[float("inf"), 1.0]]),
    "too large": act.raw(b'{"embeddings": [[1e400]], "data": [{"index": 0, "embedding": [1e400]}]}'),
    "too large together": act.vectors([[1e200, 1e200]]),
}


def test_vectors_come_in_the_order_of_the_texts(remote: RemoteEmbedder) -> None:
    texts = [f"text {number}" for number in range(70)]

    found = remote.embed_documents(texts)

    assert np.allclose(found, [act.unit(text) for text in texts], atol=1e-6)


def test_texts_are_asked_for_in_batches_over_one_connection(remote: RemoteEmbedder, service: Service) -> None:
    remote.embed_documents([f"text {number}" for number in range(70)])

    assert [len(texts) for texts in service.texts] == [1, 32, 32, 6]


def test_nothing_is_sent_before_it_is_needed(remote: RemoteEmbedder, service: Service) -> None:
    assert service.asked == []


def test_size_and_digest_are_unknown_until_it_has_answered(remote: RemoteEmbedder) -> None:
    with pytest.raises(UnavailableError, match="has not answered yet"):
        _ = remote.size

    remote.load()

    assert remote.size == act.SIZE


def test_ollama_tells_the_digest_of_the_model(connected: Callable[..., RemoteEmbedder]) -> None:
    remote = connected("ollama")
    remote.load()

    assert remote.digest == act.DIGEST


def test_ollama_is_asked_to_cut_what_is_too_long(connected: Callable[..., RemoteEmbedder], service: Service) -> None:
    connected("ollama").embed_query("tea")

    asked = service.asked[-1]
    assert (asked.path, asked.body) == ("/api/embed", {"model": "tiny", "input": ["tea"], "truncate": True})


def test_openai_is_asked_for_numbers(connected: Callable[..., RemoteEmbedder], service: Service) -> None:
    connected("openai").embed_query("tea")

    asked = service.asked[-1]
    assert (asked.path, asked.body) == (
        "/v1/embeddings",
        {"model": "tiny", "input": ["tea"], "encoding_format": "float"},
    )


def test_the_key_is_sent_and_never_said(connected: Callable[..., RemoteEmbedder], service: Service) -> None:
    remote = connected("openai", PANORAMA_OPENAI_KEY="sk-secret\n")
    service.always = says({"error": {"message": "Incorrect API key provided: sk-secret"}}, 401)

    with pytest.raises(UnavailableError, match="does not accept the key") as caught:
        remote.embed_query("tea")

    assert service.asked[-1].headers["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in f"{caught.value.text()} {vars(remote)}"


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_passing_failure_is_tried_again(remote: RemoteEmbedder, service: Service, status: int) -> None:
    service.replies.extend([says({}, status), says({}, status)])

    assert np.allclose(remote.embed_query("tea"), act.unit("tea"), atol=1e-6)


def test_a_query_is_asked_once_as_somebody_waits_for_it(
    connected: Callable[..., RemoteEmbedder], service: Service
) -> None:
    remote = connected("openai", replace(HASTY, repeats_queries=False))
    remote.load()
    service.replies.append(says({}, 503))

    with pytest.raises(UnavailableError, match="it returned status 503"):
        remote.embed_query("tea")

    assert np.allclose(remote.embed_query("tea"), act.unit("tea"), atol=1e-6)


def test_loading_asks_though_it_was_loaded(hasty: RemoteEmbedder, service: Service) -> None:
    hasty.load()
    service.always = act.silence

    with pytest.raises(UnavailableError, match="no complete answer"):
        hasty.load()


def test_a_service_that_answers_again_is_found_though_a_question_was_swallowed(
    connected: Callable[..., RemoteEmbedder], service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "HEDGE_SECONDS", 0.05)
    remote = connected("openai", Limits(documents=60))
    service.replies.extend([act.silence, act.silence])

    remote.load()

    assert (remote.size, len(service.asked)) == (act.SIZE, 3)


def test_a_connection_that_breaks_is_tried_again(remote: RemoteEmbedder, service: Service) -> None:
    remote.load()
    service.replies.append(act.hang_up)

    assert np.allclose(remote.embed_query("tea"), act.unit("tea"), atol=1e-6)


def test_it_waits_as_long_as_it_was_asked_to(remote: RemoteEmbedder, service: Service) -> None:
    service.replies.append(says({}, 429, retry_after="0.2"))
    started = time.monotonic()

    remote.embed_query("tea")

    assert time.monotonic() - started >= 0.2


def in_seconds() -> str:
    """Return an hour in seconds."""
    return "3600"


def as_a_date() -> str:
    """Return the moment that is an hour ahead."""
    return format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)


@pytest.mark.parametrize("after", [in_seconds, as_a_date])
def test_it_does_not_wait_longer_than_its_limit(
    remote: RemoteEmbedder, service: Service, after: Callable[[], str]
) -> None:
    service.always = says({}, 429, retry_after=after())
    started = time.monotonic()

    with pytest.raises(UnavailableError, match="rejects requests for now"):
        remote.embed_query("tea")

    assert time.monotonic() - started < 0.3
    assert len(service.asked) == 1


def test_a_limit_that_is_used_up_is_told_as_one_in_the_services_words(hasty: RemoteEmbedder, service: Service) -> None:
    service.always = says({"error": {"message": "You exceeded your current quota"}}, 429)

    with pytest.raises(UnavailableError, match=r"limit or a quota.*429: You exceeded your current quota") as caught:
        hasty.embed_query("tea")

    assert "Check that it is running" not in caught.value.hint
    assert "limits" in caught.value.hint


def test_a_service_that_is_asked_for_too_much_is_left_alone_for_as_long_as_it_says(
    connected: Callable[..., RemoteEmbedder], service: Service
) -> None:
    remote = connected("openai", replace(HASTY, repeats_queries=False))
    remote.load()
    service.replies.append(says({}, 429, retry_after="0.3"))
    with pytest.raises(UnavailableError, match="limit"):
        remote.embed_query("tea")
    asked = len(service.asked)

    with pytest.raises(UnavailableError, match="limit"):
        remote.embed_query("tea")
    assert len(service.asked) == asked
    time.sleep(0.3)

    assert np.allclose(remote.embed_query("tea"), act.unit("tea"), atol=1e-6)


def test_a_service_is_asked_again_after_some_minutes_whatever_it_says(
    connected: Callable[..., RemoteEmbedder], service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MAX_RATE_LIMIT_SECONDS", 0.1)
    remote = connected("openai", replace(HASTY, repeats_queries=False))
    service.replies.append(says({}, 429, retry_after="86400"))
    with pytest.raises(UnavailableError, match="limit"):
        remote.load()
    time.sleep(0.1)

    remote.load()

    assert remote.size == act.SIZE


def test_a_failure_is_not_tried_again_in_silence_for_long(
    connected: Callable[..., RemoteEmbedder], service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "RETRY_SECONDS", 0.2)
    remote = connected("openai", Limits(documents=60, pause=0.01))
    service.always = says({}, 503)
    started = time.monotonic()

    with pytest.raises(UnavailableError, match="it returned status 503"):
        remote.embed_documents(["tea"])

    assert time.monotonic() - started < 30


def test_few_texts_that_are_swallowed_are_given_up_before_many(
    connected: Callable[..., RemoteEmbedder], service: Service
) -> None:
    remote = connected("openai", Limits(documents=6.0))
    remote.load()
    service.replies.append(act.silence)
    started = time.monotonic()

    with pytest.raises(UnavailableError, match=r"no complete answer came within 0\.688 s"):
        remote.embed_documents(["tea"])

    assert time.monotonic() - started < 3
    assert [remote._timeout_seconds(count) for count in (8, 32)] == [2.0, 6.0]


def test_a_failure_that_does_not_pass_is_told_in_time(hasty: RemoteEmbedder, service: Service) -> None:
    service.always = says({}, 503, retry_after="soon")

    with pytest.raises(UnavailableError, match="it returned status 503"):
        hasty.embed_query("tea")

    assert len(service.asked) > 3


@pytest.mark.parametrize("reply", [act.trickle, act.trickle_headers, act.silence], ids=lambda reply: reply.__name__)
def test_an_answer_without_an_end_is_given_up(hasty: RemoteEmbedder, service: Service, reply: act.Reply) -> None:
    service.always = reply
    started = time.monotonic()

    with pytest.raises(UnavailableError, match=r"no complete answer came within 0\.4 s"):
        hasty.embed_query("tea")

    assert time.monotonic() - started < 2 * HASTY.query + 1


def test_a_huge_answer_is_given_up(remote: RemoteEmbedder, service: Service) -> None:
    service.always = act.endless

    with pytest.raises(UnavailableError, match="more than 1,048,576 bytes"):
        remote.embed_documents(["tea"])


@pytest.mark.parametrize("reply", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_refused(remote: RemoteEmbedder, service: Service, reply: act.Reply) -> None:
    service.always = reply

    with pytest.raises(UnavailableError, match="gave an invalid answer") as caught:
        remote.embed_query("tea")

    assert caught.value.hint


def test_a_size_that_changes_is_refused(remote: RemoteEmbedder, service: Service) -> None:
    remote.load()
    service.size = 4

    with pytest.raises(UnavailableError, match="vectors of 4 numbers, after vectors of 8"):
        remote.embed_query("tea")


def test_sizes_that_differ_within_an_answer_are_refused(remote: RemoteEmbedder, service: Service) -> None:
    remote.load()
    service.always = act.vectors([[1.0, 2.0], [1.0]])

    with pytest.raises(UnavailableError, match="different sizes"):
        remote.embed_documents(["tea", "coffee"])


def test_a_model_that_is_not_there_is_named_with_the_next_step(
    connected: Callable[..., RemoteEmbedder], service: Service
) -> None:
    service.always = says({"error": 'model "tiny" not found, try pulling it first'}, 404)

    with pytest.raises(UnavailableError, match=r'refuses the model tiny \(404: model "tiny" not found') as caught:
        connected("ollama").embed_query("tea")

    assert "ollama pull tiny" in caught.value.hint


@pytest.mark.parametrize(
    ("base", "dialect", "words", "others"),
    [
        (
            "https://models.example.org/v1",
            OpenAiApi("m"),
            "`keyring set panorama https://models.example.org/v1`",
            "Ollama",
        ),
        (
            "http://127.0.0.1:8080/v1",
            OpenAiApi("m"),
            "set PANORAMA_OPENAI_KEY and run `panorama daemon restart`",
            "keyring",
        ),
        ("http://localhost:11434", OllamaApi("m"), "Panorama sends Ollama no key", "PANORAMA_OPENAI_KEY"),
    ],
)
def test_who_wants_another_key_is_told_where_it_is_looked_for(
    base: str, dialect: OpenAiApi | OllamaApi, words: str, others: str
) -> None:
    error = refusal(base, dialect, 401, {"error": "sk-123 is wrong"})

    assert words in error.hint
    assert others not in error.hint


def test_it_does_not_follow_to_another_place(remote: RemoteEmbedder, service: Service) -> None:
    service.always = says({}, 302, location="http://127.0.0.1:1/steal")

    with pytest.raises(UnavailableError, match="moved"):
        remote.embed_query("tea")


def test_nothing_there_is_told_in_time(service: Service, connected: Callable[..., RemoteEmbedder]) -> None:
    remote = connected("ollama", OLLAMA_HOST="127.0.0.1:1")

    with pytest.raises(UnavailableError, match="nothing answers at this address"):
        remote.embed_query("tea")


def test_closing_hangs_up_on_a_service_that_does_not_answer(
    connected: Callable[..., RemoteEmbedder], service: Service
) -> None:
    remote = connected("openai", Limits(documents=60, query=60))
    service.always = act.silence
    heard: list[str] = []

    def ask() -> None:
        with pytest.raises(UnavailableError) as caught:
            remote.embed_query("tea")
        heard.append(caught.value.message)

    thread = Thread(target=ask)
    thread.start()
    while not service.asked:
        time.sleep(0.01)
    remote.close()
    thread.join(5)

    assert heard == ["The embedder was closed during the call."]


def test_an_empty_text_is_not_sent_empty(remote: RemoteEmbedder, service: Service) -> None:
    remote.embed_documents(["", "  "])

    assert service.texts[-1] == [".", "."]
