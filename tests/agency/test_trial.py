"""A trial's own part: the repository there is to mend, what is told of it, and that nothing of it is left."""

import asyncio
import math
import os
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from keryx.agency.agency import Agency
from keryx.agency.standing import Standing
from keryx.agency.trial import try_agent
from keryx.agents.base import AgentRunner, AgentSession, FakeAgentRunner, FakeTurn
from keryx.agents.equipment import Equipment, Login
from keryx.agents.registry import CLAUDE
from keryx.config.settings import Settings
from keryx.errors import ConfigError, NotFound, Refused, Unavailable
from keryx.tasks.models import Task


@dataclass
class Visitor:
    """An agent that does something to the repository before its scripted turn."""

    fake: FakeAgentRunner
    does: str = "true"
    name: str = "claude"
    places: list[Path] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    equipment: Equipment | None = None
    refuses: Exception | None = None
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    def build(self, equipment: Equipment) -> AgentRunner:
        self.equipment = equipment
        return self

    async def open(self, task: Task, *, resume: str | None = None) -> AgentSession:
        assert self.equipment
        place = self.equipment.workplace(task)
        self.places.append(place)
        self.tasks.append(task)
        await asyncio.to_thread(subprocess.run, self.does, shell=True, cwd=place, check=True)
        if self.refuses:
            raise self.refuses
        self.opened.set()
        return await self.fake.open(task, resume=resume)


@pytest.fixture
def agency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Agency:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return Agency(Settings(), {"HOME": str(tmp_path), "PATH": os.environ["PATH"]})


def standing(visitor: Visitor) -> Standing:
    backend = replace(CLAUDE, build=visitor.build)
    return Standing(backend, Login("API key"), installed=True, program="/x", model=None)


@pytest.fixture
def nothing_left(tmp_path: Path):
    yield
    assert not list(tmp_path.glob("keryx-try-*"))


pytestmark = pytest.mark.usefixtures("nothing_left")

TEST = f"'{sys.executable}' -m unittest -q test_total"


async def test_the_test_fails_until_its_one_fault_is_mended(agency: Agency) -> None:
    visitor = Visitor(
        FakeAgentRunner(FakeTurn("SPOKEN_SUMMARY: Mended.", progress=("Reading",))),
        does=f"! {TEST} && git diff --quiet HEAD && sed -i.old 's/\\[1:\\]//' total.py && rm total.py.old && {TEST} "
        "&& touch new.txt",
    )
    lines: list[str] = []
    trial = await try_agent(agency, standing(visitor), saw=lines.append, owner="Ada", model="Opus", mode="full")
    assert trial.result.spoken_summary == "Mended."
    assert trial.changed == ("new.txt", "total.py")
    assert lines == ["Reading"]
    assert (visitor.tasks[0].model, visitor.tasks[0].mode) == ("opus", "full")
    assert not visitor.places[0].exists()


async def test_an_agent_that_cannot_start_leaves_nothing(agency: Agency) -> None:
    visitor = Visitor(FakeAgentRunner(), refuses=Unavailable("the network is down"))
    with pytest.raises(Unavailable, match="network is down"):
        await try_agent(agency, standing(visitor), saw=len)
    assert visitor.places


async def test_a_cancelled_trial_leaves_nothing(agency: Agency) -> None:
    visitor = Visitor(FakeAgentRunner(FakeTurn(takes_s=math.inf)))
    trying = asyncio.create_task(try_agent(agency, standing(visitor), saw=len))
    async with asyncio.timeout(30):
        await visitor.opened.wait()
    trying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trying


async def test_a_wrong_wish_makes_nothing_at_all(agency: Agency) -> None:
    visitor = Visitor(FakeAgentRunner())
    with pytest.raises(NotFound, match='no model "the big one"'):
        await try_agent(agency, standing(visitor), saw=len, model="the big one")
    with pytest.raises(Refused, match="no mode 'wild'"):
        await try_agent(agency, standing(visitor), saw=len, mode="wild")
    with pytest.raises(ConfigError, match=r"cannot be tried: run pip install 'keryx\[claude\]'"):
        await try_agent(agency, replace(standing(visitor), installed=False), saw=len)
    assert not visitor.places
