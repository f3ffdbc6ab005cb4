"""The real Claude Code on a bench: offline, with a scripted model, a folder to work in, and a scripted approver."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from keryx.agents.claude.runner import ClaudeAgentRunner, program_for
from keryx.agents.equipment import Login
from keryx.agents.surroundings import small_environment
from tests.agents.bench import AgentBench, equipment_below
from tests.support.anthropic_server import AnthropicServer, anthropic_server

KEY = "sk-ant-scripted-0123456789"
WHY_NOT = None if program_for(small_environment()) else "Claude Code is not installed: pip install 'keryx[claude]'"
"""Why nothing can be run on this bench; None when it can."""


@dataclass
class ClaudeBench(AgentBench):
    """`runner` opens real conversations; `config` is its private settings folder."""

    server: AnthropicServer
    config: Path

    agent = "claude"
    secret = KEY

    @property
    def runner(self) -> ClaudeAgentRunner:
        return ClaudeAgentRunner(self.equipment)


@asynccontextmanager
async def claude_bench(tmp_path: Path) -> AsyncIterator[ClaudeBench]:
    """A bench below `tmp_path` for the length of the block.

    `bench.server.script(...)` says what the model does; `bench.approver` allows all and records what it was asked,
    until a test sets `answers` or `otherwise`; `await bench.runner.open(bench.task(mode="ask"))` opens a conversation,
    which the test closes.
    """
    config = tmp_path / "claude-settings"
    config.mkdir()
    async with anthropic_server() as server:
        equipment, approver, server.directory = equipment_below(
            tmp_path,
            Login("API key", {"ANTHROPIC_API_KEY": KEY}, frozenset({"ANTHROPIC_AUTH_TOKEN"})),
            model="sonnet",
            CLAUDE_CONFIG_DIR=str(config),
            ANTHROPIC_BASE_URL=server.url,
            # Ten retries of up to half a minute would be the whole test.
            CLAUDE_CODE_MAX_RETRIES="1",
        )
        try:
            yield ClaudeBench(equipment, approver, server.directory, server, config)
        finally:
            shutil.rmtree(config, ignore_errors=True)
