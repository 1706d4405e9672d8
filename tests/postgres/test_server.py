"""The server that these tests use."""

import psycopg
import pytest

pytestmark = pytest.mark.postgres


def test_the_database_sorts_by_code_point_and_holds_every_sign(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        words = connection.execute("SELECT w FROM unnest(ARRAY['é', 'z', 'Z', '雪', '🎿']) AS w ORDER BY w").fetchall()
    assert [row[0] for row in words] == sorted("ézZ雪🎿")
