"""The real Claude Code on a bench: offline, with a scripted model, a folder to work in, and a scripted approver."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keryx.agents.claude.runner import ClaudeAgentRunner, program_for
from keryx.agents.equipment import Equipment, Login, Patience
from keryx.agents.processes import AgentProcesses
from keryx.agents.surroundings import small_environment
from keryx.tasks.models import Task, TaskStatus
from tests.support.anthropic_server import AnthropicServer, anthropic_server
from tests.support.scripted_approver import ScriptedApprover

KEY = "sk-ant-scripted-0123456789"
WHY_NOT = None if program_for(small_environment()) else "Claude Code is not installed: pip install 'keryx[claude]'"
"""Why nothing can be run on this bench; None when it can."""


@dataclass
class ClaudeBench:
    """`runner` opens real conversations; `workplace` is where its tasks start, `config` its private settings folder."""

    equipment: Equipment
    server: AnthropicServer
    approver: ScriptedApprover
    workplace: Path
    config: Path

    secret = KEY
    asks_questions = True
    steers = True

    @property
    def runner(self) -> ClaudeAgentRunner:
        return ClaudeAgentRunner(self.equipment)

    def equipped(self, **changes: Any) -> None:
        """Change the equipment of the conversations to come."""
        self.equipment = replace(self.equipment, **changes)

    def surrounded(self, **variables: str) -> None:
        """Add environment variables for the conversations to come."""
        self.equipped(environment={**self.equipment.environment, **variables})

    def task(self, **changes: Any) -> Task:
        """A task in mode auto, with `changes` to its fields."""
        task = Task(1, "a task", TaskStatus.RUNNING, "claude", datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
        return replace(task, **changes)


@asynccontextmanager
async def claude_bench(tmp_path: Path) -> AsyncIterator[ClaudeBench]:
    """A bench below `tmp_path` for the length of the block.

    `bench.server.script(...)` says what the model does; `bench.approver` allows all and records what it was asked,
    until a test sets `answers` or `otherwise`; `await bench.runner.open(bench.task(mode="ask"))` opens a conversation,
    which the test closes.
    """
    approver = ScriptedApprover()
    # Two surprises at once: a space, and letters that are not Latin.
    workplace, config = tmp_path / "работа one", tmp_path / "claude-settings"
    workplace.mkdir()
    config.mkdir()
    async with anthropic_server() as server:
        server.directory = workplace
        surroundings = small_environment(
            HOME=str(tmp_path),
            CLAUDE_CONFIG_DIR=str(config),
            ANTHROPIC_BASE_URL=server.url,
            # Ten retries of up to half a minute would be the whole test.
            CLAUDE_CODE_MAX_RETRIES="1",
        )
        equipment = Equipment(
            workplace=lambda task: workplace,
            processes=AgentProcesses(tmp_path / "data"),
            login=Login("API key", {"ANTHROPIC_API_KEY": KEY}, frozenset({"ANTHROPIC_AUTH_TOKEN"})),
            model="sonnet",
            approver=approver,
            patience=Patience(idle_s=60.0, deadline_s=120.0),
            environment=surroundings,
        )
        try:
            yield ClaudeBench(equipment, server, approver, workplace, config)
        finally:
            shutil.rmtree(config, ignore_errors=True)
