"""The agents that the settings know: how each stands, which may be asked, and the runner of each with its equipment."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from keryx.agency.standing import Standing, stand
from keryx.agents.approver import Approver
from keryx.agents.base import AgentRunner
from keryx.agents.equipment import Equipment, Login, McpServer, McpServers, Patience, no_servers
from keryx.agents.processes import AgentProcesses
from keryx.agents.registry import CLAUDE, CODEX, Backend, acp_backend
from keryx.agents.surroundings import inherited_environment
from keryx.approvals.modes import ModeApprover
from keryx.clock import Clock
from keryx.config.checks import ASSIGNMENT, command_line
from keryx.config.settings import Settings
from keryx.errors import ConfigError, NotFound
from keryx.tasks.models import Task

NO_AGENT = f"no agent is installed; run {CLAUDE.install}, or try keryx serve --demo"


class Agency:
    """Everything about agents that follows from the settings and the daemon's environment; both are read once."""

    def __init__(self, settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
        self._settings = settings
        self._environ = dict(environ)
        self.environment = inherited_environment(self._environ, settings.agents.pass_environment)
        """What every agent inherits: the owner's surroundings without secrets."""
        self.backends: tuple[Backend, ...] = (
            CLAUDE,
            CODEX,
            *(acp_backend(name, tuple(command_line(line))) for name, line in sorted(settings.acp.items())),
        )
        """Every known kind, installed or not, in the order of preference."""

    def standing(self, backend: Backend) -> Standing:
        """How one stands now: a login that was stored since is seen. Reads a few files; starts nothing."""
        own = self._own(backend)
        login = backend.credentials.login(own, {**self._environ, "HOME": self.environment["HOME"]})
        return stand(
            backend,
            login,
            self.environment,
            program=own.get("program"),
            model=_model(backend, own.get("model")),
        )

    def standings(self) -> list[Standing]:
        """How each known one stands, in the order of preference."""
        return [self.standing(backend) for backend in self.backends]

    def backend(self, name: str) -> Backend:
        """The known one called `name`; raises `NotFound`, which names them all."""
        wanted = " ".join(name.casefold().split())
        for backend in self.backends:
            if wanted in (backend.name, *backend.also_called):
                return backend
        there = ", ".join(backend.name for backend in self.backends)
        raise NotFound(f'no agent "{name}"; there is {there}; one that speaks ACP is named in [acp]')

    def default(self, offered: Iterable[Standing]) -> str:
        """The agent a task goes to when nobody names one, out of those `offered`; raises `ConfigError`.

        What the settings say; else the first one that is ready; else the first, which will say what it lacks.
        """
        offered = list(offered)
        wanted = self._settings.agents.default
        if wanted is None:
            if not offered:
                raise ConfigError(NO_AGENT)
            return next((each for each in offered if each.ready), offered[0]).backend.name
        if any(each.backend.name == wanted for each in offered):
            return wanted
        known = next((backend for backend in self.backends if backend.name == wanted), None)
        if known is None:
            there = ", ".join([*(backend.name for backend in self.backends), "fake"])
            raise ConfigError(
                f'agents.default is "{wanted}", and there is no such agent; there is {there}; '
                "one that speaks ACP is named in [acp]"
            )
        raise ConfigError(f'agents.default is "{wanted}", which is not installed; run {known.install}')

    def runner(self, standing: Standing, common: Equipment) -> AgentRunner:
        """The runner of an installed one: `common` with its own login, program and model."""
        own = replace(common, login=standing.login, program=standing.own_program, model=standing.model)
        return standing.backend.build(own)

    def equipment(
        self,
        workplace: Callable[[Task], Path],
        data_dir: Path,
        clock: Clock,
        beyond: Approver,
        ours: Callable[[Path], McpServers] = no_servers,
    ) -> Equipment:
        """What all agents of the daemon whose data are in `data_dir` have in common.

        `beyond` is asked what a task's mode does not decide by itself; `ours` are the servers of tools that agents are
        handed beside the owner's.
        """
        agents = self._settings.agents
        owners = {name: mcp_server(line) for name, line in self._settings.mcp.items()}
        return Equipment(
            workplace=workplace,
            processes=AgentProcesses(data_dir),
            login=Login(None),
            mcp_servers=lambda place: {**ours(place), **owners},
            approver=ModeApprover(beyond),
            patience=Patience(agents.idle_minutes * 60, agents.deadline_hours * 3600),
            clock=clock,
            environment=self.environment,
        )

    def _own(self, backend: Backend) -> Mapping[str, str | None]:
        """The agent's own section, by field; empty for one that has none."""
        match backend.name:
            case "claude":
                return self._settings.claude.model_dump()
            case "codex":
                return self._settings.codex.model_dump()
            case _:
                return {}


def mcp_server(line: str) -> McpServer:
    """A server of tools out of what the settings say: an address, or a command line with its variables before it."""
    if "://" in line.split()[0]:
        return McpServer(url=line)
    words = command_line(line)
    first = next(place for place, word in enumerate(words) if not ASSIGNMENT.match(word))
    variables = dict(word.split("=", 1) for word in words[:first])
    return McpServer(command=tuple(words[first:]), environment=variables)


def _model(backend: Backend, said: str | None) -> str | None:
    """The id of the model that the settings name; the owner may name one that nobody here knows."""
    try:
        return backend.model(said) if said else None
    except NotFound:
        return said
