"""Unit files for systemd and launchd that keep the daemon running. Pure."""

import plistlib
import re
from collections.abc import Mapping, Sequence

LABEL = "panorama"
LAUNCHD_LABEL = "org.panorama.daemon"
PAUSE_SECONDS = 30
"""The pause before a restart: another daemon, started by a client, may still hold the data."""


_PLAIN = re.compile(r"[\w/.+@-]+")


def render_systemd_unit(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return a systemd user unit (systemd.service(5), systemd.exec(5))."""
    lines = "".join(f'Environment="{_escape(f"{name}={value}")}"\n' for name, value in sorted(environment.items()))
    # A program name must not contain systemd's special characters; an argument may.
    by = () if _PLAIN.fullmatch(command[0]) else ("/usr/bin/env",)
    words = " ".join(_quote_word(word) for word in (*by, *command, "serve"))
    return f"""\
[Unit]
Description=Panorama's daemon
StartLimitIntervalSec=0

[Service]
ExecStart={words}
{lines}Restart=always
RestartSec={PAUSE_SECONDS}

[Install]
WantedBy=default.target
"""


def _quote_word(text: str) -> str:
    """Return a word of a command line: quoted if needed, with specifiers (%) and variables ($) escaped."""
    if _PLAIN.fullmatch(text):
        return text
    return f'"{_escape(text)}"'.replace("$", "$$")


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def render_launchd_agent(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return a launchd agent (launchd.plist(5)); untested."""
    agent = {
        "Label": LAUNCHD_LABEL,
        "ProgramArguments": [*command, "serve"],
        "RunAtLoad": True,
        "KeepAlive": True,
        "ThrottleInterval": PAUSE_SECONDS,
        **({"EnvironmentVariables": dict(environment)} if environment else {}),
    }
    return plistlib.dumps(agent).decode()
