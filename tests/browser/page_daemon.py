"""A real daemon with the page open, and the commands that a user gives it."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

PANORAMA = [sys.executable, "-m", "panorama"]


def make_environment(home: Path) -> dict[str, str]:
    """Return the environment of a user whose data is in `home`; nothing of the tester's own settings is in it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PANORAMA_")}
    return inherited | {
        "HOME": str(home.parent),
        "TMPDIR": str(home.parent),
        "PANORAMA_HOME": str(home),
        "PANORAMA_TIMEZONE": "Europe/Berlin",
        "PANORAMA_EMBEDDER": "none",
        "PANORAMA_DESKTOP_NOTIFICATIONS": "0",
        "PANORAMA_TOOLSETS": "more,files,people",
    }


@dataclass(frozen=True)
class PageDaemon:
    """The daemon of one data directory, started by the first command that needs it."""

    home: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment of every command."""
        return make_environment(self.home)

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `panorama WORDS`."""
        return subprocess.run(
            [*PANORAMA, *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=60, check=check,
        )  # fmt: skip

    def get_sign_in(self, *options: str) -> str:
        """Return the address that `panorama open --print` prints first."""
        return self.run("open", *options, "--print").stdout.splitlines()[0].strip()

    def get_origin(self) -> str:
        """Return scheme, name and port of the page."""
        parts = urlsplit(self.get_sign_in())
        return f"{parts.scheme}://{parts.netloc}"

    def stop(self) -> None:
        """Stop the daemon, if it runs."""
        self.run("daemon", "stop", check=False)
