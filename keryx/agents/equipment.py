"""What every agent is handed by the house, whichever agent it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from keryx.agents.approver import Approver, Ask, NobodyToAsk
from keryx.agents.processes import AgentProcesses
from keryx.clock import Clock, SystemClock
from keryx.tasks.models import Task


@dataclass(frozen=True)
class KnownTool:
    """A tool of a server that the house knows: what it is, whatever its server or an agent says of it."""

    doing: str
    """For a person, while it runs: "Searching the mail"."""
    judge: Callable[[Mapping[str, Any]], Ask]
    """What calling it with these arguments comes to, as it is put to whoever may decide. Never raises; pure."""
    takes: frozenset[str] = frozenset()
    """The names of all arguments that it has."""
    needs: frozenset[str] = frozenset()
    """Those of them without which it cannot be called."""

    def fits(self, arguments: Mapping[str, Any]) -> bool:
        """Whether it could have been called with these arguments, by their names."""
        return self.needs <= arguments.keys() <= self.takes


@dataclass(frozen=True)
class McpServer:
    """A server of tools: a program that speaks MCP on its standard streams, or an address."""

    command: tuple[str, ...] = ()
    url: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    tools: Mapping[str, KnownTool] = field(default_factory=dict, repr=False)
    """The tools that the house knows, by their names. Only for a server whose own name nobody else could have given."""
    call_s: float | None = None
    """How long one of its tools may run, where the agent can be told; None: as long as the agent lets it."""


McpServers = Mapping[str, McpServer]
"""Servers of tools by the names that agents know them by."""


def no_servers(place: Path) -> McpServers:
    """No server, wherever a task works."""
    return {}


def known_tool(servers: McpServers, server: str, tool: str) -> KnownTool | None:
    """What the house knows of `tool` of `server`; None: nothing."""
    return servers[server].tools.get(tool) if server in servers else None


@dataclass(frozen=True)
class Patience:
    """How long a turn may last. Both stand still while somebody is being asked; `idle_s` also while a tool runs."""

    idle_s: float = 600.0
    """How long nothing may come from an agent that runs no tool."""
    deadline_s: float = 6 * 3600.0
    """How long a whole turn may take."""


@dataclass(frozen=True)
class Login:
    """How an agent is signed in: the variables its process gets, and every credential variable it must not see."""

    how: str | None
    """For a person: "API key", "headless token", "stored login"; None: not signed in, as far as one can see."""
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    blank: frozenset[str] = frozenset()
    """Variables of the tiers that were not chosen, to be unset (or empty, where unsetting is not possible)."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that must never come out again."""
        return tuple(self.variables.values())


@dataclass(frozen=True)
class Equipment:
    """What a runner gets to open conversations with."""

    workplace: Callable[[Task], Path]
    """The directory a task starts in; raises `Unavailable` or `NotFound` when it is not there. Blocking, briefly."""
    processes: AgentProcesses
    login: Login
    program: str | None = None
    """The agent's executable, when the owner named one; None: the adapter finds it."""
    model: str | None = None
    """The model when a task names none; None: the agent's own default."""
    mcp_servers: Callable[[Path], McpServers] = no_servers
    """The servers that there are now, for a task that works in this directory; asked once for each conversation that is
    opened, because a sign-in may come later than the daemon's start. Blocking, briefly; never raises."""
    approver: Approver = field(default_factory=NobodyToAsk)
    patience: Patience = field(default_factory=Patience)
    clock: Clock = field(default_factory=SystemClock)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What an agent's process inherits, before its login and its tag: the owner's surroundings without secrets."""

    @property
    def signed_in_environment(self) -> dict[str, str]:
        """The same with its login, and without the variables of the other ways to sign in."""
        kept = {name: value for name, value in self.environment.items() if name not in self.login.blank}
        return {**kept, **self.login.variables}
