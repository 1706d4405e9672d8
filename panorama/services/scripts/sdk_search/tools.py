"""Tools that are neither listed nor functions of the SDK, as the reference of the SDK shows them: batch calls them."""

import json
from collections.abc import Sequence
from functools import cached_property

from panorama.ports import Calls
from panorama.sdk.reference import Entry

BATCH_TOOLS = "tools for batch"
"""The group of tools that only batch reaches."""


class ToolEntries:
    """Knows the tools that only batch reaches."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """One entry a tool; they do not change while the program runs."""
        return [self._entry(name) for name in self._calls.batch_tools]

    def _entry(self, name: str) -> Entry:
        tool = self._calls.describe_tool(name)
        parameters = tool["parameters"]
        needed = parameters.get("required", ())
        names = ", ".join(f"{name}*" if name in needed else name for name in parameters["properties"])
        line = tool["description"].partition(". ")[0].rstrip(".") + "."
        brief = f"batch {name}({names}): {line}"
        step = f'batch: {{"tool": "{name}", "args": {{…}}}}\n    {tool["description"]}\n    args: {names}'
        full = f"{step}\n    {json.dumps(parameters, ensure_ascii=False)}"
        return Entry(name=name, group=BATCH_TOOLS, line=line, brief=brief, stub=step, full=full)
