"""Whatever is written, renamed, deleted and undone: a file's row tells the truth about its content."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from panorama.databases import open_contents
from panorama.domain.items.files import StoredFile, extract_text
from panorama.errors import PanoramaError

from .world import World

names = st.sampled_from(["a.csv", "A.csv", "b.html", "c"])
texts = st.sampled_from(["", "one", "two", "<b>two</b>", "x" * 5000, "x" * 5000 + "y"])
types = st.sampled_from(["", "text/csv", "text/html", "image/svg+xml"])
which = st.integers(0, 20)
steps = st.one_of(
    st.tuples(st.just("write_file"), st.fixed_dictionaries({"name": names, "text": texts, "media_type": types}), which),
    st.tuples(st.just("write_file"), st.fixed_dictionaries({"name": names, "base64": st.just("/w==")}), which),
    st.tuples(st.just("update_file"), st.fixed_dictionaries({}, optional={"name": names, "media_type": types}), which),
    st.tuples(st.sampled_from(["delete_item", "restore_item"]), st.just({}), which),
    st.tuples(st.just("undo"), st.fixed_dictionaries({"skip_conflicts": st.booleans()}), which),
)


def done(world: World, step: tuple[str, dict[str, Any], int], units: list[str]) -> None:
    """Do a step as well as it goes."""
    operation, chosen, at = step
    files = sorted(world.items()) or ["f_0000000000"]
    about = {"update_file": "file", "delete_item": "item", "restore_item": "item"}.get(operation)
    arguments = chosen | ({about: files[at % len(files)]} if about else {})
    if operation == "undo":
        arguments["unit"] = units[at % len(units)] if units else "c_0000000000"
    try:
        units += filter(None, [world.do(operation, **arguments)["metadata"].get("undo")])
    except PanoramaError:
        return


@given(plan=st.lists(steps, max_size=15))
def test_a_row_tells_the_truth_about_its_content(template: Path, plan: list[tuple[str, dict[str, Any], int]]) -> None:
    with World.made(template) as world:
        units: list[str] = []
        for step in plan:
            done(world, step, units)
        contents = open_contents(world.app.settings, world.app.context.database)

        for item in world.items().values():
            assert isinstance(item, StoredFile)
            content = contents.get(item.sha256)
            stored = (item.sha256, item.size, item.body)
            assert stored == (
                sha256(content).hexdigest(),
                len(content),
                extract_text(item.name, item.media_type, content),
            )
        assert world.indexed_words() == world.words_to_index()
