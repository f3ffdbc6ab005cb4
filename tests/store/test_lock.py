"""One daemon per data folder, held by real processes."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keryx.errors import ConfigError
from keryx.store.db import DataLock

HOLDER = """
import sys
from pathlib import Path
from keryx.store.db import DataLock
lock = DataLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A second daemon that holds the lock until it is killed."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "keryx.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_daemon_is_told_in_one_line_who_holds_which_folder(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    for _ in range(2):
        with pytest.raises(ConfigError) as error:
            DataLock(tmp_path / "keryx.lock").acquire()
        line = str(error.value)
        assert str(tmp_path) in line
        assert f"process {holder.pid}" in line
        assert "\n" not in line
        assert error.value.spoken == "I'm already running on this machine."


def test_without_the_holders_number_the_line_still_says_what_to_do(
    tmp_path: Path, holder: subprocess.Popen[str]
) -> None:
    (tmp_path / "keryx.lock.pid").unlink()
    with pytest.raises(ConfigError, match="another Keryx is already using the data in"):
        DataLock(tmp_path / "keryx.lock").acquire()


def test_a_killed_daemon_leaves_no_lock_behind(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait(10)
    with DataLock(tmp_path / "keryx.lock"):
        pass


def test_a_lock_let_go_can_be_taken_again(tmp_path: Path) -> None:
    lock = DataLock(tmp_path / "new folder" / "keryx.lock")
    with lock:
        assert (tmp_path / "new folder").stat().st_mode & 0o777 == 0o700
    lock.release()
    with lock, pytest.raises(ConfigError):
        DataLock(tmp_path / "new folder" / "keryx.lock").acquire()


def test_a_lock_whose_holders_number_cannot_be_written_is_held_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "keryx.lock.pid").mkdir()  # as little to be written as on a full disk
    with DataLock(tmp_path / "keryx.lock"), pytest.raises(ConfigError, match="another Keryx is already"):
        DataLock(tmp_path / "keryx.lock").acquire()
