"""One claimed task, first turn to last: opens the agent, runs turns, passes follow-ups on, keeps results."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TypeVar, assert_never

from keryx.agents.base import FRESH_START, AgentSession, RunResult, SteerUnavailable
from keryx.agents.registry import AgentRegistry
from keryx.agents.summary import NOTHING_SAID, shorten
from keryx.clock import Clock
from keryx.errors import KeryxError, Unavailable
from keryx.log import during, task_id
from keryx.private import write_private
from keryx.security.redact import redact
from keryx.tasks.claims import Fenced, TurnEnd, TurnInput
from keryx.tasks.engines.base import Cancel, Delivery, Signal, Steer
from keryx.tasks.events import EventHub, NewsArrived, TaskChanged, TaskProgressed
from keryx.tasks.models import Task
from keryx.tasks.prompting import turn_prompt
from keryx.tasks.reports import render_report, report_file
from keryx.tasks.requests import clean, last_part, one_line
from keryx.tasks.rows import MessageState, Turn
from keryx.tasks.store import TaskStore

OPEN_TIMEOUT_S = 60.0
"""How long an agent may take to start or to take up a conversation."""
SEND_TIMEOUT_S = 10.0
"""How long a running agent may take to acknowledge a follow-up; after that nobody knows whether it landed."""
INTERRUPT_GRACE_S = 2.0
"""How long an interrupted turn may take to end by itself before its agent is closed."""
CLOSE_GRACE_S = 5.0
STORE_RETRY_S = 2.0
"""How long to wait before a result that could not be stored is tried again."""
MAX_PROGRESS_INPUT = 20_000
"""Characters of one progress line that are looked at; agents have written megabytes without a newline."""
MAX_FINAL_CHARS = 50_000
"""How much of an agent's last text is kept: all that is redacted at once must not hold up anybody's voice."""

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True)
class Workbench:
    """What every task's run works with. `reports`: the folder for report files; `owner`: who asks, "" for no name."""

    registry: AgentRegistry
    store: TaskStore
    clock: Clock
    events: EventHub
    reports: Path
    owner: str = ""


