"""A toolbox on a real store and a scripted agent."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from keryx.clock import VirtualClock
from keryx.tasks.manager import Limits, TaskManager
from keryx.voice.tools.toolbox import Toolbox
from tests.voice.tools.desk import Desk, Works, works


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def house(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[Works]:
    async with works(tmp_path, clock, Limits(max_concurrent=2, daily_cap=3, timezone="UTC")) as opened:
        yield opened


@pytest.fixture
def manager(house: Works) -> TaskManager:
    return house.manager


@pytest.fixture
def toolbox(house: Works, desk: Desk) -> Toolbox:
    return Toolbox(house.manager, house.registry, ["billing", "Website"], desk)
