"""A house for each test; nothing here waits for real time but the disk."""

from pathlib import Path

import pytest

from keryx.agents.base import FakeAgentRunner
from keryx.clock import VirtualClock
from tests.tasks.house import House


@pytest.fixture
def house(tmp_path: Path, clock: VirtualClock) -> House:
    return House(tmp_path, clock, FakeAgentRunner(clock=clock))
