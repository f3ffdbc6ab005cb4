"""Brings an SQLite file to the schema this code needs; the migration tool is loaded only when there is work for it."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from keryx.errors import ConfigError
from keryx.store.schema import SCHEMA_VERSION

MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(path: Path, *, busy_timeout_s: float) -> None:
    """Create or migrate the database at `path` (file 0600, WAL). Blocking; cheap when it is already current.

    Raises `ConfigError` when the file is no database, the disk is full, or a newer Keryx has written it.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    try:
        with closing(sqlite3.connect(path, timeout=busy_timeout_s, isolation_level=None)) as connection:
            version = schema_version(connection)
            if version != SCHEMA_VERSION:
                connection.execute("PRAGMA journal_mode=WAL")
    except sqlite3.DatabaseError as error:
        raise _refusal(path, error) from error
    if version != SCHEMA_VERSION:
        _migrate(path, version, busy_timeout_s)


def _refusal(path: Path, error: BaseException | None) -> ConfigError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
        return ConfigError(f"the disk is full, so {path} cannot be written; free some space and start again")
    return ConfigError(f"{path} cannot be opened as a Keryx database ({error}); move it away to start afresh")


def schema_version(connection: sqlite3.Connection) -> str | None:
    """The name of the last migration that was applied; None in a database without any."""
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return None
        raise
    return row[0] if row else None


def _migrate(path: Path, version: str | None, busy_timeout_s: float) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if version is not None and version not in known:
        raise ConfigError(f"{path} was written by a newer Keryx (schema {version}); update Keryx and start it again")
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": busy_timeout_s})
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, SCHEMA_VERSION)
    except DBAPIError as error:
        raise _refusal(path, error.orig) from error
    finally:
        engine.dispose()
