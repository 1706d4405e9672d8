"""Every store of contents, and ways to damage what it holds."""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from panorama.store.backend import ContentStore
from panorama.store.contents.folder import FolderContents

if TYPE_CHECKING:
    from panorama.store.postgres.engine import PostgresDatabase


@dataclass(frozen=True)
class Stored:
    """A store of contents. `damage` replaces the bytes of a content, `remove` removes it, `age` makes it old."""

    store: ContentStore
    damage: Callable[[str, bytes], object]
    remove: Callable[[str], object]
    age: Callable[[str], object]


def in_folder(folder: Path) -> Stored:
    """Return a store in a folder."""
    store = FolderContents(folder)
    return Stored(
        store,
        damage=lambda name, content: store.path(name).write_bytes(content),
        remove=lambda name: store.path(name).unlink(),
        age=lambda name: os.utime(store.path(name), (0, 0)),
    )


@contextmanager
def in_tables(database: "PostgresDatabase") -> Generator[Stored]:
    """Yield a store in the tables of a space, which it empties first; its connections are closed at the end."""
    from tests.postgres.space import empty_space

    def run(statement: str) -> Callable[..., None]:
        def execute(*values: object) -> None:
            with database.connect() as driver:
                driver.execute(statement.encode(), values[::-1])

        return execute

    empty_space(database)
    yield Stored(
        database.contents(Path()),
        damage=run("UPDATE content_parts SET bytes = %s WHERE number = 0 AND sha256 = %s"),
        remove=run("DELETE FROM contents WHERE sha256 = %s"),
        age=run("UPDATE contents SET written_at = 'epoch' WHERE sha256 = %s"),
    )
    database.close()
