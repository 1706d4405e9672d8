# expect: ["[T] Solder (todo)", "[N] Wiring: 2 words", "[L] Datasheet -> example.com"]
from abc import ABC, abstractmethod
from urllib.parse import urlparse


class Card(ABC):
    mark = "?"

    def __init__(self, row):
        self.row = row

    @abstractmethod
    def body(self) -> str: ...

    def __str__(self):
        return f"[{self.mark}] {self.row.title}{self.body()}"


class TaskCard(Card):
    mark = "T"
    def body(self): return f" ({self.row.status})"

class NoteCard(Card):
    mark = "N"
    def body(self): return f": {len(sdk.notes.text(self.row.id).split())} words"

class LinkCard(Card):
    mark = "L"
    def body(self): return f" -> {urlparse(self.row.url).netloc}"

sdk.tasks.create("Solder")
sdk.notes.create("Wiring", "red plus")
sdk.links.create("https://example.com/ds.pdf", "Datasheet")
cards = [TaskCard(t) for t in sdk.tasks.list()] + [NoteCard(n) for n in sdk.notes.list()] + [LinkCard(l) for l in sdk.links.list()]
return [str(c) for c in cards]
