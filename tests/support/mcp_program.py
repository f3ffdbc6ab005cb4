"""An MCP server, on the standard streams or over HTTP: one tool says of itself that it only reads, one does not.

As a program it writes each order into the file `ORDERS`, and misbehaves as `SHOP` says: "slow" takes two seconds to
start, "gone" ends at once, "dies" ends in the middle of a call, "silent" never answers one.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

WANTED = {"type": "object", "properties": {"what": {"type": "string"}}}
TOOLS = [
    {"name": "look_up", "inputSchema": WANTED, "annotations": {"readOnlyHint": True}},
    {"name": "order", "inputSchema": WANTED},
]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        server = {"name": "shop", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": server}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        said = f"{params['name']} with {os.environ.get('SHOP_KEY', 'no key')}"
        return {"content": [{"type": "text", "text": said}]}
    return {}


def reply(request: dict[str, Any]) -> str | None:
    """The answer to one message, as a line; None to one that wants none."""
    if "id" not in request:
        return None
    result = answer(request["method"], request.get("params", {}))
    return json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result})


@asynccontextmanager
async def served_shop() -> AsyncIterator[str]:
    """The same server over HTTP on loopback; its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            length = next((int(line[15:]) for line in head.split("\r\n") if line.startswith("content-length:")), 0)
            body = await reader.readexactly(length)
            said = reply(json.loads(body)) if head.startswith("post") else None
            status = "200 OK" if said else "202 Accepted" if head.startswith("post") else "405 Method Not Allowed"
            content = (said or "").encode()
            lines = f"content-type: application/json\r\ncontent-length: {len(content)}\r\nconnection: close\r\n"
            writer.write(f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + content)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"


def main() -> None:
    manner = os.environ.get("SHOP", "")
    if manner == "gone":
        raise SystemExit(3)
    if manner == "slow":
        time.sleep(2)
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("method") == "tools/call":
            if manner == "dies":
                os._exit(4)
            if manner == "silent":
                continue
            if (orders := os.environ.get("ORDERS")) and request["params"]["name"] == "order":
                with open(orders, "a", encoding="utf-8") as file:
                    file.write(json.dumps(request["params"].get("arguments")) + "\n")
        if said := reply(request):
            print(said, flush=True)


if __name__ == "__main__":
    main()
