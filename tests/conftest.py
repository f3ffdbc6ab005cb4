"""What every test stands on: no network but loopback, and a clock that moves only when told."""

import socket

import pytest

from keryx.clock import VirtualClock


@pytest.fixture(autouse=True)
def only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse any connection that would leave this machine."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address, /) -> None:
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise PermissionError(f"a test tried to reach {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()
