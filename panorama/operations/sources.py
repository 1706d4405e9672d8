"""The operations on sources."""

from collections.abc import Iterator
from typing import Any

from panorama.domain.scripts.scripts import SOURCE_CALL
from panorama.operation import Operation, read, write
from panorama.services import Services
from panorama.services import summaries as say


def list_operations(do: Services) -> Iterator[Operation]:
    """Yield the operations on sources; only the user changes them, at a terminal or on the page."""
    waiting: dict[str, Any] = {"transactional": False, "long": True}
    yield read(SOURCE_CALL, do.sources.call, summary=say.summarize_script_call, sdk=SOURCE_CALL, **waiting)
    yield read(
        "sources.list", do.source_listing.list, "list_sources", toolset="more", sdk="", exempt=True, transactional=False
    )
    yield write("sources.renew", do.source_permissions.renew, transactional=False)
    yield read("sources.describe", do.source_policies.describe, exempt=True)
    yield write("sources.decide", do.source_policies.decide)
    yield write("sources.revoke", do.source_policies.revoke)
