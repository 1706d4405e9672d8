"""How long the daemon works on after a client has given up a call, for the calls that work longest, by every door."""

import socket
from contextlib import closing
from pathlib import Path

import pytest

from tests.attacks.abandoning import DOORS, WRITE, fill, give_up, list_calls

from .measure import Board
from .processes import daemon, open_connection

pytestmark = [pytest.mark.benchmark, pytest.mark.timeout(1800)]
BAR_SECONDS = 1.0
MOMENTS = 0.15, 0.6
"""After how many seconds of the daemon's processor time a call is given up."""


def test_the_work_of_an_abandoned_call(tmp_path: Path, board: Board) -> None:
    store = fill(tmp_path, [f"{door} {moment}" for door in DOORS for moment in MOMENTS])
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = int(free.getsockname()[1])
    with daemon(store.home, http_port=str(port), toolsets="default,more,jobs") as running:
        with open_connection(running.address) as rpc:
            rpc.call("scripts.save", {"name": "writer", "code": WRITE, "summary": "Write for ever"})
            rpc.call("scripts.keep", {"script": "writer"})
            Path(rpc.call("backup", {})["data"]["path"]).rename(store.backup)
        for name, door in DOORS.items():
            for moment in MOMENTS:
                for call in list_calls(store, f"{name} {moment}"):
                    client = door(running, store.home, port)
                    if client.offers(call):
                        then = give_up(client, call, moment)
                        board.show(
                            f"{name}, {call.label}, given up after {moment:g} s", f"≤ {BAR_SECONDS:g} s",
                            "had ended before" if then.has_ended else f"{then.seconds:.2f} s",
                            f"CPU {then.cpu:.2f} s; {then.writes} later writes; jobs that go on: {len(then.jobs)}",
                        )  # fmt: skip
