"""A space for each test."""

from collections.abc import Iterator

import pytest

from tests.postgres.spaces import Space, create_space


@pytest.fixture
def schema(postgres_url: str) -> Iterator[Space]:
    """A schema with our tables."""
    with create_space(postgres_url, "tables") as created:
        yield created
