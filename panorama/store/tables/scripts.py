"""Scripts, their runs, and the sources that they may call."""

from sqlalchemy import JSON, Boolean, Column, Float, Index, Integer, String, Table, Text

from panorama.store.column_types import Utc
from panorama.store.tables.columns import index_where, metadata

runs = Table(
    "runs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(12), nullable=False, unique=True),
    Column("at", Utc, nullable=False, index=True),
    Column("client", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("status", String(12), nullable=False),
    Column("source", Text, nullable=False),
    Column("inputs", JSON, nullable=False),
    Column("options", JSON, nullable=False),
    Column("isolation", String(20), nullable=False),
    Column("result", Text, nullable=False),
    Column("output", Text, nullable=False),
    Column("error", JSON, nullable=False),
    Column("changes", JSON, nullable=False),
    Column("calls", Integer, nullable=False),
    Column("ms", Float, nullable=False),
    Column("peak_bytes", Integer, nullable=False),
    Column("script", String(40), nullable=False, server_default=""),
    Column("worker", Text, nullable=False, server_default=""),
    Index("ix_runs_script", "script", "number"),
    index_where("ix_runs_running", ["number"], "status = 'running'"),
)

scripts = Table(
    "scripts",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("state", String(12), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("read_only", Boolean, nullable=False),
    Column("updated_at", Utc, nullable=False),
    Column("calls", JSON(none_as_null=True)),
)

reviews = Table(
    "reviews",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("name", String(40), nullable=False),
    Column("at", Utc, nullable=False),
    Column("verdict", String(12), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Column("door", String(12), nullable=False),
    Column("client", Text, nullable=False),
    Index("ix_reviews_name", "name", "number"),
)

script_writes = Table(
    "script_writes",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("name", String(40), nullable=False),
    Column("at", Utc, nullable=False),
    Column("unit", String(16), nullable=False),
    Column("conversation", Text, nullable=False),
    Column("before", String(64), nullable=False),
    Column("after", String(64), nullable=False),
    Column("change", Integer, nullable=False),
    Column("undoes", Integer, nullable=False),
    Index("ix_script_writes_unit", "unit"),
)

script_states = Table(
    "script_states",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("at", Utc, nullable=False, index=True),
    Column("value", JSON, nullable=False),
)

source_functions = Table(
    "source_functions",
    metadata,
    Column("source", String(40), primary_key=True),
    Column("own_name", Text, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("definition", JSON, nullable=False),
)

source_grants = Table(
    "source_grants",
    metadata,
    Column("scope", String(80), primary_key=True),
    Column("function", String(140), primary_key=True),
    Column("digest", String(32), nullable=False),
    Column("at", Utc, nullable=False),
)
