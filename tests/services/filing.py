"""Files of tests: written in one word, and read."""

from base64 import b64encode
from collections.abc import Callable

import pytest

from panorama.calls import Answer

Call = Callable[..., Answer]
PNG = b"\x89PNG\r\n\x1a\n\x00\x00"
DOT = b64encode(PNG).decode()


@pytest.fixture
def write(call: Call) -> Callable[..., Answer]:
    """Writes a text: `write("tea.txt", "green")`."""
    return lambda name, text="", **more: call("write_file", name=name, text=text, **more)


@pytest.fixture
def text(call: Call) -> Callable[[str], str]:
    """Reads a file's text."""
    return lambda file: str(call("get_file", file=file).data["text"])
