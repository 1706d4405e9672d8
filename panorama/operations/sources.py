"""The operations on sources."""

from collections.abc import Iterator
from typing import Any

from panorama.domain.scripts.scripts import SOURCE_CALL
from panorama.operation import Operation, read, write
from panorama.services import Services
from panorama.services import summaries as say
from panorama.services.sources.listing import summarize_sources


def list_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on sources; only a person changes them, at a terminal."""
    waiting: dict[str, Any] = {"transactional": False, "long": True}
    yield read(SOURCE_CALL, do.sources.call, say.summarize_script_call, sdk=SOURCE_CALL, **waiting)
    yield read(
        "sources.list", do.source_listing.list, summarize_sources, "list_sources", toolset="more", sdk="", exempt=True,
        transactional=False,
    )  # fmt: skip
    yield write("sources.renew", do.source_permissions.renew, say.summarize_script_call)
