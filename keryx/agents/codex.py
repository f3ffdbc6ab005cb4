"""Codex, behind `codex app-server`: one process and one thread of it for each conversation.

`codex_settings` says what a task's mode means there and what enforces it, `codex_approvals` what Codex is told when
something is denied.
"""

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from keryx.agents.base import FRESH_START, SteerUnavailable
from keryx.agents.codex_approvals import answered
from keryx.agents.codex_items import Meter, failed
from keryx.agents.codex_process import AppServer
from keryx.agents.codex_run import Run, Told
from keryx.agents.codex_settings import NO_SANDBOX, Hold, environment_for, hold_for, program_for, thread_settings
from keryx.agents.codex_steers import Owed
from keryx.agents.codex_wire import Notification, Thread, Turn, parsed
from keryx.agents.equipment import Equipment
from keryx.agents.events import AgentEvent, Done, Failure, Notice, SessionId
from keryx.agents.jsonrpc import INTERNAL_ERROR, Disconnected, Params, RpcError
from keryx.agents.programs import run_program
from keryx.agents.session import AdaptedSession, AskOwner
from keryx.errors import Unavailable
from keryx.tasks.models import Task

__all__ = ["Bounds", "CodexAgentRunner"]

TRY_AGAIN_S = 0.1

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Bounds:
    """How long anything may take, in seconds; the session bounds the turn as a whole."""

    call_s: float = 30.0
    """Any call that has no bound of its own."""
    resume_s: float = 20.0
    writer_s: float = 2.0
    """How long another process may go on to hold the conversation, one of ours that is about to end."""
    steer_s: float = 10.0
    interrupt_s: float = 0.8
    """Then its process is ended: what was interrupted must end within what the session waits."""
    clean_s: float = 1.0
    idle_s: float = 2.0
    """Idle without having told of its turn's end: then it is asked."""
    silent_s: float = 30.0
    """Without a word, and without a tool or a question that would explain it: then it is asked too."""
    unreachable_s: float = 120.0
    """How long a provider may be out of reach. Codex itself tries for ever."""
    probe_s: float = 10.0


class CodexAgentRunner:
    """Opens conversations with Codex."""

    def __init__(self, equipment: Equipment, *, name: str = "codex", bounds: Bounds | None = None) -> None:
        self.name = name
        self._equipment = equipment
        self._bounds = bounds or Bounds()
        self._sandboxed: bool | None = None

    async def open(self, task: Task, *, resume: str | None = None) -> AdaptedSession:
        program = program_for(self._equipment)
        directory = self._equipment.workplace(task).resolve()
        if self._sandboxed is None and task.mode != "full":
            self._sandboxed = await self._sandbox_works(program, directory)
        hold = hold_for(task.mode, sandboxed=self._sandboxed or False)
        adapter = CodexAdapter(program, task, directory, hold, self._equipment, self._bounds)
        if task.mode != "full" and not self._sandboxed:
            adapter.notices.append(NO_SANDBOX)
        try:
            forgotten = await adapter.begin(resume)
        except BaseException:
            await adapter.close()
            raise
        return AdaptedSession(adapter, task, self._equipment, forgotten=forgotten)

    async def _sandbox_works(self, program: str, directory: Path) -> bool:
        argv = [program, "sandbox", "--", "true"]
        environment = environment_for(self._equipment)
        try:
            ended = await run_program(argv, cwd=directory, env=environment, limit_s=self._bounds.probe_s)
        except OSError:
            return False
        return ended.code == 0


