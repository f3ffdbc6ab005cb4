"""Starting Claude Code for a task: its command line, its environment, and the SDK's end of the line."""

import asyncio
import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from keryx.agents.claude.line import ClaudeLine
from keryx.agents.equipment import Equipment, McpServer, McpServers
from keryx.errors import ConfigError, Unavailable
from keryx.tasks.models import Task

CONNECT_S = 30.0
"""How long it may take from its start until it answers, servers of tools included: it is known to hang for ever."""
CLOSE_S = 8.0
MCP_STATUS_S = 5.0

MayUse = Callable[[str, dict[str, Any], Any], Awaitable[Any]]
"""claude-agent-sdk's `can_use_tool`: a tool's name, its arguments, and what else is known; a permission comes back."""

_PERMISSION_MODES = {
    "plan": "plan",
    "ask": "default",
    # Not acceptEdits: then it would judge by itself which edits stay inside the directory. So it asks us of each.
    "auto": "default",
    "full": "bypassPermissions",
}

_ENVIRONMENT = {
    # What runs in the background ends in a turn that nobody asked for.
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
}
# Nothing else ends a stream that has fallen silent in the middle; the owner's own value wins.
_DEFAULTS = {"CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": "120000"}

# In plan mode a classifier of the provider's would otherwise decide on commands, without asking us.
_SETTINGS: dict[str, Any] = {"useAutoModeDuringPlan": False}
# "ask" outweighs every "allow" of the owner's and the project's settings files, which would not be put to us.
_ASKED = {"permissions": {"ask": ["Bash", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch", "mcp__*"]}}


def load_sdk() -> None:
    """Load claude-agent-sdk, which takes more than half a second, once; without it, that is said at the first task."""
    with suppress(ImportError):
        import claude_agent_sdk  # noqa: F401


class Gone(Unavailable):
    """The conversation to be taken up is not there any more."""


@dataclass
class Link:
    """A running Claude Code that has answered."""

    line: ClaudeLine
    client: Any
    """The `claude_agent_sdk.ClaudeSDKClient`."""
    _closing: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """End it and all that it started; bounded. A cancellation ends the wait, not the closing."""
        if self._closing is None:
            # In a task of its own: a disconnect that is cancelled half way leaves the process running.
            self._closing = asyncio.create_task(self.client.disconnect())
        await asyncio.wait({self._closing}, timeout=CLOSE_S)

    async def reads_only(self, tool: str) -> bool:
        """Whether a tool of an MCP server says of itself that it changes nothing."""
        try:
            async with asyncio.timeout(MCP_STATUS_S):
                status = await self.client.get_mcp_status()
        except Exception:  # the edge of the SDK: what cannot be found out is not assumed
            return False
        for server in status.get("mcpServers", ()):
            for described in server.get("tools", ()):
                if tool == f"mcp__{server.get('name')}__{described.get('name')}":
                    return bool(described.get("annotations", {}).get("readOnly"))
        return False


@dataclass(frozen=True)
class Launch:
    """Everything that is needed to start Claude Code for one task, as often as it takes."""

    equipment: Equipment
    task: Task
    place: Path
    program: str
    sdk_version: str
    servers: McpServers = field(default_factory=dict)
    """The servers of tools that it is handed, the same ones as often as it is started."""
    connect_s: float = CONNECT_S

    @property
    def environment(self) -> dict[str, str]:
        """What the process gets, but for its tags."""
        environment = {
            **_DEFAULTS,
            **self.equipment.signed_in_environment,
            **_ENVIRONMENT,
            "CLAUDE_AGENT_SDK_VERSION": self.sdk_version,
            "PWD": str(self.place),
        }
        if self.task.mode == "full" and os.geteuid() == 0:
            # It refuses to leave root unasked, unless it is told that the machine is expendable.
            environment["IS_SANDBOX"] = "1"
        return environment

    async def connect(self, session_id: str, may_use: MayUse, *, resume: bool) -> Link:
        """Start it, with a conversation of that name or taking that one up.

        Raises `Gone` when the conversation is not known to it, `Unavailable` or `ConfigError` when it does not start;
        then nothing is left running.
        """
        run = self.equipment.processes.begin(self.task.id, self.environment)
        servers = self._servers_file()
        line = ClaudeLine(run, self._command(session_id, resume, servers), self.place)
        try:
            await line.connect()
            # The library takes longest at its first import: that falls into the time that the process takes to start.
            client = await asyncio.to_thread(_client, may_use, line)
            async with asyncio.timeout(self.connect_s):
                await client.connect()
            return Link(line, client)
        except FileNotFoundError as error:
            raise ConfigError(
                f"Claude Code cannot be started: {self.program} is not there.", spoken="Claude Code isn't installed."
            ) from error
        except TimeoutError as error:
            raise Unavailable(f"Claude Code did not answer within {self.connect_s:g} s of its start.") from error
        except Exception as error:  # the edge of the SDK, which raises `Exception` itself; cancellations pass
            await line.kill()
            why = " ".join(line.complaints) or str(error)
            if "No conversation found" in why or _says_gone(line):
                raise Gone(f"Claude Code does not know the conversation {session_id} any more.") from error
            raise Unavailable(f"Claude Code did not start: {why[:400]}") from error
        finally:
            if servers is not None:
                servers.unlink(missing_ok=True)
            if not line.is_ready():
                await line.kill()

    def _command(self, session_id: str, resume: bool, servers: Path | None) -> list[str]:
        model = self.task.model or self.equipment.model
        return [
            self.program,
            *("--output-format", "stream-json", "--verbose", "--include-partial-messages"),
            *("--input-format", "stream-json", "--permission-prompt-tool", "stdio"),
            *("--permission-mode", _PERMISSION_MODES.get(self.task.mode, "default")),
            *("--settings", json.dumps(_SETTINGS if self.task.mode == "full" else _SETTINGS | _ASKED)),
            # With an equals sign no value can be taken for an option.
            f"--resume={session_id}" if resume else f"--session-id={session_id}",
            *([f"--model={model}"] if model else []),
            *([f"--mcp-config={servers}"] if servers else []),
        ]

    def _servers_file(self) -> Path | None:
        """The MCP servers in a file for the owner alone: on the command line everybody could read their secrets."""
        if not self.servers:
            return None
        servers = {name: _server(server) for name, server in self.servers.items()}
        descriptor, name = tempfile.mkstemp(prefix="keryx-mcp-", suffix=".json")
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump({"mcpServers": servers}, file)
        return Path(name)


def _client(may_use: MayUse, line: ClaudeLine) -> Any:
    from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, Transport

    return ClaudeSDKClient(ClaudeAgentOptions(can_use_tool=may_use), transport=cast(Transport, line))


def _server(server: McpServer) -> dict[str, Any]:
    bound = {} if server.call_s is None else {"timeout": round(server.call_s * 1000)}
    if server.url is not None:
        return {"type": "http", "url": server.url, **bound}
    program, *arguments = server.command
    return {"type": "stdio", "command": program, "args": arguments, "env": dict(server.environment), **bound}


def _says_gone(line: ClaudeLine) -> bool:
    while not line.frames.empty():
        if any("No conversation found" in str(error) for error in line.frames.get_nowait().get("errors") or ()):
            return True
    return False
