"""What the tests of the SDK share: a store that holds the sample workspace, and the SDK connected to it."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import msgpack
import pytest

import panorama.sdk
from panorama.app import App
from panorama.calls import Conversation
from panorama.calls.script_session import ScriptSession
from panorama.errors import PanoramaError
from panorama.operation import Operation
from panorama.sdk import Row, errors
from panorama.sdk.core import wire
from tests.sampled import sampled


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that holds the sample workspace, made once."""
    return sampled(tmp_path_factory.mktemp("sampled"))


@dataclass
class InProcessClient:
    """The SDK's way to a product in the same process: what scripts have, without a sandbox."""

    guest: ScriptSession
    page_rows: int = 10_000
    state: dict[str, Any] = field(default_factory=dict[str, Any])
    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    told: list[tuple[float, float, str]] = field(default_factory=list[tuple[float, float, str]])

    def call(self, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call an operation as a script does, and remember it."""
        self.sent.append((operation, dict(arguments)))
        try:
            packed = self.guest.call(operation, msgpack.unpackb(msgpack.packb(arguments)))
        except PanoramaError as error:
            raise errors.from_dict(error.to_dict()) from error
        return msgpack.unpackb(packed, object_pairs_hook=Row)

    def progress(self, current: float, total: float, message: str) -> None:
        """Remember how far the script is."""
        self.told.append((current, total, message))

    def parallel(self, functions: Sequence[Callable[[], Any]], at_most: int) -> list[Any]:
        """Run functions in threads."""
        with ThreadPoolExecutor(at_most) as threads:
            running = [threads.submit(function) for function in functions]
        return [job.result() for job in running]


@pytest.fixture
def way(app: App, conversation: Conversation) -> Iterator[InProcessClient]:
    """The transport that is in use."""
    lent: list[ScriptSession] = []
    lend = Operation(name="tests.lend", call=lambda: lent.append(app.calls.open_session(may_confirm=True)), summary=str)
    app.calls.register([lend])
    app.calls.call("tests.lend", {}, conversation)
    made = InProcessClient(lent[0])
    wire.use(made)
    yield made
    wire.use(None)


@pytest.fixture
def sdk(way: InProcessClient) -> ModuleType:
    """The SDK, connected to a store that holds the sample workspace of a Wednesday, 2026-05-20."""
    return panorama.sdk


def run_plain(code: str, sdk: ModuleType, **inputs: Any) -> Any:
    """Run a script in plain Python, without a sandbox, and return what it returns."""
    body = "\n".join(f"    {line}" for line in code.splitlines())
    text = f"def script():\n{body}\n".replace("from sdk import", "from panorama.sdk import")
    names: dict[str, Any] = {**inputs, "sdk": sdk}
    exec(compile(text, "<script>", "exec"), names)
    return names["script"]()
