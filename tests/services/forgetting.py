"""A purge after a month and a day, and the way to look whether anything is left."""

from collections.abc import Callable
from typing import Any

import pytest

from panorama.app import App
from panorama.calls import Answer
from tests.conftest import StandingClock

Call = Callable[..., Answer]
SECRET = "Xanthippe"
LONG = f"{SECRET} " * 1000


@pytest.fixture
def purge(call: Call, app: App, clock: StandingClock) -> Callable[..., Answer]:
    """Purges after a month and a day."""

    def purged(**arguments: Any) -> Answer:
        app.recorder.flush()
        clock.advance(days=31)
        return call("purge", confirm=True, **arguments)

    return purged
