"""The database: how it opens, and what happens when a lock, a full disk or a second thought is in the way."""

import asyncio
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select, text
from sqlalchemy.exc import IntegrityError

from keryx.errors import ConfigError, Unavailable
from keryx.store.db import BUSY_TIMEOUT_S, Database
from keryx.store.schema import news

START_UP_S = 0.3


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "keryx.db"


def note(value: str):
    """Work that stores `value`."""
    return lambda connection: connection.execute(text("INSERT INTO notes VALUES (:value)"), {"value": value})


def notes(connection: Connection) -> list[str]:
    return list(connection.execute(text("SELECT value FROM notes ORDER BY rowid")).scalars())


async def with_notes(file: Path, **options: float) -> Database:
    database = await Database.open(file, **options)
    await database.write(lambda connection: connection.execute(text("CREATE TABLE notes (value TEXT)")))
    return database


async def test_a_new_database_is_private_to_its_owner(file: Path) -> None:
    database = await Database.open(file)
    await database.write(lambda connection: connection.execute(text("CREATE TABLE notes (value TEXT)")))
    made = await asyncio.to_thread(lambda: [file.parent, *file.parent.iterdir()])
    modes = await asyncio.to_thread(lambda: [stat.S_IMODE(path.stat().st_mode) for path in made])
    await database.close()

    assert len(made) == 4
    assert modes == [0o700, 0o600, 0o600, 0o600]


async def test_results_survive_a_power_cut_and_locks_are_waited_for(file: Path) -> None:
    database = await Database.open(file)
    pragmas = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")

    def read(connection: Connection) -> list[object]:
        return [connection.execute(text(f"PRAGMA {pragma}")).scalar_one() for pragma in pragmas]

    assert await database.write(read) == await database.read(read) == ["wal", 2, 1, BUSY_TIMEOUT_S * 1000]
    assert BUSY_TIMEOUT_S > 10
    in_passing = await database.write(read, outlasts_power_cut=False)
    assert in_passing[1] == 1
    assert await database.write(read) == ["wal", 2, 1, BUSY_TIMEOUT_S * 1000]
    await database.close()


async def test_an_existing_database_opens_fast_and_without_the_migration_tool(file: Path) -> None:
    await (await Database.open(file)).close()
    program = f"""
import asyncio, sys, time
from pathlib import Path
from keryx.store.db import Database
async def main():
    started = time.process_time()
    database = await Database.open(Path({str(file)!r}))
    print(time.process_time() - started, "alembic" in sys.modules)
    await database.close()
asyncio.run(main())
"""
    ran = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True)
    took_s, migrates = ran.stdout.split()
    assert float(took_s) < START_UP_S
    assert migrates == "False"


async def test_what_is_no_database_is_said_in_one_line(file: Path) -> None:
    file.parent.mkdir()
    await asyncio.to_thread(file.write_text, "not a database at all, but long enough to be taken for one" * 20)
    with pytest.raises(ConfigError, match="cannot be opened as a Keryx database") as error:
        await Database.open(file)
    assert str(file) in str(error.value)
    assert "\n" not in str(error.value)


