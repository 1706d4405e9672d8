"""The small parts: what is imported when, frames in pieces, batches, and the way to a decision about ties."""

import socket
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from panorama.index.filters import is_match, to_conditions, to_qdrant
from panorama.index.frames import Frame, FrameStream
from panorama.index.points import Filter, RawHit, from_micros, in_batches, pack_vector, point_id, rank_hits, to_micros

from .making_points import DAY, point


@pytest.mark.parametrize(
    "module", ["points", "filters", "generations", "process_supervisor", "edge_index", "qdrant.server_index"]
)
def test_nothing_heavy_is_imported_before_it_is_needed(module: str) -> None:
    heavy = "{'numpy', 'qdrant_edge', 'qdrant_client', 'sqlalchemy', 'fastmcp'}"
    program = f"import sys, panorama.ports, panorama.index.{module}; print(sorted({heavy} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_the_process_of_edge_imports_neither_numpy_nor_the_client() -> None:
    program = (
        "import sys, panorama.index.edge_process; print({'numpy', 'qdrant_client', 'pydantic'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "set()\n"


def test_edge_itself_never_runs_in_our_process(tmp_path: Path) -> None:
    program = f"""
import sys
from pathlib import Path
from panorama.index import edge_index
from panorama.index.points import Filter
from tests.index.making_points import SMALL, many, toward
index = edge_index.open_index(Path({str(tmp_path / "index")!r}), SMALL)
index.upsert(many(3))
index.build(many(5))
index.flush()
print(len(index.search(toward(1), 9, Filter())), index.state().count, "qdrant_edge" in sys.modules)
index.close()
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "5 5 False\n"


def test_a_frame_that_comes_in_pieces_is_received_whole_even_after_a_pause() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        FrameStream(theirs).send(Frame({"do": "it"}, b"\x00\x01" * 50))
        raw = ours.recv(1 << 16)
        frames = FrameStream(ours)
        theirs.sendall(raw[:30])
        with pytest.raises(TimeoutError):
            frames.receive(0.01)
        theirs.sendall(raw[30:] + raw[:3])

        assert frames.receive(1) == Frame({"do": "it"}, b"\x00\x01" * 50)
        theirs.sendall(raw[3:])
        assert frames.receive(1).head == {"do": "it"}


def test_the_end_of_the_other_side_is_an_error() -> None:
    ours, theirs = socket.socketpair()
    with ours:
        theirs.close()

        with pytest.raises(ConnectionResetError):
            FrameStream(ours).receive(1)


def test_batches_hold_everything_once() -> None:
    assert [list(batch) for batch in in_batches(iter(range(7)), 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(in_batches([])) == []


def test_as_many_are_asked_for_as_are_alike() -> None:
    alike: list[RawHit] = [(1.0, f"n_{at:03d}", "n") for at in range(100)]
    asked: list[int] = []

    def ask(count: int) -> list[RawHit]:
        asked.append(count)
        return alike[::-1][:count]

    assert [chunk for _, chunk, _ in rank_hits(ask, 3)] == ["n_000", "n_001", "n_002"]
    assert asked == [12, 48, 192]


def test_moments_come_back_from_microseconds() -> None:
    for at in (DAY, datetime(1901, 1, 1, tzinfo=UTC), datetime(2254, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)):
        assert from_micros(to_micros(at)) == at
        assert int(float(to_micros(at))) == to_micros(at)


def test_an_id_is_the_same_in_every_process() -> None:
    assert str(point_id("n_a:0")) == "0cf366c1-4dee-01b5-a46e-cd1106a1ba27"


def test_an_empty_filter_has_no_conditions() -> None:
    assert to_qdrant(to_conditions(Filter())) == []
    assert is_match(point("n_a:0"), Filter())
    assert pack_vector([1.0]) == b"\x00\x00\x80?"
