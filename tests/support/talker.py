"""A caller on `/talk`: speaks recordings at real-time pace and plays what comes back on a real clock."""

import asyncio
import contextlib
import json
import time
import wave
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

IN_RATE = 16_000
OUT_RATE = 24_000
FRAME_S = 0.02
IN_FRAME = 640
LEAD_BYTES = OUT_RATE
"""Half a second of sound: a caption may come that much after its first word."""
LOUD = 0.01
"""A sample above this is speech in a clean recording."""


def read_wav(path: Path) -> np.ndarray:
    """Mono float32 at the file's own rate, which must be `IN_RATE`."""
    with wave.open(str(path)) as file:
        if file.getframerate() != IN_RATE or file.getnchannels() != 1 or file.getsampwidth() != 2:
            raise ValueError(f"{path.name} is not mono 16-bit at {IN_RATE} Hz")
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def write_wav(path: Path, pcm: bytes, rate: int = OUT_RATE) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(pcm)


def speech_span_s(samples: np.ndarray, rate: int = IN_RATE) -> tuple[float, float]:
    """When the speech of a clean recording begins and ends."""
    loud = np.flatnonzero(np.abs(samples) > LOUD)
    return float(loud[0] / rate), float(loud[-1] / rate)


@dataclass(frozen=True)
class Spoken:
    """When something was said, on `time.monotonic`: the first and the last loud sample."""

    began_s: float
    ended_s: float


@dataclass(frozen=True)
class Arrival:
    """Something the server sent."""

    at_s: float
    type: str
    """`audio` for sound, else the message's own type."""
    message: dict[str, Any] = field(default_factory=dict)
    size: int = 0
    played: int = 0
    """How many bytes the loudspeaker had played by then."""


