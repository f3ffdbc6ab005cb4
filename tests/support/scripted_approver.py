"""An approver that answers as a test says, and keeps what it was asked."""

import asyncio
from collections import deque

from keryx.agents.approver import Answer, Ask
from keryx.tasks.models import Task

ASKED_S = 30.0


class ScriptedApprover:
    """Gives `answers` one by one, then `otherwise`; with `otherwise` None it keeps whoever asks waiting."""

    def __init__(self, *answers: Answer, otherwise: Answer | None = Answer(True)) -> None:  # noqa: B008 - frozen
        self.answers = deque(answers)
        self.otherwise = otherwise
        self.asks: list[Ask] = []
        self.withdrawn: list[Ask] = []
        """Asks that were cancelled while they waited."""
        self._came = asyncio.Condition()

    async def ask(self, task: Task, ask: Ask) -> Answer:
        async with self._came:
            self.asks.append(ask)
            self._came.notify_all()
        answer = self.answers.popleft() if self.answers else self.otherwise
        if answer is not None:
            return answer
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.withdrawn.append(ask)
            raise
        raise AssertionError("unreachable")

    async def asked(self, times: int = 1) -> None:
        """Wait until it was asked so often; `TimeoutError` after a bound."""
        async with asyncio.timeout(ASKED_S), self._came:
            await self._came.wait_for(lambda: len(self.asks) >= times)
