"""One SQLite database in WAL mode: many readers, one writer, and what happens when the disk or a lock is in the way."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from keryx.errors import Unavailable
from keryx.store.lock import DataLock
from keryx.store.upgrade import upgrade

__all__ = ["DataLock", "Database"]

BUSY_TIMEOUT_S = 12.0
"""How long SQLite itself waits for somebody else's write lock before it says "database is locked"."""
WRITE_BUDGET_S = 30.0
"""How long one write is tried again after "database is locked", all tries together."""
RETRY_PAUSE_S = 0.05
CLOSE_GRACE_S = 5.0
READERS = 4

log = logging.getLogger(__name__)
T = TypeVar("T")
Work = Callable[[Connection], T]


class Database:
    """An open database. Get one with `Database.open`; `close` it when done.

    Writes run one after the other in the order they were asked for, each a transaction of its own that takes the write
    lock at once, so that two of ours never meet. A write that was asked for is carried out even when whoever asked is
    cancelled while waiting: a cancelled wait means "may have been stored".
    """

    def __init__(self, readers: AsyncEngine, writer: AsyncEngine, *, write_budget_s: float) -> None:
        self._readers = readers
        self._writer = writer
        self._write_budget_s = write_budget_s
        self._wanted: asyncio.Queue[tuple[Work[Any], asyncio.Future[Any]] | None] = asyncio.Queue()
        # Not in a TaskGroup: it lives from `open` to `close`, which end it, and no single block spans the two.
        self._writing = asyncio.create_task(self._write_in_order(), name="database-writer")
        self._closed = False

    @classmethod
    async def open(
        cls, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S, write_budget_s: float = WRITE_BUDGET_S
    ) -> Self:
        """Open the database at `path`, made or migrated to the current schema first. Raises `ConfigError`."""
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        await asyncio.to_thread(upgrade, path, busy_timeout_s=busy_timeout_s)
        readers = _engine(path, "BEGIN", connections=READERS, busy_timeout_s=busy_timeout_s)
        # A deferred transaction that reads first cannot wait for the write lock ("database is locked" at once, whatever
        # the busy timeout), so the writer takes it up front.
        writer = _engine(path, "BEGIN IMMEDIATE", connections=1, busy_timeout_s=busy_timeout_s)
        return cls(readers, writer, write_budget_s=write_budget_s)

    async def read(self, work: Work[T]) -> T:
        """Run `work` in a read transaction: one consistent view. A cancellation loses nothing."""
        try:
            async with self._readers.connect() as connection:
                return await connection.run_sync(work)
        except DBAPIError as error:
            raise _plain(error) from error

    async def write(self, work: Work[T]) -> T:
        """Run `work` in a write transaction and commit it.

        `work` may be run again after "database is locked", so it touches nothing but its connection. Raises
        `Unavailable` when the lock outlasts the budget or the disk is full; nothing is stored then.
        """
        if self._closed:
            raise Unavailable("the database is closed", spoken="I'm just shutting down.")
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._wanted.put_nowait((work, done))
        return await done

    async def close(self) -> None:
        """Carry out the writes already asked for, then close; bounded by `CLOSE_GRACE_S`. May be called twice."""
        if not self._closed:
            self._closed = True
            self._wanted.put_nowait(None)
        _, late = await asyncio.wait({self._writing}, timeout=CLOSE_GRACE_S)
        if late:
            self._writing.cancel()
            await asyncio.wait({self._writing}, timeout=CLOSE_GRACE_S)
        while not self._wanted.empty():
            left = self._wanted.get_nowait()
            if left is not None and not left[1].done():
                left[1].set_exception(Unavailable("the database was closed before this could be stored"))
        await self._writer.dispose()
        await self._readers.dispose()

    async def _write_in_order(self) -> None:
        while (wanted := await self._wanted.get()) is not None:
            work, done = wanted
            try:
                value = await self._persist(work)
            except Exception as error:  # the edge of one write: whoever asked for it gets the error, the next goes on
                if not done.done():
                    done.set_exception(error)
            except asyncio.CancelledError:
                if not done.done():
                    done.set_exception(Unavailable("the database was closed before this could be stored"))
                raise
            else:
                if not done.done():
                    done.set_result(value)

    async def _persist(self, work: Work[T]) -> T:
        started = time.monotonic()
        while True:
            try:
                async with self._writer.begin() as connection:
                    return await connection.run_sync(work)
            except DBAPIError as error:
                if not _is_locked(error) or time.monotonic() - started >= self._write_budget_s:
                    raise _plain(error) from error
                log.warning("database is locked by another process, trying again")
            await asyncio.sleep(RETRY_PAUSE_S)


def _engine(path: Path, begin: str, *, connections: int, busy_timeout_s: float) -> AsyncEngine:
    engine = create_async_engine(
        URL.create("sqlite+aiosqlite", database=str(path)),
        pool_size=connections,
        max_overflow=0,
        # No implicit transactions: `begin` opens each one, with the kind of lock it needs.
        connect_args={"timeout": busy_timeout_s, "isolation_level": None},
    )
    event.listen(engine.sync_engine, "connect", _set_pragmas)
    event.listen(engine.sync_engine, "begin", _beginner(begin))
    return engine


def _beginner(statement: str) -> Callable[[Connection], None]:
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    return begin


def _set_pragmas(connection: Any, record: Any) -> None:
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _code(error: DBAPIError) -> int:
    return getattr(error.orig, "sqlite_errorcode", 0) & 0xFF


def _is_locked(error: DBAPIError) -> bool:
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _plain(error: DBAPIError) -> Exception:
    """What a person can be told of `error`; errors that are defects of ours come back as they are."""
    if _is_locked(error):
        return Unavailable(
            "the database is locked by another program; close whatever has it open, then try again",
            spoken="My records are locked by another program. Try again in a moment.",
        )
    if _code(error) == sqlite3.SQLITE_FULL:
        return Unavailable(
            "the disk is full (or the database has reached its size limit); free some space, then try again",
            spoken="The disk is full, so I can't write that down. Free some space and try again.",
        )
    if _code(error) in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return Unavailable(
            f"the database cannot be used ({error.orig}); check the disk and the file's permissions",
            spoken="I can't reach my records on the disk. Please check the machine.",
        )
    return error
