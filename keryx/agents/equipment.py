"""What every agent is handed by the house, whichever agent it is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keryx.agents.approver import Approver, NobodyToAsk
from keryx.agents.processes import AgentProcesses
from keryx.clock import Clock, SystemClock
from keryx.tasks.models import Task


@dataclass(frozen=True)
class McpServer:
    """A server of tools: a program that speaks MCP on its standard streams, or an address."""

    command: tuple[str, ...] = ()
    url: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


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
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict)
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
