"""A caller's side of `/talk`: what is said and typed into one call, and what is heard of the other side."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from keryx.cli.api import NO_DAEMON
from keryx.cli.playout import Playout
from keryx.clock import Clock
from keryx.config.daemon import DaemonPointer
from keryx.errors import Unavailable

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

INCOMING_RATE = 16_000
"""What Keryx hears, samples a second."""
OUTGOING_RATE = 24_000
"""What Keryx says."""
FRAME_S = 0.02
FRAME_BYTES = int(INCOMING_RATE * FRAME_S) * 2
SILENCE = bytes(FRAME_BYTES)

OPEN_GRACE_S = 10.0
CLOSE_GRACE_S = 2.0
MAX_MESSAGE_BYTES = 4 << 20
TICK_S = 0.05
QUIET_S = 0.6
"""A pause this long after the last word is the end of what Keryx has to say."""
AFTER_SPEECH_S = 1.5
"""The same after words that were spoken: as long as it may take until the last of them are recognised."""
SILENT_REPLY_S = 5.0
"""Some words get no answer ("stop"); so long without one is taken for that."""
REPLY_LIMIT_S = 120.0
"""The longest wait for a reply and its end."""

Show = Callable[[dict[str, Any]], None]


class CallOver(Exception):
    """The call has ended; ends the group of pumps. `reason` is None when nobody said goodbye."""

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason)
        self.reason = reason


class CallerLine:
    """One call, from the caller's end. `show` gets every message of the daemon's that is not sound."""

    def __init__(self, socket: "ClientConnection", clock: Clock, show: Show, *, audio: bool) -> None:
        self.audio = audio
        self.playout = Playout(clock, OUTGOING_RATE)
        self._socket = socket
        self._clock = clock
        self._show = show
        self._sound: deque[bytes] = deque()
        self._state = "listening"
        self._last_event_s = clock.monotonic()
        self._turn = 0
        """Counts what was said on either side; the two below are its values when each side last spoke."""
        self._asked = 0
        self._answered = 0

    async def run(self) -> None:
        """Carry both ways until the call is over: raises `CallOver`, in a group with what else went wrong."""
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(self._listen())
            pumps.create_task(self.playout.answer_marks(self._played))
            if self.audio:
                pumps.create_task(self._microphone())

    async def type(self, text: str) -> None:
        """Send typed words."""
        self._heard_from_caller()
        await self._send({"type": "text", "text": text})

    async def play_into(self, sound: bytes) -> None:
        """Play PCM16 sound into the call at its own pace, behind what is playing; returns with its last frame."""
        # Now, not at the end: a recording that ends in silence is answered while it still plays.
        self._heard_from_caller()
        frames = [sound[start : start + FRAME_BYTES] for start in range(0, len(sound), FRAME_BYTES)]
        self._sound.extend(frame.ljust(FRAME_BYTES, b"\0") for frame in frames)
        while self._sound:
            await self._clock.sleep(TICK_S)
        self._last_event_s = self._clock.monotonic()

    async def answered(self, *, quiet_s: float = QUIET_S) -> bool:
        """Wait until the reply to the last words was heard to its end; False when there was none.

        `quiet_s` is the pause that is taken for the end; after speech it covers the time until words are recognised.
        """
        deadline_s = self._clock.monotonic() + REPLY_LIMIT_S
        while self._clock.monotonic() < deadline_s:
            if self._answered > self._asked and self._quiet_for(quiet_s):
                return True
            if self._quiet_for(SILENT_REPLY_S):
                return False
            await self._clock.sleep(TICK_S)
        return False

    async def quiet(self) -> None:
        """Wait until nothing is being said or thought about, at most `REPLY_LIMIT_S`."""
        deadline_s = self._clock.monotonic() + REPLY_LIMIT_S
        while not self._quiet_for(QUIET_S) and self._clock.monotonic() < deadline_s:
            await self._clock.sleep(TICK_S)

    async def hang_up(self) -> None:
        """Say that the caller hangs up; the daemon answers with the call's end."""
        await self._send({"type": "stop"})

    def _quiet_for(self, pause_s: float) -> bool:
        # A sound that is still playing counts as an event: the pause begins at its end.
        if self._state != "listening" or not self.playout.idle:
            self._last_event_s = self._clock.monotonic()
        return self._clock.monotonic() - self._last_event_s >= pause_s

    def _heard_from_caller(self) -> None:
        self._turn += 1
        self._asked = self._turn
        self._last_event_s = self._clock.monotonic()

    async def _listen(self) -> None:
        from websockets.exceptions import ConnectionClosed

        reason = None
        try:
            async for message in self._socket:
                if isinstance(message, bytes):
                    self.playout.play(message)
                    continue
                event = json.loads(message)
                if event.get("type") == "ended":
                    reason = str(event.get("reason") or "")
                self._take(event)
                self._show(event)
        except ConnectionClosed:
            pass  # how a call ends when the daemon is killed; the reason stays None
        if reason is not None:
            # The goodbye is still on its way through the loudspeaker.
            while not self.playout.idle:
                await self._clock.sleep(TICK_S)
        raise CallOver(reason)

    def _take(self, event: dict[str, Any]) -> None:
        match event:
            case {"type": "mark", "name": name}:
                self.playout.mark(name)
            case {"type": "clear"}:
                self.playout.clear()
            case {"type": "state", "state": state}:
                self._state = state
                self._last_event_s = self._clock.monotonic()
            case {"type": "caption", "who": "caller", "final": True}:
                self._heard_from_caller()
            case {"type": "caption", "who": "keryx"}:
                self._turn += 1
                self._answered = self._turn
                self._last_event_s = self._clock.monotonic()
            case {"type": "error"}:
                # An error is an answer too: nothing else will come.
                self._turn += 1
                self._answered = self._turn

    async def _microphone(self) -> None:
        """A microphone never stops: what is to be said in real time, silence otherwise."""
        due_s = self._clock.monotonic()
        while True:
            await self._send(self._sound.popleft() if self._sound else SILENCE)
            due_s += FRAME_S
            await self._clock.sleep(max(0.0, due_s - self._clock.monotonic()))

    async def _played(self, mark: str) -> None:
        await self._send({"type": "played", "mark": mark})

    async def _send(self, message: dict[str, Any] | bytes) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(message if isinstance(message, bytes) else json.dumps(message))
        except ConnectionClosed:
            # `_listen` sees the same end and knows the reason.
            await self._clock.sleep(CLOSE_GRACE_S)


