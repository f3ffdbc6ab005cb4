"""The workspace server as a process of its own, and a real MCP client that talks to it."""

import asyncio
import contextlib
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

BOUND_S = 60.0
ZONE = "Europe/Berlin"
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "acme", "version": "1"}}
AS_A_MODULE = ("-E", "-P", "-m", "keryx.workspace")
NONE_OF = "import sys; sys.modules.update(dict.fromkeys({names!r})); "
"""Before a program: as if these packages were not installed."""
RUN = "from keryx.workspace.__main__ import main; sys.exit(main())"


class Desk:
    """What a test has of a server: its client, and what it said on standard error."""

    def __init__(self, client: Client, errors: Path) -> None:
        self.client = client
        self._errors = errors
        self.called: list[str] = []

    @property
    def errors(self) -> str:
        return self._errors.read_text()

    async def names(self) -> set[str]:
        """The tools that are listed."""
        return {tool.name for tool in (await self.client.list_tools(cache_mode="bypass")).tools}

    async def call(self, tool: str, /, **arguments: Any) -> str:
        """What came of a call that must not fail."""
        failed, text = await self.tried(tool, **arguments)
        assert not failed, text
        return text

    async def fails(self, tool: str, /, **arguments: Any) -> str:
        """What a call that must fail says; one sentence or two, never the inside of a program."""
        failed, text = await self.tried(tool, **arguments)
        assert failed, text
        assert "\n" not in text
        assert not re.search(r"Traceback|Error\b|Exception|0x[0-9a-f]{6}|\.py\b", text), text
        return text

    async def tried(self, tool: str, /, **arguments: Any) -> tuple[bool, str]:
        """Whether it failed, and what it said."""
        self.called.append(tool)
        result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert content.type == "text"
        return bool(result.is_error), content.text


def words(folder: Path, files: Path, url: str, *more: str) -> list[str]:
    """What the server is started with."""
    return ["--folder", str(folder), "--zone", ZONE, "--files", str(files), "--api-url", url, *more]


@contextlib.asynccontextmanager
async def desk_of(
    arguments: Sequence[str],
    tmp_path: Path,
    *,
    program: Sequence[str] = AS_A_MODULE,
    mode: str = "auto",
    environment: dict[str, str] | None = None,
) -> AsyncIterator[Desk]:
    """A server that runs for the block, and its client. Not a fixture: it is to be left by the task that entered it."""
    errors = tmp_path / "errors.txt"
    parameters = StdioServerParameters(
        command=sys.executable, args=[*program, *arguments], cwd=tmp_path, env=environment
    )
    with errors.open("w") as log:
        async with asyncio.timeout(BOUND_S), Client(stdio_client(parameters, log), mode=mode) as client:
            yield Desk(client, errors)


class Wire:
    """A server spoken to line by line, to be stopped in any way."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    @classmethod
    @contextlib.asynccontextmanager
    async def of(
        cls, arguments: Sequence[str], *, program: Sequence[str] = AS_A_MODULE, output: int = asyncio.subprocess.PIPE
    ) -> AsyncIterator["Wire"]:
        """It runs for the block. `output`: where its standard output goes, if it is not to be read here."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *program, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=output,
            stderr=asyncio.subprocess.PIPE,
            env=dict(os.environ),
        )
        try:
            async with asyncio.timeout(BOUND_S):
                yield cls(process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    async def hello(self, version: str = "2025-06-18") -> dict[str, Any]:
        """The handshake of MCP's earlier era, which Claude Code and Codex speak."""
        answer = await self.ask(1, "initialize", {**HELLO, "protocolVersion": version})
        self.tell("notifications/initialized")
        return answer

    def tell(self, method: str, params: dict[str, Any] | None = None, number: int | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        self.raw(json.dumps(message if number is None else {**message, "id": number}))

    def raw(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")

    async def ask(self, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.tell(method, params, number)
        return (await self.answer(number))["result"]

    async def answer(self, number: int) -> dict[str, Any]:
        """The answer with this number; every line of standard output is a message."""
        assert self.process.stdout
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            assert message["jsonrpc"] == "2.0"
            if message.get("id") == number:
                return message
        raise AssertionError("the server has ended")

    def close(self) -> None:
        """Say nothing more."""
        assert self.process.stdin
        self.process.stdin.close()

    async def ended(self) -> tuple[int, str]:
        """Its exit code, and all that it said on standard error."""
        code = await self.process.wait()
        assert self.process.stderr
        return code, (await self.process.stderr.read()).decode()
