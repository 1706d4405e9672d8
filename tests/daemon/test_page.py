"""The server of the page, without a daemon around it."""

from collections.abc import Generator
from types import SimpleNamespace

import pytest
from starlette.testclient import TestClient

from panorama.app import App
from panorama.daemon import page as page_module
from panorama.daemon.page import PageServer


@pytest.fixture
def server(app: App) -> Generator[PageServer]:
    """A server that listens, and answers only those who ask its application."""
    server = PageServer(app, app.settings.home, 0)
    yield server
    server._socket.close()


def test_a_page_without_a_script_is_open_until_nobody_asked_for_a_while(
    server: PageServer, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = [1000.0]
    monkeypatch.setattr(page_module, "time", SimpleNamespace(monotonic=lambda: moment[0]))
    browser = TestClient(server._site.asgi, base_url=server.addresses[0], headers={"origin": server.addresses[0]})
    browser.post("/in", data={"code": server.create_sign_in("", read_only=False)["code"]})

    assert server.is_open
    moment[0] += app.settings.linger_seconds
    assert not server.is_open


def test_who_is_not_signed_in_does_not_hold_the_daemon(server: PageServer) -> None:
    browser = TestClient(server._site.asgi, base_url=server.addresses[0])

    assert browser.get("/today").status_code == 401
    assert not server.is_open
