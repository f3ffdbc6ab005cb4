"""The real Codex on a bench: offline, with a scripted model, a folder to work in, and a scripted approver."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from keryx.agents.codex.runner import Bounds, CodexAgentRunner
from keryx.agents.equipment import Equipment, Login, Patience
from keryx.agents.processes import AgentProcesses
from keryx.agents.surroundings import small_environment
from keryx.tasks.models import Task, TaskStatus
from tests.support.responses_server import ResponsesServer, responses_server
from tests.support.scripted_approver import ScriptedApprover

WHY_NOT = None if find_spec("codex_cli_bin") else "Codex is not installed: pip install 'keryx[codex]'"
"""Why nothing can be run on this bench; None when it can."""

MODEL = "gpt-5.5"
"""Which tools Codex gives a model depends on the model's name; these are the plain ones."""

KEY = "sk-scripted-0123456789abcdef"

CONFIG = """\
model = "{model}"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1
"""


@dataclass
class CodexBench:
    """`runner` opens real conversations; `workplace` is where its tasks start, `home` its private `CODEX_HOME`."""

    equipment: Equipment
    server: ResponsesServer
    approver: ScriptedApprover
    workplace: Path
    home: Path
    bounds: Bounds = Bounds()
    secret = KEY
    asks_questions = True
    steers = True
    _runner: CodexAgentRunner | None = None

    @property
    def runner(self) -> CodexAgentRunner:
        """The same one until the equipment changes: it tries its sandbox only once."""
        if self._runner is None:
            self._runner = CodexAgentRunner(self.equipment, bounds=self.bounds)
        return self._runner

    def equipped(self, **changes: Any) -> None:
        """Change the equipment of the conversations to come."""
        self.equipment = replace(self.equipment, **changes)
        self._runner = None

    def bounded(self, **changes: float) -> None:
        """Change how long anything may take in the conversations to come."""
        self.bounds = replace(self.bounds, **changes)
        self._runner = None

    def configured(self, url: str | None = None, **changes: str) -> None:
        """Write its `config.toml` again for the conversations to come: another address, or further lines before all."""
        lines = "".join(f"{name} = {value}\n" for name, value in changes.items())
        config = CONFIG.format(model=MODEL, url=url or self.server.url)
        (self.home / "config.toml").write_text(lines + config)

    def surrounded(self, **variables: str) -> None:
        """Add environment variables for the conversations to come."""
        self.equipped(environment={**self.equipment.environment, **variables})

    def task(self, **changes: Any) -> Task:
        """A task in mode auto, with `changes` to its fields."""
        task = Task(1, "a task", TaskStatus.RUNNING, "codex", datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
        return replace(task, **changes)


@asynccontextmanager
async def codex_bench(tmp_path: Path) -> AsyncIterator[CodexBench]:
    """A bench below `tmp_path` for the length of the block.

    `bench.server.script(...)` says what the model does; `bench.approver` allows all and records what it was asked,
    until a test sets `answers` or `otherwise`; `await bench.runner.open(bench.task(mode="ask"))` opens a conversation,
    which the test closes.
    """
    approver = ScriptedApprover()
    # Two surprises at once: a space, and letters that are not Latin.
    workplace, home = tmp_path / "работа one", tmp_path / "codex-home"
    workplace.mkdir()
    home.mkdir()
    async with responses_server() as server:
        equipment = Equipment(
            workplace=lambda task: workplace,
            processes=AgentProcesses(tmp_path / "data"),
            login=Login("API key", {"CODEX_API_KEY": KEY}),
            approver=approver,
            patience=Patience(idle_s=60.0, deadline_s=120.0),
            environment=small_environment(HOME=str(tmp_path), CODEX_HOME=str(home)),
        )
        bench = CodexBench(equipment, server, approver, workplace, home)
        bench.configured()
        yield bench
