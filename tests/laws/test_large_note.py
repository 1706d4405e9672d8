"""A hundred appends to a note of ten megabytes cost little, and each of them can be taken back."""

import random
from pathlib import Path

import pytest

from .world import World

pytestmark = pytest.mark.slow

MEGABYTE = 1 << 20
SIZE = 10 * MEGABYTE - 40_000


def on_disk(world: World) -> int:
    home = world.app.settings.home
    return sum(path.stat().st_size for path in home.iterdir() if path.name.startswith("panorama.db"))


def large_text() -> str:
    chance = random.Random(1)
    lines = [" ".join(f"{chance.randrange(1 << 20):x}" for _ in range(12)) for _ in range(1000)]
    return "\n".join(chance.choice(lines) for _ in range(200_000))[:SIZE]


def appended_and_undone(template: Path, appends: int, most: int) -> None:
    """Append lines at the end and at the beginning, look at the disk, and take them all back."""
    with World.made(template) as world:
        note = world.do("create_note", title="Log", content=large_text())["data"]["id"]
        before, texts, units = on_disk(world), [], []
        for number in range(appends):
            texts.append(world.items()[note].content)
            place = {"position": "top"} if number % 10 == 9 else {}
            units.append(world.do("append_to_note", note=note, block=f"line {number}", **place)["metadata"]["undo"])

        assert on_disk(world) - before < most
        for text, unit in zip(reversed(texts), reversed(units), strict=True):
            world.do("undo", unit=unit)
            assert world.items()[note].content == text
        assert world.indexed_words() == world.words_to_index()


def test_a_hundred_appends_to_ten_megabytes_cost_far_less_than_a_gigabyte_and_undo_exactly(template: Path) -> None:
    appended_and_undone(template, 100, 150 * MEGABYTE)


def test_a_few_appends_to_ten_megabytes_cost_little_and_undo_exactly(template: Path) -> None:
    appended_and_undone(template, 12, 60 * MEGABYTE)