class CodexAdapter:
    """One thread of Codex."""

    called = "Codex"

    def __init__(
        self, program: str, task: Task, directory: Path, hold: Hold, equipment: Equipment, bounds: Bounds
    ) -> None:
        self.session_id: str | None = None
        self.notices: list[str] = []
        """To be told at the beginning of the next turn."""
        self._program = program
        self._task = task
        self._directory = directory
        self._hold = hold
        self._equipment = equipment
        self._bounds = bounds
        self._server: AppServer | None = None
        self._closed = False
        self._meter = Meter()
        self._run: Run | None = None
        self._undelivered: tuple[str, ...] = ()
        """Words that were promised to be taken in, and that an interrupted turn did not take."""

    # -- the conversation -----------------------------------------------------------

    async def begin(self, resume: str | None) -> bool:
        """Start Codex and take up the thread `resume`, or a new one; whether `resume` is gone. Raises `Unavailable`."""
        server = await self._start()
        settings = thread_settings(
            self._hold, self._directory, self._task.model or self._equipment.model, self._equipment.mcp_servers
        )
        if resume is not None and await self._resumed(server, resume, settings):
            self.session_id = resume
            return False
        if not server.alive:
            server = await self._start()
        try:
            reply = await server.peer.call("thread/start", settings, within_s=self._bounds.call_s)
            thread = parsed(Thread, reply["thread"])
        except (RpcError, Disconnected, TimeoutError, KeyError, TypeError) as error:
            raise Unavailable(
                f"Codex cannot begin: {error}", spoken="Codex can't begin. Something in its settings may be wrong."
            ) from error
        if thread is None:
            raise Unavailable("Codex began without saying what", spoken="Codex can't begin.")
        self.session_id = thread.id
        return resume is not None

    async def _start(self) -> AppServer:
        if self._server is not None:
            await self._server.stop()
        if self._closed:
            raise Unavailable("the conversation is closed")
        self._server = server = await AppServer.start(
            self._program, self._task.id, self._directory, self._equipment, self, self._gone
        )
        if self._closed:
            await server.stop()
            raise Unavailable("the conversation is closed")
        return server

    async def _resumed(self, server: AppServer, thread_id: str, settings: dict[str, Any]) -> bool:
        """Whether the thread was taken up again; if not, it is gone for good."""
        params = {"threadId": thread_id, "excludeTurns": True, **settings}
        try:
            async with asyncio.timeout(self._bounds.resume_s):
                for _ in range(1 + round(self._bounds.writer_s / TRY_AGAIN_S)):
                    try:
                        await server.peer.call("thread/resume", params, within_s=self._bounds.resume_s)
                        return True
                    except RpcError as error:
                        # Another kind of refusal stays one: no such thread, none that was ever written, no id at all.
                        if "active writer" not in error.message:
                            log.info("conversation is gone", extra={"code": error.code})
                            return False
                    await asyncio.sleep(TRY_AGAIN_S)
        except (TimeoutError, Disconnected) as error:
            log.warning("conversation cannot be taken up", extra={"error": type(error).__name__})
            await server.stop()
        return False

    async def close(self) -> None:
        self._closed = True
        if self._server is not None:
            await self._server.stop()

    # -- a turn -----------------------------------------------------------

    async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
        run = self._run = Run(self._directory, ask)
        self._meter.begin()
        try:
            if self._server is None or not self._server.alive:
                await self._take_up_again()
            yield SessionId(self.session_id or "")
            for text in self.notices:
                yield Notice(text)
            self.notices.clear()
            done: Done | None = None
            words = (*self._undelivered, prompt)
            while done is None:
                done = await self._start_turn(run, words)
                while done is None:
                    if (told := await self._next(run)) is None:
                        done = self._ended_early(run)
                        break
                    for event in run.items.read(*told):
                        yield event
                    if told[0] == "turn/completed" and (turn := told[1].turn):
                        if (owed := await self._owed(run, turn)) is None:
                            done = self._outcome(run, turn)
                        else:
                            words = owed.words
                        break
            run.closing = True
            yield replace(done, usage=self._meter.usage)
        finally:
            run.closing = True
            run.changed()
            if run.turn_id is not None:
                await self._stop(run)
            self._run = None
            self._undelivered = run.steers.undelivered() or (self._undelivered if run.begun == 0 else ())
            run.over = True
            run.changed()
            if self._server is not None:
                self._server.peer.withdraw_all()

    async def _take_up_again(self) -> None:
        """Its process has ended since: another one goes on with the same thread."""
        if await self.begin(self.session_id):
            self.notices.append(FRESH_START)

    async def _start_turn(self, run: Run, words: tuple[str, ...]) -> Done | None:
        """Start a turn with `words`; without any, one that only answers what stands there already. Not None: failed."""
        assert self._server is not None
        message_id = uuid.uuid4().hex
        params = {
            "threadId": self.session_id,
            "clientUserMessageId": message_id,
            "input": [{"type": "text", "text": _sendable(text)} for text in words],
        }
        run.steers.sent_again(message_id)
        try:
            await self._server.peer.call("turn/start", params, within_s=self._bounds.call_s)
        except RpcError as error:
            return Done(False, failure=Failure.OTHER, error=error.message)
        except Disconnected:
            return self._ended_early(run)
        except TimeoutError:
            await self._server.stop()
            return Done(False, failure=Failure.SILENT, error="Codex did not begin its turn")
        run.begun += 1
        return None

    async def _next(self, run: Run) -> Told | None:
        """The next thing to look at; None when nothing more can come."""
        while True:
            wait_s = self._bounds.idle_s if run.idle and run.turn_id is not None else self._bounds.silent_s
            try:
                async with asyncio.timeout(wait_s):
                    told = await run.told.get()
            except TimeoutError:
                if (told := await self._looked(run)) is None:
                    continue
            if run.out_of_reach_s(told) > self._bounds.unreachable_s and not run.unreachable:
                run.unreachable = True
                await self._stop(run)
            return told

    async def _looked(self, run: Run) -> Told | None:
        """Ask for the turn's state, in case its end was never told: that end, or None while it goes on."""
        assert self._server is not None
        turn_id, params = run.turn_id, {"threadId": self.session_id, "includeTurns": True}
        if turn_id is None or run.items.running:
            return None
        try:
            reply = await self._server.peer.call("thread/read", params, within_s=self._bounds.call_s)
        except RpcError:
            return None
        except (Disconnected, TimeoutError):
            self._server.kill()
            return None
        thread = parsed(Thread, reply.get("thread"))
        turn = next((turn for turn in thread.turns if turn.id == turn_id), None) if thread else None
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

    # -- from beside the turn -----------------------------------------------------------

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
            assert self._server is not None
            run.steers.sent(steer_id, text)
            params = {
                "threadId": self.session_id,
                "expectedTurnId": turn_id,
                "clientUserMessageId": steer_id,
                "input": [{"type": "text", "text": text}],
            }
            try:
                await self._server.peer.call("turn/steer", params, within_s=self._bounds.steer_s)
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
        server = self._server
        if server is None:
            return
        try:
            async with asyncio.timeout(self._bounds.interrupt_s), asyncio.TaskGroup() as group:
                # One that is about to begin can be interrupted only when it has.
                await run.until(lambda: run.turn_id is not None or run.closing or not server.alive)
                if run.turn_id is not None:
                    asking = group.create_task(self._quietly("turn/interrupt", turnId=run.turn_id))
                    # It may never be answered, so what is waited for is the end itself.
                    await run.until(lambda: run.turn_id is None)
                    asking.cancel()
        except TimeoutError:
            log.warning("turn could not be interrupted: its process is ended")
            server.kill()
            await server.stop()
            return
        # The turn's end does not end what it runs.
        await self._quietly("thread/backgroundTerminals/clean")

    async def _quietly(self, method: str, **params: Any) -> None:
        assert self._server is not None
        with suppress(RpcError, Disconnected, TimeoutError):
            await self._server.peer.call(method, {"threadId": self.session_id, **params}, within_s=self._bounds.clean_s)

    # -- from the app-server -----------------------------------------------------------

    def notified(self, method: str, params: Params) -> None:
        note = parsed(Notification, params)
        if note is None or note.thread_id not in (None, self.session_id):
            return
        if method == "serverRequest/resolved" and note.request_id is not None and self._server is not None:
            self._server.peer.withdraw(note.request_id)
        run = self._run
        self._meter.read(note, running=run is not None and run.turn_id is not None and run.turn_id == note.turn_id)
        if run is not None:
            run.take(method, note)

    async def asked(self, method: str, params: Params, request_id: str | int) -> Any:
        if (run := self._run) is None:
            raise RpcError(INTERNAL_ERROR, "no turn is running")
        return await answered(method, params, run.ask, inside=self._directory, hold=self._hold, changes=run.changes)

    def _gone(self) -> None:
        if self._run is not None:
            self._run.lost()


def _sendable(text: str) -> str:
    """`text` without what cannot be sent: halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode("utf-8")
