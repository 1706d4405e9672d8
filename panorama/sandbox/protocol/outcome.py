"""Packs and validates the last frame of a run, its outcome."""

from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Any, TypeVar, cast, get_args

from panorama.domain.scripts.scripts import Failure, Limits, Reason, RunOutcome
from panorama.sandbox.protocol import messages
from panorama.sandbox.protocol.frames import ProtocolError

MAX_METADATA_BYTES = 64 << 10
"""The part that the host parses: failure, shape, figures. It relays result, output and state unread."""

STATE_OVERHEAD_BYTES = 100
"""JSON around the set and removed names of a state."""

MESSAGE_CHARS = 2000
SHAPE_CHARS = 4000
NAME_CHARS = 200
"""Of a function's name in a trace."""

MAX_TRACE_STEPS = 10
"""Lines of a trace: the outermost, and the innermost."""

NUMBER_LIMIT = 1 << 53
"""What every database and every reader of JSON can hold."""

T = TypeVar("T")
F = TypeVar("F", int, float)

_SIZES = Struct(">III")
_REASONS: tuple[str, ...] = get_args(Reason)


def pack_outcome(outcome: RunOutcome) -> tuple[bytes, ...]:
    """Return an ending as it is sent."""
    failure = outcome.failure
    metadata = messages.pack(
        {
            "failure": failure and {name: getattr(failure, name) for name in Failure.__slots__},
            "shape": outcome.shape,
            "peak_bytes": outcome.peak_bytes,
            "cpu_seconds": outcome.cpu_seconds,
        }
    )
    output = outcome.output.encode("utf-8", "replace")
    return _SIZES.pack(len(metadata), len(output), len(outcome.state)), metadata, output, outcome.state, outcome.result


def max_frame_bytes(limits: Limits) -> int:
    """Return how long an ending may be."""
    return _SIZES.size + sum(_max_part_bytes(limits))


def _max_part_bytes(limits: Limits) -> tuple[int, ...]:
    """Return the size limit of each part; removed state names count extra."""
    state_bytes = 2 * limits.state_bytes + STATE_OVERHEAD_BYTES
    return MAX_METADATA_BYTES, limits.output_bytes, state_bytes, limits.result_bytes


def unpack_outcome(frame: bytes | bytearray, limits: Limits) -> RunOutcome:
    """Return the ending that a worker claims.

    Raises:
        ProtocolError: No worker of ours sends this.
    """
    metadata, output, state, result = _split_parts(frame, limits)
    data = messages.parse_untrusted(metadata)
    failure = data.get("failure")
    return RunOutcome(
        result=b"" if failure else result,
        shape=_parse_text(data, "shape", SHAPE_CHARS),
        output=output.decode("utf-8", "replace"),
        failure=_parse_failure(failure) if failure else None,
        state=state,
        peak_bytes=_parse_number(data, "peak_bytes", int),
        cpu_seconds=_parse_number(data, "cpu_seconds", float),
    )


def _split_parts(frame: bytes | bytearray, limits: Limits) -> Iterator[bytes]:
    if len(frame) < _SIZES.size:
        raise ProtocolError("an ending without its sizes")
    offset = _SIZES.size
    sizes = _SIZES.unpack_from(frame)
    with memoryview(frame) as view:
        for size, max_chars in zip(
            (*sizes, max(0, len(frame) - offset - sum(sizes))), _max_part_bytes(limits), strict=True
        ):
            if size > max_chars or offset + size > len(frame):
                raise ProtocolError("an ending whose parts are too long")
            yield bytes(view[offset : offset + size])
            offset += size


def _parse_failure(data: object) -> Failure:
    if not isinstance(data, dict):
        raise ProtocolError("a failure without fields")
    fields = cast("dict[str, Any]", data)
    if fields.get("reason") not in _REASONS:
        raise ProtocolError("a failure for no known reason")
    texts = {name: _parse_text(fields, name, MESSAGE_CHARS) for name in ("message", "source", "hint")}
    steps = cast("list[object]", _parse_typed(fields, "trace", list))
    trace = tuple(_parse_step(step) for step in steps[:MAX_TRACE_STEPS])
    return Failure(reason=fields["reason"], line=_parse_number(fields, "line", int), trace=trace, **texts)


def _parse_step(data: object) -> tuple[int, str]:
    match data:
        case [int(line), str(function)] if 0 <= line < NUMBER_LIMIT:
            return line, function[:NAME_CHARS]
        case _:
            raise ProtocolError("invalid trace")


def _parse_number(data: Mapping[str, Any], name: str, kind: type[F]) -> F:
    value = _parse_typed(data, name, kind)
    if not 0 <= value < NUMBER_LIMIT:  # nor what is no number
        raise ProtocolError(f"an ending with a strange {name}")
    return value


def _parse_text(data: Mapping[str, Any], name: str, max_chars: int) -> str:
    return _parse_typed(data, name, str)[:max_chars]


def _parse_typed(data: Mapping[str, Any], name: str, kind: type[T]) -> T:
    value = data.get(name)
    if type(value) is not kind:
        raise ProtocolError(f"an ending with a strange {name}")
    return value
