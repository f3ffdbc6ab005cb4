"""A running `codex app-server`: started, signed in, read for as long as it lives, and ended for certain."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from keryx.agents.codex.jsonrpc import Handler, JsonRpcPeer, RpcError
from keryx.agents.codex.settings import API_KEY, environment_for
from keryx.agents.equipment import Equipment
from keryx.agents.processes import AgentRun
from keryx.errors import Unavailable

START_S = 20.0
"""A cold disk has 360 MB to read first."""
LEAVE_S = 1.2
"""How long it may take to leave by itself once its input has ended."""
CHUNK_BYTES = 65_536


class AppServer:
    """One process of Codex and its pipes."""

    def __init__(self, run: AgentRun, process: asyncio.subprocess.Process, handler: Handler) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.peer = JsonRpcPeer(process.stdout, process.stdin, handler)
        self._run = run
        self._process = process
        self._reading: asyncio.Task[None] | None = None
        self._ended = False

    @classmethod
    async def start(
        cls,
        program: str,
        task_id: int,
        directory: Path,
        equipment: Equipment,
        handler: Handler,
        gone: Callable[[], None],
    ) -> "AppServer":
        """Start `program` in `directory` and sign it in; `gone` is called once when it has ended.

        Raises `Unavailable`; nothing is left behind then, nor after a cancellation.
        """
        run = equipment.processes.begin(task_id, environment_for(equipment))
        api_key = equipment.login.variables.get(API_KEY)
        argv = [program, *(("-c", 'cli_auth_credentials_store="ephemeral"') if api_key else ()), "app-server"]
        server: AppServer | None = None
        try:
            server = cls(run, await run.spawn(argv, cwd=directory), handler)
            # Read from here to the end of the process, whichever turns come and go.
            server._reading = asyncio.create_task(server._read(gone))
            await server._begin(api_key)
        except BaseException as error:
            await (server.stop() if server else run.end())
            if isinstance(error, OSError | RpcError | TimeoutError):
                raise Unavailable(
                    f"Codex did not start ({type(error).__name__}): see what `{program} app-server` says",
                    spoken="Codex doesn't start on your machine.",
                ) from error
            raise
        return server

    @property
    def alive(self) -> bool:
        return not self._ended and self._process.returncode is None

    def kill(self) -> None:
        """End it at once, without what it started; `stop` ends that."""
        with suppress(ProcessLookupError):
            self._process.kill()

    async def stop(self) -> None:
        """End it and all it started: by the end of its input, then by force. Bounded; may be called twice."""
        self._ended = True
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(LEAVE_S):
                    await self._process.wait()
        finally:
            await self._run.end()
            if self._reading is not None:
                self._reading.cancel()
                await asyncio.wait({self._reading})

    async def _begin(self, api_key: str | None) -> None:
        client = {"name": "keryx", "title": "Keryx", "version": "1"}
        capabilities = {"experimentalApi": True}
        await self.peer.call("initialize", {"clientInfo": client, "capabilities": capabilities}, within_s=START_S)
        await self.peer.notify("initialized", within_s=START_S)
        if api_key:
            # Kept in its memory alone: neither the owner's own login nor the shell's environment has it.
            await self.peer.call("account/login/start", {"type": "apiKey", "apiKey": api_key}, within_s=START_S)

    async def _read(self, gone: Callable[[], None]) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                draining = group.create_task(self._drain())
                await self.peer.serve()
                draining.cancel()
        finally:
            self._ended = True
            gone()

    async def _drain(self) -> None:
        """Take its log away, so that it never waits for that; it may hold anything, so it is not kept."""
        assert self._process.stderr is not None
        while await self._process.stderr.read(CHUNK_BYTES):
            pass