class Talker:
    """One call. Made by `calling`; a microphone and a loudspeaker run beside whatever the test does."""

    def __init__(self, socket: ClientConnection, ready: dict[str, Any]) -> None:
        self.ready = ready
        self.arrivals: list[Arrival] = []
        self.heard = bytearray()
        """PCM16 at `OUT_RATE` that the loudspeaker has played."""
        self.ended: str | None = None
        """The reason the server gave."""
        self._socket = socket
        self._microphone: deque[bytes] = deque()
        self._speaker: deque[tuple[float, bytes | str]] = deque()
        """Sound and marks, and when each came."""
        self._fed = asyncio.Event()
        self._news = asyncio.Event()
        self._over = asyncio.Event()
        self._said = asyncio.Event()
        self._said.set()
        self._noise = np.random.default_rng(7)

    @classmethod
    @contextlib.asynccontextmanager
    async def calling(
        cls, url: str, key: str, *, client: str = "page", audio: bool = True, microphone: bool = True
    ) -> "AsyncIterator[Talker]":
        """Open the call at `url` (ws://host:port/talk) and hold it for the length of the block."""
        async with connect(url, max_size=2**22) as socket:
            await socket.send(json.dumps({"type": "start", "key": key, "client": client, "audio": audio}))
            ready = json.loads(await socket.recv())
            if ready["type"] != "ready":
                raise RuntimeError(f"refused: {ready}")
            talker = cls(socket, ready)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(talker._receive()), group.create_task(talker._play_out())]
                if audio and microphone:
                    tasks.append(group.create_task(talker._speak_out()))
                yield talker
                for task in tasks:
                    task.cancel()

    # -- what the caller does ---------------------------------------------------------------------------------------

    async def say(self, recording: Path | np.ndarray) -> Spoken:
        """Speak a recording; returns when its last sample was sent."""
        samples = read_wav(recording) if isinstance(recording, Path) else recording
        begins_s, ends_s = speech_span_s(samples)
        pcm = (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
        pcm += b"\0" * (-len(pcm) % IN_FRAME)
        await self._said.wait()
        started_s = time.monotonic()
        self._microphone.extend(pcm[at : at + IN_FRAME] for at in range(0, len(pcm), IN_FRAME))
        self._said.clear()
        await self._said.wait()
        return Spoken(started_s + begins_s, started_s + ends_s)

    async def type(self, text: str) -> None:
        await self.send({"type": "text", "text": text})

    async def key(self, digit: str) -> None:
        await self.send({"type": "key", "digit": digit})

    async def interrupt(self) -> None:
        await self.send({"type": "interrupt"})

    async def hang_up(self) -> None:
        await self.send({"type": "stop"})

    async def send(self, message: dict[str, Any]) -> None:
        await self._socket.send(json.dumps(message))

    # -- what the caller notices ------------------------------------------------------------------------------------

    def captions(self, who: str, *, since_s: float = 0.0) -> list[str]:
        """The newest text of every utterance of `who`, in order."""
        newest = {
            arrival.message["utterance"]: arrival.message["text"]
            for arrival in self.arrivals
            if arrival.type == "caption" and arrival.message["who"] == who and arrival.at_s >= since_s
        }
        return list(newest.values())

    def first(self, type: str, *, since_s: float = 0.0) -> Arrival | None:
        """The first arrival of a type (`audio`, `clear`, …) after a moment."""
        return next((a for a in self.arrivals if a.type == type and a.at_s >= since_s), None)

    async def wait_for(self, condition: Callable[[], Any], *, timeout_s: float = 10.0) -> Any:
        """Wait until `condition()` is true, looking at every arrival; a `TimeoutError` names the captions."""
        try:
            async with asyncio.timeout(timeout_s):
                while not (found := condition()):
                    self._news.clear()
                    await self._news.wait()
                return found
        except TimeoutError:
            raise TimeoutError(
                f"not within {timeout_s} s; Keryx: {self.captions('keryx')}, caller: {self.captions('caller')}"
            ) from None

    async def caption(self, who: str, containing: str, *, timeout_s: float = 10.0, since_s: float = 0.0) -> str:
        """The first caption of `who` that contains those words (small or capital)."""

        def found() -> str | None:
            texts = self.captions(who, since_s=since_s)
            return next((text for text in texts if containing.lower() in text.lower()), None)

        return await self.wait_for(found, timeout_s=timeout_s)

    def sound_of(self, words: str) -> bytes:
        """What the loudspeaker has played since Keryx began the utterance whose caption holds `words`."""
        captions = [a for a in self.arrivals if a.type == "caption" and a.message["who"] == "keryx"]
        utterance = next(a.message["utterance"] for a in captions if words.lower() in a.message["text"].lower())
        began = next(a.played for a in captions if a.message["utterance"] == utterance)
        return bytes(self.heard[max(0, began - LEAD_BYTES) :])

    async def until_quiet(self, quiet_s: float = 0.6, *, timeout_s: float = 30.0) -> None:
        """Wait until the loudspeaker has had nothing to play for `quiet_s`."""
        async with asyncio.timeout(timeout_s):
            since_s = time.monotonic()
            while time.monotonic() - since_s < quiet_s:
                await asyncio.sleep(FRAME_S)
                if self._speaker:
                    since_s = time.monotonic()

    async def until_ended(self, *, timeout_s: float = 10.0) -> None:
        async with asyncio.timeout(timeout_s):
            await self._over.wait()

    # -- the apparatus ----------------------------------------------------------------------------------------------

    async def _receive(self) -> None:
        try:
            async for content in self._socket:
                now_s = time.monotonic()
                if isinstance(content, bytes):
                    self.arrivals.append(Arrival(now_s, "audio", size=len(content)))
                    self._feed(content)
                else:
                    self._take(json.loads(content), now_s)
                self._news.set()
        except ConnectionClosed:
            pass
        self._over.set()
        self._news.set()

    def _take(self, message: dict[str, Any], now_s: float) -> None:
        self.arrivals.append(Arrival(now_s, message["type"], message, played=len(self.heard)))
        match message["type"]:
            case "mark":
                self._feed(message["name"])
            case "clear":
                marks = [queued for queued in self._speaker if isinstance(queued[1], str)]
                self._speaker.clear()
                self._speaker.extend(marks)
                self._fed.set()
            case "ended":
                self.ended = message["reason"]

    def _feed(self, item: bytes | str) -> None:
        self._speaker.append((time.monotonic(), item))
        self._fed.set()

    async def _play_out(self) -> None:
        ends_s = 0.0
        while True:
            while not self._speaker:
                self._fed.clear()
                await self._fed.wait()
            came_s, item = self._speaker.popleft()
            if isinstance(item, str):
                with contextlib.suppress(ConnectionClosed):
                    await self.send({"type": "played", "mark": item})
                continue
            # A loudspeaker plays on while this process waits for its turn on a busy machine.
            ends_s = max(came_s, ends_s) + len(item) / 2 / OUT_RATE
            await asyncio.sleep(ends_s - time.monotonic())
            self.heard += item

    async def _speak_out(self) -> None:
        next_s = time.monotonic()
        try:
            while True:
                await self._socket.send(self._microphone.popleft() if self._microphone else self._room())
                if not self._microphone:
                    self._said.set()
                next_s = max(next_s + FRAME_S, time.monotonic() - 5 * FRAME_S)
                await asyncio.sleep(next_s - time.monotonic())
        except ConnectionClosed:
            self._over.set()
            self._said.set()

    def _room(self) -> bytes:
        """20 ms of a quiet room."""
        return (self._noise.normal(0, 8, IN_FRAME // 2)).astype("<i2").tobytes()
