"""The stream of changes beside writes in other threads."""

import asyncio

import pytest

from panorama.app import App
from panorama.domain.changes import Origin
from panorama.web.live import ChangeStreams
from panorama.web.page_calls import PageCalls

pytestmark = pytest.mark.anyio
ORIGIN = Origin(actor="tool", client="tests", conversation="", operation="", call="c_1", unit="c_1")


async def test_a_stream_does_not_read_in_the_transaction_that_notified_it(app: App) -> None:
    stream = ChangeStreams(app, PageCalls(app).get_number).stream()
    await anext(stream)

    def notify_inside_a_transaction() -> None:
        with app.context.database.transaction(ORIGIN):
            app.jobs._ears.notify("j_0000000000")

    await asyncio.to_thread(notify_inside_a_transaction)

    event = await asyncio.wait_for(anext(stream), 10)
    assert '"kinds": ["job"]' in event
    await stream.aclose()
