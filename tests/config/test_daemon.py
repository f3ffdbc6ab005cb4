"""How another shell finds the running daemon."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from keryx.config.daemon import DaemonPointer, announce, find, withdraw
from keryx.config.places import Places


@pytest.fixture
def ordinary(tmp_path: Path) -> Places:
    return Places(
        config_dir=tmp_path, data_dir=tmp_path / "data", state_dir=tmp_path / "state", cache_dir=tmp_path / "cache"
    )


@pytest.fixture
def demo(tmp_path: Path) -> Places:
    return Places(
        config_dir=tmp_path,
        data_dir=tmp_path / "demo",
        state_dir=tmp_path / "state",
        cache_dir=tmp_path / "cache",
        demo=True,
    )


@pytest.fixture
def gone() -> int:
    """The id of a process that has ended."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    return ended.pid


def test_nothing_is_found_where_nothing_runs(ordinary: Places) -> None:
    assert find(ordinary) is None


def test_a_demo_is_found_from_an_ordinary_shell(ordinary: Places, demo: Places) -> None:
    announce(demo, DaemonPointer("http://127.0.0.1:8080", "a-key"))
    found = find(ordinary)
    assert found is not None
    assert found.page == "http://127.0.0.1:8080/?key=a-key"


def test_the_pointer_is_for_the_owners_eyes_only(ordinary: Places) -> None:
    announce(ordinary, DaemonPointer("http://127.0.0.1:1", "a-key"))
    assert stat.S_IMODE(ordinary.daemon_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(ordinary.state_dir.stat().st_mode) == 0o700
    assert [path.name for path in ordinary.state_dir.iterdir()] == ["daemon.json"]
    assert "a-key" not in repr(find(ordinary))


def test_a_pointer_whose_process_is_gone_is_taken_away(ordinary: Places, gone: int) -> None:
    announce(ordinary, DaemonPointer("http://127.0.0.1:1", "a-key", gone))
    assert find(ordinary) is None
    assert not ordinary.daemon_file.exists()


def test_the_daemon_started_last_is_found(ordinary: Places, demo: Places) -> None:
    announce(ordinary, DaemonPointer("http://127.0.0.1:1", "a-key"))
    announce(demo, DaemonPointer("http://127.0.0.1:2", "a-key"))
    os.utime(ordinary.daemon_file, (1, 1))
    assert getattr(find(ordinary), "url", None) == "http://127.0.0.1:2"
    withdraw(demo)
    assert getattr(find(ordinary), "url", None) == "http://127.0.0.1:1"


def test_a_daemon_withdraws_only_its_own_pointer(ordinary: Places) -> None:
    announce(ordinary, DaemonPointer("http://127.0.0.1:1", "a-key", os.getppid()))
    withdraw(ordinary)
    assert find(ordinary) is not None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"url": 1}', '{"url": "u", "key": "k", "pid": "x"}', "\udcff"]
)
def test_a_pointer_that_makes_no_sense_is_no_pointer(ordinary: Places, text: str) -> None:
    ordinary.state_dir.mkdir()
    ordinary.daemon_file.write_text(text, errors="surrogateescape")
    assert find(ordinary) is None
    withdraw(ordinary)
