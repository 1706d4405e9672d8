"""The page on adding an operation: doing what it says gives a tool that works."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.honesty.pages import copy_with_page

pytestmark = pytest.mark.slow  # it makes all of the reference anew

TRY = """
import asyncio, tempfile
from fastmcp import Client
from panorama.app import open_app
from panorama.config import read_settings
from panorama.mcp.server import build_server

async def main(home):
    with open_app(read_settings(home=home, timezone="UTC")) as app:
        async with Client(build_server(app)) as client:
            await client.call_tool("create_task", {"title": "Paint", "deadline": "2026-05-31"})
            answer = await client.call_tool("postpone_task", {"task": "paint", "days": 3})
            print(answer.structured_content["data"]["deadline"])
            await client.call_tool("undo", {})
            answer = await client.call_tool("get_item", {"item": "paint"})
            print(answer.structured_content["data"]["item"]["deadline"])

with tempfile.TemporaryDirectory() as home:
    asyncio.run(main(home))
"""


def test_the_page_adds_an_operation_that_works_and_can_be_undone(tmp_path: Path) -> None:
    files = copy_with_page("add-an-operation.md", tmp_path)

    run = subprocess.run([sys.executable, "-c", TRY], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert len(files) == 2
    assert run.stdout.split() == ["2026-06-03", "2026-05-31"], run.stderr
