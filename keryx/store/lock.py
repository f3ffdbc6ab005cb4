"""One daemon per data folder: a file lock that the system lets go when its process dies, however it dies."""

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

from keryx.errors import ConfigError

if TYPE_CHECKING:
    from filelock import BaseFileLock


class DataLock:
    """Held for as long as a daemon uses the data folder that `path` lies in.

    The holder's process id stands beside the lock, in `<path>.pid`: locking may empty the lock file itself.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pid_file = path.with_name(path.name + ".pid")
        self._lock: BaseFileLock | None = None

    def acquire(self) -> None:
        """Take the lock, or raise `ConfigError` at once: who has it, on which folder, and what to do."""
        from filelock import FileLock, Timeout

        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(self._path, mode=0o600)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise ConfigError(
                f"another Keryx{self._holder()} is already using the data in {self._path.parent}; "
                "stop it first, or set KERYX_HOME to another folder",
                spoken="I'm already running on this machine.",
            ) from None
        self._lock = lock
        with contextlib.suppress(OSError):  # a full disk: it only tells a second daemon who is there
            self._pid_file.write_text(f"{os.getpid()}\n", encoding="ascii")

    def release(self) -> None:
        """Let go. May be called twice."""
        if self._lock is not None:
            with contextlib.suppress(OSError):
                self._pid_file.unlink()
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _holder(self) -> str:
        try:
            return f" (process {int(self._pid_file.read_text(encoding='ascii'))})"
        except (OSError, ValueError):
            return ""
