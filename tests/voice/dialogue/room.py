"""A conversation for tests: a real store, scripted agents, a clock that stands still, and somebody who talks."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from keryx.agents.base import FakeAgentRunner
from keryx.clock import VirtualClock
from keryx.tasks.manager import Limits, TaskManager
from keryx.tasks.models import News
from keryx.voice.dialogue.base import Say
from keryx.voice.dialogue.rules import RulesDialogue
from keryx.voice.tools.toolbox import Toolbox
from tests.voice.tools.desk import Desk, Works, works


@dataclass
class Room:
    """Somebody on the line with Keryx."""

    house: Works
    manager: TaskManager
    desk: Desk
    dialogue: RulesDialogue
    said: list[Say] = field(default_factory=list)

    @property
    def agent(self) -> FakeAgentRunner:
        return self.house.agent

    @property
    def clock(self) -> VirtualClock:
        return self.house.clock

    async def hears(self, says: AsyncIterator[Say]) -> str:
        """What Keryx says, all of it heard."""
        self.said = [say async for say in says]
        return " ".join(say.text for say in self.said)

    async def interrupt_after(self, count: int, says: AsyncIterator[Say]) -> Say:
        """The last of so many things said, after which nobody listens any more."""
        async with aclosing(says) as talking:  # pyright: ignore[reportArgumentType]  an async generator behind a protocol
            said = [await anext(talking) for _ in range(count)]
        return said[-1]

    async def say(self, text: str) -> str:
        return await self.hears(self.dialogue.respond(text))

    async def key(self, keys: str) -> str:
        return " ".join([await self.hears(self.dialogue.key(key)) for key in keys]).strip()

    async def open(self) -> str:
        return await self.hears(self.dialogue.open(await self.manager.untold()))

    async def announce(self) -> str:
        return await self.hears(self.dialogue.announce(await self.manager.untold()))

    async def news(self) -> list[News]:
        return await self.manager.untold()

    async def running(self, *descriptions: str, project: str | None = None) -> None:
        """Tasks that work until they are told to stop."""
        for description in descriptions:
            await self.manager.dispatch(description, project=project)


@asynccontextmanager
async def room(
    folder: Path,
    clock: VirtualClock,
    *,
    proven: bool = True,
    timezone: str = "UTC",
    slots: int = 4,
    pin_digits: int | None = None,
    agents: Sequence[str] = ("fake", "claude"),
) -> AsyncIterator[Room]:
    """A room with the projects billing, website and mobile-app, and `agents` in it, the usual one first."""
    limits = Limits(max_concurrent=slots, daily_cap=None, timezone=timezone)
    async with works(folder, clock, limits, agents) as house:
        desk = Desk(proven=proven)
        toolbox = Toolbox(house.manager, house.registry, ["billing", "website", "mobile-app"], desk)
        dialogue = RulesDialogue(
            toolbox, clock=clock, control=desk, owner_name="Ana", timezone=timezone, pin_digits=pin_digits
        )
        yield Room(house, house.manager, desk, dialogue)
