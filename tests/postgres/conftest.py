"""A space for each test."""

from collections.abc import Iterator

import pytest

from tests.postgres.spaces import Space, create_space


@pytest.fixture
def space(postgres_url: str) -> Iterator[Space]:
    """A schema with our tables."""
    with create_space(postgres_url, "space") as created:
        yield created
