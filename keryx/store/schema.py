"""Every table Keryx keeps, as SQLAlchemy Core: one schema for SQLite and for Postgres.

The migrations build exactly this (a test compares the two). Whoever changes a table adds a migration and moves
`SCHEMA_VERSION` to its name.
"""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    false,
    text,
)
from sqlalchemy.types import TypeDecorator

SCHEMA_VERSION = "0001"
"""The migration this code needs; a database that says so is opened without loading the migration tool."""

_NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: timezone-aware UTC in Python, kept as UTC without a zone, which sorts the same in both databases."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


metadata = MetaData(naming_convention=_NAMING)

tasks = Table(
    "tasks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("description", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("agent", String(64), nullable=False),
    Column("project", Text),
    Column("model", Text),
    Column("mode", String(16), nullable=False),
    Column("person", String(64), nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    # When it last joined the line; a task taken up again goes to the end of it.
    Column("queued_at", UtcDateTime, nullable=False),
    Column("started_at", UtcDateTime),
    Column("finished_at", UtcDateTime),
    Column("progress", Text),
    Column("summary", Text),
    Column("error", Text),
    Column("session_id", Text),
    Column("epoch", Integer, nullable=False, server_default=text("0")),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cached_input_tokens", Integer),
    Column("cost_usd", Float),
    Column("report_path", Text),
    Column("callback_requested", Boolean, nullable=False, server_default=false()),
    Column("request_id", Text),
    Index("ix_tasks_status_queued_at", "status", "queued_at"),
    Index("ix_tasks_created_at", "created_at"),
    # The same request again finds its task instead of making a second one. Many rows have none: NULLs never clash.
    Index("uq_tasks_request_id", "request_id", unique=True),
    # Ids are said aloud, so a number is never given to a second task.
    sqlite_autoincrement=True,
)

turns = Table(
    "turns",
    metadata,
    Column("task_id", Integer, ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("finished_at", UtcDateTime, nullable=False),
    Column("ok", Boolean, nullable=False),
    Column("final_text", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("error", Text),
    Column("restart_reason", Text),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("cached_input_tokens", Integer),
    Column("cost_usd", Float),
)

progress = Table(
    "progress",
    metadata,
    Column("task_id", Integer, ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Column("line_offset", Integer, primary_key=True, autoincrement=False),
    Column("line", Text, nullable=False),
    Column("at", UtcDateTime, nullable=False),
)

inbox = Table(
    "inbox",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task_id", Integer, ForeignKey("tasks.id", ondelete="CASCADE"), nullable=False),
    Column("message", Text, nullable=False),
    Column("state", String(16), nullable=False),
    Column("took_up", Boolean, nullable=False, server_default=false()),
    Column("request_id", Text),
    Column("at", UtcDateTime, nullable=False),
    # When the turn that took it ended; an open row (NULL) still has to be answered for.
    Column("settled_at", UtcDateTime),
    Index("ix_inbox_task_id", "task_id"),
    Index("uq_inbox_request_id", "request_id", unique=True),
    sqlite_autoincrement=True,
)

news = Table(
    "news",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("task_id", Integer, ForeignKey("tasks.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("message", Text, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("agent", String(64), nullable=False),
    Column("project", Text),
    Column("description", Text, nullable=False),
    Column("told_at", UtcDateTime),
    # Overtaken before anybody heard it: kept, and no longer worth saying.
    Column("withdrawn_at", UtcDateTime),
    Index("ix_news_task_id", "task_id"),
    Index("ix_news_told_at", "told_at"),
    sqlite_autoincrement=True,
)
