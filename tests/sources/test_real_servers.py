"""Published MCP servers, where they are installed: on PATH, or the modules of this Python."""

import shutil
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from panorama.domain.sources.functions import SourceFunction
from panorama.errors import SourceError
from panorama.sources.config import SourceConfig
from panorama.sources.mcp.kind import McpSource
from panorama.sources.source import Deadline
from tests.sources.documented import answer_as_notion
from tests.sources.stand_ins import KEY, Call, Reply, serve

pytestmark = pytest.mark.slow  # a server of Node or Python takes a second to start


class _Server:
    """A server that is started, and its functions by name."""

    def __init__(self, source: McpSource) -> None:
        self._source = source
        listed = source.list_functions(Deadline.after(60))
        self.functions: dict[str, SourceFunction] = {function.name: function for function in listed}

    def call(self, name: str, **arguments: object) -> object:
        return self._source.call(self.functions[name], arguments, Deadline.after(60)).value


@contextmanager
def _start(folder: Path, name: str, *arguments: str, env: Mapping[str, str] | None = None) -> Generator[_Server]:
    command = _find_command(name)
    config = SourceConfig(name="real", command=command[0], args=(*command[1:], *arguments), env=env or {}, local=True)
    source = McpSource(config, str, folder / "state")
    try:
        yield _Server(source)
    finally:
        source.close()


def _find_command(name: str) -> list[str]:
    module = name.replace("-", "_")
    if program := shutil.which(name):
        return [program]
    if find_spec(module):
        return [sys.executable, "-m", module]
    pytest.skip(f"{name} is not installed")


def test_the_server_of_all_features(tmp_path: Path) -> None:
    with _start(tmp_path, "mcp-server-everything") as server:
        assert server.call("echo", message="héllo") == "Echo: héllo"
        assert server.call("get_sum", a=1, b=2) == "The sum of 1 and 2 is 3."
        with pytest.raises(SourceError):
            server.call("get_sum", a="one", b=2)


def test_the_server_of_files(tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hello")

    with _start(tmp_path, "mcp-server-filesystem", str(tmp_path)) as server:
        assert server.call("read_text_file", path=str(tmp_path / "hello.txt")) == "hello"
        assert server.functions["read_text_file"].reads_only
        with pytest.raises(SourceError, match=r"(?i)access denied"):
            server.call("read_text_file", path="/etc/hostname")


def test_the_server_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with _start(tmp_path, "mcp-server-memory") as server:
        graph = server.call("read_graph")

    assert isinstance(graph, dict)
    assert {"entities", "relations"} <= graph.keys()


def test_the_server_of_thinking(tmp_path: Path) -> None:
    with _start(tmp_path, "mcp-server-sequential-thinking") as server:
        answer = server.call(
            "sequentialthinking", thought="Tea.", nextThoughtNeeded=False, thoughtNumber=1, totalThoughts=1
        )

    assert isinstance(answer, dict)
    assert answer["thoughtNumber"] == 1


def test_the_server_of_time(tmp_path: Path) -> None:
    with _start(tmp_path, "mcp-server-time") as server:
        now = server.call("get_current_time", timezone="Europe/Berlin")

    assert isinstance(now, dict)
    assert now["timezone"] == "Europe/Berlin"


def test_the_server_of_git(tmp_path: Path) -> None:
    with _start(tmp_path, "mcp-server-git") as server:
        assert "git_status" in server.functions
        with pytest.raises(SourceError):
            server.call("git_status", repo_path=str(tmp_path))


NOTION_VERSION = "2026-03-11"


def _answer_as_api(call: Call) -> Reply:
    """Answer as api.notion.com; the published server asks for an older version of it."""
    headers = {**call.headers, "notion-version": NOTION_VERSION}
    return answer_as_notion(replace(call, path=call.path.removeprefix("/v1"), headers=headers))


def test_the_server_of_notion_at_a_stand_in(tmp_path: Path) -> None:
    with serve(_answer_as_api) as stand_in:
        environment = {"NOTION_TOKEN": KEY, "BASE_URL": stand_in.url}
        with _start(tmp_path, "notion-mcp-server", env=environment) as server:
            found = server.call("api_post_search", query="Company", page_size=2)
            stand_in.fail_next(Reply(status=429, body={"object": "error", "status": 429, "code": "rate_limited"}))
            with pytest.raises(SourceError, match="rate_limited"):
                server.call("api_post_search", query="Company")

    assert isinstance(found, dict)
    assert [row["id"] for row in found["results"]] == ["page0", "page1"]
    assert {call.headers["authorization"] for call in stand_in.calls} == {f"Bearer {KEY}"}


def test_the_server_of_notion_with_a_wrong_token_raises(tmp_path: Path) -> None:
    with serve(_answer_as_api) as stand_in:
        environment = {"NOTION_TOKEN": "ntn_wrong", "BASE_URL": stand_in.url}
        with (
            _start(tmp_path, "notion-mcp-server", env=environment) as server,
            pytest.raises(SourceError, match="API token is invalid"),
        ):
            server.call("api_get_self")
