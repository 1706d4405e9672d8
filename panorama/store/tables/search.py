"""The passages of keyword and semantic search, and their vectors."""

from sqlalchemy import Column, Integer, LargeBinary, String, Table

from panorama.store.tables.columns import metadata

search_parts = Table(
    "search_parts",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("item", String(12), nullable=False, index=True),
    Column("kind", String(12), nullable=False),
    Column("digest", String(32), nullable=False),
)

passages = Table(
    "passages",
    metadata,
    Column("item", String(12), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("kind", String(12), nullable=False),
    Column("digest", String(32), nullable=False, index=True),
    Column("begins", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("digest", String(32), primary_key=True),
    Column("model", String(80), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)
