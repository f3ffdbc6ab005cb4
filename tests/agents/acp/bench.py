"""An agent that speaks ACP on a bench: a process of its own with a scripted model, and a scripted approver."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keryx.agents.acp.runner import AcpAgentRunner
from keryx.agents.equipment import Equipment, Login, Patience
from keryx.agents.processes import AgentProcesses
from keryx.agents.surroundings import small_environment
from keryx.tasks.models import Task, TaskStatus
from tests.support.acp_agent import Traits
from tests.support.acp_server import AcpModel, acp_model
from tests.support.model_steps import Step
from tests.support.scripted_approver import ScriptedApprover

KEY = "acme-scripted-0123456789"
AGENT = Path(__file__).parents[2] / "support" / "acp_agent.py"


@dataclass
class AcpBench:
    """`runner` opens real conversations; `workplace` is where its tasks start."""

    equipment: Equipment
    server: AcpModel
    approver: ScriptedApprover
    workplace: Path
    traits: Traits
    secret: str = KEY
    asks_questions: bool = False
    open_s: float = 30.0

    steers: bool = False
    """Whether it is held to take a second prompt; what it really does is among its traits."""

    @property
    def runner(self) -> AcpAgentRunner:
        variables = {**self.equipment.environment, "ACP_AGENT": json.dumps(asdict(self.traits))}
        equipment = replace(self.equipment, environment=variables)
        command = (sys.executable, str(AGENT))
        return AcpAgentRunner(
            equipment, name="acme", called="Acme", command=command, steers=self.steers, open_s=self.open_s
        )

    def script(self, *steps: Step) -> None:
        self.server.script(*steps)

    def equipped(self, **changes: Any) -> None:
        """Change the equipment of the conversations to come."""
        self.equipment = replace(self.equipment, **changes)

    def agent(self, **changes: Any) -> None:
        """Change what kind of agent it is, for the conversations to come."""
        self.traits = replace(self.traits, **changes)

    def task(self, **changes: Any) -> Task:
        """A task in mode auto, with `changes` to its fields."""
        task = Task(1, "a task", TaskStatus.RUNNING, "acme", datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
        return replace(task, **changes)


@asynccontextmanager
async def acp_bench(tmp_path: Path) -> AsyncIterator[AcpBench]:
    """A bench below `tmp_path` for the length of the block.

    `bench.script(...)` says what the model does; `bench.approver` allows all and records what it was asked, until a
    test says otherwise; `await bench.runner.open(bench.task(mode="ask"))` opens a conversation, which the test closes.
    """
    approver = ScriptedApprover()
    workplace, home = tmp_path / "работа one", tmp_path / "acme"
    workplace.mkdir()
    home.mkdir()
    async with acp_model() as server:
        equipment = Equipment(
            workplace=lambda task: workplace,
            processes=AgentProcesses(tmp_path / "data"),
            login=Login("API key", {"ACME_API_KEY": KEY}, frozenset({"ACME_TOKEN"})),
            approver=approver,
            patience=Patience(idle_s=60.0, deadline_s=120.0),
            environment=small_environment(HOME=str(tmp_path), ACME_TOKEN="not to be seen", PYTHONPATH=""),
        )
        yield AcpBench(equipment, server, approver, workplace, Traits(model=server.url, home=str(home)))
