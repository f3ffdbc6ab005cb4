"""The one session every real agent runs through: its adapter speaks the agent's protocol, all else is decided here.

Progress, the summary, the restart request, usage, hiding the credentials that were handed over, the watchdogs, and that
`run` never raises: one implementation for all agents.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Protocol, assert_never

from keryx.agents.approver import Answer, Ask
from keryx.agents.base import (
    FRESH_START,
    Leash,
    OnProgress,
    RunResult,
    SteerUnavailable,
    TurnStopped,
    tell,
)
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
from keryx.agents.failures import spoken_failure
from keryx.agents.summary import MAX_SUMMARY_CHARS, extract_restart_request, extract_spoken_summary, shorten
from keryx.security.redact import REDACTED
from keryx.tasks.models import Task, is_question

STOP_S = 1.5
"""How long an interrupted turn may take to end by itself before it is left."""
CLOSE_S = 4.0
MAX_LINE_CHARS = 400
MIN_SECRET_CHARS = 6
"""A shorter "credential" is somebody's placeholder; hiding it would tear ordinary words apart."""

log = logging.getLogger(__name__)

AskOwner = Callable[[Ask], Awaitable[Answer]]
"""Puts something to whoever may decide; the turn's clocks stand still meanwhile. Never raises."""


class Adapter(Protocol):
    """One conversation with one agent, in that agent's protocol."""

    called: str
    """The agent's name as it is said aloud: "Claude"."""
    session_id: str | None
    """The agent's own name for the conversation; None until it is known."""

    def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
        """Run one turn and yield what happens; the last event is `Done`, after which no steer is taken.

        Whatever it raises is the turn's failure. `ask` may be called from any task while the turn runs.
        """
        ...

    async def steer(self, text: str) -> None:
        """As `AgentSession.send`; only called while a turn runs."""
        ...

    async def interrupt(self) -> None:
        """Make the running turn end soon, with `Done`; does nothing between turns."""
        ...

    async def close(self) -> None:
        """End the agent and everything it started. Bounds itself; may be called twice, and in the middle of a turn."""
        ...


