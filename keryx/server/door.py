"""The door that calls come in by: how many may stand there unannounced, how many may be inside."""

import contextlib
from collections.abc import Iterator

from keryx.errors import Unavailable

MAX_AT_DOOR = 64
"""Sockets that were opened and have not said yet who they are; each is given up after ten seconds."""
MAX_CALLS = 16
"""Calls held at a time: what two cores can hear and speak beside the agents, and 20 MB of memory each."""
BUSY = "All lines to Keryx are busy. Your tasks are still running. Please call again in a moment."


class Door:
    """Counts who waits at the door."""

    def __init__(self) -> None:
        self._waiting = 0

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Stand at the door for the length of a block; raises `Unavailable` when too many do."""
        if self._waiting >= MAX_AT_DOOR:
            raise Unavailable("too many sockets wait at the door")
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
