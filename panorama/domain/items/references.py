"""References: arguments that name an item by id or by a unique name."""

from dataclasses import dataclass
from typing import Annotated

from panorama.domain.items.item import Kind

TOOL_REFERENCE = "tool:"
"""The prefix of a reference to a tool."""


@dataclass(frozen=True, slots=True)
class Reference:
    """Marks an argument that names an item; `kind` None means an item of any kind.

    With `trash`, items in the trash can be named too; a living item of the same name takes precedence. With `tools`, a
    tool can be named as `tool:NAME`.
    """

    kind: Kind | None
    trash: bool = False
    tools: bool = False


ProjectRef = Annotated[str, Reference("project")]
TaskRef = Annotated[str, Reference("task")]
NoteRef = Annotated[str, Reference("note")]
LinkRef = Annotated[str, Reference("link")]
ReminderRef = Annotated[str, Reference("reminder")]
JournalRef = Annotated[str, Reference("journal")]
PersonRef = Annotated[str, Reference("person")]
TeamRef = Annotated[str, Reference("team")]
FileRef = Annotated[str, Reference("file")]
SessionRef = Annotated[str, Reference("session")]
EventRef = Annotated[str, Reference("event")]
ItemRef = Annotated[str, Reference(None)]
ItemOrToolRef = Annotated[str, Reference(None, tools=True)]
TrashedRef = Annotated[str, Reference(None, trash=True)]
