"""Pages that say how something is added: their steps, done in a copy of the product."""

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STEP = re.compile(
    r'<!-- (new file|insert above|in place of)(?: "((?:[^"\\]|\\.)+)")? -->\n'
    r"```(?:python|html)\n(?:#|\{#) (\S+)(?: #\})?\n(.*?)```",
    re.DOTALL,
)


def copy_with_page(name: str, folder: Path, *parts: str) -> set[str]:
    """Copy parts of the project to a folder, do there what a page says, and return the files that it writes."""
    for part in ("panorama", "migrations", *parts):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    steps = STEP.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
    for step in steps:
        _apply(folder, *step)
    return {path for _, _, path, _ in steps}


def _apply(folder: Path, how: str, anchor: str, path: str, code: str) -> None:
    """Do one step: write a new file, or put code above a line or in its place."""
    file = folder / path
    if how == "new file":
        file.write_text(code, encoding="utf-8")
        return
    before, place, after = file.read_text(encoding="utf-8").partition("\n" + anchor.replace('\\"', '"'))
    assert place, f"{path} has no line {anchor!r}"
    rest = place.removeprefix("\n") + after if how == "insert above" else after.partition("\n")[2]
    file.write_text(f"{before}\n{code}{rest}", encoding="utf-8")
