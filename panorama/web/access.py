"""Who may see the page: one-time codes, sessions, and the file that keeps them when the daemon restarts.

Codes and session secrets are random and stored as digests only. The file also keeps the name and the port of the page,
so that a bookmark works again.
"""

import hashlib
import hmac
import json
import os
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from panorama.domain.text.json_types import is_object
from panorama.errors import NotFoundError

FILE_NAME = "page.json"
CODE_SECONDS = 60.0
MAX_CODES = 20
"""The maximum number of valid codes; a further one replaces the oldest."""

SESSION_AGE = timedelta(days=30)
SEEN_AGE = timedelta(hours=1)
"""A session's last visit is written again only after this time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """One browser that is signed in; `digest` is that of its secret."""

    id: str
    digest: str
    browser: str
    read_only: bool
    created_at: datetime
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The session of a request, and the token that its forms carry."""

    session: WebSession
    token: str


class Access:
    """The codes and sessions of one data directory. Thread-safe."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE_NAME
        self._lock = threading.Lock()
        self._codes: dict[str, tuple[float, bool]] = {}
        stored = _load(self._path)
        self.name = str(stored.get("name") or f"panorama-{secrets.token_hex(5)}")
        self.port = int(stored.get("port") or 0)
        self.cookie = f"panorama_{digest(str(home))[:10]}"
        self._sessions = {session.id: session for session in _parse_sessions(stored.get("sessions"))}

    def keep_port(self, port: int) -> None:
        """Store the port for the next daemon."""
        with self._lock:
            self.port = port
            self._save()

    def create_code(self, *, read_only: bool) -> str:
        """Return a code that signs in one browser once, within `CODE_SECONDS`."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            while len(self._codes) >= MAX_CODES:
                del self._codes[next(iter(self._codes))]
            self._codes[digest(code)] = (time.monotonic() + CODE_SECONDS, read_only)
        return code

    def sign_in(self, code: str, browser: str) -> str | None:
        """Use up a code and return the secret of a new session; None if the code is not valid."""
        now = datetime.now(UTC)
        with self._lock:
            expires_at, read_only = self._codes.pop(digest(code), (0.0, True))
            if expires_at < time.monotonic():
                return None
            secret = secrets.token_urlsafe(32)
            session = WebSession(
                id=secrets.token_hex(6), digest=digest(secret), browser=browser[:80], read_only=read_only,
                created_at=now, seen_at=now,
            )  # fmt: skip
            self._sessions = {id_: known for id_, known in self._sessions.items() if _is_current(known, now)}
            self._sessions[session.id] = session
            self._save()
        return secret

    def find_session(self, secret: str) -> SessionContext | None:
        """Return the session of a secret, None if there is none."""
        if not secret:
            return None
        now, secret_digest = datetime.now(UTC), digest(secret)
        with self._lock:
            session = next(
                (known for known in self._sessions.values() if hmac.compare_digest(known.digest, secret_digest)), None
            )
            if session is None or not _is_current(session, now):
                return None
            if now - session.seen_at > SEEN_AGE:
                session = self._sessions[session.id] = replace(session, seen_at=now)
                self._save()
        return SessionContext(session, digest(f"form {secret}")[:32])

    def list_sessions(self) -> list[WebSession]:
        """Return the sessions, the one used last first."""
        with self._lock:
            now = datetime.now(UTC)
            current = [session for session in self._sessions.values() if _is_current(session, now)]
        return sorted(current, key=lambda session: session.seen_at, reverse=True)

    def revoke(self, id_: str) -> None:
        """End a session; "" ends all sessions.

        Raises:
            NotFoundError: There is no such session, or it has ended.
        """
        with self._lock:
            if id_ and id_ not in self._sessions:
                raise NotFoundError("This session has ended already.")
            ended = [id_] if id_ else list(self._sessions)
            for session_id in ended:
                del self._sessions[session_id]
            self._save()

    def _save(self) -> None:
        """Write the file in one step, readable by its owner alone."""
        sessions = [
            asdict(session) | {name: getattr(session, name).isoformat() for name in ("created_at", "seen_at")}
            for session in self._sessions.values()
        ]
        text = json.dumps({"name": self.name, "port": self.port, "sessions": sessions}, indent=1)
        draft = self._path.with_suffix(".new")
        draft.unlink(missing_ok=True)
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(file, "w") as stream:
            stream.write(text)
        draft.replace(self._path)


def digest(text: str) -> str:
    """Return the sha256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _is_current(session: WebSession, now: datetime) -> bool:
    return now - session.created_at < SESSION_AGE


def _load(path: Path) -> Mapping[str, Any]:
    try:
        stored = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return stored if is_object(stored) else {}


def _parse_sessions(stored: Any) -> list[WebSession]:
    """Return the stored sessions; a file that was changed by hand has none."""
    try:
        return [
            WebSession(
                id=str(row["id"]),
                digest=str(row["digest"]),
                browser=str(row["browser"]),
                read_only=row["read_only"] is not False,
                created_at=datetime.fromisoformat(row["created_at"]),
                seen_at=datetime.fromisoformat(row["seen_at"]),
            )
            for row in stored or ()
        ]
    except (TypeError, KeyError, ValueError):
        return []
