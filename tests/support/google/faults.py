"""What goes wrong, by script: for the next requests of a method, one fault each."""

import threading
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

BOUND_S = 30.0
"""How long an answer is held back at most."""

BATCH = "batch"
"""In place of a method's id: the request that carries a batch."""
ANY = "*"
"""Any method, but not the batch that carries it."""


@dataclass(frozen=True)
class Status:
    """An error by Google. `after`: what was asked is done all the same."""

    code: int
    reason: str = "backendError"
    message: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Such as Retry-After."""
    after: bool = False


@dataclass(frozen=True)
class Cut:
    """What was asked is done; of the answer's body only so many bytes come, then the connection breaks."""

    after_bytes: int = 10


@dataclass(frozen=True)
class HangUp:
    """The connection is closed with no answer. `after`: what was asked is done all the same."""

    after: bool = False


@dataclass(frozen=True)
class Late:
    """What was asked is done; the answer waits until `release` is set. `done` is set once it is held back."""

    release: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Garbage:
    """What was asked is done; the answer is something else than Google's JSON."""

    body: bytes = b"<html><body>Welcome to the hotel's network!</body></html>"
    status: int = 200
    content_type: str = "text/html"


Fault: TypeAlias = Status | Cut | HangUp | Late | Garbage


class Faults:
    """The script. Thread-safe."""

    def __init__(self) -> None:
        self._next: dict[str, deque[Fault | None]] = defaultdict(deque)
        self._held: list[Late] = []
        self._lock = threading.Lock()

    def script(self, method: str, *faults: Fault | None) -> None:
        """Each of the next requests of `method` (its id, `BATCH` or `ANY`) meets one; None: it goes well."""
        with self._lock:
            self._next[method].extend(faults)

    def clear(self) -> None:
        with self._lock:
            self._next.clear()

    @property
    def left(self) -> int:
        """How many no request has met."""
        return sum(map(len, self._next.values()))

    def take(self, method: str) -> Fault | None:
        with self._lock:
            for name in (method,) if method == BATCH else (method, ANY):
                if self._next[name]:
                    fault = self._next[name].popleft()
                    if isinstance(fault, Late):
                        self._held.append(fault)
                    return fault
        return None

    def release(self) -> None:
        """No answer is held back any more."""
        with self._lock:
            for late in self._held:
                late.release.set()
