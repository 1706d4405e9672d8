"""Imports a folder of Markdown."""

from typing import Any

from panorama.services.base import Service


class Imports(Service):
    """Brings in what a person has elsewhere."""

    def markdown(self, folder: str) -> Any:
        """Import a folder of Markdown."""
        return folder

    def told(self, value: Any) -> str:
        """Return what was imported."""
        return str(value)
