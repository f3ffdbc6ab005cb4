"""What every test stands on: no network but loopback, and a clock that moves only when told."""

import socket
from collections.abc import Iterator

import pytest

from keryx.clock import VirtualClock
from keryx.voice.loading import SpeechParts, load_parts


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


@pytest.fixture(scope="session")
def speech_parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpeechParts]:
    """Whisper, Silero and hibari. They keep to their own threads, so tests on different event loops may share them."""
    pytest.importorskip("hibari", reason="the speech extra is not installed")
    parts = load_parts(tmp_path_factory.mktemp("speech"), None, False, lambda what, done: None)
    yield parts
    parts.close()
