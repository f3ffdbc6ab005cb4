"""The houses that stories are told in: a started daemon with a telephone line, and one under a virtual clock."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from keryx.clock import VirtualClock
from tests.stories.house import House
from tests.stories.telephone import TELEPHONE
from tests.support.daemon import Daemon, started
from tests.support.talker import Talker


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running_daemon(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Daemon]:
    """One daemon for a module: loading the speech parts takes longer than many a story."""
    home = tmp_path_factory.mktemp("daemon") / "home"
    async with started(
        home, program=("-m", "keryx", "--debug"), demo=True, **TELEPHONE
    ) as daemon:  # its log lies beside the home
        await daemon.hears()
        yield daemon


@pytest_asyncio.fixture(loop_scope="module")
async def daemon(running_daemon: Daemon) -> Daemon:
    """The module's daemon with nothing at work and nothing to tell."""
    for task in await running_daemon.get("/api/tasks"):
        if task["status"] in ("queued", "running"):
            await running_daemon.post(f"/api/tasks/{task['id']}/cancel", {})
    if untold := [task for task in await running_daemon.get("/api/tasks") if waits_to_be_told(task)]:
        async with Talker.calling(running_daemon.talk, running_daemon.key, audio=False):
            for task in untold:
                await running_daemon.task_told(task["id"])
    return running_daemon


def waits_to_be_told(task: dict[str, Any]) -> bool:
    return task["status"] in ("done", "failed") and not task["told_at"]


@pytest.fixture
async def house(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[House]:
    async with House.opened(tmp_path, clock) as house:
        yield house
