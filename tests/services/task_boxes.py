"""A note with open boxes that are tasks."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.calls import Answer

Call = Callable[..., Answer]


FIELDS = (
    "id", "title", "status", "project", "deadline", "tags", "parent", "source_ref", "completed_at",
)  # fmt: skip


TEXT = """# Kitchen

- [ ] Order the tiles 📅 2026-12-01 #kitchen
- [ ] Call Anna
    - [ ] Ask for the key
- [x] Measure the wall ✅ 2026-11-01

```
- [ ] an example in code
```
"""


@pytest.fixture
def note(call: Call) -> str:
    """The id of a note with three open boxes that are tasks."""
    id_ = call("notes.create", title="Kitchen", content=TEXT).data["id"]
    call("notes.create_tasks", note=id_)
    return id_


def get_task(call: Call, title: str) -> Any:
    """Return the only task of a title."""
    rows = call("query", collection="tasks", where={"title": title}, select=FIELDS).data
    assert len(rows) == 1, (title, rows)
    return rows[0]


def get_text(call: Call, note: str) -> str:
    """Return a note's whole text."""
    return call("notes.get", note=note).data["content"]
