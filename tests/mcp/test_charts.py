"""Charts and images beside answers: off by default, and always with a description in words."""

import base64
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest
from fastmcp import Client
from mcp.types import ImageContent

from panorama.app import App
from panorama.calls import Conversation
from panorama.config import read_settings
from panorama.mcp.server import build_server

pytestmark = pytest.mark.anyio
CALLS = (("project_dashboard", {"project": "House"}), ("weekly_review", {}))


@pytest.fixture
async def chart_client(app: App, home: Any, request: pytest.FixtureRequest) -> AsyncIterator[Client[Any]]:
    """A client whose user wants charts, with a project in which something was done."""
    conversation = Conversation("v_1", "tool", "test")
    app.calls.call("create_project", {"name": "House"}, conversation)
    app.calls.call("create_task", {"title": "Paint", "project": "House", "status": "done"}, conversation)
    settings = read_settings(home=home, charts=request.param)
    async with Client(build_server(replace(app, settings=settings))) as client:
        yield client


@pytest.mark.parametrize(
    ("chart_client", "media_type", "begin"),
    [("png", "image/png", b"\x89PNG\r\n\x1a\n"), ("svg", "image/svg+xml", b"<svg ")],
    indirect=["chart_client"],
)
async def test_the_dashboard_and_the_review_come_with_a_picture_and_its_words(
    chart_client: Client[Any], media_type: str, begin: bytes
) -> None:
    for tool, arguments in CALLS:
        first, described, image = (await chart_client.call_tool(tool, arguments)).content

        assert isinstance(image, ImageContent)
        assert (image.mime_type, base64.b64decode(image.data)[: len(begin)]) == (media_type, begin)
        assert "Chart: Tasks per day" in getattr(described, "text", "")
        assert getattr(first, "text", "")


@pytest.mark.parametrize("chart_client", ["png"], indirect=True)
async def test_an_error_and_a_period_of_long_ago_have_no_picture(chart_client: Client[Any]) -> None:
    long_ago = await chart_client.call_tool("weekly_review", {"start": "2020-01-01", "end": "2020-01-07"})
    failed = await chart_client.call_tool("project_dashboard", {"project": "Nowhere"}, raise_on_error=False)

    assert (len(long_ago.content), len(failed.content)) == (1, 1)


@pytest.mark.parametrize("chart_client", ["off"], indirect=True)
async def test_by_default_there_are_no_pictures(app: App, chart_client: Client[Any]) -> None:
    assert app.settings.charts == "off"
    for tool, arguments in CALLS:
        assert len((await chart_client.call_tool(tool, arguments)).content) == 1


DRAW = """
chart = sdk.charts.bar("Open tasks", ["House"], {"Open": [3]}, name=name)
return {"chart": chart, "open": 3}
"""


@pytest.mark.parametrize(
    ("chart_client", "name", "media_type"),
    [("png", "open.png", "image/png"), ("svg", "open.svg", "image/svg+xml"), ("svg", "open.png", "image/png")],
    indirect=["chart_client"],
)
async def test_an_image_that_a_script_returns_comes_with_its_answer(
    chart_client: Client[Any], name: str, media_type: str
) -> None:
    answer = await chart_client.call_tool("run_code", {"code": DRAW, "inputs": {"name": name}})

    _, described, image = answer.content
    assert isinstance(image, ImageContent)
    assert image.mime_type == media_type
    assert getattr(described, "text", "") == f"Image {name}: Open tasks: House Open 3"


@pytest.mark.parametrize("chart_client", ["png"], indirect=True)
async def test_what_is_no_image_for_models_is_left_out(chart_client: Client[Any]) -> None:
    drawn = {"code": DRAW, "inputs": {"name": "open.svg"}}
    dry = {"code": DRAW, "inputs": {"name": "open.png"}, "dry_run": True}
    invented = {"code": "return {'id': 'f_0000000000', 'media_type': 'image/png'}"}
    large = {"code": "return sdk.files.write('a.png', b'x' * 600_000)"}

    for arguments in (drawn, dry, invented, large):
        answer = await chart_client.call_tool("run_code", arguments)

        assert not any(isinstance(part, ImageContent) for part in answer.content)


@pytest.mark.parametrize("chart_client", ["png"], indirect=True)
async def test_at_most_three_images_come_with_an_answer(chart_client: Client[Any]) -> None:
    code = "return [sdk.charts.bar('T', ['a'], {'x': [1]}, name=f'{number}.png') for number in range(5)]"

    answer = await chart_client.call_tool("run_code", {"code": code})

    assert sum(isinstance(part, ImageContent) for part in answer.content) == 3


@pytest.mark.parametrize("chart_client", ["off"], indirect=True)
async def test_by_default_images_of_scripts_stay_files(chart_client: Client[Any]) -> None:
    answer = await chart_client.call_tool("run_code", {"code": DRAW, "inputs": {"name": "open.png"}})

    assert len(answer.content) == 1
