"""The operation that shows a view in the chat."""

from collections.abc import Iterator

from panorama.operation import APPS_TOOLSET, Operation, read
from panorama.services import Services


def list_operations(do: Services) -> Iterator[Operation]:
    """Yield the operation."""
    yield read("show", do.views.show, "show", toolset=APPS_TOOLSET, sdk="", exempt=True)
