"""The agent seam: what every coding agent looks like to Keryx.

These words come from the project's founding document and do not change. A runner opens conversations; a conversation
runs one turn at a time; a turn's end is a `RunResult`, never an exception.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, assert_never

from keryx.agents.approver import Answer, Approver, Ask, Effect, NobodyToAsk
from keryx.agents.asked import what_was_asked
from keryx.agents.events import TokenUsage
from keryx.agents.summary import (
    MAX_SUMMARY_CHARS,
    extract_restart_request,
    extract_spoken_summary,
    shorten,
)
from keryx.clock import Clock, SystemClock
from keryx.tasks.models import Task

__all__ = [
    "FRESH_START",
    "MAX_SUMMARY_CHARS",
    "AgentRunner",
    "AgentSession",
    "Answer",
    "Approver",
    "Ask",
    "Effect",
    "FakeAgentRunner",
    "FakeAgentSession",
    "FakeTurn",
    "Leash",
    "NobodyToAsk",
    "OnProgress",
    "RunResult",
    "Steer",
    "SteerUnavailable",
    "TokenUsage",
    "TurnStopped",
    "extract_restart_request",
    "extract_spoken_summary",
    "tell",
]

log = logging.getLogger(__name__)

FRESH_START = "I no longer have our earlier conversation, so I started afresh."
"""Said, and put before the first summary, when the conversation to resume is gone."""

STOPPED = "I was stopped before I finished."
TURN_BEGIN_S = 10.0

OnProgress = Callable[[str], Awaitable[None]]
"""Called with one plain line whenever there is something to tell of a turn that is still going."""


class SteerUnavailable(Exception):
    """`AgentSession.send` was refused and nothing was delivered: it is safe to run the text as a turn of its own."""


@dataclass(frozen=True)
class RunResult:
    """How one turn ended."""

    ok: bool
    final_text: str
    spoken_summary: str
    session_id: str | None = None
    usage: TokenUsage | None = None
    cost_usd: float | None = None
    error: str | None = None
    restart_reason: str | None = None
    """The text after an explicit `RESTART_REQUIRED:` line; "" when no reason follows; None without the line."""


class AgentSession(Protocol):
    """One agent's conversation about one task."""

    async def run(self, prompt: str, *, on_progress: OnProgress) -> RunResult:
        """Run one turn to its end and say what came of it. Never raises: a failure is `ok=False`.

        A cancellation interrupts the agent, leaves the conversation closable, and is not swallowed.
        """
        ...

    async def send(self, text: str) -> None:
        """Steer the running turn.

        Returning means the agent acknowledged the text. `SteerUnavailable`: refused, nothing was delivered. Any other
        exception: it may have landed, so it must not be sent again.
        """
        ...

    async def interrupt(self) -> None:
        """Stop the running turn; its `run` then returns `ok=False`. Does nothing between turns."""
        ...

    async def close(self) -> None:
        """End the conversation and everything it started. Bounds itself, and may be called twice."""
        ...


class AgentRunner(Protocol):
    """A kind of agent, able to open conversations."""

    name: str

    async def open(self, task: Task, *, resume: str | None = None) -> AgentSession:
        """Start a conversation about `task`, or take up the one whose `session_id` is `resume`.

        Raises `keryx.errors.Unavailable` or `ConfigError` when the agent cannot be started; nothing is left behind.
        """
        ...


class TurnStopped(Exception):
    """The running turn was stopped from beside it (`Leash.pull`)."""


