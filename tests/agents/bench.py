"""What the benches of the real agents share: a place to work in, an approver, and equipment that a test may change."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from keryx.agents.equipment import Equipment, Login, McpServer, Patience
from keryx.agents.processes import AgentProcesses
from keryx.agents.surroundings import small_environment
from keryx.tasks.models import Task, TaskStatus
from tests.support.scripted_approver import ScriptedApprover


@dataclass
class AgentBench:
    """`workplace` is where its tasks start; `approver` allows all and records what it was asked."""

    equipment: Equipment
    approver: ScriptedApprover
    workplace: Path

    agent = ""
    """The agent's name in its tasks."""
    secret = ""
    """A credential that the agent is handed."""
    asks_questions = True
    steers = True

    def equipped(self, **changes: Any) -> None:
        """Change the equipment of the conversations to come."""
        self.equipment = replace(self.equipment, **changes)

    def surrounded(self, **variables: str) -> None:
        """Add environment variables for the conversations to come."""
        self.equipped(environment={**self.equipment.environment, **variables})

    def handed(self, **servers: McpServer) -> None:
        """Hand these servers of tools to the conversations to come."""
        self.equipped(mcp_servers=lambda place: servers)

    def task(self, **changes: Any) -> Task:
        """A task in mode auto, with `changes` to its fields."""
        task = Task(1, "a task", TaskStatus.RUNNING, self.agent, datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
        return replace(task, **changes)


def equipment_below(
    tmp_path: Path, login: Login, *, model: str | None = None, **variables: str
) -> tuple[Equipment, ScriptedApprover, Path]:
    """Equipment for an agent whose home is `tmp_path`, its approver, and the new folder it works in."""
    # Two surprises at once: a space, and letters that are not Latin.
    workplace, approver = tmp_path / "работа one", ScriptedApprover()
    workplace.mkdir()
    equipment = Equipment(
        workplace=lambda task: workplace,
        processes=AgentProcesses(tmp_path / "data"),
        login=login,
        model=model,
        approver=approver,
        patience=Patience(idle_s=60.0, deadline_s=120.0),
        environment=small_environment(HOME=str(tmp_path), **variables),
    )
    return equipment, approver, workplace
