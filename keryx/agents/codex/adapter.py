"""A conversation with Codex, turn by turn: what it tells, what is steered into it, and how it is stopped."""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from keryx.agents.adapter import AskOwner
from keryx.agents.base import FRESH_START, SteerUnavailable
from keryx.agents.codex.approvals import answered
from keryx.agents.codex.items import Meter, failed
from keryx.agents.codex.jsonrpc import INTERNAL_ERROR, Disconnected, Params, RpcError
from keryx.agents.codex.run import Run, Told
from keryx.agents.codex.servers import TOLD
from keryx.agents.codex.steers import Owed
from keryx.agents.codex.thread import CodexThread
from keryx.agents.codex.wire import Notification, Turn, parsed
from keryx.agents.events import AgentEvent, Done, Failure, Notice, SessionId

log = logging.getLogger(__name__)


class CodexAdapter:
    """An `Adapter` for one thread of Codex."""

    called = "Codex"

    def __init__(self, thread: CodexThread) -> None:
        self.session_id: str | None = None
        self.notices: list[str] = []
        """To be told at the beginning of the next turn."""
        self._thread = thread
        self._bounds = thread.bounds
        self._meter = Meter()
        self._run: Run | None = None
        self._undelivered: tuple[str, ...] = ()
        """Words that were promised to be taken in, and that an interrupted turn did not take."""

    async def begin(self, resume: str | None) -> bool:
        """Begin the thread, or take it up again; whether `resume` is gone. Raises `Unavailable`."""
        forgotten = await self._thread.begin(resume, self, self._gone)
        self.session_id = self._thread.id
        return forgotten

    async def close(self) -> None:
        await self._thread.close()

    async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
        run = self._run = Run(self._thread.directory, ask, self._thread.servers)
        self._meter.begin()
        try:
            done: Done | None = None
            words = (*self._undelivered, prompt)
            while done is None:
                done = await self._begin_turn(run, words)
                yield SessionId(self.session_id or "")
                for text in self.notices:
                    yield Notice(text)
                self.notices.clear()
                turn: Turn | None = None
                while done is None and turn is None:
                    if (told := await self._next(run)) is None:
                        done = self._ended_early(run)
                        break
                    for event in run.items.read(*told):
                        yield event
                    turn = told[1].turn if told[0] == "turn/completed" else None
                if turn is not None and (owed := await self._owed(run, turn)) is not None:
                    words = owed.words
                elif turn is not None:
                    done = self._outcome(run, turn)
            run.closing = True
            yield replace(done, usage=self._meter.usage)
        finally:
            run.closing = True
            run.changed()
            if run.turn_id is not None or run.starting:
                await self._stop(run)
            self._run = None
            self._undelivered = run.steers.undelivered() or (self._undelivered if run.begun == 0 else ())
            run.over = True
            run.changed()
            self._thread.withdraw(None)

    async def _begin_turn(self, run: Run, words: tuple[str, ...]) -> Done | None:
        """Start a turn, with another process if the last one has gone since. Not None: failed."""
        for attempt in range(2):
            if not run.begun and (attempt or not self._thread.alive):
                if await self.begin(self.session_id):
                    self.notices.append(FRESH_START)
                run.told = asyncio.Queue()
            try:
                return await self._start_turn(run, words)
            except Disconnected:
                # Perhaps it had gone before, and that was not known yet.
                if run.begun or run.interrupted or attempt:
                    break
        return self._ended_early(run)

    async def _start_turn(self, run: Run, words: tuple[str, ...]) -> Done | None:
        """Start a turn with `words`; without any, one that only answers what stands there already. Not None: failed.

        Raises `Disconnected`.
        """
        if run.interrupted:
            return self._ended_early(run)
        message_id = uuid.uuid4().hex
        params = {
            "clientUserMessageId": message_id,
            "input": [{"type": "text", "text": _sendable(text)} for text in words],
        }
        run.steers.sent_again(message_id)
        run.starting = True
        try:
            await self._thread.call("turn/start", params)
        except RpcError as error:
            run.starting = False
            return Done(False, failure=Failure.OTHER, error=error.message)
        except TimeoutError:
            await self._thread.stop()
            return Done(False, failure=Failure.SILENT, error="Codex did not begin its turn")
        run.begun += 1
        return None

    async def _next(self, run: Run) -> Told | None:
        """The next thing to look at; None when nothing more can come."""
        while True:
            told = None
            with suppress(TimeoutError):
                async with asyncio.timeout(run.patience_s(self._bounds)):
                    if (told := await run.told.get()) is None:
                        return None
                    run.mind_reach(told)
            if run.out_of_reach_s > self._bounds.unreachable_s and not run.unreachable:
                run.unreachable = True
                await self._stop(run)
            if told or (told := await self._looked(run)):
                return told

    async def _looked(self, run: Run) -> Told | None:
        """Ask for the turn's state, in case its end was never told: that end, or None while it goes on."""
        turn_id = run.turn_id
        if turn_id is None or not run.quiet:
            return None
        turn = await self._thread.state_of(turn_id)
        if turn is None or turn.status == "inProgress" or run.turn_id != turn_id:
            return None
        log.warning("turn ended without a word")
        run.items.take_in(turn)
        run.turn_id = None
        run.changed()
        return "turn/completed", Notification(turn=turn)

    async def _owed(self, run: Run, turn: Turn) -> Owed | None:
        """What another turn is needed for; None when the run is over, and from then on no steer is taken."""
        async with asyncio.timeout(self._bounds.steer_s * 2):
            await run.settled()
        owed = run.steers.owed() if turn.status == "completed" and not run.interrupted else None
        run.closing = owed is None
        return owed

    def _outcome(self, run: Run, turn: Turn) -> Done:
        if run.unreachable:
            return Done(False, failure=Failure.UNREACHABLE, error="the provider was out of reach for too long")
        if turn.status == "completed":
            return Done(True, run.items.final)
        if turn.status == "interrupted":
            return Done(False, failure=Failure.INTERRUPTED, error="interrupted")
        return failed(turn.error)

    def _ended_early(self, run: Run) -> Done:
        if run.interrupted:
            return Done(False, failure=Failure.INTERRUPTED, error="interrupted")
        return Done(False, failure=Failure.DIED, error="Codex's process ended")

    async def steer(self, text: str) -> None:
        run = self._run
        if run is None or not run.takes_steers():
            raise SteerUnavailable("no turn is running")
        try:
            async with asyncio.timeout(self._bounds.steer_s):
                await self._steer(run, uuid.uuid4().hex, _sendable(text))
        except TimeoutError as error:
            raise ConnectionError("Codex did not answer") from error

    async def _steer(self, run: Run, steer_id: str, text: str) -> None:
        while (turn_id := await run.turn_running()) is not None:
            run.steers.sent(steer_id, text)
            params = {
                "expectedTurnId": turn_id,
                "clientUserMessageId": steer_id,
                "input": [{"type": "text", "text": text}],
            }
            try:
                await self._thread.call("turn/steer", params, within_s=self._bounds.steer_s)
            except RpcError as error:
                run.steers.forget(steer_id)
                run.changed()
                if run.turn_id == turn_id:
                    raise SteerUnavailable(error.message) from error
                continue  # that turn has just ended: perhaps there is another
            except BaseException:
                run.steers.forget(steer_id)
                run.changed()
                raise
            run.steers.accepted(steer_id)
            if not run.interrupted:
                run.steers.promise(steer_id)
            run.changed()
            if run.interrupted:
                await run.until(lambda: run.over)
                if not run.steers.is_taken(steer_id):
                    raise SteerUnavailable("the turn was interrupted before it was taken in")
            return
        raise SteerUnavailable("no turn is running")

    async def interrupt(self) -> None:
        run = self._run
        if run is None or run.closing or run.interrupted:
            return
        run.interrupted = True
        run.changed()
        await self._stop(run)

    async def _stop(self, run: Run) -> None:
        """End the running turn: in order, or with the process when that does not do. Bounded."""
        thread = self._thread
        try:
            async with asyncio.timeout(self._bounds.interrupt_s), asyncio.TaskGroup() as group:
                # One that is about to begin can be interrupted only when it has.
                await run.until(lambda: run.turn_id is not None or not run.starting)
                if run.turn_id is not None:
                    asking = group.create_task(thread.quietly("turn/interrupt", turnId=run.turn_id))
                    # It may never be answered, so what is waited for is the end itself.
                    await run.until(lambda: run.turn_id is None)
                    asking.cancel()
        except TimeoutError:
            log.warning("turn could not be interrupted: its process is ended")
            thread.kill()
            await thread.stop()
            return
        # The turn's end does not end what it runs.
        await thread.quietly("thread/backgroundTerminals/clean")

    def notified(self, method: str, params: Params) -> None:
        if method == TOLD:
            self._thread.startups.told(params)
        note = parsed(Notification, params)
        if note is None or note.thread_id not in (None, self.session_id):
            return
        if method == "serverRequest/resolved" and note.request_id is not None:
            self._thread.withdraw(note.request_id)
        run = self._run
        self._meter.read(note, running=run is not None and run.turn_id is not None and run.turn_id == note.turn_id)
        if run is not None:
            run.take(method, note)

    async def asked(self, method: str, params: Params, request_id: str | int) -> Any:
        if (run := self._run) is None:
            raise RpcError(INTERNAL_ERROR, "no turn is running")
        thread = self._thread
        return await answered(
            method,
            params,
            run.ask,
            inside=thread.directory,
            hold=thread.hold,
            changes=run.changes,
            servers=thread.servers,
        )

    def _gone(self) -> None:
        if self._run is not None:
            self._run.lost()


def _sendable(text: str) -> str:
    """`text` without what cannot be sent: halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode("utf-8")
