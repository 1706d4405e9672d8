"""References: arguments that name an item by its id or by a name that is unique."""

from dataclasses import dataclass
from typing import Annotated

from panorama.domain.items import Kind


@dataclass(frozen=True, slots=True)
class Reference:
    """Marks an argument that names an item; `kind` None means an item of any kind.

    With `trash`, items in the trash can be named too; a living one of the same name goes first.
    """

    kind: Kind | None
    trash: bool = False


ProjectRef = Annotated[str, Reference("project")]
TaskRef = Annotated[str, Reference("task")]
NoteRef = Annotated[str, Reference("note")]
LinkRef = Annotated[str, Reference("link")]
ReminderRef = Annotated[str, Reference("reminder")]
JournalRef = Annotated[str, Reference("journal")]
FileRef = Annotated[str, Reference("file")]
ItemRef = Annotated[str, Reference(None)]
TrashedRef = Annotated[str, Reference(None, trash=True)]
