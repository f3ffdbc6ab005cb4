"""What the workspace server costs: `python -m tests.bench.workspace`.

The real server as agents are handed it, and beside it a bare one of the same SDK with one tool, started the same way:
what both take is the SDK's. The loopback Google lives in this process, so its computing is not counted as the server's.
"""

import asyncio
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.bench.rows import Row, machine, percentile
from tests.support.google import GoogleServer, served_google
from tests.support.google.oauth import signed_in
from tests.support.workspace_server import AS_A_MODULE, Wire, words

ROUNDS = 10
SEARCHES = 30
FOUND = 20
MAILS = 100
FILE_BYTES = 25_000_000
MIB = 1 << 20
START_GOAL_MS = 1000.0
SEARCH_GOAL_MS = 50.0
RESIDENT_GOAL_MB = 120.0

BARE = """
import asyncio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

HELLO = types.Tool(name="hello", description="Greets.", input_schema={"type": "object"})

async def list_tools(context, params):
    return types.ListToolsResult(tools=[HELLO])

async def call_tool(context, params):
    return types.CallToolResult(content=[types.TextContent(type="text", text="Hello.")])

async def main():
    server = Server("bare", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
"""
AS_IT_IS = ("-E", "-P", "-c", BARE)


@dataclass(frozen=True)
class Costs:
    """What one server took."""

    starts_ms: list[float]
    started_ms: float
    """Processor time of a start, which another program's computing does not lengthen."""
    call_ms: float
    """Processor time of one call, once warm."""
    resident_mb: float
    """After those calls."""


async def serving() -> list[Row]:
    """All figures, those of the bare server beside them."""
    with served_google() as google, tempfile.TemporaryDirectory() as folder:
        arguments = _somebodys(google, Path(folder))
        ours, bare, peak_mb = await _measured(arguments)
    start_ms, start_high_ms = statistics.median(ours.starts_ms), percentile(ours.starts_ms, 0.95)
    return [
        Row(
            f"workspace server: start → tools listed (n={ROUNDS})",
            f"<= {START_GOAL_MS:g} ms",
            f"{start_ms:.0f}, p95 {start_high_ms:.0f} ms{_beside(start_ms, statistics.median(bare.starts_ms))}",
            start_high_ms <= START_GOAL_MS,
        ),
        Row(
            "workspace server: of that, processor",
            "none",
            f"{ours.started_ms:.0f} ms{_beside(ours.started_ms, bare.started_ms)}",
            True,
        ),
        Row(
            f"workspace server: search of {FOUND}, processor (n={SEARCHES})",
            f"<= {SEARCH_GOAL_MS:g} ms",
            f"{ours.call_ms:.1f} ms{_beside(ours.call_ms, bare.call_ms)}",
            ours.call_ms <= SEARCH_GOAL_MS,
        ),
        *(
            Row(
                f"workspace server: {when}",
                f"<= {RESIDENT_GOAL_MB:g} MB",
                f"{used_mb:.0f} MB{_beside(used_mb, bare.resident_mb)}",
                used_mb <= RESIDENT_GOAL_MB,
            )
            for when, used_mb in (
                ("resident after use", ours.resident_mb),
                (f"most, saving {FILE_BYTES / 1e6:.0f} MB", peak_mb),
            )
        ),
    ]


def _beside(ours: float, bare: float) -> str:
    return f", {ours / bare:.2f} x bare"


def _somebodys(google: GoogleServer, folder: Path) -> list[str]:
    """Somebody's mail, of the size that mail has; what the server is started with for them."""
    for number in range(MAILS):
        headers = [(f"Received-{line}", "from mx.example.com by mx.example.org " * 4) for line in range(8)]
        google.mailbox.write("Could we move it to tomorrow? " * 60, subject=f"Grüße {number}", headers=headers)
    google.mailbox.write(subject="Large", files=[("large.bin", os.urandom(FILE_BYTES))])
    signed_in(folder / "google", google)
    (folder / "task").mkdir()
    return words(folder / "google", folder / "task", google.url)


async def _measured(arguments: list[str]) -> tuple[Costs, Costs, float]:
    """Ours and the bare one in turn, so that both meet the same machine; and the most memory that ours ever took."""
    starts: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for _ in range(ROUNDS + 1):  # the first reads the packages from the disk
        for is_ours, figures in starts.items():
            async with _started(arguments, is_ours) as (wire, took_ms):
                figures.append((took_ms, _processor_s(wire) * 1000))

    async def costs(wire: Wire, is_ours: bool, calls: int, tool: str, **given: object) -> Costs:
        walls_ms, processor_ms = zip(*starts[is_ours][1:], strict=True)
        call_ms = await _call_ms(wire, calls, tool, **given)
        return Costs(list(walls_ms), statistics.median(processor_ms), call_ms, _resident_mb(wire))

    async with _started(arguments, False) as (wire, _):
        bare = await costs(wire, False, 10 * SEARCHES, "hello")
    async with _started(arguments, True) as (wire, _):
        ours = await costs(wire, True, SEARCHES, "search_mail", query="grüße", most=FOUND)
        found = await _call(wire, "search_mail", query="subject:large")
        (large,) = re.findall("^18d0[0-9a-f]{12}", found, re.MULTILINE)
        await _call(wire, "save_attachment", message_id=large, number=1)
        return ours, bare, _peak_mb(wire)


@asynccontextmanager
async def _started(arguments: list[str], is_ours: bool) -> AsyncIterator[tuple[Wire, float]]:
    """A server that has told its tools, and the milliseconds from starting it until then."""
    began_s = time.perf_counter()
    program, more = (AS_A_MODULE, arguments) if is_ours else (AS_IT_IS, [])
    async with Wire.of(more, program=program) as wire:
        await wire.hello()
        assert (await wire.ask(2, "tools/list", {}))["tools"]
        yield wire, (time.perf_counter() - began_s) * 1000


async def _call_ms(wire: Wire, calls: int, tool: str, **given: object) -> float:
    """Processor time of one call, once warm, by the process' own count, which is coarse: over many."""
    for _ in range(3):
        await _call(wire, tool, **given)
    before_s = _processor_s(wire)
    for _ in range(calls):
        await _call(wire, tool, **given)
    return (_processor_s(wire) - before_s) * 1000 / calls


async def _call(wire: Wire, tool: str, **given: object) -> str:
    result = await wire.ask(3, "tools/call", {"name": tool, "arguments": given})
    (content,) = result["content"]
    assert not result.get("isError"), content["text"]
    return content["text"]


def _processor_s(wire: Wire) -> float:
    spent = psutil.Process(wire.process.pid).cpu_times()
    return spent.user + spent.system


def _resident_mb(wire: Wire) -> float:
    return psutil.Process(wire.process.pid).memory_info().rss / MIB


def _peak_mb(wire: Wire) -> float:
    """The most that was ever resident; where the system does not tell, what is now."""
    status = Path(f"/proc/{wire.process.pid}/status")
    if sys.platform != "linux":
        return _resident_mb(wire)
    return next(int(line.split()[1]) / 1024 for line in status.read_text().splitlines() if line.startswith("VmHWM:"))


def main() -> None:
    print(machine())
    for row in asyncio.run(serving()):
        print(row, flush=True)


if __name__ == "__main__":
    main()
