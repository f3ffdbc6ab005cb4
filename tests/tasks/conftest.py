"""A house for each test; nothing here waits for real time but the disk."""

import asyncio
import shutil
from pathlib import Path

import pytest

from keryx.agents.base import FakeAgentRunner
from keryx.clock import VirtualClock
from keryx.store.db import Database
from tests.tasks.house import House


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database without tasks, made once and copied: migrating takes longer than most tests."""

    async def make() -> None:
        await (await Database.open(file)).close()

    file = tmp_path_factory.mktemp("empty") / "keryx.db"
    asyncio.run(make())
    return file


@pytest.fixture
def house(tmp_path: Path, clock: VirtualClock, empty_database: Path) -> House:
    shutil.copy(empty_database, tmp_path / "keryx.db")
    return House(tmp_path, clock, FakeAgentRunner(clock=clock))
