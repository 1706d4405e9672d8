"""Frames: what is sent comes as it was, and no length is believed."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from panorama.sandbox.protocol import frames
from panorama.sandbox.protocol.frames import CHUNK_BYTES, SPIN_SECONDS, FrameChannel, ProtocolError, StackError

CAPS = {frames.CALL: 1 << 20, frames.OUTPUT: 100, frames.OUTCOME: 10 << 20}


@pytest.fixture
def ends() -> Iterator[tuple[FrameChannel, FrameChannel, socket.socket]]:
    """Both ends of a pipe, and the raw socket of the first."""
    one, other = socket.socketpair()
    with one, other:
        yield FrameChannel(one, CAPS), FrameChannel(other, CAPS), one


@given(st.lists(st.tuples(st.sampled_from([frames.CALL, frames.OUTCOME]), st.binary(max_size=300)), max_size=20))
def test_frames_come_in_order_and_whole(sent: list[tuple[bytes, bytes]]):
    one, other = socket.socketpair()
    with one, other:
        sender, receiver = FrameChannel(one, CAPS), FrameChannel(other, CAPS)

        for kind, body in sent:
            sender.send(kind, body)

        assert [receiver.receive() for _ in sent] == sent


@pytest.mark.parametrize("size", [0, 1, CHUNK_BYTES - 6, CHUNK_BYTES - 5, CHUNK_BYTES, CHUNK_BYTES + 1, 5_000_000])
def test_frames_of_every_size_come_whole(ends: tuple[FrameChannel, FrameChannel, socket.socket], size: int):
    body = bytes(range(256)) * (size // 256 + 1)
    sender = threading.Thread(target=lambda: ends[0].send(frames.OUTCOME, body[: size // 2], body[size // 2 : size]))
    sender.start()

    kind, came = ends[1].receive()

    sender.join()
    assert (kind, bytes(came)) == (frames.OUTCOME, body[:size])


def test_a_frame_that_comes_byte_by_byte_comes_whole(ends: tuple[FrameChannel, FrameChannel, socket.socket]):
    for byte in b"\0\0\0\3cabc":
        ends[2].sendall(bytes([byte]))

    assert ends[1].receive() == (frames.CALL, b"abc")


SOON = {
    "a frame": (b"\0\0\0\3cabc", True),
    "more than one": (b"\0\0\0\3cabc\0\0\0\3cabc", True),
    "nothing": (b"", False),
    "half a header": (b"\0\0", False),
    "half a frame": (b"\0\0\0\3ca", False),
    "a long frame that is not here yet": (b"\0\x10\0\0d" + bytes(100_000), False),
    "a length that is a lie": (b"\xff\xff\xff\xffc" + bytes(100_000), False),
}


@pytest.mark.parametrize(("sent", "comes"), SOON.values(), ids=list(SOON))
def test_it_is_known_whether_a_whole_frame_comes_soon(
    ends: tuple[FrameChannel, FrameChannel, socket.socket], sent: bytes, comes: bool
):
    ends[2].sendall(sent)

    assert ends[1].poll(0.02) == comes


def test_what_is_looked_for_is_still_received(ends: tuple[FrameChannel, FrameChannel, socket.socket]):
    with ThreadPoolExecutor() as pool:
        sent = pool.submit(lambda: (time.sleep(0.01), ends[0].send(frames.OUTCOME, bytes(100_000))))
        while not sent.done() and not ends[1].poll(0.001):
            pass
        assert ends[1].receive() == (frames.OUTCOME, bytes(100_000))


def test_that_no_frame_will_come_any_more_is_known_at_once(ends: tuple[FrameChannel, FrameChannel, socket.socket]):
    ends[2].sendall(b"\0")
    ends[2].close()

    assert ends[1].poll(60)
    with pytest.raises(EOFError):
        ends[1].receive()


@pytest.mark.parametrize("late", [0.0, 2 * SPIN_SECONDS])
def test_a_frame_that_should_come_soon_comes_whole_whether_it_is_late_or_not(
    ends: tuple[FrameChannel, FrameChannel, socket.socket], late: float
):
    def send() -> None:
        for _ in range(3):
            time.sleep(late)
            ends[0].send(frames.CALL, b"abc")
        ends[2].close()

    with ThreadPoolExecutor() as pool:
        sent = pool.submit(send)
        assert [ends[1].receive_fast() for _ in range(3)] == [(frames.CALL, b"abc")] * 3
        sent.result()
        with pytest.raises(EOFError):
            ends[1].receive_fast()


def test_a_frame_that_is_too_long_is_refused_before_it_comes(ends: tuple[FrameChannel, FrameChannel, socket.socket]):
    ends[2].sendall(b"\xff\xff\xff\xffc")

    with pytest.raises(ProtocolError, match="4294967295"):
        ends[1].receive()


def test_each_kind_has_a_length_of_its_own(ends: tuple[FrameChannel, FrameChannel, socket.socket]):
    ends[0].send(frames.OUTPUT, b"x" * 101)

    with pytest.raises(ProtocolError):
        ends[1].receive()


def test_a_kind_that_may_not_come_is_refused(ends: tuple[FrameChannel, FrameChannel, socket.socket]):
    ends[0].send(frames.ANSWER, b"")

    with pytest.raises(ProtocolError, match="kind"):
        ends[1].receive()


def test_a_closed_pipe_ends_what_is_received(ends: tuple[FrameChannel, FrameChannel, socket.socket]):
    ends[2].sendall(b"\0\0\0\3ca")
    ends[2].close()

    with pytest.raises(EOFError):
        ends[1].receive()


def test_the_text_of_a_signal_in_c_is_told_from_a_frame(ends: tuple[FrameChannel, FrameChannel, socket.socket]):
    ends[0].send(frames.CALL, b"x")
    ends[2].sendall(b"Stack (most recent call first):\n")

    assert ends[1].receive() == (frames.CALL, b"x")
    with pytest.raises(StackError) as caught:
        ends[1].receive()
    assert caught.value.text.startswith("Stack (most")
