"""Thinking: one answer of the dialogue, step by step, with a cue while it is slow and a way to be overtaken.

A step that has begun is let come to its end even when the caller has gone on meanwhile: what a tool does is done whole,
only the words about it are dropped.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from keryx.clock import Clock
from keryx.errors import KeryxError
from keryx.voice.dialogue.base import Say
from keryx.voice.engines.waiting import happened_within

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Patience:
    """How long an answer may take, in seconds."""

    first_cue_s: float = 1.2
    """From the end of the turn; with 0.3 s of silence and the time to understand it, within 2 s of the last word."""
    next_cue_s: float = 8.0
    abandon_s: float = 2.0
    """How long an overtaken step may still take before it is cancelled."""


class Reply:
    """One answer being made. `overtake` may be called at any time; `next` is called until it gives None."""

    def __init__(
        self, says: AsyncIterator[Say], cue: Callable[[], Awaitable[None]] | None, *, clock: Clock, patience: Patience
    ) -> None:
        """`cue` says a few words if that makes sense just then; None when there shall be none."""
        self._says = says
        self._cue = cue
        self._clock = clock
        self._patience = patience
        self._overtaken = asyncio.Event()
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self._spoke = False

    @property
    def overtaken(self) -> bool:
        """The caller went on: nothing more of this is to be said."""
        return self._overtaken.is_set()

    def overtake(self) -> None:
        self._overtaken.set()

    async def next(self) -> Say | None:
        """The next thing to say; None at the end, or when the reply was overtaken and its step took too long."""
        self._at_rest.clear()
        try:
            async with asyncio.TaskGroup() as group:
                step = group.create_task(self._advance())
                attendants = [group.create_task(self._drop_late(step))]
                if self._cue is not None:
                    attendants.append(group.create_task(self._cue_while_slow(self._cue)))
                await asyncio.wait([step])
                for attendant in attendants:
                    attendant.cancel()
        finally:
            self._at_rest.set()
        self._spoke = True
        return None if step.cancelled() else step.result()

    async def close(self) -> None:
        """Close the iterator; what it did stays done."""
        close = getattr(self._says, "aclose", None)
        if close is not None:
            await close()

    async def at_rest(self, within_s: float) -> bool:
        """Wait for a step under way to end, at most that long."""
        return await happened_within(self._clock, within_s, self._at_rest)

    async def _advance(self) -> Say | None:
        try:
            return await anext(self._says, None)
        except KeryxError as error:
            return Say(error.spoken)
        except Exception:
            # The edge of one answer: the caller is told, and the call goes on.
            log.exception("an answer broke off")
            return Say(KeryxError.default_spoken)

    async def _drop_late(self, step: "asyncio.Task[Say | None]") -> None:
        await self._overtaken.wait()
        await self._clock.sleep(self._patience.abandon_s)
        step.cancel()

    async def _cue_while_slow(self, cue: Callable[[], Awaitable[None]]) -> None:
        pause_s = self._patience.next_cue_s if self._spoke else self._patience.first_cue_s
        while not self._overtaken.is_set():
            await self._clock.sleep(pause_s)
            if not self._overtaken.is_set():
                await cue()
            pause_s = self._patience.next_cue_s
