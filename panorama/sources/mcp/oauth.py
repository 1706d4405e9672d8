"""Signs in by OAuth: the user does it once with a command; the daemon renews tokens and never asks."""

import json
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, SupportsFloat

from fastmcp.client.auth.oauth import OAuth

CALLBACK_HOST, CALLBACK_PORT = "127.0.0.1", 8796
"""Where the browser returns to; fixed, since it is part of the registration that is stored."""

SIGN_IN_SECONDS = 300.0

ShowAddress = Callable[[str], None]
"""Shows a person the address where they sign in."""


class LoginNeededError(Exception):
    """Somebody has to sign in first."""


class TokenFile:
    """Tokens in one file that only its owner can read; implements `AsyncKeyValue`.

    The keyring of Windows takes 2,560 bytes a value, which is less than some tokens have.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    async def ttl(self, key: str, *, collection: str | None = None) -> tuple[dict[str, Any] | None, float | None]:
        """Return a value that has not expired, and the seconds until it does."""
        value, expires_at = self._read().get(f"{collection}/{key}", (None, None))
        left = None if expires_at is None else expires_at - time.time()
        return (None, None) if value is None or (left is not None and left <= 0) else (value, left)

    async def get(self, key: str, *, collection: str | None = None) -> dict[str, Any] | None:
        """Return a value that has not expired."""
        return (await self.ttl(key, collection=collection))[0]

    async def put(
        self, key: str, value: Mapping[str, Any], *, collection: str | None = None, ttl: SupportsFloat | None = None
    ) -> None:
        """Store a value, for some seconds if `ttl` is given."""
        expires_at = None if ttl is None else time.time() + float(ttl)
        self._write({**self._read(), f"{collection}/{key}": (dict(value), expires_at)})

    async def delete(self, key: str, *, collection: str | None = None) -> bool:
        """Remove a value."""
        values = self._read()
        is_there = values.pop(f"{collection}/{key}", None) is not None
        self._write(values)
        return is_there

    async def get_many(self, keys: Sequence[str], *, collection: str | None = None) -> list[dict[str, Any] | None]:
        """Return several values."""
        return [await self.get(key, collection=collection) for key in keys]

    async def ttl_many(
        self, keys: Sequence[str], *, collection: str | None = None
    ) -> list[tuple[dict[str, Any] | None, float | None]]:
        """Return several values and the seconds until they expire."""
        return [await self.ttl(key, collection=collection) for key in keys]

    async def put_many(
        self,
        keys: Sequence[str],
        values: Sequence[Mapping[str, Any]],
        *,
        collection: str | None = None,
        ttl: SupportsFloat | None = None,
    ) -> None:
        """Store several values."""
        for key, value in zip(keys, values, strict=True):
            await self.put(key, value, collection=collection, ttl=ttl)

    async def delete_many(self, keys: Sequence[str], *, collection: str | None = None) -> int:
        """Remove several values, and return how many there were."""
        return sum([await self.delete(key, collection=collection) for key in keys])

    def _read(self) -> dict[str, Any]:
        try:
            return dict(json.loads(self._file.read_bytes()))
        except (OSError, ValueError):
            return {}

    def _write(self, values: Mapping[str, Any]) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self._file.with_suffix(".new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
            json.dump(values, stream)
        new.replace(self._file)


class SourceOAuth(OAuth):
    """OAuth that never asks the user, unless it has a way to show an address."""

    def __init__(self, tokens: TokenFile, show_address: ShowAddress | None) -> None:
        logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)  # it logs each refusal with its traceback
        super().__init__(
            client_name="Panorama", token_storage=tokens, callback_host=CALLBACK_HOST, callback_port=CALLBACK_PORT,
            callback_timeout=SIGN_IN_SECONDS,
        )  # fmt: skip
        self._show_address = show_address

    async def redirect_handler(self, authorization_url: str) -> None:
        """Show the address where to sign in.

        Raises:
            LoginNeededError: No user can be shown it.
        """
        if self._show_address is None:
            raise LoginNeededError
        self._show_address(authorization_url)


def needs_login(error: BaseException | None) -> bool:
    """Return whether an error was caused by a missing sign-in."""
    seen: set[int] = set()
    stack = [error]
    while stack:
        cause = stack.pop()
        if cause is None or id(cause) in seen:
            continue
        if isinstance(cause, LoginNeededError):
            return True
        seen.add(id(cause))
        stack += [cause.__cause__, cause.__context__, *getattr(cause, "exceptions", ())]
    return False
