"""The operations that draw: a view in the chat, and charts into files."""

from collections.abc import Iterator

from panorama.operation import APPS_TOOLSET, Operation, read, write
from panorama.services import Services
from panorama.services import summaries as say


def list_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations."""
    yield read("show", do.views.show, "show", toolset=APPS_TOOLSET, sdk="", exempt=True)
    for name, draw in (("bar", do.charts.bar), ("line", do.charts.line), ("heatmap", do.charts.heatmap)):
        yield write(f"charts.{name}", draw, sdk=f"charts.{name}", summary=say.summarize_file_write, idempotent=True)
