"""One SQLite database in WAL mode: many readers, one writer, and what happens when the disk or a lock is in the way.

Every transaction runs as a whole in a thread of this room. Awaiting each statement by itself (an asyncio driver) costs
several thread changes a statement, all of them on the event loop that carries the voice; this costs one a transaction.
"""

import asyncio
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError

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
"""How long `close` waits for the writes already asked for."""
READERS = 3

log = logging.getLogger(__name__)
T = TypeVar("T")
Work = Callable[[Connection], T]


class Database:
    """An open database. Get one with `Database.open`; `close` it when done.

    Writes run one after the other in the order they were asked for, each a transaction of its own that takes the write
    lock at once, so that two of ours never meet. A write that was asked for is carried out even when whoever asked is
    cancelled while waiting: a cancelled wait means "may have been stored".
    """

    def __init__(self, readers: Engine, writer: Engine, *, write_budget_s: float) -> None:
        self._readers = readers
        self._writer = writer
        self._write_budget_s = write_budget_s
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="database-reader")
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="database-writer")
        self._closed = threading.Event()

    @classmethod
    async def open(
        cls, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S, write_budget_s: float = WRITE_BUDGET_S
    ) -> Self:
        """Open the database at `path`, made or migrated to the current schema first. Raises `ConfigError`."""
        await asyncio.to_thread(upgrade, path, busy_timeout_s=busy_timeout_s)
        readers = _engine(path, "BEGIN", connections=READERS, busy_timeout_s=busy_timeout_s)
        # A deferred transaction that reads first cannot wait for the write lock ("database is locked" at once, whatever
        # the busy timeout), so the writer takes it up front.
        writer = _engine(path, "BEGIN IMMEDIATE", connections=1, busy_timeout_s=busy_timeout_s)
        return cls(readers, writer, write_budget_s=write_budget_s)

    async def read(self, work: Work[T]) -> T:
        """Run `work` in a read transaction: one consistent view. A cancellation loses nothing."""
        return await self._run(self._reading, partial(self._read, work))

    async def write(self, work: Work[T], *, outlasts_power_cut: bool = True) -> T:
        """Run `work` in a write transaction and commit it.

        `work` runs in a thread, and again after "database is locked", so it touches nothing but its connection. Raises
        `Unavailable` when the lock outlasts the budget or the disk is full; nothing is stored then. Without
        `outlasts_power_cut` the commit does not wait for the disk: it outlasts the process, not the machine, and is for
        what comes about again by itself.
        """
        return await self._run(self._writing, partial(self._persist, work, outlasts_power_cut))

    async def close(self) -> None:
        """Carry out the writes already asked for, then close; bounded by `CLOSE_GRACE_S`. May be called twice."""
        if self._closed.is_set():
            return
        last = asyncio.wrap_future(self._writing.submit(self._closed.set))
        await asyncio.wait({last}, timeout=CLOSE_GRACE_S)
        self._closed.set()
        for threads, engine in ((self._writing, self._writer), (self._reading, self._readers)):
            threads.shutdown(wait=False, cancel_futures=True)
            engine.dispose()

    async def _run(self, threads: ThreadPoolExecutor, job: Callable[[], T]) -> T:
        if self._closed.is_set():
            raise _closed()
        running = asyncio.wrap_future(threads.submit(job))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            if running.cancelled():  # by `close`, while it was waiting for its turn; whoever asked was not cancelled
                raise _closed() from None
            raise

    def _read(self, work: Work[T]) -> T:
        try:
            with self._readers.begin() as connection:
                return work(connection)
        except DBAPIError as error:
            raise _plain(error) from error

    def _persist(self, work: Work[T], outlasts_power_cut: bool) -> T:
        started = time.monotonic()
        while True:
            try:
                with self._writer.connect() as connection:
                    # Only possible outside a transaction, so past SQLAlchemy, which would begin one.
                    driver: Any = connection.connection.driver_connection
                    driver.execute(f"PRAGMA synchronous={'FULL' if outlasts_power_cut else 'NORMAL'}").close()
                    with connection.begin():
                        return work(connection)
            except DBAPIError as error:
                if not _is_locked(error) or time.monotonic() - started >= self._write_budget_s or self._closed.is_set():
                    raise _plain(error) from error
            log.warning("database is locked by another process, trying again")
            self._closed.wait(RETRY_PAUSE_S)


def _engine(path: Path, begin: str, *, connections: int, busy_timeout_s: float) -> Engine:
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=connections,
        max_overflow=0,
        # No implicit transactions: `begin` opens each one, with the kind of lock it needs.
        connect_args={"timeout": busy_timeout_s, "isolation_level": None},
    )
    event.listen(engine, "connect", _set_pragmas)
    event.listen(engine, "begin", _beginner(begin))
    return engine


def _set_pragmas(connection: sqlite3.Connection, record: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _beginner(statement: str) -> Callable[[Connection], None]:
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    return begin


def _closed() -> Unavailable:
    return Unavailable("the database is closed", spoken="I'm just shutting down.")


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
