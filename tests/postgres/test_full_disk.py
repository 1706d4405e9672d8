"""A full disk of the database server: what was acknowledged stays, and writes work again once there is room."""

import os
import shutil
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from panorama.store.migrate import create_tables
from panorama.store.postgres.connections import parse_url
from panorama.store.postgres.engine import PostgresDatabase
from tests.faults.disks import mounted
from tests.faults.servers import Server
from tests.postgres.server import start_server

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.timeout(300)]

SPACE = "team"
DISK = "size=160m,mode=1777"
LEFT_BYTES = 4_000_000
MOST_NOTES = 200


def fill(disk: Path) -> Path:
    """Write a file that leaves a few megabytes."""
    filler = disk / "filler"
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, shutil.disk_usage(disk).free - LEFT_BYTES)
    return filler


def test_a_full_disk_of_the_server_refuses_writes_loses_none_and_takes_them_again_with_room(tmp_path: Path) -> None:
    written: dict[str, str] = {}
    with (
        TemporaryDirectory(prefix="panorama") as folder,
        mounted(Path(folder) / "disk", "-t", "tmpfs", "-o", DISK, "tmpfs") as disk,
        start_server(disk) as server,
    ):
        with closing(PostgresDatabase(parse_url(server.url), SPACE)) as database:
            create_tables(database)
        with Server(tmp_path / "home", no_daemon="0", database_url=server.url, space=SPACE) as client:
            filler = fill(disk)
            for number in range(MOST_NOTES):
                title = f"Bed {number}"
                body = os.urandom(50_000).hex()  # nothing that can be compressed
                answer = client.call("create_note", title=title, content=body)
                if "error" in answer:
                    break
                written[answer["data"]["id"]] = title
            assert answer["error"]["code"] in ("unavailable", "outcome_unknown"), answer
            filler.unlink()
            if not server.is_running:
                server.start()
            later = client.call("create_note", title="Shed", content="dry")
            assert "error" not in later, later
        with psycopg.connect(server.url) as admin:
            there = dict(admin.execute(f"SELECT id, title FROM panorama_{SPACE}.notes").fetchall())
    assert written
    assert {id_: there.get(id_) for id_ in written} == written
    assert set(there) - set(written) <= {later["data"]["id"]}
    print(answer["error"]["message"])  # noqa: T201 (what the person reads)
