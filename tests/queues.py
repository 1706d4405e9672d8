"""A queue that takes jobs and runs none: what schedules submit to in tests."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from panorama.errors import PanoramaError


@dataclass
class StandInQueue:
    """Remembers what was submitted: (kind, arguments, who asked). `fails` is raised instead."""

    names: tuple[str, ...] = ("backup", "reindex")
    submitted: list[tuple[str, Mapping[str, Any], str]] = field(default_factory=list[Any])
    fails: PanoramaError | None = None
    machine: str = ""

    def kinds(self) -> Collection[str]:
        """Return the kinds it takes."""
        return self.names

    def check(self, kind: str, arguments: Mapping[str, Any]) -> None:
        """Take any arguments."""

    def is_cli_only(self, kind: str) -> bool:
        """Keep purges for the terminal."""
        return kind == "purge"

    def needs_confirmation(self, kind: str, arguments: Mapping[str, Any]) -> bool:
        """Ask for what deletes."""
        return kind == "purge" and bool(arguments)

    def submit(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        *,
        asked_by: str,
        machine: str = "",  # noqa: ARG002 (tests have one)
    ) -> str:
        """Take a job."""
        if self.fails:
            raise self.fails
        self.submitted.append((kind, arguments, asked_by))
        return f"b_{len(self.submitted):010}"
