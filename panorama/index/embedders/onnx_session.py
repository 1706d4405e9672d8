"""Sessions of ONNX Runtime: one thread, no telemetry, and errors of ours."""

import importlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from panorama.errors import UnavailableError

if TYPE_CHECKING:
    from numpy import float32
    from numpy.typing import NDArray

Level = Literal["basic", "all"]

_LOG_ERRORS = 3
_LEVELS: Mapping[Level, str] = {"basic": "ORT_ENABLE_BASIC", "all": "ORT_ENABLE_ALL"}


class OnnxValue(Protocol):
    """An input or output of a model; symbolic dimensions are names."""

    name: str
    type: str
    shape: Sequence[int | str | None]


class OnnxSession(Protocol):
    """The part of ONNX Runtime's session that we use."""

    def run(self, output_names: Sequence[str] | None, input_feed: dict[str, Any]) -> "list[NDArray[float32]]": ...
    def get_inputs(self) -> Sequence[OnnxValue]: ...
    def get_outputs(self) -> Sequence[OnnxValue]: ...


def create_session(file: Path, *, level: Level, hint: str) -> OnnxSession:
    """Load a model that computes in one thread.

    Args:
        level: How far ONNX Runtime changes the graph.
        hint: What to do if the file is invalid.

    Raises:
        ImportError: ONNX Runtime is not installed.
        UnavailableError: The file is not a valid model.
    """
    runtime = _import_runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1  # its threads would spin while waiting
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # keeps the memory of the longest text, and is not faster
    options.log_severity_level = _LOG_ERRORS
    options.graph_optimization_level = getattr(runtime.GraphOptimizationLevel, _LEVELS[level])
    try:
        return runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # it has a dozen exception classes, each directly under Exception
        raise UnavailableError(f"ONNX Runtime {runtime.__version__} cannot load {file}: {error}", hint=hint) from error


def _import_runtime() -> Any:
    """Import ONNX Runtime with telemetry disabled.

    Since 1.29 it reports the machine and the loaded models to Microsoft, unless this variable is set first:
    https://github.com/microsoft/onnxruntime/pull/27379. No data may leave the machine without consent.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    runtime: Any = importlib.import_module("onnxruntime")  # takes 150 ms, and has no types
    runtime.disable_telemetry_events()  # if another part of the process imported it first
    return runtime
