"""Jobs, schedules, the alerts of reminders, and the daemons that share all these."""

from sqlalchemy import JSON, Boolean, Column, Index, Integer, String, Table, Text

from panorama.store.column_types import Utc
from panorama.store.tables.columns import metadata

schedules = Table(
    "schedules",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("trigger", String(8), nullable=False),
    Column("rule", Text, nullable=False),
    Column("zone", Text, nullable=False),
    Column("begin", Utc, nullable=False),
    Column("missed", String(8), nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("next_at", Utc, index=True),
    Column("last_at", Utc),
    Column("last_job", String(12), nullable=False),
    Column("problem", Text, nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("updated_at", Utc, nullable=False),
    Column("machine", Text, nullable=False, server_default=""),
)

alarms = Table(
    "alarms",
    metadata,
    Column("reminder", String(12), primary_key=True),
    Column("version", Integer, nullable=False),
    Column("since", Utc, nullable=False),
    Column("due_at", Utc, index=True),
)

alerts = Table(
    "alerts",
    metadata,
    Column("id", String(12), primary_key=True),
    Column("reminder", String(12), nullable=False),
    Column("at", Utc, nullable=False),
    Column("rung_at", Utc, nullable=False, index=True),
    Column("missed", Integer, nullable=False),
    Column("rings", Integer, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("delivered_at", Utc, index=True),
    Index("uq_alerts_occurrence", "reminder", "at", unique=True),
)

jobs = Table(
    "jobs",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(12), nullable=False, unique=True),
    Column("kind", String(40), nullable=False),
    Column("state", String(12), nullable=False),
    Column("rank", Integer, nullable=False),
    Column("arguments", JSON, nullable=False),
    Column("actor", String(12), nullable=False),
    Column("client", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("unit", String(12), nullable=False),
    Column("created_at", Utc, nullable=False),
    Column("started_at", Utc),
    Column("ended_at", Utc, index=True),
    Column("current", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("message", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("result", JSON, nullable=False),
    Column("result_file", String(12)),
    Column("error", JSON, nullable=False),
    Column("checkpoint", JSON, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("futile", Integer, nullable=False),
    Column("reached", Integer, nullable=False),
    Column("worker", Text, nullable=False),
    Column("heartbeat", Utc),
    Column("is_stopping", Boolean, nullable=False),
    Column("is_told", Boolean, nullable=False),
    Column("machine", Text, nullable=False, server_default=""),
    Index("ix_jobs_rank", "rank", "number"),
    Index("ix_jobs_state", "state", "number"),
)

daemons = Table(
    "daemons",
    metadata,
    Column("id", Text, primary_key=True),
    Column("machine", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("process", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("serves", Text, nullable=False),
    Column("duties", JSON, nullable=False),
    Column("started_at", Utc, nullable=False),
    Column("seen_at", Utc, nullable=False),
)
