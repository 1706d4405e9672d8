"""What the tests of this folder share."""

import pytest


@pytest.fixture(autouse=True)
def nothing_is_left() -> None:
    """Do not look for processes and files that a test leaves: the browser starts and ends its own as it likes."""
