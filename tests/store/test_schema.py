"""The migrations build the schema that the code describes, and travel with the package."""

import tomllib
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect
from sqlalchemy.dialects import sqlite

import keryx.store
from keryx.store.schema import SCHEMA_VERSION, UtcDateTime, metadata
from keryx.store.upgrade import MIGRATIONS, upgrade


def test_the_migrations_build_exactly_the_schema(tmp_path: Path) -> None:
    upgrade(tmp_path / "keryx.db", busy_timeout_s=1)
    engine = create_engine(f"sqlite:///{tmp_path / 'keryx.db'}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, metadata) == []
        assert set(inspect(connection).get_table_names()) == {*metadata.tables, "alembic_version"}
    engine.dispose()


def test_tables_made_by_migrations_and_by_the_schema_are_declared_alike(tmp_path: Path) -> None:
    upgrade(tmp_path / "migrated.db", busy_timeout_s=1)
    declared = []
    for name in ("migrated.db", "created.db"):
        engine = create_engine(f"sqlite:///{tmp_path / name}")
        with engine.begin() as connection:
            metadata.create_all(connection)
            found = inspect(connection)
            declared.append(
                {
                    table: (
                        [
                            (column["name"], str(column["type"]), column["nullable"])
                            for column in found.get_columns(table)
                        ],
                        sorted((index["name"] or "", index["unique"]) for index in found.get_indexes(table)),
                        found.get_pk_constraint(table),
                        found.get_foreign_keys(table),
                    )
                    for table in metadata.tables
                }
            )
        engine.dispose()
    assert declared[0] == declared[1]


def test_the_code_needs_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_heads() == [SCHEMA_VERSION]


def test_the_migrations_are_inside_the_package_that_is_built() -> None:
    project = Path(keryx.store.__file__).parents[2]
    built = tomllib.loads((project / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    inside = (MIGRATIONS / "versions" / "0001_tasks.py").relative_to(project)
    assert inside.parts[0] in built["packages"]
    assert (project / inside).is_file()


def test_upgrading_twice_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a folder with % and spaces" / "keryx.db"
    upgrade(file, busy_timeout_s=1)
    before = file.read_bytes()
    upgrade(file, busy_timeout_s=1)
    assert file.read_bytes() == before


def test_moments_come_back_in_utc_whatever_zone_they_were_given_in() -> None:
    kind, dialect = UtcDateTime(), sqlite.dialect()
    given = datetime(2026, 3, 2, 1, 30, tzinfo=timezone(timedelta(hours=5)))
    kept = kind.process_bind_param(given, dialect)
    assert kind.process_result_value(kept, dialect) == given.astimezone(UTC)
    assert kind.process_bind_param(None, dialect) is kind.process_result_value(None, dialect) is None