class Leash:
    """Stops what one turn is waiting for, from beside it. A cancellation of the turn stays a cancellation."""

    def __init__(self) -> None:
        self.pulled = False
        self._wait: asyncio.Timeout | None = None

    def pull(self) -> None:
        """End the wait that is being held, and every later one."""
        self.pulled = True
        if self._wait is not None and self._wait.when() is None:
            self._wait.reschedule(0.0)  # a deadline long past: the one way to stop a wait without cancelling its task

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Wait inside it; raises `TurnStopped` when pulled, after what was waited for has cleaned up."""
        if self.pulled:
            raise TurnStopped
        try:
            async with asyncio.timeout(None) as self._wait:
                yield
        except TimeoutError:
            if not self.pulled:
                raise
            raise TurnStopped from None
        finally:
            self._wait = None


async def tell(on_progress: OnProgress, line: str) -> None:
    """Give one progress line; a listener that fails loses that line, never the turn."""
    try:
        await on_progress(line)
    except Exception:  # the edge of the agent's turn: what listens is not its concern
        log.exception("progress line lost")


# The fake ships beside its seam and passes the same conformance suite as the real agents.


class Steer(Enum):
    """What becomes of a text sent into a running fake turn."""

    TAKEN = "acknowledged"
    REFUSED = "refused with SteerUnavailable"
    LANDED = "delivered, yet the acknowledgement was lost: ConnectionError"
    LOST = "not delivered, and nobody can tell: ConnectionError"


@dataclass(frozen=True)
class FakeTurn:
    """What the fake agent does with one prompt.

    `FakeTurn("Which branch?")` asks, `FakeTurn(error="The tests would not start.")` fails,
    `FakeTurn(takes_s=60, progress=("Reading", "Testing"))` takes a minute and tells of it twice, evenly spaced.
    """

    reply: str | None = None
    """The agent's last text, with or without markers; None: one that repeats the prompt and what was steered in."""
    progress: tuple[str, ...] = ()
    takes_s: float = 0.0
    """`math.inf`: tells all its progress, then goes on until interrupted or until `FakeAgentRunner.release`."""
    error: str | None = None
    """Set: the turn ends with `ok=False`."""
    raises: Exception | None = None
    """Set: the agent misbehaves, and `run` raises this."""
    steer: Steer = Steer.TAKEN
    stubborn: bool = False
    """Takes no notice of `interrupt`; only a cancellation, `close` or its own end stops it."""
    usage: TokenUsage | None = None
    cost_usd: float | None = None
    when: str = ""
    """The turn is kept for a request that holds these words."""


class FakeAgentRunner:
    """A scripted agent. Each prompt takes the first unused turn that fits it; without one it is answered at once.

    What it was told stands in `prompts` (whole), `asked` (without the words that are put around a request) and
    `steered` (only what landed), in order, over all its conversations, which stand in `sessions`. A conversation that
    was opened is found again by `resume`.
    """

    def __init__(
        self,
        *turns: FakeTurn,
        clock: Clock | None = None,
        name: str = "fake",
        open_error: Exception | None = None,
        opens_in_s: float = 0.0,
    ) -> None:
        self.name = name
        self.clock = clock or SystemClock()
        self.open_error = open_error
        self.prompts: list[str] = []
        self.asked: list[str] = []
        self.steered: list[str] = []
        self.sessions: list[FakeAgentSession] = []
        self._opens_in_s = opens_in_s
        self._turns = list(turns)
        self._begun = asyncio.Condition()

    def script(self, *turns: FakeTurn) -> None:
        """Add turns for the prompts to come."""
        self._turns.extend(turns)

    async def open(self, task: Task, *, resume: str | None = None) -> "FakeAgentSession":
        if self._opens_in_s:
            await self.clock.sleep(self._opens_in_s)
        if self.open_error is not None:
            raise self.open_error
        found = resume is not None and any(session.session_id == resume for session in self.sessions)
        session_id = resume if found and resume else f"{self.name}-{len(self.sessions) + 1}"
        session = FakeAgentSession(self, task, session_id, forgotten=resume is not None and not found)
        self.sessions.append(session)
        return session

    async def begun(self, turns: int = 1) -> None:
        """Wait until so many turns have begun, over all conversations; `TimeoutError` after `TURN_BEGIN_S`."""
        async with asyncio.timeout(TURN_BEGIN_S), self._begun:
            await self._begun.wait_for(lambda: len(self.prompts) >= turns)

    def release(self) -> None:
        """Let every running turn come to its end now, without waiting any longer."""
        for session in self.sessions:
            session.release()

    @property
    def still_open(self) -> int:
        """How many conversations nobody has closed."""
        return sum(not session.closed for session in self.sessions)

    async def take(self, prompt: str) -> FakeTurn:
        """The turn that answers `prompt`; for the conversations."""
        turn = next((turn for turn in self._turns if turn.when in what_was_asked(prompt)), None)
        if turn is not None:
            self._turns.remove(turn)
        async with self._begun:
            self.prompts.append(prompt)
            self.asked.append(what_was_asked(prompt))
            self._begun.notify_all()
        return turn or FakeTurn()


