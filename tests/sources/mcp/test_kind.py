"""MCP servers as sources, with real processes."""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from panorama.domain.sources.functions import SourceFunction
from panorama.errors import OutcomeUnknownError, SourceError, UnavailableError
from panorama.sources.config import SourceConfig
from panorama.sources.mcp import child_transport
from panorama.sources.mcp.child_records import end_orphans, find_start_time
from panorama.sources.mcp.kind import McpSource
from panorama.sources.source import Deadline
from tests.sources.servers import raw_config

ERAS = pytest.mark.parametrize("era", ["", "--modern", "--strict"])


class _Raw:
    """The small server as a source, called by the names of its tools."""

    def __init__(self, folder: Path, config: SourceConfig, **more: Any) -> None:
        self.source = McpSource(config, lambda value: value, folder, **more)

    def find(self, name: str) -> SourceFunction:
        functions = self.source.list_functions(Deadline.after(30))
        return next(function for function in functions if function.own_name == name)

    def call(self, name: str, seconds: float = 20, **arguments: Any) -> Any:
        return self.source.call(self.find(name), arguments, Deadline.after(seconds)).value


Start = Callable[..., _Raw]


@pytest.fixture
def start(tmp_path: Path) -> Generator[Start]:
    started: list[_Raw] = []

    def start(*flags: str, idle_seconds: float = 300, **more: Any) -> _Raw:
        started.append(_Raw(tmp_path, raw_config(*flags, **more), idle_seconds=idle_seconds))
        return started[-1]

    yield start
    for raw in started:
        raw.source.close()