@asynccontextmanager
async def ring(pointer: DaemonPointer, clock: Clock, show: Show, *, audio: bool) -> AsyncIterator[CallerLine]:
    """Open a call to the running daemon; `Unavailable` with one line when it is not taken."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed, InvalidHandshake

    address = pointer.url.replace("http", "ws", 1) + "/talk"
    start = {"type": "start", "key": pointer.key, "client": "terminal", "audio": audio}
    try:
        socket = await connect(
            address,
            proxy=None,  # the daemon is on this machine
            max_size=MAX_MESSAGE_BYTES,
            open_timeout=OPEN_GRACE_S,
            close_timeout=CLOSE_GRACE_S,
        )
    except ConnectionRefusedError:
        raise Unavailable(NO_DAEMON) from None
    except (OSError, InvalidHandshake, TimeoutError) as error:
        raise Unavailable(f"The daemon did not take the call ({error}). Try again, or start it anew.") from None
    try:
        try:
            async with asyncio.timeout(OPEN_GRACE_S):
                await socket.send(json.dumps(start))
                event = json.loads(await socket.recv())
        except (ConnectionClosed, TimeoutError):
            event = {}
        if event.get("type") != "ready":
            raise Unavailable(event.get("message") or "The daemon did not take the call. Try again, or start it anew.")
        show(event)
        yield CallerLine(socket, clock, show, audio=audio)
    finally:
        await socket.close()
