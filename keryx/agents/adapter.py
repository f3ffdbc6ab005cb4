"""What each agent's adapter is to the one session that all of them run through."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Protocol

from keryx.agents.approver import Answer, Ask
from keryx.agents.events import AgentEvent

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
