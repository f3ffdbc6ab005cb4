"""The client's side of MCP on a server's standard streams, as small as it can be: for agents that tests make up."""

import asyncio
import json
import os
from contextlib import suppress
from typing import Any

LINE_BYTES = 2**26


class McpLine:
    """A server of tools that was started, and is ended by the end of its input."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._number = 0

    @classmethod
    async def start(cls, command: str, arguments: list[str], environment: dict[str, str]) -> "McpLine":
        """Start it with nothing but `environment` and a PATH, as many agents do."""
        process = await asyncio.create_subprocess_exec(
            command,
            *arguments,
            env={"PATH": os.defpath, **environment},
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
        )
        line = cls(process)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "acme", "version": "1"}}
        await line._ask("initialize", hello)
        await line._send({"method": "notifications/initialized"})
        return line

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """What a tool answers, as text; what went wrong is text too."""
        answer = await self._ask("tools/call", {"name": tool, "arguments": arguments})
        return "\n".join(part.get("text", "") for part in answer.get("content", ())) or json.dumps(answer)

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        await self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout
        while line := await self._process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer.get("result") or {"error": answer.get("error")}
        return {"error": "the server has ended"}

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        with suppress(ConnectionError):  # it has ended, which is what is read next
            await self._process.stdin.drain()
