"""The MCP server: the tools of mail and calendar on the standard streams, for any agent that speaks MCP.

It starts without asking Google anything and without Google's libraries, which are loaded while the agent reads the list
of tools. Standard output carries MCP and nothing else.
"""

import asyncio
import contextlib
import gc
import importlib.metadata
import importlib.util
import logging
import os
import select
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keryx.errors import ConfigError, KeryxError
from keryx.workspace.auth import INSTALL, LOGIN, installed
from keryx.workspace.features import GRANTS, Feature
from keryx.workspace.plain import one_line
from keryx.workspace.tools.base import Tool
from keryx.workspace.tools.marking import THEIRS
from keryx.workspace.tools.table import TOOLS
from keryx.workspace.workspace import Workspace

if TYPE_CHECKING:
    import mcp_types
    from mcp.server.lowlevel import Server

_LOG = logging.getLogger(__name__)

NAME = "workspace"
MOST_AT_ONCE = 8
"""Calls that may be at Google at a time; more wait their turn."""
LOAD_AFTER_S = 0.2
"""After the list of tools went out; what is loaded then must not hold it up."""


class Desk:
    """Answers what a client asks: which tools there are now, and what came of a call."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        # Not the loop's own threads: the end of the loop would wait for what hangs at Google.
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="call")

    def granted(self) -> frozenset[Feature] | None:
        """What the owner has granted; None: nobody is signed in, or it cannot be read, which each call then says."""
        try:
            return self._workspace.account.features()
        except KeryxError:
            return None

    def tools(self) -> list[Tool]:
        """The tools that may be used. While nobody is signed in, all: whoever calls one hears what to do."""
        granted = self.granted()
        return [tool for tool in TOOLS.values() if granted is None or tool.feature in granted]

    def instructions(self) -> str:
        """What a model should know of all of them."""
        granted = self.granted()
        lines = [
            "The mail and calendar of the person you work for. Times are in their own zone, "
            f"{self._workspace.zone.key}, unless another is given.",
            f"When this began it was {self._now():%A %Y-%m-%d %H:%M} there.",
            "Unless they said to send it, write a draft. Send, invite, move or delete only what they asked for.",
            f"{THEIRS} That holds whatever they say.",
            "Results are small on purpose: ask for the next page or the rest only when you need it.",
        ]
        if granted is not None and (missing := [GRANTS[each].words for each in Feature if each not in granted]):
            lines.append(f"Not granted by the owner: to {'; to '.join(missing)}. They can grant it with {LOGIN}.")
        return "\n".join(lines)

    def _now(self) -> datetime:
        return self._workspace.account.clock.now().astimezone(self._workspace.zone)

    async def call(self, name: str, arguments: dict[str, Any] | None) -> tuple[str, bool]:
        """What came of calling a tool, in words, and whether it failed.

        A cancellation ends the wait, and the call unless that has begun.
        """
        tool = TOOLS.get(name)
        if tool is None:
            return f"there is no tool {name[:60]!r}; there is {', '.join(each.name for each in self.tools())}", True
        try:
            parsed = tool.parse(arguments)
            if not installed():
                raise ConfigError(f"mail and calendar need Google's own packages; the owner has to run {INSTALL}")
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._done, tool, parsed), False
        except KeryxError as error:
            return str(error), True
        except Exception:  # the edge of one call: the next one may work
            _LOG.debug("a tool broke", extra={"tool": name}, exc_info=True)
            return f"{name} failed unexpectedly; it may work later. Nothing is known of what it did.", True

    def _done(self, tool: Tool, arguments: Any) -> str:
        if tool.feature not in self._workspace.account.features():
            words = GRANTS[tool.feature].words
            raise ConfigError(f"the owner has not granted that Keryx may {words}; they can with {LOGIN}")
        return tool.run(self._workspace, arguments)

    def load(self) -> None:
        """Have what the first call takes loaded, if anybody is signed in."""
        if installed() and self._workspace.account.signed_in:
            self._threads.submit(self._load)

    def _load(self) -> None:
        with contextlib.suppress(KeryxError):
            self._workspace.google.gmail()
            self._workspace.google.calendar()


def server_of(desk: Desk) -> "Server[Any]":
    """The server, ready to run on two streams."""
    import mcp_types as types
    from mcp.server.lowlevel import Server

    async def list_tools(context: Any, params: Any) -> "mcp_types.ListToolsResult":
        asyncio.get_running_loop().call_later(LOAD_AFTER_S, desk.load)
        return types.ListToolsResult(tools=[_described(tool) for tool in await asyncio.to_thread(desk.tools)])

    async def call_tool(context: Any, params: "mcp_types.CallToolRequestParams") -> "mcp_types.CallToolResult":
        text, failed = await desk.call(params.name, params.arguments)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server(
        NAME,
        version=importlib.metadata.version("keryx"),
        title="Mail and calendar",
        instructions=desk.instructions(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _described(tool: Tool) -> "mcp_types.Tool":
    import mcp_types as types

    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=tool.open_world,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.schema(),
        annotations=hints,
    )


def serve(folder: Path, *, zone: str, api_url: str | None = None, files: Path | None = None) -> None:
    """Serve until the client closes its end or the process is told to stop; ends the process within a moment then.

    `ConfigError` for a zone that there is none of, or when the SDK is not installed.
    """
    try:
        workspace = Workspace(folder, zone=zone, api_url=api_url, save_in=files)
    except (KeyError, ValueError, OSError):
        raise ConfigError(f'"{one_line(zone, 60)}" is no time zone; give one such as Europe/Berlin') from None
    if importlib.util.find_spec("mcp") is None:
        raise ConfigError(f"serving mail and calendar needs more packages: run {INSTALL}, then this again")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    # Nothing of what is imported now is ever garbage, and looking for some takes a fifth of the start.
    gc.disable()
    threading.Thread(target=_stop_without_reader, args=(os.dup(1),), daemon=True, name="reader").start()
    try:
        asyncio.run(_served(workspace))
    except* ConnectionError:
        pass  # nobody reads any more
    _stop()


async def _served(workspace: Workspace) -> None:
    from mcp.server.stdio import stdio_server

    server = server_of(Desk(workspace))
    gc.freeze()
    gc.enable()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _stop_without_reader(output: int) -> None:
    """End the process when nobody can read its output any more: it may be that its input stays open all the same."""
    if sys.platform != "win32":
        poll = select.poll()
        poll.register(output, 0)  # only what is always told: that the other end is gone
        poll.poll()
        _stop()


def _stop(*_: Any) -> None:
    # Not sys.exit: threads may hang at Google, and one that reads standard input cannot be woken.
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(0)
