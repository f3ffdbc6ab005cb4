"""The pointer to a running daemon: its page's address and key, in a file that only the owner reads.

So `keryx call` and `keryx tasks` in another shell find the daemon, a demo's too. A pointer whose process is gone is
taken away by whoever reads it.
"""

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from keryx.config.places import Places, make_private
from keryx.private import write_private


@dataclass(frozen=True)
class DaemonPointer:
    """`url` is an origin, as `http://127.0.0.1:8080`; `key` opens its page and its API."""

    url: str
    key: str = field(repr=False)
    pid: int = field(default_factory=os.getpid)

    @property
    def page(self) -> str:
        """The address to open in a browser."""
        return f"{self.url}/?key={self.key}"


def announce(places: Places, pointer: DaemonPointer) -> None:
    """Write the pointer, whole or not at all."""
    make_private(places.daemon_file.parent)
    write_private(places.daemon_file, json.dumps(asdict(pointer)))


def withdraw(places: Places) -> None:
    """Remove the pointer if it is this process's own."""
    pointer = _read(places.daemon_file)
    if pointer is not None and pointer.pid == os.getpid():
        places.daemon_file.unlink(missing_ok=True)


def find(places: Places) -> DaemonPointer | None:
    """The running daemon, the one started last if a demo runs beside it; None when there is none."""
    running: list[tuple[float, DaemonPointer]] = []
    for name in ("daemon.json", "demo.json"):
        path = places.state_dir / name
        pointer = _read(path)
        if pointer is not None and _alive(pointer.pid):
            running.append((path.stat().st_mtime, pointer))
        elif pointer is not None:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
    return max(running, key=lambda pair: pair[0])[1] if running else None


def _read(path: Path) -> DaemonPointer | None:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        return DaemonPointer(url=str(values["url"]), key=str(values["key"]), pid=int(values["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        # Missing, unreadable or written by something else: there is no pointer.
        return None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return pid > 0
