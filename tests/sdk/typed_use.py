"""The SDK as a person's own Python uses it; pyright reads it with the package (`tool.pyright` in pyproject.toml)."""

from typing import Any, assert_type

from panorama.sdk import Connection, Found, NoteText, Row, Status, Task, connect
from panorama.sdk.core.types import Batch, Change, Undone


def use(sdk: Connection) -> None:
    """Use each function of `sdk` and some of its nouns, with what comes back."""
    assert_type(sdk.search("tea", kinds=["task"], limit=5), list[Found])
    assert_type(sdk.similar("Tea", kinds="note"), list[Found])
    assert_type(sdk.query("tasks", where={"status": "todo"}, count=True), list[Row])
    assert_type(sdk.batch([{"tool": "tasks.create", "args": {"title": "Tea"}}]), Batch)
    assert_type(sdk.history("Tea", limit=1), list[Change])
    assert_type(sdk.undo(sdk.history("Tea")[0], confirm=True), Undone)
    assert_type(sdk.status(), Status)
    assert_type(sdk.parallel(lambda: sdk.status().today, lambda: 3), list[Any])
    assert_type(sdk.parallel_map(sdk.notes.text, ["Tea", "Milk"], at_most=2), list[str])
    assert_type(sdk.markdown_table(sdk.tasks.list(), ["title"]), str)
    assert_type(sdk.tasks.list(view="today"), list[Task])
    assert_type(sdk.notes.get("Tea"), NoteText)
    sdk.progress(1, 3, "reading")


def refused(sdk: Connection) -> None:
    """Make wrong calls; pyright reports an unnecessary `ignore` if it accepts one of them."""
    sdk.search()  # pyright: ignore[reportCallIssue] (no query)
    sdk.status(1)  # pyright: ignore[reportCallIssue] (an argument too many)
    sdk.query("cats")  # pyright: ignore[reportArgumentType] (no such collection)
    sdk.parallel_map(len, [1])  # pyright: ignore[reportArgumentType] (a number has no length)


def main() -> None:
    """Connect as the documentation tells."""
    with connect() as sdk:
        use(sdk)
