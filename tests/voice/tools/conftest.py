"""A toolbox on a real store and a scripted agent."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keryx.agents.base import FakeAgentRunner
from keryx.agents.registry import AgentRegistry
from keryx.clock import VirtualClock
from keryx.tasks.manager import Limits, TaskManager
from keryx.voice.tools.toolbox import Toolbox
from tests.tasks.house import House
from tests.voice.tools.desk import Desk, empty_store


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def house(tmp_path: Path, clock: VirtualClock) -> House:
    (tmp_path / "keryx.db").write_bytes(empty_store())
    return House(tmp_path, clock, FakeAgentRunner(clock=clock), Limits(max_concurrent=2, daily_cap=3, timezone="UTC"))


@pytest.fixture
async def manager(house: House) -> AsyncIterator[TaskManager]:
    async with house.opened() as manager:
        yield manager


@pytest.fixture
def toolbox(house: House, manager: TaskManager, desk: Desk) -> Toolbox:
    registry = AgentRegistry({"fake": house.agent}, "fake")
    return Toolbox(manager, registry, ["billing", "Website"], desk)
