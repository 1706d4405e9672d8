"""Playwright and the system's Chromium. A test module that imports this is skipped without Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is not installed: uv sync --group browser")

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Frame,
    Locator,
    Page,
    WebError,
    expect,
    sync_playwright,
)

__all__ = ["Browser", "BrowserContext", "Frame", "Locator", "Page", "expect"]

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""
WAIT_MILLISECONDS = 15_000
"""How long a condition may take to become true on a busy machine."""

VIEWPORT = {"width": 1280, "height": 860}


@contextmanager
def launch_browser() -> Iterator[Browser]:
    """Start Chromium without a window; names that end with .test lead to this machine. Nothing is downloaded."""
    arguments = ["--host-resolver-rules=MAP *.test 127.0.0.1", "--disable-dev-shm-usage"]
    if os.getuid() == 0:
        arguments.append("--no-sandbox")  # Chromium's sandbox does not work for root
    expect.set_options(timeout=WAIT_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Complaints:
    """What a browser context complained of: errors in the console, and exceptions that no script caught."""

    texts: list[str] = field(default_factory=list)

    def watch(self, context: BrowserContext) -> None:
        """Collect the complaints of all tabs of a context."""
        context.on("console", self._add_message)
        context.on("weberror", self._add_error)

    def clear(self) -> None:
        """Forget what was expected."""
        self.texts.clear()

    def _add_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.texts.append(f"{message.text} ({message.location.get('url', '')})")

    def _add_error(self, error: WebError) -> None:
        self.texts.append(str(error.error))