@pytest.mark.slow
def test_a_flood_of_notifications_is_read_at_a_pace(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    parse = child_transport._parse_message
    monkeypatch.setattr(child_transport, "_parse_message", lambda line: seen.append(line) or parse(line))
    raw, began = start("--flood"), time.monotonic()

    answers = [raw.call("echo", message="héllo") for _ in range(3)]

    allowed = child_transport.MAX_UNASKED / child_transport.PACE_SECONDS * (time.monotonic() - began + 2)
    assert answers == ["héllo"] * 3
    assert len(seen) < allowed


@ERAS
def test_a_server_of_each_era_is_called(start: Start, era: str) -> None:
    assert start(era).call("echo", message="héllo") == "héllo"


def test_the_era_of_a_server_is_remembered(start: Start, tmp_path: Path) -> None:
    start("--strict").call("echo", message="x")

    second = start("--strict")

    assert second.call("requests")["methods"][0] == "initialize"
    assert (tmp_path / "raw.era").read_text() == "legacy"


@ERAS
def test_errors_of_a_tool_and_of_the_protocol_are_raised_alike(start: Start, era: str) -> None:
    raw = start(era)

    with pytest.raises(SourceError, match=r"^Nothing works today\.$"):
        raw.call("fail")
    with pytest.raises(SourceError, match=r"^thrown as a protocol error$"):
        raw.call("protocol_error")


def test_a_result_that_breaks_its_own_schema_is_returned(start: Start) -> None:
    assert start().call("wrong") == {"n": "one"}


def test_lines_that_are_no_messages_are_skipped(start: Start) -> None:
    assert start().call("noise") == "made noise"


@ERAS
def test_a_question_of_a_server_is_refused(start: Start, era: str) -> None:
    assert start(era).call("ask")["error"]["code"] in (-32600, -32601)


def test_a_server_that_ended_is_started_again(start: Start) -> None:
    raw = start()
    with pytest.raises(OutcomeUnknownError, match=r"the disk is full.*It may have carried out die\."):
        raw.call("die")

    assert raw.call("echo", message="again") == "again"


def test_a_reading_call_that_died_is_made_once_more(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "calls"

    with pytest.raises(UnavailableError, match="the disk is full"):
        start("--log", str(log)).call("dieReading")

    assert log.read_text().count("dieReading") == 2


def test_a_writing_call_that_died_is_not_repeated(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "calls"

    with pytest.raises(OutcomeUnknownError):
        start("--log", str(log)).call("die")

    assert log.read_text().count("die") == 1


def test_a_server_that_does_not_start_is_unavailable(tmp_path: Path) -> None:
    source = McpSource(SourceConfig(name="raw", command="/no/such/program"), lambda value: value, tmp_path)

    with closing(source), pytest.raises(UnavailableError, match=r"The source raw ended: .*no/such/program"):
        source.list_functions(Deadline.after(10))


def test_a_call_ends_at_its_deadline_and_the_server_is_told(start: Start) -> None:
    raw = start()

    with pytest.raises(UnavailableError, match=r"did not answer within 0\.2 s"):
        raw.call("wait", seconds=0.2)
    with pytest.raises(OutcomeUnknownError, match="slow_write"):
        raw.call("slow-write", seconds=0.2)

    assert len(raw.call("requests")["cancelled"]) == 2


def test_a_call_ends_when_its_caller_stops(start: Start) -> None:
    raw, stopped = start(), threading.Event()
    function = raw.find("wait")
    threading.Timer(0.2, stopped.set).start()

    with pytest.raises(UnavailableError):
        raw.source.call(function, {"seconds": 20}, Deadline.after(20, stopped.is_set))

    assert raw.call("echo", message="free") == "free"


def test_a_line_of_seven_megabytes_passes_and_one_of_nine_ends_the_server(start: Start) -> None:
    raw = start()

    assert len(raw.call("big", kb=7_000)) == 7_000 * 1024
    with pytest.raises(UnavailableError, match="a line of more than 8 MB"):
        raw.call("big", kb=9_000)
    assert raw.call("echo", message="again") == "again"


def test_a_server_gets_no_variables_but_harmless_ones_and_its_own(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789")

    environment = start(env={"LEVEL": "debug", "CRM_TOKEN": "sekret-value-1"}).call("get-env")

    assert (environment["LEVEL"], environment["CRM_TOKEN"]) == ("debug", "•••")
    assert "ANTHROPIC_API_KEY" not in environment


def test_secrets_are_hidden_in_the_last_output_of_a_server(start: Start) -> None:
    with pytest.raises(OutcomeUnknownError) as died:
        start(env={"CRM_TOKEN": "sekret-value-1"}).call("die")

    assert "key=•••" in died.value.message
    assert "sekret" not in died.value.message


def test_new_tools_appear_when_the_server_says_so(start: Start) -> None:
    raw = start()
    raw.call("grow")
    deadline = time.monotonic() + 15

    names: set[str] = set()
    while "grown_1" not in names and time.monotonic() < deadline:
        names = {function.name for function in raw.source.list_functions(Deadline.after(10))}

    assert "grown_1" in names


def test_an_idle_server_is_stopped_and_started_again(start: Start, tmp_path: Path) -> None:
    raw = start(idle_seconds=0.2)
    raw.call("echo", message="x")
    deadline = time.monotonic() + 10

    while list(tmp_path.glob("*.process.json")) and time.monotonic() < deadline:
        time.sleep(0.02)

    assert not list(tmp_path.glob("*.process.json"))
    assert raw.call("echo", message="again") == "again"


def test_closing_ends_a_server_that_ignores_the_end_of_its_input(start: Start, tmp_path: Path) -> None:
    raw = start("--stay")
    raw.call("echo", message="x")
    pid = int(next(tmp_path.glob("*.process.json")).read_text().split('"pid": ')[1].split(",")[0])

    raw.source.close()

    assert find_start_time(pid) == ""


def test_servers_of_a_killed_process_are_ended_at_the_next_start(tmp_path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path; from panorama.sources.mcp.kind import McpSource;"
        "from panorama.sources.source import Deadline; from tests.sources.servers import raw_config;"
        "McpSource(raw_config('--stay'), str, Path(sys.argv[1])).list_functions(Deadline.after(30)); os._exit(9)"
    )
    os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "-c", code, str(tmp_path)])

    assert end_orphans(tmp_path) == 1
    assert end_orphans(tmp_path) == 0


def test_servers_of_a_running_process_are_left_alone(start: Start, tmp_path: Path) -> None:
    raw = start()
    raw.call("echo", message="x")

    assert end_orphans(tmp_path) == 0
    assert raw.call("echo", message="y") == "y"


def test_calls_of_one_source_run_side_by_side(start: Start) -> None:
    raw = start()
    meet = raw.find("meet")

    with ThreadPoolExecutor(8) as threads:
        calls = [threads.submit(raw.source.call, meet, {"count": 8}, Deadline.after(20)) for _ in range(8)]

    assert [call.result().value for call in calls] == ["met"] * 8