class TaskTurns:
    """The run of one task under one claim. A turn may take as long as it takes; everything around it is bounded."""

    def __init__(self, task: Task, bench: Workbench) -> None:
        self._task = task
        self._registry = bench.registry
        self._store = bench.store
        self._clock = bench.clock
        self._events = bench.events
        self._reports = bench.reports
        self._owner = bench.owner
        self._session: AgentSession | None = None
        self._session_id = task.session_id
        self._says_fresh = False
        self._taking_texts = False
        self._cancelled = False
        self._sends: dict[int, asyncio.Task[Delivery]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._body: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def run(self) -> None:
        """Run turns until no text is waiting. A cancellation stops the agent; the task stays `running` in the store."""
        self._body = asyncio.current_task()
        with during(task_id, self._task.id):
            self._events.publish(TaskChanged(self._task))
            try:
                async with asyncio.TaskGroup() as self._group:
                    await self._run_turns()
            except Exception as error:  # the edge of a task: a defect of ours ends this task, and somebody hears of it
                log.exception("task broke off")
                await self._give_up(error)
            finally:
                self._over.set()
                await self._close()

    async def signal(self, signal: Signal) -> Delivery:
        match signal:
            case Steer(message_id, text):
                return await self._pass_on(message_id, text)
            case Cancel():
                await self._stop()
                return Delivery.WAITING
            case never:
                assert_never(never)

    # Turns.

    async def _run_turns(self) -> None:
        try:
            more = True
            while more and not self._cancelled:
                more = await self._run_turn()
        except Fenced:
            log.info("task is no longer this run's", extra={"epoch": self._task.epoch})

    async def _run_turn(self) -> bool:
        opened = await self._try_open()
        claims, task = self._store.claims, self._task
        given = await self._until_stored(lambda: claims.begin_turn(task.id, task.epoch, self._session_id))
        if given.task.mode != task.mode:
            opened = await self._reopen(given.task.mode)
        result = opened if isinstance(opened, RunResult) else await self._ask(given, remembers=opened)
        if self._body is not None and self._body.cancelling():
            # An agent that took the cancellation for an answer: what it returned is no result.
            raise asyncio.CancelledError
        # What is on its way to the agent arrives or fails before the turn's books are closed.
        while self._sends:
            await asyncio.wait(self._sends.values())
        if self._cancelled:
            return False
        return await self._keep(result, given.task)

    async def _give_up(self, error: Exception) -> None:
        """End the task as failed, whatever was still to be done."""
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        more, claims, task = True, self._store.claims, self._task
        while more:
            await self._until_stored(lambda: claims.begin_turn(task.id, task.epoch, self._session_id))
            more = await self._store_end(_plain(_crashed(error, "Something in Keryx")))

    async def _try_open(self) -> bool | RunResult:
        """`_open`, or the turn's result when the agent cannot be opened."""
        try:
            return await self._open()
        except KeryxError as error:
            return _failed(str(error), error.spoken)
        except TimeoutError:
            return _failed("The agent did not start in time.")
        except Exception as error:  # the edge of an agent's turn: whatever it raises is the turn's result
            log.exception("agent could not be opened")
            return _crashed(error)

    async def _reopen(self, mode: str) -> bool | RunResult:
        """Take the conversation up again in the mode a follow-up asked for: agents read it when they are opened."""
        await self._close()
        self._task, before = replace(self._task, mode=mode), self._session_id
        opened = await self._try_open()
        claims, task, now = self._store.claims, self._task, self._session_id
        if now is not None and now != before:
            await self._until_stored(lambda: claims.save_session(task.id, task.epoch, now))
        return opened

    async def _open(self) -> bool:
        """Have a conversation open; returns whether it is the task's own, which remembers what was said before."""
        if self._session is not None:
            return True
        agent, resume = self._registry.get(self._task.agent), self._session_id
        if resume is not None:
            try:
                async with asyncio.timeout(OPEN_TIMEOUT_S):
                    self._session = await agent.open(self._task, resume=resume)
            except Exception:  # the edge of the agent: a lost conversation is begun anew, and the prompt recounts it
                log.exception("conversation could not be taken up, starting a new one")
        if self._session is None:
            async with asyncio.timeout(OPEN_TIMEOUT_S):
                self._session = await agent.open(self._task)
            # Only now: while the agent cannot be started at all, its conversation may still be there next time.
            self._session_id, self._says_fresh = None, resume is not None
        opened_id = _session_id(self._session) or self._session_id
        self._session_id = opened_id
        return resume is not None and opened_id == resume

    async def _ask(self, given: TurnInput, *, remembers: bool) -> RunResult:
        assert self._session is not None
        try:
            prompt = turn_prompt(given, remembers=remembers, owner=self._owner)
            self._taking_texts = True
            result = await self._session.run(prompt, on_progress=self._on_progress)
        except Exception as error:  # the edge of an agent's turn: it must not raise, and when it does, it has failed
            log.exception("agent raised")
            result = _crashed(error)
        finally:
            self._taking_texts = False
        if not result.ok:
            await self._close()
        return result

    async def _on_progress(self, text: str) -> None:
        line = one_line(redact(text[:MAX_PROGRESS_INPUT]))
        if not line:
            return
        try:
            known_id = _session_id(self._session)
            if known_id and known_id != self._session_id:
                await self._store.claims.save_session(self._task.id, self._task.epoch, known_id)
                self._session_id = known_id
            stored = await self._store.claims.add_progress(self._task.id, self._task.epoch, line)
        except Fenced:
            return
        except Unavailable as error:
            log.warning("progress line not stored", extra={"reason": str(error)})
            return
        self._events.publish(TaskProgressed(stored))

    async def _keep(self, result: RunResult, task: Task) -> bool:
        """Store the result and its news, however long the disk or a lock stands in the way; whether a turn follows."""
        end = _plain(result)
        if self._says_fresh and FRESH_START not in end.summary:
            end = replace(end, summary=shorten(f"{FRESH_START} {end.summary}"))
        self._says_fresh = False
        return await self._store_end(replace(end, report_path=await self._report(end, task)))

    async def _store_end(self, end: TurnEnd) -> bool:
        claims, task = self._store.claims, self._task
        ended = await self._until_stored(lambda: claims.end_turn(task.id, task.epoch, end))
        self._session_id = ended.task.session_id
        self._events.publish(TaskChanged(ended.task))
        self._events.publish(NewsArrived(ended.news))
        return ended.more

    async def _until_stored(self, store: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await store()
            except Unavailable as error:
                log.warning("cannot be stored for now, kept in memory", extra={"reason": str(error)})
                await self._clock.sleep(STORE_RETRY_S)

    async def _report(self, end: TurnEnd, task: Task) -> str | None:
        """Write the report file before anybody hears of the result; without one the report is made from the store."""
        path = report_file(self._reports, task.id)
        try:
            turns = await self._store.turns(task.id)
            turns.append(_turn(end, len(turns) + 1, self._clock.now()))
            lines = await self._store.progress(task.id, 0)
            markdown = render_report(task, await self._store.messages(task.id), lines, turns)
            await asyncio.to_thread(write_private, path, markdown)
        except (OSError, Unavailable) as error:
            log.warning("report file not written", extra={"reason": str(error)})
            return None
        return str(path)

    # Reached from outside while a turn is running.

    async def _pass_on(self, message_id: int, text: str) -> Delivery:
        if (sending := self._sends.get(message_id)) is None:
            if not self._taking_texts or self._group is None or self._session is None:
                return Delivery.WAITING
            sending = self._group.create_task(self._send(self._session, message_id, text))
            self._sends[message_id] = sending
            sending.add_done_callback(lambda _: self._sends.pop(message_id))
        # Whoever asked may go away (a call ends): what has begun is carried out all the same. And a run that is stopped
        # meanwhile does not cancel whoever asked.
        await asyncio.wait({sending})
        return Delivery.UNCERTAIN if sending.cancelled() else sending.result()

    async def _send(self, session: AgentSession, message_id: int, text: str) -> Delivery:
        try:
            if not await self._store.claims.begin_sending(message_id):
                return Delivery.WAITING
        except Unavailable:
            return Delivery.WAITING
        state, delivery = MessageState.ACKNOWLEDGED, Delivery.ACKNOWLEDGED
        try:
            if not self._taking_texts:
                raise SteerUnavailable("the turn has just ended")
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await session.send(text)
        except SteerUnavailable:
            state, delivery = MessageState.WAITING, Delivery.WAITING
        except Exception:  # the edge of the agent: anything but a refusal means that it may have landed
            log.exception("follow-up may not have reached the agent")
            state, delivery = MessageState.UNCERTAIN, Delivery.UNCERTAIN
        await self._until_stored(lambda: self._store.claims.sent(message_id, state))
        return delivery

    async def _stop(self) -> None:
        self._cancelled = True
        self._taking_texts = False
        try:
            async with asyncio.timeout(INTERRUPT_GRACE_S):
                if self._session is not None:
                    await self._session.interrupt()
                    await self._over.wait()
        except TimeoutError:
            log.warning("agent did not stop when interrupted")
        except Exception:  # the edge of the agent: it is closed next, whatever this was
            log.exception("agent could not be interrupted")
        if self._body is not None and not self._over.is_set():
            self._body.cancel()

    async def _close(self) -> None:
        session, self._session = self._session, None
        if session is None:
            return
        try:
            async with asyncio.timeout(CLOSE_GRACE_S):
                await session.close()
        except Exception:  # the edge of the agent: a close that fails or hangs must not hold up the next task
            log.exception("agent did not close")


def _failed(error: str, spoken: str | None = None) -> RunResult:
    return RunResult(ok=False, final_text="", spoken_summary=spoken or error, error=error)


def _crashed(error: Exception, who: str = "The agent") -> RunResult:
    # Only the kind of error: its text may hold anything, secrets too.
    return _failed(f"{who} stopped unexpectedly ({type(error).__name__})", f"{who} stopped unexpectedly.")


def _session_id(session: AgentSession | None) -> str | None:
    """The agent's name for its conversation, if it tells already; only the turn's result has to."""
    return getattr(session, "session_id", None) or None


def _plain(result: RunResult) -> TurnEnd:
    """`result` as it is kept: no secrets, one line where one line is said."""
    usage = result.usage
    error = None
    if not result.ok:
        error = one_line(redact(result.error or result.spoken_summary)) or "the agent failed without saying why"
    summary = shorten(one_line(redact(result.spoken_summary), 2_000))
    if not summary:
        summary = NOTHING_SAID if result.ok else error or ""
    return TurnEnd(
        ok=result.ok,
        final_text=redact(clean(last_part(result.final_text, MAX_FINAL_CHARS))),
        summary=summary,
        session_id=result.session_id,
        error=error,
        restart_reason=None if result.restart_reason is None else one_line(redact(result.restart_reason)),
        input_tokens=usage and usage.input_tokens,
        output_tokens=usage and usage.output_tokens,
        cached_input_tokens=usage and usage.cached_input_tokens,
        cost_usd=result.cost_usd,
    )


def _turn(end: TurnEnd, number: int, finished_at: datetime) -> Turn:
    return Turn(
        number=number,
        finished_at=finished_at,
        ok=end.ok,
        final_text=end.final_text,
        summary=end.summary,
        error=end.error,
        restart_reason=end.restart_reason,
        input_tokens=end.input_tokens,
        output_tokens=end.output_tokens,
        cached_input_tokens=end.cached_input_tokens,
        cost_usd=end.cost_usd,
    )
