"""The page on adding an operation: doing what it says gives a tool that works."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # it makes all of the reference anew

ROOT = Path(__file__).resolve().parents[2]
STEP = re.compile(r'<!-- insert above "((?:[^"\\]|\\.)+)" -->\n```python\n# (\S+)\n(.*?)```', re.DOTALL)

TRY = """
import asyncio, tempfile
from fastmcp import Client
from panorama.app import opened
from panorama.config import read_settings
from panorama.mcp.server import build

async def main(home):
    with opened(read_settings(home=home, timezone="UTC")) as app:
        async with Client(build(app)) as client:
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
    for folder in ("panorama", "migrations"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    steps = STEP.findall((ROOT / "docs" / "add-an-operation.md").read_text(encoding="utf-8"))

    for anchor, path, code in steps:
        file = tmp_path / path
        before, place, after = file.read_text(encoding="utf-8").partition("\n" + anchor.replace('\\"', '"'))
        assert place, f"{path} has no line {anchor!r}"
        file.write_text(f"{before}\n{code}{place}{after}", encoding="utf-8")
    run = subprocess.run([sys.executable, "-c", TRY], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert len(steps) == 3
    assert run.stdout.split() == ["2026-06-03", "2026-05-31"], run.stderr
