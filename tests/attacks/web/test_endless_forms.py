"""Forms without a length: a program of this machine that sends one without end, signed in or not."""

import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.to_thread
import pytest

from panorama.app import App
from panorama.daemon.page import PageServer

pytestmark = pytest.mark.anyio
HEAD = (
    "POST {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n"
    "Content-Type: multipart/form-data; boundary=x\r\n{length}Transfer-Encoding: chunked\r\n\r\n"
)
PART = '--x\r\nContent-Disposition: form-data; name="code"\r\n\r\n'
LENGTHS = {"with a length": "Content-Length: 10\r\n", "without a length": ""}
CHUNKS = 64


@asynccontextmanager
async def serving(app: App) -> AsyncGenerator[int]:
    """Serve the page; yields the port."""
    server = PageServer(app, app.settings.home, 0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        yield int(server.addresses[1].rpartition(":")[2])
        await server.close()


def send_form(port: int, path: str, length: str) -> tuple[bytes, int]:
    """Send a form in 64 chunks of 64 KB, without its end; return the answer so far, and how many chunks were taken."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
        client.sendall(HEAD.format(path=path, host=f"127.0.0.1:{port}", length=length).encode())
        chunk = b"10000\r\n" + b"a" * 0x10000 + b"\r\n"
        taken = 0
        try:
            client.sendall(f"{len(PART):x}\r\n{PART}\r\n".encode())
            client.settimeout(0.05)
            for taken in range(CHUNKS):
                try:
                    if answer := client.recv(65536):
                        return answer, taken
                    return b"", taken
                except TimeoutError:
                    client.settimeout(5)
                    client.sendall(chunk)
                    client.settimeout(0.05)
        except ConnectionError:
            with suppress(OSError):  # the answer may have arrived before the reset
                return client.recv(65536), taken
        return b"", taken


@pytest.mark.parametrize("length", LENGTHS.values(), ids=LENGTHS)
@pytest.mark.parametrize("path", ["/in", "/do/attach", "/preview"])
async def test_a_form_in_chunks_is_refused_before_it_is_read(app: App, path: str, length: str) -> None:
    async with serving(app) as port:
        answer, taken = await anyio.to_thread.run_sync(send_form, port, path, length)

    assert answer.startswith(b"HTTP/1.1 411 "), answer[:100]
    assert taken < CHUNKS / 2
