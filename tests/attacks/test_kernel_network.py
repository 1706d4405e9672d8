"""The network and other processes' sockets, with the language layer off."""

import pytest

from tests.attacks.kernel import forbidden, needs_filter, works_plainly
from tests.sandbox.runs import Runs, nothing_is_left, unguarded

__all__ = ["nothing_is_left", "unguarded"]

ATTACKS = {
    "making a TCP socket": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "making a UDP socket and sending": (
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))"
    ),
    "making a socket for IPv6": "socket.socket(socket.AF_UNIX if not socket.has_ipv6 else socket.AF_INET6)",
    "making a local socket": "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
    "making a pair of sockets": "socket.socketpair()",
    "listening": "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()",
    "talking to the kernel's network": "socket.socket(16, socket.SOCK_RAW, 0)",
    "waiting in select": "select.select([], [], [], 0)",
    "waiting in poll": "select.poll().poll(0)",
}
PIPE = {
    "passing a descriptor through the pipe": "socket.send_fds(socket.socket(1, 1, 0, 3), [b'x'], [3])",
    "taking a descriptor out of the pipe": "socket.recv_fds(socket.socket(1, 1, 0, 3), 1, 1)",
    "asking who is at the other end": "socket.socket(2, 1, 0, 3).getsockopt(1, 17, 12)",
    "closing the pipe half": "socket.socket(1, 1, 0, 3).shutdown(1)",
    "sending out of band": "socket.socket(1, 1, 0, 3).send(b'x', socket.MSG_OOB)",
    "looking at what is in the pipe": "socket.socket(1, 1, 0, 3).recv(1, socket.MSG_PEEK)",
    "connecting the pipe elsewhere": "socket.socket(1, 1, 0, 3).connect('/run/x')",
}
PAIR = "ours, other = socket.socketpair()\nother.send(b'x')\nos.dup2(ours.fileno(), 3)"
"""A pipe like a worker's, for a plain process."""


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
def test_the_kernel_refuses(unguarded: Runs, attack: str):
    needs_filter(unguarded)

    forbidden(unguarded, attack)

    assert works_plainly(attack)


@pytest.mark.parametrize("attack", PIPE.values(), ids=PIPE.keys())
def test_the_pipe_takes_nothing_but_bytes(unguarded: Runs, attack: str):
    needs_filter(unguarded)

    forbidden(unguarded, attack)

    assert works_plainly(attack, before=PAIR) or "connect" in attack  # a pair is connected already
