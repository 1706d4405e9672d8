"""Where pages begin."""

import pytest

from panorama.domain.paging import PageRequest
from panorama.errors import InvalidInputError


@pytest.mark.parametrize("rank", [0, -(1 << 63), (1 << 63) - 1, 1 << 62])
def test_a_page_begins_after_any_number_that_the_database_stores(rank: int) -> None:
    assert PageRequest(after=(rank,)).get_start_key(int) == (rank,)


@pytest.mark.parametrize("rank", [1 << 63, -(1 << 63) - 1, 1.5, "1", True])
def test_a_cursor_with_anything_else_is_refused(rank: object) -> None:
    with pytest.raises(InvalidInputError, match="Invalid cursor"):
        PageRequest(after=(rank,)).get_start_key(int)
