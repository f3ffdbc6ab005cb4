"""The real agents on their benches, for what all of them keep to. One that is not installed is skipped, and says so."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from keryx.agents.base import AgentRunner
from keryx.tasks.models import Task
from tests.support.model_steps import ModelServer
from tests.support.scripted_approver import ScriptedApprover


class Real(Protocol):
    """A real agent on its bench: the scripted model behind it, and who answers what it asks."""

    @property
    def runner(self) -> AgentRunner: ...
    @property
    def server(self) -> ModelServer: ...
    @property
    def approver(self) -> ScriptedApprover: ...
    @property
    def workplace(self) -> Path: ...
    @property
    def secret(self) -> str:
        """A credential that the agent is handed."""
        ...

    @property
    def asks_questions(self) -> bool:
        """Whether the agent has a tool to ask its user."""
        ...

    @property
    def steers(self) -> bool:
        """Whether a follow-up reaches it while it works."""
        ...

    def equipped(self, **changes: Any) -> None: ...
    def task(self, **changes: Any) -> Task: ...


RealFactory = Callable[[Path], AbstractAsyncContextManager[Real]]


@asynccontextmanager
async def claude(tmp_path: Path) -> AsyncIterator[Real]:
    pytest.importorskip("claude_agent_sdk", reason="Claude Code is not installed")
    from tests.agents.claude.bench import claude_bench

    async with claude_bench(tmp_path) as real:
        yield real


@asynccontextmanager
async def codex(tmp_path: Path) -> AsyncIterator[Real]:
    pytest.importorskip("codex_cli_bin", reason="Codex is not installed")
    from tests.agents.codex.bench import codex_bench

    async with codex_bench(tmp_path) as real:
        yield real


@asynccontextmanager
async def acp(tmp_path: Path) -> AsyncIterator[Real]:
    pytest.importorskip("acp", reason="the ACP library is not installed")
    from tests.agents.acp.bench import acp_bench

    async with acp_bench(tmp_path) as real:
        yield real


REAL: list[RealFactory] = [claude, codex, acp]
