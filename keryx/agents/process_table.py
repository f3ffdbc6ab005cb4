"""Which processes run on this machine, which of them are an agent's, and how those end. Blocking, a few milliseconds.

Linux shows every process's parent, start and environment. Elsewhere `ps` shows parent and start, so what an agent put
into a session of its own is lost sight of once its parent is gone.
"""

import contextlib
import functools
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

LOOK_AGAIN_S = 0.01
EMPTY_LOOKS = 2
"""So often in a row nothing may be found: a process in the middle of an exec shows no environment for a moment."""
KILLED_S = 0.05
"""How long what was killed may take to be gone before one looks again."""
PS_LIMIT_S = 5.0

_PROC = Path("/proc")


class Known(NamedTuple):
    """One process, for as long as it lives: numbers are used again, a number with its start is not."""

    pid: int
    began: str


@dataclass(frozen=True)
class Seen:
    """A running process as the table has it."""

    began: str
    parent: int
    group: int


Mark = Callable[[int], bool]
"""Whether the process of that number says, by its environment, that it is meant."""


def began(pid: int) -> str | None:
    """When the process began, in a form that only this machine in this boot understands; None when it does not run."""
    seen = _stat(pid) if _linux() else _by_ps("-p", str(pid)).get(pid)
    return seen and seen.began


def table() -> dict[int, Seen]:
    """Every running process; what has ended and is only waiting to be asked for is left out."""
    if not _linux():
        return _by_ps("-ax")
    found = ((pid, _stat(pid)) for pid in _numbers())
    return {pid: seen for pid, seen in found if seen}


def carries(tag: str) -> Mark:
    """A mark: the process is this user's, and `tag` ("NAME=value") is in its environment."""
    wanted = tag.encode()

    def mark(pid: int) -> bool:
        with contextlib.suppress(OSError):  # gone by now, or somebody else's
            path = _PROC / str(pid) / "environ"
            return wanted in path.read_bytes().split(b"\0") and path.stat().st_uid == os.geteuid()
        return False

    return mark


def lives_in(folder: Path) -> Mark:
    """A mark: what the process calls `folder` is our folder, not one of the same name in another container."""

    def mark(pid: int) -> bool:
        with contextlib.suppress(OSError):  # a sandbox in which it is not to be seen
            return os.path.samestat(os.stat(f"{_PROC}/{pid}/root{folder}"), os.stat(folder))
        return True

    return mark


def belonging(
    processes: Mapping[int, Seen], marked: Collection[int], groups: Collection[int], spared: Collection[int]
) -> set[int]:
    """`marked`, what is in their groups or in `groups`, and all that these started; nothing that is spared. Pure."""
    children, members = defaultdict(list), defaultdict(list)
    for pid, seen in processes.items():
        children[seen.parent].append(pid)
        members[seen.group].append(pid)
    found, waiting = set(), [*marked, *(pid for group in groups for pid in members[group])]
    while waiting:
        pid = waiting.pop()
        if pid in processes and pid not in found and pid not in spared:
            found.add(pid)
            waiting += children[pid] + members[pid]
    return found


def end_all(mark: Mark, noted: Collection[Known] = (), *, grace_s: float, limit_s: float) -> int:
    """End what is marked or noted and everything it started, until none is left; how many there were.

    They are asked by SIGTERM first when `grace_s` is not 0. At most `limit_s` seconds after that. This process and
    those it comes from are spared. A noted process counts only if it began when the note says.
    """
    hunt, looks = _Hunt(mark, noted), 0
    if grace_s:
        asked = hunt.look()
        looks = 0 if asked else 1
        _send(asked, signal.SIGTERM)
        _gone(asked, grace_s)
    until_s = time.monotonic() + limit_s
    while looks < EMPTY_LOOKS and time.monotonic() < until_s:
        found = hunt.look()
        looks = 0 if found else looks + 1
        _send(found, signal.SIGKILL)
        _gone(found, KILLED_S)
    return hunt.found


class _Hunt:
    """What was found once stays ours: its parent's end makes it an orphan, and a leader's end hides its group."""

    def __init__(self, mark: Mark, noted: Collection[Known]) -> None:
        self._mark = mark
        self._ours = set(noted)
        # Where no environment can be read, the group is what is left of a leader that has ended.
        self._groups = set[int]() if _linux() else {known.pid for known in noted}
        self._found = set[Known]()

    @property
    def found(self) -> int:
        """How many there were so far."""
        return len(self._found)

    def look(self) -> set[Known]:
        """What there is to end at this moment."""
        processes = table()
        known = {each.pid for each in self._ours if (seen := processes.get(each.pid)) and seen.began == each.began}
        marked = known | ({pid for pid in processes if self._mark(pid)} if _linux() else set())
        if not marked and not self._groups:
            return set()
        pids = belonging(processes, marked, self._groups, _spared(processes))
        self._groups |= {pid for pid in pids if processes[pid].group == pid}
        found = {Known(pid, processes[pid].began) for pid in pids}
        self._ours |= found
        self._found |= found
        return found


def _spared(processes: Mapping[int, Seen]) -> set[int]:
    """This process and those that it comes from; the first process of the machine in any case."""
    spared, pid = {1}, os.getpid()
    while pid not in spared and pid in processes:
        spared.add(pid)
        pid = processes[pid].parent
    return spared


def _send(processes: Collection[Known], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(OSError):  # gone by now, or somebody else's: neither is ours to end
            if not _linux():
                os.kill(process.pid, number)
                continue
            descriptor = os.pidfd_open(process.pid)
            try:
                # Asked once its number can no longer be given to another.
                if began(process.pid) == process.began:
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)


def _gone(processes: Collection[Known], within_s: float) -> None:
    until_s = time.monotonic() + within_s
    while any(began(each.pid) == each.began for each in processes) and time.monotonic() < until_s:
        time.sleep(LOOK_AGAIN_S)


def _linux() -> bool:
    return sys.platform == "linux"


def _numbers() -> Iterator[int]:
    return (int(name) for name in os.listdir(_PROC) if name.isdigit())


@functools.cache
def _boot() -> str:
    return (_PROC / "sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int) -> Seen | None:
    """A process by /proc/PID/stat, see proc(5): state, parent and group are fields 3 to 5, its start is field 22."""
    try:
        # The second field, its name in brackets, may hold anything, spaces and brackets too.
        fields = (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    if not fields or fields[0] in (b"Z", b"X"):
        return None
    return Seen(f"{_boot()}/{int(fields[19])}", int(fields[1]), int(fields[2]))


def _by_ps(*which: str) -> dict[int, Seen]:
    columns = ("-o", "pid=", "-o", "ppid=", "-o", "pgid=", "-o", "stat=", "-o", "lstart=")
    ended = subprocess.run(
        ["ps", *which, *columns],
        capture_output=True,
        text=True,
        timeout=PS_LIMIT_S,
        check=False,  # it ends with 1 when there is no such process
        env={**os.environ, "LC_ALL": "C", "TZ": "UTC"},
    )
    found = {}
    for line in ended.stdout.splitlines():
        pid, parent, group, state, start = line.split(None, 4)
        if not state.startswith(("Z", "X")):
            found[int(pid)] = Seen(start.strip(), int(parent), int(group))
    return found
