"""The wheel, installed into a new environment, holds all that the program needs, migrates and serves."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder), cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts' folder of a new environment: the wheel is installed, what it depends on is borrowed from ours."""
    environment = tmp_path_factory.mktemp("environment")
    venv.create(environment, with_pip=True)
    scripts = environment / "bin"
    _run(str(scripts / "pip"), "install", "--no-index", "--no-deps", str(wheel), cwd=environment)
    (packages,) = environment.glob("lib/python*/site-packages")
    # A folder named in a .pth comes last, and its own .pth files, such as this checkout's, are not read.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"), "utf-8")
    return scripts


def test_the_wheel_holds_the_program_and_nothing_else(wheel: Path) -> None:
    expected = {
        *_files(ROOT / "panorama", "panorama"),
        *_files(ROOT / "migrations", "panorama/_shipped/migrations"),
        *_files(ROOT / "scripts", "panorama/_shipped/scripts"),
    }

    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert {"panorama/py.typed", "panorama/_shipped/migrations/env.py"} < expected
    assert any(name.startswith("panorama/sample/") for name in expected)
    assert held == expected


@pytest.mark.anyio
async def test_installed_it_migrates_and_serves_from_anywhere(installed: Path, tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    elsewhere.mkdir()
    env = {"PANORAMA_HOME": str(home), "PANORAMA_TIMEZONE": "UTC"}
    transport = StdioTransport(str(installed / "panorama"), [], env=env, cwd=str(elsewhere), keep_alive=False)

    async with Client(transport, timeout=60) as client:
        tools = await client.list_tools()
        made = await client.call_tool("create_task", {"title": "Tea"})

    assert "list_tasks" in {tool.name for tool in tools}
    assert made.structured_content is not None
    assert made.structured_content["data"]["title"] == "Tea"
    assert (home / "panorama.db").is_file()
    assert list(elsewhere.iterdir()) == []


def test_installed_it_is_not_this_checkout(installed: Path, tmp_path: Path) -> None:
    found = _run(str(installed / "python"), "-c", "import panorama; print(panorama.__file__)", cwd=tmp_path)

    assert Path(found.strip()).is_relative_to(installed.parent)


def _files(folder: Path, shipped: str) -> set[str]:
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {f"{shipped}/{file.as_posix()}" for file in files if "__pycache__" not in file.parts}


def _run(*command: str, cwd: Path) -> str:
    ended = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{command}: {ended.stdout}{ended.stderr}"
    return ended.stdout
