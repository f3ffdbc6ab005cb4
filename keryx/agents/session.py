"""The one session every real agent runs through: its adapter speaks the agent's protocol, all else is decided here.

Progress, the summary, the restart request, usage, hiding the credentials that were handed over, the watchdogs, and that
`run` never raises: one implementation for all agents.
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from keryx.agents.adapter import Adapter
from keryx.agents.base import FRESH_START, OnProgress, RunResult, SteerUnavailable, tell
from keryx.agents.equipment import Equipment
from keryx.agents.events import Done, Failure
from keryx.agents.failures import spoken_failure
from keryx.agents.summary import (
    MAX_SUMMARY_CHARS,
    NOTHING_SAID,
    extract_restart_request,
    extract_spoken_summary,
    shorten,
)
from keryx.agents.turn import MAX_TEXT_CHARS, STOP_S, AdaptedTurn, harmless
from keryx.security.redact import REDACTED
from keryx.tasks.models import Task, is_question

CLOSE_S = 4.0
MIN_SECRET_CHARS = 6
"""A shorter "credential" is somebody's placeholder; hiding it would tear ordinary words apart."""

log = logging.getLogger(__name__)


class AdaptedSession:
    """An agent's conversation about one task."""

    def __init__(self, adapter: Adapter, task: Task, equipment: Equipment, *, forgotten: bool = False) -> None:
        """`forgotten`: another conversation was to be taken up and is gone."""
        self._adapter = adapter
        self._task = task
        self._equipment = equipment
        self._secrets = tuple(
            sorted(
                {secret.strip() for secret in equipment.login.secrets if len(secret.strip()) >= MIN_SECRET_CHARS},
                key=len,
                reverse=True,
            )
        )
        self._forgotten = forgotten
        self._closed = False
        self._turn: AdaptedTurn | None = None

    @property
    def session_id(self) -> str | None:
        return self._adapter.session_id

    async def run(self, prompt: str, *, on_progress: OnProgress) -> RunResult:
        if self._closed or self._turn is not None:
            error = "the conversation is closed" if self._closed else "a turn is already running"
            return RunResult(False, "", f"It failed: {error}.", self.session_id, error=error)
        self._turn = turn = AdaptedTurn(self._adapter, self._task, self._equipment, on_progress, self._hidden)
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
            turn.end()
        if turn.broken:
            await self.close()
        return self._result(turn, done)

    async def send(self, text: str) -> None:
        if self._turn is None or self._turn.ending:
            raise SteerUnavailable("no turn is running")
        await self._adapter.steer(text)

    async def interrupt(self) -> None:
        if self._turn is not None:
            await self._turn.stop()

    async def close(self) -> None:
        self._closed = True
        if (turn := self._turn) is not None:
            turn.cut()
        try:
            async with asyncio.timeout(CLOSE_S):
                await self._adapter.close()
        except Exception as error:  # the edge of the agent: what it started is ended at the latest at the next start
            log.error("agent did not close", exc_info=harmless(error, self._hidden))

    def _result(self, turn: AdaptedTurn, done: Done) -> RunResult:
        # Hidden before anything is cut, which could leave half a secret, and after, because a summary has no markup:
        # what was escaped in the text is whole in it.
        text = self._hidden(done.text or turn.said)[-MAX_TEXT_CHARS:]
        error = None
        if done.ok:
            summary = extract_spoken_summary(text)
            if turn.question is not None:
                summary = _with_question(summary, self._hidden(turn.question.text), turn.question.choices)
        else:
            error = self._hidden(" ".join((done.error or done.failure or Failure.OTHER).split()))
            summary = spoken_failure(self._adapter.called, replace(done, error=error))
        if self._forgotten:
            summary, self._forgotten = f"{FRESH_START} {summary}", False
        restart_reason = extract_restart_request(text)
        return RunResult(
            ok=done.ok,
            final_text=text,
            spoken_summary=shorten(self._hidden(summary)),
            session_id=self.session_id,
            usage=done.usage,
            cost_usd=done.cost_usd,
            error=error,
            restart_reason=self._hidden(restart_reason) if restart_reason else restart_reason,
        )

    def _hidden(self, text: str) -> str:
        """`text` without any credential that was handed to the agent."""
        for secret in self._secrets:
            text = text.replace(secret, REDACTED)
        return text


def _with_question(summary: str, question: str, choices: Sequence[str]) -> str:
    """The summary, ending with what the agent asked without waiting, unless it ends by asking already."""
    if is_question(summary) or not any(char.isalnum() for char in question):
        return summary
    asked = question.strip().rstrip("?").rstrip()
    if choices:
        asked += ": " + " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
    asked = extract_spoken_summary(f"{asked}?")
    both = f"{summary} {asked}"
    return asked if summary in (asked, NOTHING_SAID) or len(both) > MAX_SUMMARY_CHARS else both
