"""Help Scout: conversations with customers. https://developer.helpscout.com/mailbox-api"""

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from panorama.domain.text.json_types import is_object
from panorama.errors import SourceError
from panorama.sources.config import SourceConfig
from panorama.sources.options import KindOption, Probe, check_options, read_address, read_secret
from panorama.sources.rest.client import RestClient, Send, Service
from panorama.sources.rest.endpoints import read_endpoint, write_endpoint
from panorama.sources.rest.messages import Request, build_path
from panorama.sources.rest.paging import Page, page_by_number, parse_page_number
from panorama.sources.rest.session import RestSession
from panorama.sources.rest.source import RestSource
from panorama.sources.secrets import SecretLookup
from panorama.sources.token_bucket import TokenBucket

ADDRESS = "https://api.helpscout.net/v2"
OPTIONS = (
    KindOption(name="app_id", description="The id of your Help Scout app."),
    KindOption(name="app_secret", description="The secret of your Help Scout app.", is_secret=True),
)
TOKEN_MARGIN_SECONDS = 60.0
"""A token is renewed this long before it expires."""

ConversationStatus = Literal["active", "all", "closed", "open", "pending", "spam"]


@read_endpoint
def conversations(
    session: RestSession,
    *,
    mailbox: str = "",
    status: ConversationStatus = "active",
    tag: str = "",
    query: str = "",
    modified_since: str = "",
    sort_field: str = "",
    sort_order: Literal["", "asc", "desc"] = "",
    threads: bool = False,
    cursor: str = "",
) -> Page:
    """List conversations: id, number, subject, status, tags, primaryCustomer, assignee, createdAt, closedAt.

    Args:
        mailbox: Id of a mailbox.
        status: Only conversations with this status.
        tag: Only conversations with this tag.
        query: Help Scout's search, such as `(email:"ada@example.org")`.
        modified_since: ISO time.
        sort_field: Such as `createdAt`, `modifiedAt`, `number`.
        sort_order: Ascending or descending.
        threads: Include the messages.
        cursor: The cursor of a page.
    """
    return _list(
        session,
        "/conversations",
        "conversations",
        cursor,
        mailbox=mailbox,
        status=status,
        tag=tag,
        query=query,
        modifiedSince=modified_since,
        sortField=sort_field,
        sortOrder=sort_order,
        embed="threads" if threads else "",
    )


@read_endpoint
def conversation(session: RestSession, conversation: int, *, threads: bool = False) -> dict[str, Any]:
    """Get a conversation.

    Args:
        conversation: Its id.
        threads: Include the messages.
    """
    path = build_path("conversations", str(conversation))
    return session.read_object(session.get(path, embed="threads" if threads else ""))


@read_endpoint
def threads(session: RestSession, conversation: int, *, cursor: str = "") -> Page:
    """List the messages of a conversation: id, type, status, body, createdBy, customer, createdAt.

    Args:
        conversation: Its id.
        cursor: The cursor of a page.
    """
    return _list(session, build_path("conversations", str(conversation), "threads"), "threads", cursor)


@write_endpoint("others")
def create_conversation(
    session: RestSession, mailbox: int, customer_email: str, subject: str, text: str, *, tags: list[str] | None = None
) -> int:
    """Create a conversation with a message from a customer, and return its id.

    Args:
        mailbox: Id of the mailbox.
        customer_email: Email of the customer.
        subject: Its subject.
        text: The message, as text or HTML.
        tags: Its tags.
    """
    customer = {"email": customer_email}
    body = {
        "mailboxId": mailbox,
        "subject": subject,
        "customer": customer,
        "type": "email",
        "status": "active",
        "threads": [{"type": "customer", "customer": customer, "text": text}],
        **({"tags": tags} if tags else {}),
    }
    return _create(session, "/conversations", body)


