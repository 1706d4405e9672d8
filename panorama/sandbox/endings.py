"""The last frame of a run: the only place that knows how a worker tells the host how the script ended."""

from collections.abc import Iterator, Mapping
from struct import Struct
from typing import Any, TypeVar, cast, get_args

from panorama.domain.scripts import Ending, Failure, Limits, Reason
from panorama.sandbox import messages
from panorama.sandbox.frames import ProtocolError

ABOUT_BYTES = 64 << 10
"""What the host reads of it: failure, shape, figures. Result, output and state it passes on unread."""

STATE_FRAME_BYTES = 100
"""What stands around the names of a state, set and removed."""

MESSAGE_CHARS = 2000
SHAPE_CHARS = 4000
NAME_CHARS = 200
"""Of a function's name in a trace."""

FRAMES = 10
"""Lines of a trace: the outermost, and the innermost."""

FIGURES_BELOW = 1 << 53
"""What every database and every reader of JSON can hold."""

T = TypeVar("T")
F = TypeVar("F", int, float)

_SIZES = Struct(">III")
_REASONS: tuple[str, ...] = get_args(Reason)


def packed(ending: Ending) -> tuple[bytes, ...]:
    """Return an ending as it is sent."""
    failure = ending.failure
    about = messages.packed(
        {
            "failure": failure and {name: getattr(failure, name) for name in Failure.__slots__},
            "shape": ending.shape,
            "peak_bytes": ending.peak_bytes,
            "cpu_seconds": ending.cpu_seconds,
        }
    )
    output = ending.output.encode("utf-8", "replace")
    return _SIZES.pack(len(about), len(output), len(ending.state)), about, output, ending.state, ending.result


def cap(limits: Limits) -> int:
    """Return how long an ending may be."""
    return _SIZES.size + sum(_caps(limits))


def _caps(limits: Limits) -> tuple[int, ...]:
    """Return how long each part may be; names that were removed from the state come on top of those that were set."""
    state_bytes = 2 * limits.state_bytes + STATE_FRAME_BYTES
    return ABOUT_BYTES, limits.output_bytes, state_bytes, limits.result_bytes


def unpacked(frame: bytes | bytearray, limits: Limits) -> Ending:
    """Return the ending that a worker claims.

    Raises:
        ProtocolError: No worker of ours sends this.
    """
    about, output, state, result = _parts(frame, limits)
    told = messages.claimed(about)
    failure = told.get("failure")
    return Ending(
        result=b"" if failure else result,
        shape=_text(told, "shape", SHAPE_CHARS),
        output=output.decode("utf-8", "replace"),
        failure=_failure(failure) if failure else None,
        state=state,
        peak_bytes=_figure(told, "peak_bytes", int),
        cpu_seconds=_figure(told, "cpu_seconds", float),
    )


def _parts(frame: bytes | bytearray, limits: Limits) -> Iterator[bytes]:
    if len(frame) < _SIZES.size:
        raise ProtocolError("an ending without its sizes")
    at = _SIZES.size
    sizes = _SIZES.unpack_from(frame)
    with memoryview(frame) as view:
        for size, most in zip((*sizes, max(0, len(frame) - at - sum(sizes))), _caps(limits), strict=True):
            if size > most or at + size > len(frame):
                raise ProtocolError("an ending whose parts are too long")
            yield bytes(view[at : at + size])
            at += size


def _failure(told: object) -> Failure:
    if not isinstance(told, dict):
        raise ProtocolError("a failure without fields")
    fields = cast("dict[str, Any]", told)
    if fields.get("reason") not in _REASONS:
        raise ProtocolError("a failure for no known reason")
    texts = {name: _text(fields, name, MESSAGE_CHARS) for name in ("message", "source", "hint")}
    steps = cast("list[object]", _checked(fields, "trace", list))
    trace = tuple(_step(step) for step in steps[:FRAMES])
    return Failure(reason=fields["reason"], line=_figure(fields, "line", int), trace=trace, **texts)


def _step(told: object) -> tuple[int, str]:
    match told:
        case [int(line), str(function)] if 0 <= line < FIGURES_BELOW:
            return line, function[:NAME_CHARS]
        case _:
            raise ProtocolError("a trace that is none")


def _figure(told: Mapping[str, Any], name: str, kind: type[F]) -> F:
    value = _checked(told, name, kind)
    if not 0 <= value < FIGURES_BELOW:  # nor what is no number
        raise ProtocolError(f"an ending with a strange {name}")
    return value


def _text(told: Mapping[str, Any], name: str, most: int) -> str:
    return _checked(told, name, str)[:most]


def _checked(told: Mapping[str, Any], name: str, kind: type[T]) -> T:
    value = told.get(name)
    if type(value) is not kind:
        raise ProtocolError(f"an ending with a strange {name}")
    return value
