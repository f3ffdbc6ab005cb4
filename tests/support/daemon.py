# ruff: noqa: ASYNC110 - another process is watched from outside: looking again is the only way
"""A really started `keryx serve`: its own process, its own home, a free port."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
import urllib.request
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_LIMIT_S = 30.0
SPEECH_LIMIT_S = 90.0
STOP_LIMIT_S = 10.0
LOOK_AGAIN_S = 0.05
_ADDRESS = re.compile(r"Keryx is on (http://(\S+?):(\d+))/\?key=(\S+)")


@dataclass(frozen=True)
class Daemon:
    """Where a started daemon is, and its key."""

    process: Process
    origin: str
    port: int
    key: str
    log: Path

    @property
    def talk(self) -> str:
        """The WebSocket that calls come in on."""
        return f"ws://127.0.0.1:{self.port}/talk"

    async def get(self, path: str) -> Any:
        """The JSON at `path`."""
        return await self._request(path, None)

    async def post(self, path: str, body: Mapping[str, object]) -> Any:
        """Post JSON and give the JSON answer."""
        return await self._request(path, json.dumps(body).encode())

    async def hears(self) -> None:
        """Wait until the speech parts are loaded."""
        async with asyncio.timeout(SPEECH_LIMIT_S):
            while (voice := (await self.get("/health"))["voice"]) == "loading":
                await asyncio.sleep(LOOK_AGAIN_S)
        assert voice == "ready"

    async def task_ends(self, task_id: int, *, timeout_s: float = 60.0) -> dict[str, Any]:
        """Wait for a task's end; what the API then says of it."""
        async with asyncio.timeout(timeout_s):
            while (task := await self.get(f"/api/tasks/{task_id}"))["status"] in ("queued", "running"):
                await asyncio.sleep(LOOK_AGAIN_S)
        return task

    async def task_told(self, task_id: int, *, timeout_s: float = 10.0) -> None:
        """Wait until a task's news was heard."""
        async with asyncio.timeout(timeout_s):
            while not (await self.get(f"/api/tasks/{task_id}"))["told_at"]:
                await asyncio.sleep(LOOK_AGAIN_S)

    async def _request(self, path: str, body: bytes | None) -> Any:
        request = urllib.request.Request(
            self.origin + path,
            body,
            {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
        )

        def fetch() -> Any:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return json.load(answer)

        return await asyncio.to_thread(fetch)


@contextlib.asynccontextmanager
async def started(
    home: Path, *arguments: str, program: Sequence[str] = ("-m", "keryx"), demo: bool = True, **environment: str
) -> AsyncIterator[Daemon]:
    """Run `keryx serve`, as a demo unless told otherwise, with its files under `home`; stopped in order at the end.

    `program` is what Python is told to run.
    """
    log = home.parent / f"{home.name}.log"
    log_file = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *(*program, "serve", *(["--demo"] if demo else []), "--port", "0", *arguments),
        stdout=PIPE,
        stderr=log_file,
        env=os.environ | {"KERYX_HOME": str(home)} | environment,
    )
    os.close(log_file)  # the daemon has it now
    try:
        async with asyncio.timeout(START_LIMIT_S):
            daemon = await _address(process, log)
        async with asyncio.TaskGroup() as group:
            drain = group.create_task(_drain(process))
            yield daemon
            drain.cancel()
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(STOP_LIMIT_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def _address(process: Process, log: Path) -> Daemon:
    assert process.stdout
    async for line in process.stdout:
        if found := _ADDRESS.search(line.decode()):
            return Daemon(process, found[1], int(found[3]), found[4], log)
    raise RuntimeError(f"keryx serve ended with {await process.wait()}")


async def _drain(process: Process) -> None:
    assert process.stdout
    while await process.stdout.read(4096):
        pass
