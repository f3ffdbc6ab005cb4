"""Any agent that speaks the Agent Client Protocol, version 1 (agentclientprotocol.com), by its Python SDK.

What holds such an agent to a task's mode: the agent itself. It is put into its own mode of that name where it has one,
and it asks here before it acts, if it asks. Nothing else stops it: there is no sandbox of ours around it, so every mode
is its own good will, and `plan` no more than a promise with an agent that has no planning mode. opencode, which asks
for nothing by itself, is told to ask by its own permission settings, in every mode but `full`.

Files and terminals are not offered: an agent reads, writes and runs by its own means, where its own rules apply. Its
tokens are what it says of the turn: opencode, for one, tells of the last model request alone.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from keryx.agents.acp.adapter import AcpAdapter, is_auth_required, words_of
from keryx.agents.acp.known import known_by
from keryx.agents.acp.process import AcpProcess
from keryx.agents.acp.settings import Choice, choice_of, mode_for, model_for
from keryx.agents.acp.tools import Surroundings
from keryx.agents.equipment import Equipment, McpServers
from keryx.agents.events import Failure
from keryx.agents.session import AdaptedSession
from keryx.agents.surroundings import find_program
from keryx.errors import ConfigError, Unavailable
from keryx.security.redact import REDACTED
from keryx.tasks.models import Task

if TYPE_CHECKING:
    from acp.client.connection import ClientSideConnection
    from acp.schema import (
        AuthMethodAgent,
        HttpMcpServer,
        InitializeResponse,
        LoadSessionResponse,
        McpServerStdio,
        NewSessionResponse,
        ResumeSessionResponse,
    )

    Opened = NewSessionResponse | LoadSessionResponse | ResumeSessionResponse

OPEN_S = 45.0
"""How long an agent may take from its start to an open conversation; the slowest load a whole runtime first."""
RESUME_S = 20.0
"""How much of that it may take to take up an old conversation."""
CLOSE_S = 4.0
MAX_MODELS_NAMED = 20

log = logging.getLogger(__name__)


class AcpAgentRunner:
    """One agent that speaks ACP."""

    def __init__(
        self,
        equipment: Equipment,
        *,
        name: str,
        called: str,
        command: Sequence[str],
        steers: bool = False,
        open_s: float = OPEN_S,
    ) -> None:
        """`called` is its name aloud, `command` what starts it; `steers`: it takes a second prompt into a turn.

        `open_s` is how long it may take from its start to an open conversation.
        """
        self.name = name
        self._equipment = equipment
        self._called = called
        self._command = (equipment.program or command[0], *command[1:])
        self._steers = steers
        self._open_s = open_s

    async def open(self, task: Task, *, resume: str | None = None) -> AdaptedSession:
        equipment = self._equipment
        if find_program(self._command[0], equipment.environment) is None:
            raise ConfigError(
                f"{self._command[0]} is not on the PATH; install it, or name what starts {self.name} under [acp]",
                spoken=f"{self._called} isn't installed on your machine.",
            )
        place = await asyncio.to_thread(equipment.workplace, task)
        servers = await asyncio.to_thread(equipment.mcp_servers, place)
        # The SDK takes half a second of computing to import.
        await asyncio.to_thread(_load_sdk)
        known = known_by(self._command)
        around = Surroundings(place, servers, known.tool_title if known is not None else None)
        adapter = AcpAdapter(self._called, around, steers=self._steers)
        run = equipment.processes.begin(task.id, self._environment(task, servers))
        agent = AcpProcess(run, adapter)
        try:
            async with asyncio.timeout(self._open_s):
                connection = await agent.start(self._command, cwd=place)
                forgotten = await _Opening(equipment, task, agent, connection, around, run.tags).into(adapter, resume)
        except BaseException as error:
            async with asyncio.timeout(CLOSE_S):
                await agent.close(gently=False)
            if isinstance(error, Exception):
                raise self._unavailable(error, agent) from error
            raise
        return AdaptedSession(adapter, task, equipment, forgotten=forgotten)

    def _environment(self, task: Task, servers: McpServers) -> dict[str, str]:
        known, environment = known_by(self._command), self._equipment.signed_in_environment
        if known is None or task.mode == "full":
            return environment
        return environment | known.asking(environment, servers)

    def _unavailable(self, error: Exception, agent: AcpProcess) -> Exception:
        """What is raised for a conversation that could not be opened."""
        match error:
            case TimeoutError():
                why = f"it did not open a conversation within {self._open_s:.0f} s"
            case ConnectionError():
                why = f"it ended at once: {agent.last_words}" if agent.last_words else "it ended at once"
            case OSError():
                why = error.strerror or "it cannot be executed"
            case ValueError():
                why = "it answered in a way that the protocol does not know; does this command speak ACP?"
            case _:
                why = words_of(error)
        for secret in self._equipment.login.secrets:
            why = why.replace(secret, REDACTED) if secret else why
        return Unavailable(f"{self._called} could not be started: {why}", spoken=f"{self._called} could not start.")


class _Opening:
    """An agent that has just been started, on the way to a conversation."""

    def __init__(
        self,
        equipment: Equipment,
        task: Task,
        agent: AcpProcess,
        connection: "ClientSideConnection",
        around: Surroundings,
        tags: Mapping[str, str],
    ) -> None:
        """`tags`: how a program that the agent starts is known for one of this run."""
        self._equipment = equipment
        self._task = task
        self._agent = agent
        self._connection = connection
        self._around = around
        self._tags = tags

    async def into(self, adapter: AcpAdapter, resume: str | None) -> bool:
        """Open the conversation; whether the one that was to be taken up is gone. Raises the SDK's errors."""
        from acp import PROTOCOL_VERSION, RequestError
        from acp.schema import ClientCapabilities, Implementation

        hello = await self._connection.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(),
            client_info=Implementation(name="keryx", title="Keryx", version="1"),
        )
        if hello.protocol_version != PROTOCOL_VERSION:
            raise Unavailable(f"it speaks version {hello.protocol_version} of ACP, not {PROTOCOL_VERSION}")
        try:
            old = await self._taken_up(hello, resume) if resume else None
            new = await self._begun(hello) if old is None else None
        except RequestError as error:
            if not is_auth_required(error):
                raise
            adapter.opened(self._agent, self._connection, None, resumed=False)
            adapter.refuse(Failure.NOT_SIGNED_IN, _how_to_sign_in(hello, error))
            return False
        session_id = new.session_id if new is not None else resume
        assert session_id is not None
        adapter.opened(self._agent, self._connection, session_id, resumed=new is None)
        await self._choose(adapter, session_id, new or old)
        return resume is not None and new is not None

    async def _begun(self, hello: "InitializeResponse") -> "NewSessionResponse":
        return await self._connection.new_session(cwd=str(self._around.place), mcp_servers=[*self._servers(hello)])

    async def _taken_up(
        self, hello: "InitializeResponse", session_id: str
    ) -> "LoadSessionResponse | ResumeSessionResponse | None":
        """The old conversation, or None when it is gone, whatever its agent calls that."""
        from acp import RequestError

        can = hello.agent_capabilities
        if can is None:
            return None
        where = {"session_id": session_id, "cwd": str(self._around.place), "mcp_servers": [*self._servers(hello)]}
        try:
            async with asyncio.timeout(RESUME_S):
                if can.session_capabilities is not None and can.session_capabilities.resume is not None:
                    return await self._connection.resume_session(**where)
                if can.load_session:
                    return await self._connection.load_session(**where)
        except TimeoutError:
            log.warning("conversation could not be taken up in time, starting a new one")
        except RequestError as error:
            if is_auth_required(error):
                raise
            log.info("conversation is gone, starting a new one", extra={"code": error.code})
        return None

    async def _choose(self, adapter: AcpAdapter, session_id: str, opened: "Opened | None") -> None:
        """Set the task's model and mode, where the agent has them to choose from."""
        if asked := self._task.model or self._equipment.model:
            models = choice_of("model", opened) if opened is not None else None
            if models is None:
                adapter.refuse(Failure.NO_SUCH_MODEL, f'no choice of models, so no "{asked}"')
            elif (model := model_for(asked, models)) is None:
                named = ", ".join([*models.values][:MAX_MODELS_NAMED])
                adapter.refuse(Failure.NO_SUCH_MODEL, f'no model "{asked}"; there is {named}')
            else:
                await self._set(session_id, models, model)
        modes = choice_of("mode", opened) if opened is not None else None
        if modes is not None and (mode := mode_for(self._task.mode, modes)) is not None:
            await self._set(session_id, modes, mode)

    async def _set(self, session_id: str, choice: Choice, value: str) -> None:
        if value == choice.current:
            return
        if choice.option is None:
            await self._connection.set_session_mode(session_id=session_id, mode_id=value)
        else:
            await self._connection.set_config_option(config_id=choice.option, session_id=session_id, value=value)

    def _servers(self, hello: "InitializeResponse") -> "list[McpServerStdio | HttpMcpServer]":
        """The servers of tools, as far as the agent can speak to them."""
        from acp.schema import EnvVariable, HttpMcpServer, McpServerStdio

        can = hello.agent_capabilities and hello.agent_capabilities.mcp_capabilities
        servers: list[McpServerStdio | HttpMcpServer] = []
        for name, server in self._around.servers.items():
            if server.url is not None:
                if can is not None and can.http:
                    servers.append(HttpMcpServer(type="http", name=name, url=server.url, headers=[]))
                else:
                    log.warning("agent cannot reach tool servers by address", extra={"server": name})
            elif server.command:
                # Many agents hand a server a few variables only, so its tags too have to be among its own.
                environment = {**server.environment, **self._tags}
                variables = [EnvVariable(name=name, value=value) for name, value in environment.items()]
                program = find_program(server.command[0], self._equipment.environment) or server.command[0]
                servers.append(McpServerStdio(name=name, command=program, args=[*server.command[1:]], env=variables))
        return servers


def _how_to_sign_in(hello: "InitializeResponse", error: Exception) -> str:
    """What the agent says of signing in, for a screen."""
    methods: Sequence[AuthMethodAgent] = hello.auth_methods or ()  # pyright: ignore[reportAssignmentType]
    ways = "; ".join(filter(None, (method.description or method.name for method in methods)))
    return f"{words_of(error)} ({ways})" if ways else words_of(error)


def _load_sdk() -> None:
    import acp
    import acp.schema  # noqa: F401
