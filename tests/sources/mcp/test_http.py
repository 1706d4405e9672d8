"""MCP servers at an address, with a real server."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx2
import pytest

from panorama.errors import UnavailableError
from panorama.sources.config import SourceConfig, Transport
from panorama.sources.mcp.kind import McpSource, sign_in
from panorama.sources.source import Deadline

SERVER = Path(__file__).parents[1] / "http_server.py"
OAUTH_SERVER = SERVER.with_name("oauth_server.py")


def find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def serve(server: Path, *arguments: str) -> Generator[int]:
    port = find_free_port()
    command = [sys.executable, "-P", str(server), *arguments, str(port)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow  # starts a server of 2 s
@pytest.mark.parametrize(("transport", "path"), [("http", "mcp"), ("sse", "sse")])
def test_a_server_at_an_address_gets_the_headers(tmp_path: Path, transport: Transport, path: str) -> None:
    with serve(SERVER, transport) as port:
        config = SourceConfig(
            name="web", url=f"http://127.0.0.1:{port}/{path}", transport=transport,
            headers={"X-Note": "${NOTE}", "X-Plan": "free"},
        )  # fmt: skip
        with closing(McpSource(config, lambda value: value.replace("${NOTE}", "abc-1234"), tmp_path)) as source:
            [function] = source.list_functions(Deadline.after(30))

            plan = source.call(function, {"name": "x-plan"}, Deadline.after(30)).value
            note = source.call(function, {"name": "x-note"}, Deadline.after(30)).value

    assert (plan, note) == ("free", "•••")


def test_an_address_where_nothing_listens_is_unavailable(tmp_path: Path) -> None:
    config = SourceConfig(name="web", url=f"http://127.0.0.1:{find_free_port()}/mcp")

    with closing(McpSource(config, lambda value: value, tmp_path)) as source, pytest.raises(UnavailableError):
        source.list_functions(Deadline.after(20))


@pytest.mark.slow  # starts a server of 2 s
def test_a_person_signs_in_once_and_the_daemon_never_waits(tmp_path: Path) -> None:
    shown: list[str] = []

    def visit(address: str) -> None:
        shown.append(address)
        threads.append(threading.Thread(target=lambda: httpx2.get(address, follow_redirects=True)))
        threads[-1].start()

    threads: list[threading.Thread] = []
    with serve(OAUTH_SERVER) as port:
        config = SourceConfig(name="remote", url=f"http://127.0.0.1:{port}/mcp", oauth=True)
        with closing(McpSource(config, str, tmp_path)) as source:
            with pytest.raises(UnavailableError, match="needs you to sign in") as refused:
                source.list_functions(Deadline.after(20))

            count = sign_in(config, str, tmp_path, visit)
            [function] = source.list_functions(Deadline.after(20))
            answer = source.call(function, {}, Deadline.after(20)).value

    for thread in threads:
        thread.join()
    assert refused.value.hint == "Run `panorama sources login remote`."
    assert (count, len(shown), answer) == (1, 1, "you")
    assert (tmp_path / "remote.tokens").stat().st_mode & 0o777 == 0o600


@pytest.mark.slow  # starts a server of 2 s
def test_an_expired_token_is_renewed_by_another_process_without_the_person(tmp_path: Path) -> None:
    def visit(address: str) -> None:
        visits.append(threading.Thread(target=lambda: httpx2.get(address, follow_redirects=True)))
        visits[-1].start()

    visits: list[threading.Thread] = []
    with serve(OAUTH_SERVER, "--expires", "5") as port:
        config = SourceConfig(name="remote", url=f"http://127.0.0.1:{port}/mcp", oauth=True)
        sign_in(config, str, tmp_path, visit)
        first = (tmp_path / "remote.tokens").read_text()
        time.sleep(6)  # until the token has expired
        with closing(McpSource(config, str, tmp_path)) as source:
            [function] = source.list_functions(Deadline.after(20))
            answer = source.call(function, {}, Deadline.after(20)).value

    for thread in visits:
        thread.join()
    assert (answer, len(visits)) == ("you", 1)
    assert (tmp_path / "remote.tokens").read_text() != first
