"""Monty, an interpreter of Python in Rust: what our scripts are measured against."""

import asyncio
import importlib.util
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

import pytest

MISSING = "pydantic-monty is missing: uv sync --group bench, or pip install 'pydantic-monty>=1.4,<2'"
MANY_CALLS = 1_000_000
"""More calls of one script than any of ours makes; Monty itself ends it after a thousand."""


class Monty:
    """A pool of Monty's processes, warm; each script gets a session of its own."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool

    def ran(self, source: str, **functions: Callable[..., Any]) -> Any:
        """Run a script that may call these functions, and return its result."""
        with self._pool.checkout(limits={"max_suspensions": MANY_CALLS}) as session:
            return session.feed_run(source, external_lookup=functions)


def needed() -> Any:
    """Return the package; skips the test where it is not installed."""
    return pytest.importorskip("pydantic_monty", reason=MISSING)


def is_here() -> bool:
    """Tell whether the package is installed."""
    return importlib.util.find_spec("pydantic_monty") is not None


def begin() -> None:
    """Start what Monty keeps in a process for good, its event loop, if it is installed."""
    if is_here():
        with pool() as made:
            made.ran("1")
        asyncio.run(_begin())


async def _begin() -> None:
    async with needed().AsyncMonty() as pool, pool.checkout() as session:
        await session.feed_run("1")


@contextmanager
def pool() -> Generator[Monty]:
    """Start a pool with one process, and end it."""
    with needed().Monty(min_processes=1) as pool:
        yield Monty(pool)
