"""An agent that speaks ACP on a bench: a process of its own with a scripted model, and a scripted approver."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from keryx.agents.acp.runner import AcpAgentRunner
from keryx.agents.equipment import Login
from tests.agents.bench import AgentBench, equipment_below
from tests.support.acp_agent import Traits
from tests.support.acp_server import AcpModel, acp_model
from tests.support.model_steps import Step

KEY = "acme-scripted-0123456789"
ROOT = Path(__file__).parents[3]
AGENT = ROOT / "tests" / "support" / "acp_agent.py"


@dataclass
class AcpBench(AgentBench):
    """`runner` opens real conversations."""

    server: AcpModel
    traits: Traits
    open_s: float = 30.0
    steers: bool = False
    """Whether it is held to take a second prompt; what it really does is among its traits."""

    agent = "acme"
    secret = KEY
    asks_questions = False

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

    def behaving(self, **changes: Any) -> None:
        """Change what kind of agent it is, for the conversations to come."""
        self.traits = replace(self.traits, **changes)


@asynccontextmanager
async def acp_bench(tmp_path: Path) -> AsyncIterator[AcpBench]:
    """A bench below `tmp_path` for the length of the block.

    `bench.script(...)` says what the model does; `bench.approver` allows all and records what it was asked, until a
    test says otherwise; `await bench.runner.open(bench.task(mode="ask"))` opens a conversation, which the test closes.
    """
    home = tmp_path / "acme"
    home.mkdir()
    async with acp_model() as server:
        login = Login("API key", {"ACME_API_KEY": KEY}, frozenset({"ACME_TOKEN"}))
        equipment, approver, workplace = equipment_below(
            tmp_path, login, ACME_TOKEN="not to be seen", PYTHONPATH=str(ROOT)
        )
        traits = Traits(model=server.url, home=str(home))
        yield AcpBench(equipment, approver, workplace, server, traits)