@write_endpoint("others")
def reply(session: RestSession, conversation: int, customer: int, text: str, *, draft: bool = False) -> int:
    """Reply to a customer by email, and return the id of the message.

    Args:
        conversation: Id of the conversation.
        customer: Id of the customer.
        text: The message, as text or HTML.
        draft: Only prepare it; nothing is sent.
    """
    path = build_path("conversations", str(conversation), "reply")
    return _create(session, path, {"customer": {"id": customer}, "text": text, "draft": draft})


@write_endpoint("others")
def add_note(session: RestSession, conversation: int, text: str) -> int:
    """Add a note that only the team can read, and return its id.

    Args:
        conversation: Id of the conversation.
        text: The note, as text or HTML.
    """
    return _create(session, build_path("conversations", str(conversation), "notes"), {"text": text})


ENDPOINTS = (conversations, conversation, threads, create_conversation, reply, add_note)

PROBE: Probe = ("conversations", {})


def open_source(config: SourceConfig, secrets: SecretLookup, log_folder: Path) -> RestSource:  # noqa: ARG001 (kinds share it)
    """Return the source of an entry without connecting."""
    check_options(config, OPTIONS)

    def read_app_secret() -> str:
        return read_secret(config, "app_secret", secrets)

    token = _AccessToken(str(config.options["app_id"]), read_app_secret)

    def sign(send: Send) -> Mapping[str, str]:
        value = token.ensure(send)
        client.add_secrets([value])
        return {"Authorization": f"Bearer {value}"}

    service = Service(
        title="Help Scout",
        source=config.name,
        call_seconds=config.call_seconds,
        base=read_address(config, ADDRESS),
        authorize=lambda: ({}, [read_app_secret()]),
        bucket=TokenBucket(per_second=3, burst=10),  # 200 requests in a minute on the smallest plan
        sign=sign,
        write_tokens=2.0,
    )
    client = RestClient(service)
    return RestSource(client, ENDPOINTS)


class _AccessToken:
    """The token of an app, renewed before it expires. Thread-safe."""

    def __init__(self, app_id: str, read_app_secret: Callable[[], str]) -> None:
        self._app_id = app_id
        self._read_app_secret = read_app_secret
        self._lock = threading.Lock()
        self._value = ""
        self._expires_at = 0.0

    def ensure(self, send: Send) -> str:
        """Return the token; a missing or old one is requested."""
        with self._lock:
            if time.time() >= self._expires_at:
                self._request(send)
            return self._value

    def _request(self, send: Send) -> None:
        form = {"grant_type": "client_credentials", "client_id": self._app_id}
        form["client_secret"] = self._read_app_secret()
        answer = send(Request(method="POST", path="/oauth2/token", form=form, reads_only=True)).parse_json("Help Scout")
        fields: Mapping[str, Any] = answer if is_object(answer) else {}
        value, seconds = fields.get("access_token"), fields.get("expires_in", 3600)
        if not isinstance(value, str) or not isinstance(seconds, int):
            raise SourceError("Help Scout returned no access token.", hint="Check the id and the secret of the app.")
        self._value, self._expires_at = value, time.time() + seconds - TOKEN_MARGIN_SECONDS


def _list(session: RestSession, path: str, name: str, cursor: str, **params: Any) -> Page:
    number, size = parse_page_number(cursor, 0)  # Help Scout chooses the size
    answer = session.read_object(session.get(path, page=number, **params))
    rows = session.read_rows(answer, "_embedded", name) if session.find(answer, "_embedded", name) is not None else []
    page_count = session.find(answer, "page", "totalPages")
    return page_by_number(rows, number, size, page_count if isinstance(page_count, int) else 1)


def _create(session: RestSession, path: str, body: Mapping[str, Any]) -> int:
    """Create something and return its id, which Help Scout sends in a header."""
    resource = session.send_change("POST", path, body).headers.get("resource-id", "")
    if not resource.isdecimal():
        raise SourceError("Help Scout created it and returned no id.", hint="Look at Help Scout before you repeat it.")
    return int(resource)
