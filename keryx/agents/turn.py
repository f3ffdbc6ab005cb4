"""One turn of an adapted agent: its events, what is told of them, whom it asks, and its time."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import assert_never

from keryx.agents.adapter import Adapter
from keryx.agents.approver import Answer, Ask
from keryx.agents.base import Leash, OnProgress, TurnStopped, tell
from keryx.agents.equipment import Equipment
from keryx.agents.events import (
    AgentEvent,
    Alive,
    Done,
    Failure,
    FileEdit,
    Notice,
    Question,
    SessionId,
    Text,
    ToolCall,
    ToolEnd,
)
from keryx.agents.summary import NOTHING_SAID, extract_spoken_summary
from keryx.tasks.models import Task

STOP_S = 1.5
"""How long an interrupted turn may take to end by itself before it is left."""
MAX_LINE_CHARS = 400
MAX_TEXT_CHARS = 200_000
"""How much of the end of a text is read: looking through megabytes would hold up every call on this event loop."""
NOT_ASKED = "The turn is ending, so nobody was asked and it was not allowed."

log = logging.getLogger(__name__)


class AdaptedTurn:
    """One turn: reads the adapter's events, tells of them, and watches the time."""

    def __init__(
        self,
        adapter: Adapter,
        task: Task,
        equipment: Equipment,
        on_progress: OnProgress,
        hidden: Callable[[str], str],
    ) -> None:
        self.broken = False
        """It did not end when it was told to: the conversation cannot be trusted any more."""
        self.said = ""
        self.question: Question | None = None
        self._adapter = adapter
        self._task = task
        self._equipment = equipment
        self._on_progress = on_progress
        self._hidden = hidden
        self._leash = Leash()
        self._over = asyncio.Event()
        self._stopped = False
        self._overrun: Failure | None = None
        self._tools: set[str] = set()
        self._asks: set[Leash] = set()
        self._untold = ""
        self._last_line = ""
        self._clock = equipment.clock
        self._began_s = self._quiet_since_s = self._clock.monotonic()
        self._asking_since_s = self._asked_s = 0.0

    @property
    def ending(self) -> bool:
        """It is to stop, or has stopped: nothing more is taken in, and nobody is asked."""
        return self._stopped or self._overrun is not None or self._over.is_set()

    async def take(self, prompt: str) -> Done:
        """Run the turn; raises nothing but `CancelledError`, and that only when this task was cancelled."""
        if self._stopped:
            return self._judged(None)
        before = _cancellations()
        try:
            done = await self._read(prompt)
        except asyncio.CancelledError as error:
            if _cancellations() > before:
                raise
            # Something within the agent was cancelled, not the turn.
            done, self.broken = self._broke(error), True
        if _cancellations() > before:
            raise asyncio.CancelledError  # what the agent did on the way out hid it
        return self._judged(done)

    async def stop(self) -> None:
        """Interrupt it and wait for its end, at most `STOP_S`; then it is left where it is."""
        self._stopped = True
        self._withdraw()
        try:
            async with asyncio.timeout(STOP_S):
                await self._adapter.interrupt()
                await self._over.wait()
        except TimeoutError:
            self._leash.pull()
        except Exception as error:  # the edge of the agent: a turn that cannot be interrupted is left
            log.error("agent could not be interrupted", exc_info=harmless(error, self._hidden))
            self._leash.pull()

    def cut(self) -> None:
        """Leave it where it is, now."""
        self._stopped = True
        self._withdraw()
        self._leash.pull()

    def end(self) -> None:
        """Nobody waits for it any more."""
        self._over.set()
        self._withdraw()

    def _withdraw(self) -> None:
        """Stop asking: whoever still waits for an answer is denied."""
        for leash in self._asks:
            leash.pull()

    async def _read(self, prompt: str) -> Done | None:
        done: Done | None = None
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self._watch())
                try:
                    async with self._leash.held(), aclosing(self._adapter.turn(prompt, self._ask)) as events:
                        async for event in events:
                            self._quiet_since_s = self._clock.monotonic()
                            if isinstance(event, Done):
                                done = event
                                break
                            await self._take(event)
                finally:
                    watching.cancel()
        except* TurnStopped:
            self.broken = True
        except* Exception as errors:  # the edge of the agent's turn: whatever it raises is the turn's result
            # One that came to its end has its result; only the conversation is not trusted any more.
            broke, self.broken = self._broke(errors), True
            done = done or broke
        return done

    def _broke(self, error: BaseException) -> Done:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        log.error("agent's turn broke off", exc_info=harmless(error, self._hidden))
        # Only the kind of error: its text may hold anything, secrets too.
        return Done(False, failure=Failure.DIED, error=f"it stopped unexpectedly ({type(error).__name__})")

    def _judged(self, done: Done | None) -> Done:
        so_far = done or Done(False, failure=Failure.DIED, error="it ended without a result")
        if self._overrun is not None:
            return replace(so_far, ok=False, failure=self._overrun, error=self._overrun.value)
        if self._stopped and not so_far.ok:
            return replace(so_far, failure=Failure.INTERRUPTED, error="interrupted")
        return so_far

    async def _take(self, event: AgentEvent) -> None:
        match event:
            case Text(text):
                await self._tell_text()
                if text.strip():
                    self.said = self._untold = text
            case ToolCall(call_id, title):
                self._tools.add(call_id)
                await self._tell_text()
                await self._tell(title)
            case ToolEnd(call_id):
                self._tools.discard(call_id)
            case FileEdit(path, change):
                await self._tell_text()
                await self._tell(f"{change.capitalize()} {path}")
            case Notice(text):
                # Comes from around the agent, so it does not show that the last text was not the last.
                await self._tell(text)
            case Question():
                self.question = event
            case SessionId() | Alive() | Done():
                pass
            case never:
                assert_never(never)

    async def _tell_text(self) -> None:
        """Tell of the text that turned out not to be the last."""
        text, self._untold = self._untold, ""
        if text and (line := extract_spoken_summary(text[-MAX_TEXT_CHARS:])) != NOTHING_SAID:
            await self._tell(line)

    async def _tell(self, line: str) -> None:
        line = " ".join(self._hidden(line)[: MAX_LINE_CHARS * 8].split())[:MAX_LINE_CHARS]
        if line and line != self._last_line:
            self._last_line = line
            await tell(self._on_progress, line)

    async def _ask(self, ask: Ask) -> Answer:
        if self.ending:
            return Answer(False, NOT_ASKED)
        if not self._asks:
            self._asking_since_s = self._clock.monotonic()
        self._asks.add(leash := Leash())
        try:
            async with leash.held():
                shown = replace(ask, text=self._hidden(ask.text), detail=self._hidden(ask.detail))
                answer = await self._equipment.approver.ask(self._task, shown)
            if not answer.allowed and shown.effect is not None:
                await self._tell(f"Not allowed: {shown.text}")
            return answer
        except TurnStopped:
            return Answer(False, NOT_ASKED)
        except Exception as error:  # the edge of the approver: what cannot be asked is not allowed
            log.error("approver failed", exc_info=harmless(error, self._hidden))
            return Answer(False, "It could not be asked, so it was not allowed.")
        finally:
            self._asks.discard(leash)
            self._quiet_since_s = self._clock.monotonic()
            if not self._asks:
                self._asked_s += self._quiet_since_s - self._asking_since_s

    async def _watch(self) -> None:
        """End the turn when its time is up."""
        while (left_s := self._left_s()) > 0:
            await self._clock.sleep(left_s)
        log.warning("turn is stopped", extra={"reason": str(self._overrun)})
        with suppress(Exception):  # the edge of the agent: it is left in any case
            async with asyncio.timeout(STOP_S):
                await self._adapter.interrupt()
        await self._clock.sleep(STOP_S)
        self._leash.pull()

    def _left_s(self) -> float:
        """Seconds until there may be something to end; 0 when there is, and then `_overrun` says what."""
        now_s, patience = self._clock.monotonic(), self._equipment.patience
        asked_s = self._asked_s + (now_s - self._asking_since_s if self._asks else 0.0)
        turn_s = patience.deadline_s - (now_s - self._began_s - asked_s)
        idle_s = patience.idle_s - (now_s - self._quiet_since_s)
        if turn_s <= 0 and not self._asks:
            self._overrun = Failure.TOO_SLOW
            return 0.0
        if self._asks or self._tools:
            idle_s = patience.idle_s
        elif idle_s <= 0:
            self._overrun = Failure.SILENT
            return 0.0
        return min(idle_s, turn_s) if turn_s > 0 else idle_s


def _cancellations() -> int:
    """How often the running task was told to stop."""
    task = asyncio.current_task()
    return task.cancelling() if task else 0


def harmless(error: BaseException, hidden: Callable[[str], str]) -> BaseException:
    """`error` for the log, where it happened and all, without the credentials that its text may hold."""
    return RuntimeError(hidden(f"{type(error).__name__}: {error}")).with_traceback(error.__traceback__)
