"""The agent seam: what every coding agent looks like to Keryx.

These words come from the project's founding document and do not change. A runner opens conversations; a conversation
runs one turn at a time; a turn's end is a `RunResult`, never an exception.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from keryx.tasks.models import Task

MAX_SUMMARY_CHARS = 400

OnProgress = Callable[[str], Awaitable[None]]
"""Called with one plain line whenever there is something to tell of a turn that is still going."""


class SteerUnavailable(Exception):
    """`AgentSession.send` was refused and nothing was delivered: it is safe to run the text as a turn of its own."""


@dataclass(frozen=True)
class TokenUsage:
    """Tokens of one turn. `input_tokens` counts the cached ones too (`cached_input_tokens` ≤ `input_tokens`)."""

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int = 0


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
