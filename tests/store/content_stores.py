"""Every store of contents, and ways to damage what it holds."""

import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from panorama.store.backend import ContentStore, Database
from panorama.store.contents.folder import FolderContents
from panorama.store.sqlite.engine import SqliteDatabase
from tests.store.s3_server import BUCKET, KEY, KEY_ID

if TYPE_CHECKING:
    from panorama.store.contents.s3 import S3Contents
    from panorama.store.postgres.engine import PostgresDatabase


LATER_THAN_EPOCH = 1_000_000.0


@dataclass(frozen=True)
class Stored:
    """A store of contents, and what happens to one that it holds.

    `damage` replaces the bytes of a content, `remove` removes it. `age` makes contents older than the time that it
    returns, in seconds since 1970.
    """

    store: ContentStore
    damage: Callable[[str, bytes], object]
    remove: Callable[[str], object]
    age: Callable[[list[str]], float]


def in_folder(folder: Path) -> Stored:
    """Return a store in a folder."""
    store = FolderContents(folder)

    def age(names: list[str]) -> float:
        for name in names:
            os.utime(store.path(name), (0, 0))
        return LATER_THAN_EPOCH

    return Stored(
        store,
        damage=lambda name, content: store.path(name).write_bytes(content),
        remove=lambda name: store.path(name).unlink(),
        age=age,
    )


def remove_content(database: Database, folder: Path, name: str) -> None:
    """Remove a content where a database has it: in a folder, or in its tables."""
    if isinstance(database, SqliteDatabase):
        in_folder(folder).remove(name)
        return
    from panorama.store.postgres.engine import PostgresDatabase

    assert isinstance(database, PostgresDatabase)
    with database.connect() as driver:
        driver.execute("DELETE FROM contents WHERE sha256 = %s", (name,))


@contextmanager
def in_tables(database: "PostgresDatabase") -> Generator[Stored]:
    """Yield a store in the tables of a space, which it empties first; its connections are closed at the end."""
    from tests.postgres.space import empty_space

    def run(statement: str) -> Callable[..., None]:
        def execute(*values: object) -> None:
            with database.connect() as driver:
                driver.execute(statement.encode(), values[::-1])

        return execute

    def age(names: list[str]) -> float:
        run("UPDATE contents SET written_at = 'epoch' WHERE sha256 = ANY(%s)")(names)
        return LATER_THAN_EPOCH

    empty_space(database)
    yield Stored(
        database.contents(Path()),
        damage=run("UPDATE content_parts SET bytes = %s WHERE number = 0 AND sha256 = %s"),
        remove=run("DELETE FROM contents WHERE sha256 = %s"),
        age=age,
    )
    database.close()


@contextmanager
def in_bucket(address: str, folder: Path) -> Generator[Stored]:
    """Yield a store in an S3 server, below a prefix that is used once."""
    import obstore

    store = s3_contents(address, f"s3://{BUCKET}/{uuid4().hex}", folder)
    objects = vars(store)["_store"]

    def age(_: list[str]) -> float:
        time.sleep(3)  # the server sets the times, to the second
        return time.time() - 1.5

    yield Stored(
        store,
        damage=lambda name, content: obstore.put(objects, f"{name[:2]}/{name[2:]}", content),
        remove=lambda name: obstore.delete(objects, f"{name[:2]}/{name[2:]}"),
        age=age,
    )


def s3_contents(address: str, url: str, folder: Path, *, key: str = KEY) -> "S3Contents":
    """Return a store in an S3 server; its lock is a folder of this machine."""
    from panorama.store.contents.s3 import S3Contents, S3Location

    folder.mkdir(exist_ok=True)
    location = S3Location(url=url, endpoint=address, region="us-east-1", key_id=KEY_ID, key=key)
    return S3Contents(location, "main", lambda: 7, FolderContents(folder))