class AdaptedSession:
    """An agent's conversation about one task."""

    def __init__(self, adapter: Adapter, task: Task, equipment: Equipment, *, forgotten: bool = False) -> None:
        """`forgotten`: another conversation was to be taken up and is gone."""
        self._adapter = adapter
        self._task = task
        self._equipment = equipment
        self._secrets = tuple(
            sorted(
                (secret for secret in set(equipment.login.secrets) if len(secret) >= MIN_SECRET_CHARS),
                key=len,
                reverse=True,
            )
        )
        self._forgotten = forgotten
        self._closed = False
        self._turn: _Turn | None = None

    @property
    def session_id(self) -> str | None:
        return self._adapter.session_id

    async def run(self, prompt: str, *, on_progress: OnProgress) -> RunResult:
        if self._closed or self._turn is not None:
            error = "the conversation is closed" if self._closed else "a turn is already running"
            return RunResult(False, "", f"It failed: {error}.", self.session_id, error=error)
        self._turn = turn = _Turn(self._adapter, self._task, self._equipment, on_progress, self._hidden)
        try:
            if self._forgotten:
                await tell(on_progress, FRESH_START)
            done = await turn.take(prompt)
        except asyncio.CancelledError:
            with suppress(Exception):  # the edge of the agent: the cancellation is what counts
                async with asyncio.timeout(STOP_S):
                    await self._adapter.interrupt()
            raise
        finally:
            self._turn = None
            turn.over.set()
        if turn.broken:
            await self.close()
        return self._result(turn, done)

    async def send(self, text: str) -> None:
        if self._turn is None or self._turn.stopped:
            raise SteerUnavailable("no turn is running")
        await self._adapter.steer(text)

    async def interrupt(self) -> None:
        if self._turn is not None:
            self._turn.stopped = True
            await self._turn.stop()

    async def close(self) -> None:
        self._closed = True
        if (turn := self._turn) is not None:
            turn.stopped = True
            turn.leash.pull()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._adapter.close()
        except Exception:  # the edge of the agent: what it started is ended by its tag at the latest at the next start
            log.exception("agent did not close")

    def _result(self, turn: "_Turn", done: Done) -> RunResult:
        text = self._hidden(done.text or turn.said)
        if done.ok:
            summary = _with_question(extract_spoken_summary(text), turn.question)
        else:
            summary = spoken_failure(self._adapter.called, done)
        if self._forgotten:
            summary, self._forgotten = shorten(f"{FRESH_START} {summary}"), False
        error = None if done.ok else " ".join((done.error or done.failure or Failure.OTHER).split())
        return RunResult(
            ok=done.ok,
            final_text=text,
            spoken_summary=self._hidden(summary),
            session_id=self.session_id,
            usage=done.usage,
            cost_usd=done.cost_usd,
            error=self._hidden(error) if error else None,
            restart_reason=extract_restart_request(text),
        )

    def _hidden(self, text: str) -> str:
        """`text` without any credential that was handed to the agent."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text


class _Turn:
    """One turn: reads the adapter's events, tells of them, and watches the time."""

    def __init__(
        self,
        adapter: Adapter,
        task: Task,
        equipment: Equipment,
        on_progress: OnProgress,
        hidden: Callable[[str], str],
    ) -> None:
        self.leash = Leash()
        self.over = asyncio.Event()
        self.stopped = False
        """Somebody wanted it to stop."""
        self.broken = False
        """It did not end when it was told to: the conversation cannot be trusted any more."""
        self.said = ""
        self.question: Question | None = None
        self._adapter = adapter
        self._task = task
        self._equipment = equipment
        self._on_progress = on_progress
        self._hidden = hidden
        self._overrun: Failure | None = None
        self._tools: set[str] = set()
        self._asking = 0
        self._untold = ""
        self._last_line = ""
        self._clock = equipment.clock
        self._began_s = self._quiet_since_s = self._clock.monotonic()
        self._asking_since_s = self._asked_s = 0.0

    async def take(self, prompt: str) -> Done:
        """Run the turn; raises nothing but `CancelledError`."""
        done: Done | None = None
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(self._watch())
                try:
                    async with self.leash.held(), aclosing(self._adapter.turn(prompt, self._ask)) as events:
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
            log.exception("agent's turn broke off")
            done = _broke(errors)
            self.broken = True
        return self._judged(done)

    async def stop(self) -> None:
        """Interrupt it and wait for its end, at most `STOP_S`; then it is left where it is."""
        try:
            async with asyncio.timeout(STOP_S):
                await self._adapter.interrupt()
                await self.over.wait()
        except TimeoutError:
            self.leash.pull()
        except Exception:  # the edge of the agent: a turn that cannot be interrupted is left
            log.exception("agent could not be interrupted")
            self.leash.pull()

    def _judged(self, done: Done | None) -> Done:
        if self._overrun is not None:
            return Done(False, failure=self._overrun, error=self._overrun.value, usage=done and done.usage)
        if self.stopped and not (done and done.ok):
            return Done(False, failure=Failure.INTERRUPTED, error="interrupted", usage=done and done.usage)
        return done or Done(False, failure=Failure.DIED, error="it ended without a result")

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
                await self._tell_text()
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
        if text:
            await self._tell(extract_spoken_summary(text))

    async def _tell(self, line: str) -> None:
        line = " ".join(self._hidden(line[: MAX_LINE_CHARS * 8]).split())[:MAX_LINE_CHARS]
        if line and line != self._last_line:
            self._last_line = line
            await tell(self._on_progress, line)

    async def _ask(self, ask: Ask) -> Answer:
        if self._asking == 0:
            self._asking_since_s = self._clock.monotonic()
        self._asking += 1
        try:
            return await self._equipment.approver.ask(self._task, ask)
        except Exception:  # the edge of the approver: what cannot be asked is not allowed
            log.exception("approver failed")
            return Answer(False, "It could not be asked, so it was not allowed.")
        finally:
            self._asking -= 1
            self._quiet_since_s = self._clock.monotonic()
            if self._asking == 0:
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
        self.leash.pull()

    def _left_s(self) -> float:
        """Seconds until there may be something to end; 0 when there is."""
        now_s, patience = self._clock.monotonic(), self._equipment.patience
        asked_s = self._asked_s + (now_s - self._asking_since_s if self._asking else 0.0)
        turn_s = patience.deadline_s - (now_s - self._began_s - asked_s)
        idle_s = patience.idle_s - (now_s - self._quiet_since_s)
        if turn_s <= 0 and not self._asking:
            self._overrun = Failure.TOO_SLOW
            return 0.0
        if self._asking or self._tools:
            idle_s = patience.idle_s
        elif idle_s <= 0:
            self._overrun = Failure.SILENT
            return 0.0
        return min(idle_s, turn_s) if turn_s > 0 else idle_s


def _broke(errors: BaseExceptionGroup) -> Done:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    # Only the kind of error: its text may hold anything, secrets too.
    return Done(False, failure=Failure.DIED, error=f"it stopped unexpectedly ({type(error).__name__})")


def _with_question(summary: str, question: Question | None) -> str:
    """The summary, ending with what the agent asked without waiting, unless it ends by asking already."""
    if question is None or is_question(summary):
        return summary
    asked = question.text.strip().rstrip("?").rstrip()
    if choices := question.choices:
        asked += ": " + " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    asked = extract_spoken_summary(f"{asked}?")
    both = f"{summary} {asked}"
    return asked if summary == asked or len(both) > MAX_SUMMARY_CHARS else both
