"""The HTTP APIs of embedding services: requests and answers, no I/O."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from panorama.errors import InvalidInputError, UnavailableError
from panorama.index.embedders.http import LOCAL_HOSTS, TOO_MANY_REQUESTS

OLLAMA = "http://127.0.0.1:11434"
_OLLAMA_PORT = 11434
_MAX_ERROR_CHARS = 200


class EmbeddingApi(Protocol):
    """The API of one kind of service; `describing` is the resource with the model's digest, "" if none."""

    @property
    def path(self) -> str: ...
    @property
    def describing(self) -> str: ...
    @property
    def next_step(self) -> str: ...
    @property
    def takes_key(self) -> bool: ...

    def build_request(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return the request body for the vectors of texts."""
        ...

    def parse_vectors(self, body: Any) -> list[Any] | None:
        """Return the vectors of an answer in the order of the texts, None if there are none."""
        ...

    def parse_digest(self, body: Any) -> str:
        """Return the model's digest from the `describing` resource, "" if unknown."""
        ...


@dataclass(frozen=True, slots=True)
class OllamaApi:
    """Ollama's own API."""

    model: str
    path = "/api/embed"
    describing = "/api/tags"
    takes_key = False

    @property
    def next_step(self) -> str:
        """The hint for a missing model."""
        return f"Fetch it with: ollama pull {self.model}"

    def build_request(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return the request body for the vectors of texts."""
        return {"model": self.model, "input": list(texts), "truncate": True}

    def parse_vectors(self, body: Any) -> list[Any] | None:
        """Return the vectors of an answer."""
        return _as_list(_get_member(body, "embeddings"))

    def parse_digest(self, body: Any) -> str:
        """Return the digest of the model among the installed ones."""
        names = {self.model, f"{self.model}:latest"}
        for entry in _as_list(_get_member(body, "models")) or []:
            if _get_member(entry, "name") in names and isinstance(_get_member(entry, "digest"), str):
                return str(_get_member(entry, "digest"))
        return ""


@dataclass(frozen=True, slots=True)
class OpenAiApi:
    """The API of OpenAI and compatible services."""

    model: str
    path = "/embeddings"
    describing = ""
    takes_key = True
    next_step = "Check which models it has, and that the address ends before /embeddings (often with /v1)."

    def build_request(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return the request body for the vectors of texts."""
        return {"model": self.model, "input": list(texts), "encoding_format": "float"}

    def parse_vectors(self, body: Any) -> list[Any] | None:
        """Return the vectors of an answer, in the order of their indices."""
        rows = _as_list(_get_member(body, "data"))
        if rows is None:
            return None
        places = [_get_member(row, "index") for row in rows]
        if sorted(place for place in places if type(place) is int) == list(range(len(rows))):
            rows = sorted(rows, key=lambda row: row["index"])
        return [_get_member(row, "embedding") for row in rows]

    def parse_digest(self, body: Any) -> str:  # noqa: ARG002  (the others' signature)
        """Return "": the API has no digest."""
        return ""


def error_text(body: Any) -> str:
    """Return a service's error message on one line of at most 200 characters."""
    error = _get_member(body, "error")
    words = _get_member(error, "message") if isinstance(error, Mapping) else error
    return " ".join(str(words).split())[:_MAX_ERROR_CHARS] if words else ""


def refusal(base: str, dialect: Any, status: int, body: Any) -> UnavailableError:
    """Return the error for an unsuccessful answer."""
    if status in (401, 403):  # its message may contain a part of the key
        return UnavailableError(
            f"The embedding service at {base} does not accept the key ({status}).",
            hint=_key_hint(base, is_sent=dialect.takes_key),
        )
    if 300 <= status < 400:
        return UnavailableError(
            f"The embedding service at {base} has moved ({status}).", hint="Choose its new address."
        )
    words = error_text(body)
    if status == TOO_MANY_REQUESTS:
        return UnavailableError(
            f"The embedding service at {base} rejects requests for now: a rate limit or a quota is reached "
            f"({status}{words and ': '}{words}).",
            hint="Panorama retries automatically; if it persists, check the limits and balance of your account there.",
        )
    return UnavailableError(
        f"The embedding service at {base} refuses the model {dialect.model} ({status}{words and ': '}{words}).",
        hint=dialect.next_step,
    )


def _key_hint(base: str, *, is_sent: bool) -> str:
    """Return the hint for setting a service's key; the keyring is not used for services on this machine."""
    from urllib.parse import urlsplit

    if not is_sent:
        return "Panorama sends Ollama no key: let it answer without one, or choose it as openai:<address>/v1#<model>."
    shell = "set PANORAMA_OPENAI_KEY and run `panorama daemon restart` in the same shell"
    if urlsplit(base).hostname in LOCAL_HOSTS:
        return f"For a service on this machine, {shell}."
    return f"Store its key with `keyring set panorama {base}`, then `panorama daemon restart`; or {shell}."


def ollama_base(environment: Mapping[str, str] = os.environ) -> str:
    """Return the address of Ollama: OLLAMA_HOST in any form that Ollama accepts, else its default."""
    address = environment.get("OLLAMA_HOST", "").strip().rstrip("/")
    if not address:
        return OLLAMA
    scheme, separator, rest = address.partition("://")
    if not separator:
        scheme, rest = "http", address
    host, slash, path = rest.partition("/")
    if not _has_port(host):
        host += {"http": f":{_OLLAMA_PORT}"}.get(scheme, "") if not separator else ""
    return validate_url(f"{scheme}://{host.replace('0.0.0.0', '127.0.0.1', 1)}{slash}{path}")


def _has_port(host: str) -> bool:
    return ":" in host.rpartition("]")[2]


def validate_url(base: str) -> str:
    """Return an address without a slash at its end.

    Raises:
        InvalidInputError: It is not a valid address, or contains a password.
    """
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(base)
        parts.port  # noqa: B018  (reading it checks it)
        (parts.hostname or "").encode("idna")
    except ValueError as error:
        raise InvalidInputError(f"{base!r} is not the address of a service: {error}.", hint=_ADDRESS) from error
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query:
        raise InvalidInputError(f"{base!r} is not the address of a service.", hint=_ADDRESS)
    if "@" in parts.netloc:
        raise InvalidInputError(
            "An address with a password would be stored with every vector.",
            hint="Leave it out, and keep the key in the keyring or in PANORAMA_OPENAI_KEY.",
        )
    return base.rstrip("/")


_ADDRESS = "Use one such as https://api.openai.com/v1."


def _get_member(body: Any, name: str) -> Any:
    return cast("Mapping[str, Any]", body).get(name) if isinstance(body, Mapping) else None


def _as_list(value: Any) -> list[Any] | None:
    return cast("list[Any]", value) if isinstance(value, list) else None
