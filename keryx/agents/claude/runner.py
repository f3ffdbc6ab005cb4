"""Claude Code as an agent: opening conversations with it.

Importing this loads nothing heavy; claude-agent-sdk is loaded when the first conversation is opened.
"""

import asyncio
import importlib.util
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from uuid import uuid4

from keryx.agents.claude.adapter import ClaudeAdapter
from keryx.agents.claude.launch import CONNECT_S, Gone, Launch
from keryx.agents.claude.log import ConversationFile
from keryx.agents.equipment import Equipment
from keryx.agents.session import AdaptedSession
from keryx.agents.surroundings import bundled_program, find_program
from keryx.errors import ConfigError
from keryx.tasks.models import Task

__all__ = ["INSTALL", "ClaudeAgentRunner", "program_for"]

INSTALL = "pip install 'keryx[claude]'"

_SDK = "claude-agent-sdk"


def program_for(environment: Mapping[str, str], named: str | None = None) -> str | None:
    """The Claude Code that is started in these surroundings, or None; starts nothing.

    `named` is the one that the owner named. Without one it is the one that comes with claude-agent-sdk, which is the
    one that Keryx was tried with, else the one on the PATH. The library itself is needed in any case.
    """
    if importlib.util.find_spec("claude_agent_sdk") is None:
        return None
    bundled = bundled_program("claude_agent_sdk", "_bundled/claude") if named is None else None
    return bundled or find_program(named or "claude", environment)


class ClaudeAgentRunner:
    """Opens conversations with Claude Code."""

    def __init__(self, equipment: Equipment, *, name: str = "claude", connect_s: float = CONNECT_S) -> None:
        """`connect_s`: how long it may take from its start until it answers."""
        self.name = name
        self._equipment = equipment
        self._connect_s = connect_s

    async def open(self, task: Task, *, resume: str | None = None) -> AdaptedSession:
        equipment = self._equipment
        place = (await asyncio.to_thread(equipment.workplace, task)).resolve()
        program = self._program()
        servers = await asyncio.to_thread(equipment.mcp_servers, place)
        launch = Launch(equipment, task, place, program, _sdk_version(), servers, self._connect_s)
        if resume is not None and await asyncio.to_thread(ConversationFile(launch.environment, resume).exists):
            adapter = ClaudeAdapter(launch, resume)
            try:
                await adapter.connect(resume=True)
                return AdaptedSession(adapter, task, equipment)
            except Gone:
                pass
        adapter = ClaudeAdapter(launch, str(uuid4()))
        await adapter.connect(resume=False)
        return AdaptedSession(adapter, task, equipment, forgotten=resume is not None)

    def _program(self) -> str:
        named = self._equipment.program
        if program := program_for(self._equipment.environment, named):
            return program
        what = f"There is no program {named}" if named and _sdk_version() else "Claude Code is not installed"
        raise ConfigError(f"{what}. To install it: {INSTALL}", spoken="Claude Code isn't installed on your machine.")


def _sdk_version() -> str:
    try:
        return version(_SDK)
    except PackageNotFoundError:
        return ""
