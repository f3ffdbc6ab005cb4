"""One thread of Codex, whichever process of it serves it: begun, taken up again, spoken to, and ended."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keryx.agents.codex.jsonrpc import Disconnected, Handler, RpcError
from keryx.agents.codex.process import AppServer
from keryx.agents.codex.servers import Startups
from keryx.agents.codex.settings import Hold, thread_settings
from keryx.agents.codex.wire import Thread, Turn, parsed
from keryx.agents.equipment import Equipment, McpServers
from keryx.errors import Unavailable
from keryx.tasks.models import Task

__all__ = ["Bounds", "CodexThread"]

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
    servers_s: float = 10.0
    """How long the house's own servers of tools may take to come up before the first turn goes without them."""


class CodexThread:
    """A conversation with Codex. What it says by itself goes to `handler`; `gone` is called when its process ends."""

    def __init__(
        self, program: str, task: Task, directory: Path, hold: Hold, equipment: Equipment, bounds: Bounds
    ) -> None:
        self.id: str | None = None
        self.directory = directory
        self.hold = hold
        self.bounds = bounds
        self._program = program
        self._task = task
        self._equipment = equipment
        self._server: AppServer | None = None
        self._closed = False
        self.servers: McpServers = {}
        """The servers of tools that it is handed; the same ones whichever process serves it."""
        self.startups = Startups()
        self._servers_known = False

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._server is not None and self._server.alive

    async def begin(self, resume: str | None, handler: Handler, gone: Callable[[], None]) -> bool:
        """Start Codex and take up the thread `resume`, or a new one; whether `resume` is gone. Raises `Unavailable`."""
        server = await self._start(handler, gone)
        model = self._task.model or self._equipment.model
        settings = thread_settings(self.hold, self.directory, model, self._equipment, self.servers)
        if resume is not None and await self._resumed(server, resume, settings):
            self.id = resume
            await self._with_servers()
            return False
        if not server.alive:
            server = await self._start(handler, gone)
        try:
            reply = await server.peer.call("thread/start", settings, within_s=self.bounds.call_s)
            thread = parsed(Thread, reply["thread"])
        except (RpcError, Disconnected, TimeoutError, KeyError, TypeError) as error:
            raise Unavailable(
                f"Codex cannot begin: {error}", spoken="Codex can't begin. Something in its settings may be wrong."
            ) from error
        if thread is None:
            raise Unavailable("Codex began without saying what", spoken="Codex can't begin.")
        self.id = thread.id
        await self._with_servers()
        return resume is not None

    async def call(self, method: str, params: dict[str, Any], *, within_s: float | None = None) -> Any:
        """The result of a call about the thread; raises as `JsonRpcPeer.call`."""
        if self._server is None:
            raise Disconnected("no process has been started")
        within_s = self.bounds.call_s if within_s is None else within_s
        return await self._server.peer.call(method, {"threadId": self.id, **params}, within_s=within_s)

    async def quietly(self, method: str, **params: Any) -> None:
        """Call `method` for what it does, if it does it."""
        with suppress(RpcError, Disconnected, TimeoutError):
            await self.call(method, params, within_s=self.bounds.clean_s)

    async def state_of(self, turn_id: str) -> Turn | None:
        """What Codex says of a turn when asked; None when nothing. A process that does not answer is ended."""
        try:
            reply = await self.call("thread/read", {"includeTurns": True})
        except RpcError:
            return None
        except (Disconnected, TimeoutError):
            self.kill()
            return None
        thread = parsed(Thread, reply.get("thread"))
        return next((turn for turn in thread.turns if turn.id == turn_id), None) if thread else None

    def withdraw(self, request_id: str | int | None) -> None:
        """Codex wants no answer to one of its calls any more; None: to none of them."""
        if self._server is not None:
            self._server.peer.withdraw(request_id)

    def kill(self) -> None:
        """End its process at once."""
        if self._server is not None:
            self._server.kill()

    async def stop(self) -> None:
        """End its process and all it started; a thread can be begun again. Bounded; may be called twice."""
        if self._server is not None:
            await self._server.stop()

    async def close(self) -> None:
        """As `stop`, for good."""
        self._closed = True
        await self.stop()

    async def _with_servers(self) -> None:
        """Wait for the servers whose tools the house knows: the owner may have asked for just what they do."""
        if names := [name for name, server in self.servers.items() if server.tools]:
            await self.startups.up(names, self.bounds.servers_s)

    async def _start(self, handler: Handler, gone: Callable[[], None]) -> AppServer:
        await self.stop()
        self._check_open()
        if not self._servers_known:
            self.servers = await asyncio.to_thread(self._equipment.mcp_servers, self.directory)
            self._servers_known = True
        self.startups = Startups()
        self._server = server = await AppServer.start(
            self._program, self._task.id, self.directory, self._equipment, handler, gone
        )
        if self._closed:
            await server.stop()
        self._check_open()
        return server

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("the conversation is closed")

    async def _resumed(self, server: AppServer, thread_id: str, settings: dict[str, Any]) -> bool:
        """Whether the thread was taken up again; if not, it is gone for good."""
        params = {"threadId": thread_id, "excludeTurns": True, **settings}
        try:
            async with asyncio.timeout(self.bounds.resume_s):
                for _ in range(1 + round(self.bounds.writer_s / TRY_AGAIN_S)):
                    try:
                        await server.peer.call("thread/resume", params, within_s=self.bounds.resume_s)
                        return True
                    except RpcError as error:
                        # Any other refusal stays one: no such thread, none that was ever written, no id at all.
                        if "active writer" not in error.message:
                            log.info("conversation is gone", extra={"code": error.code})
                            return False
                    await asyncio.sleep(TRY_AGAIN_S)
        except (TimeoutError, Disconnected) as error:
            log.warning("conversation cannot be taken up", extra={"error": type(error).__name__})
            await server.stop()
        return False