async def test_a_database_of_a_newer_keryx_is_left_alone(file: Path) -> None:
    database = await Database.open(file)
    await database.write(lambda connection: connection.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    await database.close()
    with pytest.raises(ConfigError, match="newer Keryx"):
        await Database.open(file)


async def test_writes_are_kept_in_the_order_they_were_asked_for(file: Path) -> None:
    database = await with_notes(file)
    await asyncio.gather(*(database.write(note(str(number))) for number in range(20)))
    assert await database.read(notes) == [str(number) for number in range(20)]
    await database.close()


async def test_a_write_that_fails_leaves_nothing_and_the_next_goes_on(file: Path) -> None:
    database = await with_notes(file)

    def fail(connection: Connection) -> None:
        note("half")(connection)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await database.write(fail)
    await database.write(note("whole"))
    assert await database.read(notes) == ["whole"]
    await database.close()


async def test_a_write_is_carried_out_though_whoever_asked_is_cancelled(file: Path) -> None:
    database = await with_notes(file)
    held = threading.Event()
    asking = [asyncio.ensure_future(database.write(lambda connection: held.wait(5)))]
    asking += [asyncio.ensure_future(database.write(note("kept")))]
    await asyncio.sleep(0)
    asking[1].cancel()
    await asyncio.wait({asking[1]})
    held.set()
    await asking[0]
    await database.close()

    again = await Database.open(file)
    assert asking[1].cancelled()
    assert await again.read(notes) == ["kept"]
    await again.close()


async def test_a_reader_is_not_held_up_by_a_writer(file: Path) -> None:
    database = await with_notes(file)
    held = threading.Event()

    def slowly(connection: Connection) -> None:
        note("later")(connection)
        held.wait(5)

    writing = asyncio.ensure_future(database.write(slowly))
    assert await database.read(notes) == []
    held.set()
    await writing
    assert await database.read(notes) == ["later"]
    await database.close()


async def test_a_write_outlasts_a_lock_that_somebody_else_holds(file: Path) -> None:
    database = await with_notes(file, busy_timeout_s=0.01, write_budget_s=20)
    with sqlite3.connect(file, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.ensure_future(database.write(note("kept")))
        await asyncio.wait({writing}, timeout=0.3)
        assert not writing.done()
        other.execute("ROLLBACK")
    other.close()
    await writing
    assert await database.read(notes) == ["kept"]
    await database.close()


async def test_a_lock_beyond_the_budget_is_said_plainly_and_nothing_is_stored(file: Path) -> None:
    database = await with_notes(file, busy_timeout_s=0.01, write_budget_s=0.1)
    with sqlite3.connect(file, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked by another program") as error:
            await database.write(note("lost"))
        other.execute("ROLLBACK")
    other.close()
    await database.write(note("kept"))
    assert await database.read(notes) == ["kept"]
    assert error.value.spoken == "My records are locked by another program. Try again in a moment."
    await database.close()


async def test_a_full_disk_is_said_plainly_and_writing_goes_on_once_there_is_room(file: Path) -> None:
    database = await with_notes(file)
    await database.write(lambda connection: connection.execute(text("PRAGMA max_page_count = 1")))
    with pytest.raises(Unavailable, match="the disk is full") as error:
        await database.write(note("x" * 100_000))
    assert await database.read(notes) == []
    await database.write(lambda connection: connection.execute(text("PRAGMA max_page_count = 100000")))
    await database.write(note("kept"))
    assert await database.read(notes) == ["kept"]
    assert "disk is full" in error.value.spoken
    await database.close()


async def test_closing_carries_out_what_was_asked_for_and_refuses_the_rest(file: Path) -> None:
    database = await with_notes(file)
    asked = [asyncio.ensure_future(database.write(note(str(number)))) for number in range(3)]
    await asyncio.sleep(0)
    await database.close()
    await database.close()
    await asyncio.gather(*asked)
    for refused in (database.write(note("late")), database.read(notes)):
        with pytest.raises(Unavailable, match="closed"):
            await refused

    again = await Database.open(file)
    assert await again.read(notes) == ["0", "1", "2"]
    await again.close()


async def test_closing_is_bounded_though_a_lock_is_held(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("keryx.store.db.CLOSE_GRACE_S", 0.2)
    database = await with_notes(file, busy_timeout_s=0.01)
    with sqlite3.connect(file, isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        asked = [asyncio.ensure_future(database.write(note(str(number)))) for number in range(2)]
        await asyncio.sleep(0)
        started = time.monotonic()
        await database.close()
        assert time.monotonic() - started < 3
        for writing in asked:
            with pytest.raises(Unavailable):
                await writing
        other.execute("ROLLBACK")
    other.close()


async def test_news_without_its_task_cannot_be_stored(file: Path) -> None:
    database = await Database.open(file)
    row = {"task_id": 7, "kind": "done", "message": "", "agent": "fake", "description": ""}

    def work(connection: Connection) -> None:
        connection.execute(insert(news).values(row | {"created_at": datetime.now(UTC)}))

    with pytest.raises(IntegrityError):
        await database.write(work)
    assert await database.read(lambda connection: connection.execute(select(news)).all()) == []
    await database.close()
