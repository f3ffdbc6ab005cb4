"""What was tried, and what came of it, for every process of the owner's: one small file each, beside the sign-in.

It is written down before a letter goes out, so that a process that is killed before the answer leaves a trace, and so
that another process waits its turn. Nothing of a letter is in it: a digest of what it is known by, and Google's ids.
"""

import contextlib
import hashlib
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from keryx.clock import Clock
from keryx.errors import Unavailable
from keryx.private import write_private

_LOG = logging.getLogger(__name__)

KEPT_FOR = timedelta(days=2)
"""Longer than a letter counts as the same one: a day, and the night after it."""
TURN_WAIT_S = 150.0
"""Longer than whoever has the turn goes on trying, and less than an agent waits for a tool."""


@dataclass(frozen=True)
class Entry:
    """What is known of one thing."""

    at: datetime
    result: tuple[str, ...] | None
    """What came of it; None: it was tried, and no answer was seen."""


class Journal:
    """Entries of one kind in `folder`, which is made when it is needed. Blocking, thread-safe.

    A disk that takes nothing more costs the memory of other processes, never a letter.
    """

    turn_wait_s = TURN_WAIT_S

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._swept = False

    @contextlib.contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Nobody else does the same thing meanwhile, in any process; `Unavailable` when somebody does for too long."""
        from filelock import FileLock, Timeout

        # Few locks that stay, each for many things: one that is removed could be held twice.
        lock = FileLock(self._folder / f"{_name(key)[:2]}.lock", mode=0o600, timeout=self.turn_wait_s)
        held = True
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock.acquire()
        except Timeout:
            raise Unavailable(
                "another program of yours is at the same letter for too long; try again in a minute",
                spoken="Something else is just sending that. Ask me again in a minute.",
            ) from None
        except OSError:
            held = False
        try:
            yield
        finally:
            if held:
                lock.release()

    def entry(self, key: str) -> Entry | None:
        """What is written of it; None: nothing. One that cannot be read says that it was tried."""
        path = self._path(key)
        try:
            values: Any = json.loads(path.read_text(encoding="utf-8"))
            at, result = datetime.fromisoformat(values["at"]), values["result"]
            if at.tzinfo is None or not (result is None or all(isinstance(each, str) for each in result)):
                raise ValueError("something else")
            return Entry(at, None if result is None else tuple(result))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return Entry(self._clock.now(), None)

    def write(self, key: str, result: Sequence[str] | None) -> None:
        """Write down what came of it; None: it is being tried."""
        self._sweep()
        values = {"at": self._clock.now().isoformat(), "result": None if result is None else list(result)}
        try:
            write_private(self._path(key), json.dumps(values))
        except OSError:
            _LOG.warning("what was sent could not be written down: look at the disk")

    def forget(self, key: str) -> None:
        """Nothing is known of it any more."""
        with contextlib.suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{_name(key)}.json"

    def _sweep(self) -> None:
        """Remove what is too old to matter, once for each process."""
        if self._swept:
            return
        self._swept = True
        oldest_s = (self._clock.now() - KEPT_FOR).timestamp()
        with contextlib.suppress(OSError):
            for path in self._folder.glob("*.json"):
                if path.stat().st_mtime < oldest_s:
                    path.unlink(missing_ok=True)


def _name(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:40]
