"""One call: carries things between the line and the engine, and ends them together.

The conversation itself is the engine's. Whatever ends first, the caller's line, the engine, an error, ends the rest;
the line is hung up exactly once.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable
from typing import assert_never

from keryx.log import call_id, during
from keryx.security.pin import PinGate, PinOutcome
from keryx.voice.engines.base import (
    AudioOut,
    CaptionOut,
    ClearOut,
    HangUpOut,
    MarkOut,
    StateOut,
    VoiceEngine,
)
from keryx.voice.transports.base import Caller, LineClosed, MediaTransport

log = logging.getLogger(__name__)

CLOSE_GRACE_S = 0.9
"""Hanging up may take no longer, whatever the other side does."""


class Desk:
    """What the tools may know of their call and do to it (`keryx.voice.tools.base.CallControl`)."""

    def __init__(self, caller: Caller, gate: PinGate) -> None:
        self.call_id = caller.call_id or uuid.uuid4().hex[:8]
        self.proven = caller.proven
        self.on_end: Callable[[], None] = lambda: None
        """What ends the call once the last words were heard."""
        self._gate = gate

    def submit_pin(self, pin: str) -> PinOutcome:
        """Try a PIN; the right one proves the caller, the last wrong one ends the call."""
        outcome = self._gate.check(pin)
        if outcome is PinOutcome.ACCEPTED:
            self.proven = True
        elif outcome is PinOutcome.LOCKED:
            self.end()
        return outcome

    def end(self) -> None:
        """Hang up after what is being said."""
        self.on_end()


class _Ended(Exception):
    """A pump has nothing more to carry."""


class Call:
    """A conversation on an open line."""

    def __init__(self, transport: MediaTransport, engine: VoiceEngine, desk: Desk) -> None:
        self.id = desk.call_id
        self.engine = engine
        self._transport = transport
        desk.on_end = engine.finish

    async def run(self) -> None:
        """Hold the call from greeting to hang-up. Raises nothing but `CancelledError`, which hangs up too."""
        with during(call_id, self.id):
            reason = "interrupted"
            log.info("call began")
            try:
                reason = await self._carry()
            except Exception:
                # The edge of a call: whatever broke ends this call and no other.
                log.exception("call broke")
                reason = "error"
            finally:
                await self._hang_up(reason)
                log.info("call ended", extra={"reason": reason})

    async def _carry(self) -> str:
        """Run the pumps until the first ends; returns why."""
        reason = "ended"
        try:
            async with asyncio.TaskGroup() as pumps:
                pumps.create_task(self._caller_to_engine())
                pumps.create_task(self._engine_to_line())
                pumps.create_task(self.engine.run())
        except* _Ended as ended:
            reason = str(_first(ended))
        return reason

    async def _caller_to_engine(self) -> None:
        try:
            while True:
                self.engine.take(await self._transport.receive())
                # A flood is received without waiting; everybody else's call has a turn in between.
                await asyncio.sleep(0)
        except LineClosed:
            await self.engine.line_lost()
            raise _Ended("caller hung up") from None

    async def _engine_to_line(self) -> None:
        line = self._transport
        try:
            while True:
                match await self.engine.next_event():
                    case AudioOut(_, payload):
                        await line.play(payload)
                    case MarkOut(name):
                        await line.mark(name)
                    case ClearOut():
                        await line.clear()
                    case CaptionOut(who, text, final, utterance):
                        await line.caption(who, text, final=final, utterance=utterance)
                    case StateOut(state):
                        await line.state(state)
                    case HangUpOut(reason):
                        raise _Ended(reason)
                    case other:
                        assert_never(other)
        except LineClosed:
            await self.engine.line_lost()
            raise _Ended("caller hung up") from None

    async def _hang_up(self, reason: str) -> None:
        try:
            async with asyncio.timeout(CLOSE_GRACE_S):
                await self._transport.hang_up(reason)
        except (LineClosed, TimeoutError):
            log.info("the line did not close in time")
        except Exception:
            # Still the edge of the call: a line that cannot even be hung up must not take the daemon along.
            log.exception("hanging up failed")


def _first(group: BaseExceptionGroup) -> BaseException:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