class FakeAgentSession:
    """One conversation with the fake agent."""

    def __init__(self, runner: FakeAgentRunner, task: Task, session_id: str, *, forgotten: bool) -> None:
        self.task = task
        self.session_id = session_id
        self.closed = False
        self._runner = runner
        self._forgotten = forgotten
        self._turn: FakeTurn | None = None
        self._steered: list[str] = []
        self._stopped = False
        self._leash = Leash()

    async def run(self, prompt: str, *, on_progress: OnProgress) -> RunResult:
        if self.closed or self._turn is not None:
            error = "the conversation is closed" if self.closed else "a turn is already running"
            return RunResult(False, "", f"It failed: {error}.", self.session_id, error=error)
        self._turn, self._steered, self._stopped, self._leash = FakeTurn(), [], False, Leash()
        try:
            self._turn = turn = await self._runner.take(prompt)
            await self._work(turn, on_progress)
            return self._result(turn, prompt)
        finally:
            self._turn = None

    async def send(self, text: str) -> None:
        if self._turn is None or self._stopped:
            raise SteerUnavailable("no turn is running")
        match self._turn.steer:
            case Steer.TAKEN:
                self._land(text)
            case Steer.REFUSED:
                raise SteerUnavailable("this agent takes nothing in while it works")
            case Steer.LANDED:
                self._land(text)
                raise ConnectionError("the agent did not answer")
            case Steer.LOST:
                raise ConnectionError("the agent did not answer")
            case never:
                assert_never(never)

    async def interrupt(self) -> None:
        if self._turn is not None and not self._turn.stubborn:
            self._stop()

    async def close(self) -> None:
        self.closed = True
        if self._turn is not None:
            self._stop()

    def release(self) -> None:
        """Let the running turn come to its end now."""
        self._leash.pull()

    def _land(self, text: str) -> None:
        self._steered.append(text)
        self._runner.steered.append(text)

    def _stop(self) -> None:
        self._stopped = True
        self._leash.pull()

    async def _work(self, turn: FakeTurn, on_progress: OnProgress) -> None:
        """Let the turn's time pass, telling of it on the way; ends early when stopped."""
        if self._forgotten:
            await tell(on_progress, FRESH_START)
        # A turn without end tells everything at once.
        gap_s = turn.takes_s / (len(turn.progress) + 1) if math.isfinite(turn.takes_s) else 0.0
        for line in turn.progress:
            await self._pause(gap_s)
            if self._stopped:
                return
            await tell(on_progress, line)
        await self._pause(turn.takes_s - gap_s * len(turn.progress))

    async def _pause(self, duration_s: float) -> None:
        if duration_s:
            with suppress(TurnStopped):
                async with self._leash.held():
                    await self._runner.clock.sleep(duration_s)

    def _result(self, turn: FakeTurn, prompt: str) -> RunResult:
        if self._stopped:
            return RunResult(False, "", STOPPED, self.session_id, error="interrupted")
        if turn.raises is not None:
            raise turn.raises
        text = turn.reply
        if text is None:
            text = turn.error or "SPOKEN_SUMMARY: Done: " + " And: ".join([what_was_asked(prompt), *self._steered])
        summary = extract_spoken_summary(text)
        if self._forgotten:
            summary, self._forgotten = shorten(f"{FRESH_START} {summary}"), False
        return RunResult(
            ok=turn.error is None,
            final_text=text,
            spoken_summary=summary,
            session_id=self.session_id,
            usage=turn.usage,
            cost_usd=turn.cost_usd,
            error=turn.error,
            restart_reason=extract_restart_request(text),
        )
