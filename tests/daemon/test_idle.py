"""The daemon leaves when it is idle, and never in the middle of work."""

from collections.abc import Callable, Generator
from pathlib import Path

import anyio
import pytest

from panorama.app import App, open_app
from panorama.config import read_settings
from panorama.daemon import daemon as daemon_module
from panorama.daemon.daemon import Daemon
from panorama.transport.address import Address

pytestmark = pytest.mark.anyio


@pytest.fixture
def app(home: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[App]:
    """A store whose daemon leaves at once if it has nothing to do."""
    monkeypatch.setattr(daemon_module, "FIRST_CLIENT_SECONDS", 0)
    monkeypatch.setattr(daemon_module, "BUSY_POLL_SECONDS", 0.01)
    with open_app(read_settings(home=home, linger_seconds=0)) as app:
        yield app


async def serve(app: App, is_catching_up: Callable[[], bool]) -> None:
    """Be a daemon until it leaves."""
    with anyio.fail_after(30):
        await Daemon(app, Address(str(app.settings.home)), is_catching_up, lingers=True).run(lambda: None)


async def test_the_daemon_stays_until_the_index_has_caught_up(app: App) -> None:
    unfinished = [True, True, True, False]

    await serve(app, lambda: unfinished.pop(0) if len(unfinished) > 1 else unfinished[0])

    assert unfinished == [False]


async def test_the_daemon_stays_while_a_job_is_queued(app: App) -> None:
    with app.jobs.attach_worker(lambda: None):
        job = app.jobs.submit("backup", {})
    asked: list[bool] = []

    def look() -> bool:
        asked.append(app.jobs.has_unfinished())
        if len(asked) == 3:
            app.jobs.cancel(job)
        return False

    await serve(app, look)

    assert asked[:3] == [True, True, True]
    assert not asked[-1]
