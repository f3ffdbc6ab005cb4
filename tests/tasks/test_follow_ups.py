"""A follow-up is never lost and never doubled, whenever it comes and whatever the agent does with it."""

import asyncio
import math
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection

from keryx.agents.base import FakeAgentRunner, FakeTurn, Steer
from keryx.clock import VirtualClock, settle
from keryx.errors import Refused, Unavailable
from keryx.store.db import Database
from keryx.tasks.claims import UNSURE_OF_ONE, UNSURE_OF_SEVERAL
from keryx.tasks.manager import FollowUp, FollowUpHow, Limits
from keryx.tasks.models import NewsKind, TaskStatus
from tests.tasks.house import House

T = TypeVar("T")
ADDITION = "Leap years too"


def endless(steer: Steer = Steer.TAKEN) -> FakeTurn:
    return FakeTurn("SPOKEN_SUMMARY: Done.", takes_s=math.inf, steer=steer)


async def test_a_running_agent_that_acknowledges_is_steered(house: House) -> None:
    house.agent.script(endless())
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        followed = await manager.follow_up(task.id, ADDITION)
        house.agent.release()
        await manager.wait(task.id)

    assert followed.how is FollowUpHow.STEERED
    assert house.agent.steered == [ADDITION]
    assert len(house.agent.prompts) == 1


async def test_a_refused_follow_up_is_the_next_turn_of_the_same_conversation(house: House) -> None:
    house.agent.script(endless(Steer.REFUSED))
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        followed = await manager.follow_up(task.id, ADDITION)
        assert (await manager.status(task.id)).status is TaskStatus.RUNNING
        house.agent.release()
        ended = await manager.wait(task.id)

    assert followed.how is FollowUpHow.NEXT
    assert house.agent.steered == []
    assert house.agent.prompts[1].startswith(f"{ADDITION}\n")
    assert len(house.agent.sessions) == 1
    assert ended.epoch == 1


@pytest.mark.parametrize("steer", [Steer.LANDED, Steer.LOST])
async def test_a_follow_up_that_may_have_landed_is_not_sent_again_and_the_news_says_so(
    house: House, steer: Steer
) -> None:
    house.agent.script(endless(steer))
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        with pytest.raises(Unavailable, match="may or may not have received that") as unsure:
            await manager.follow_up(task.id, ADDITION, request_id="call-7")
        with pytest.raises(Unavailable):
            await manager.follow_up(task.id, ADDITION, request_id="call-7")
        house.agent.release()
        await manager.wait(task.id)
        (news,) = await manager.untold()
        report = await manager.report(task.id)

    assert "not sure" in unsure.value.spoken
    assert news.text == "I'm not sure your addition reached it. Done."
    assert house.agent.steered == ([ADDITION] if steer is Steer.LANDED else [])
    assert len(house.agent.prompts) == 1
    assert report is not None
    assert "may not have reached the agent" in report


async def test_a_question_still_ends_the_news_when_an_addition_is_uncertain(house: House) -> None:
    house.agent.script(FakeTurn("SPOKEN_SUMMARY: Which branch?", takes_s=math.inf, steer=Steer.LOST))
    async with house.opened() as manager:
        task = await manager.dispatch("Merge it")
        await house.agent.begun()
        for _ in range(2):
            with pytest.raises(Unavailable):
                await manager.follow_up(task.id, ADDITION)
        house.agent.release()
        await manager.wait(task.id)
        (news,) = await manager.untold()

    assert news.kind is NewsKind.QUESTION
    assert news.text == "I'm not sure your additions reached it. Which branch?"


async def test_the_same_follow_up_twice_at_once_is_sent_once(house: House) -> None:
    house.agent.script(endless())
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await house.agent.begun()
        both = await asyncio.gather(*(manager.follow_up(task.id, ADDITION, request_id="call-7") for _ in range(2)))
        later = await manager.follow_up(task.id, ADDITION, request_id="call-7")
        house.agent.release()
        await manager.wait(task.id)
        after = await manager.follow_up(task.id, ADDITION, request_id="call-7")

    assert house.agent.steered == [ADDITION]
    assert len(house.agent.prompts) == 1
    assert {followed.how for followed in (*both, later, after)} <= {FollowUpHow.STEERED, FollowUpHow.NEXT}
    assert after.how is FollowUpHow.STEERED


async def test_whoever_asked_may_hang_up_while_it_is_being_passed_on(house: House) -> None:
    slow = SlowToAnswer(house.clock)
    house.agent = slow
    slow.script(endless())
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await slow.begun()
        asking = asyncio.ensure_future(manager.follow_up(task.id, ADDITION))
        await slow.passed_on.wait()
        asking.cancel()
        await asyncio.wait({asking})
        slow.acknowledged.set()
        slow.release()
        await manager.wait(task.id)

    assert asking.cancelled()
    assert slow.steered == [ADDITION]
    assert len(slow.prompts) == 1


async def test_a_result_waits_for_a_follow_up_that_is_on_its_way(house: House) -> None:
    slow = SlowToAnswer(house.clock)
    house.agent = slow
    slow.script(endless())
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await slow.begun()
        asking = asyncio.ensure_future(manager.follow_up(task.id, ADDITION))
        await slow.passed_on.wait()
        slow.release()
        await settle()
        assert (await manager.status(task.id)).status is TaskStatus.RUNNING
        slow.acknowledged.set()
        assert (await asking).how is FollowUpHow.STEERED
        await manager.wait(task.id)

    assert slow.steered == [ADDITION]


async def test_stopping_while_a_follow_up_is_on_its_way_makes_it_uncertain_and_cancels_nobody_else(
    house: House,
) -> None:
    slow = SlowToAnswer(house.clock)
    house.agent = slow
    slow.script(endless())
    async with house.opened() as manager:
        task = await manager.dispatch("Fix it")
        await slow.begun()
        asking = asyncio.ensure_future(manager.follow_up(task.id, ADDITION))
        await slow.passed_on.wait()
        await manager.stop()
        with pytest.raises(Unavailable, match="may or may not"):
            await asking
    async with house.opened() as manager:
        await manager.wait(task.id)
        (news,) = await manager.untold()

    assert news.text.startswith(UNSURE_OF_ONE)
    assert ADDITION not in slow.prompts[1]


class SlowToAnswer(FakeAgentRunner):
    """Its agents take a text in at once and acknowledge it when `acknowledged` is set."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock=clock)
        self.passed_on, self.acknowledged = asyncio.Event(), asyncio.Event()

    async def open(self, task: Any, *, resume: str | None = None) -> Any:
        session = await super().open(task, resume=resume)
        send = session.send

        async def send_slowly(text: str) -> None:
            await send(text)
            self.passed_on.set()
            await self.acknowledged.wait()

        session.send = send_slowly
        return session


class WatchedDatabase(Database):
    """Calls `at_step` before and after each write, so that a test can let something happen exactly there."""

    at_step: Callable[[], Any] | None = None

    async def write(self, work: Callable[[Connection], T], *, outlasts_power_cut: bool = True) -> T:
        self._step()
        try:
            return await super().write(work, outlasts_power_cut=outlasts_power_cut)
        finally:
            self._step()

    def _step(self) -> None:
        if self.at_step is not None:
            self.at_step()


STEPS = 12
"""Before and after each write of a task of one turn: dispatch, claim, begin, two lines of progress, end."""


@pytest.mark.parametrize("steer", Steer)
@pytest.mark.parametrize("ticks", [0, 2])
async def test_a_follow_up_at_any_step_of_a_task_is_neither_lost_nor_doubled(
    house: House, monkeypatch: pytest.MonkeyPatch, steer: Steer, ticks: int
) -> None:
    monkeypatch.setattr("tests.tasks.house.Database", WatchedDatabase)
    async with house.opened() as manager:
        database = house.database
        assert isinstance(database, WatchedDatabase)
        for step in range(STEPS):
            agent = house.agent
            agent.prompts.clear()
            agent.steered.clear()
            agent.script(FakeTurn("SPOKEN_SUMMARY: Done.", steer=steer, progress=("Reading", "Testing")))
            now, steps = asyncio.Event(), iter(range(STEPS + 1))
            database.at_step = lambda now=now, steps=steps, step=step: now.set() if next(steps, None) == step else None
            task = await manager.dispatch("Fix it")
            await now.wait()
            database.at_step = None
            for _ in range(ticks):
                await asyncio.sleep(0)
            try:
                how = (await manager.follow_up(task.id, ADDITION)).how
            except Unavailable:
                how = None
            await manager.wait(task.id)

            said = sum(prompt.count(ADDITION) for prompt in agent.prompts)
            landed = agent.steered.count(ADDITION)
            news = [item.text for item in await manager.untold() if item.task_id == task.id]
            unsure = sum(UNSURE_OF_ONE in item for item in news)
            if how is None:
                assert (said, landed, unsure) == (0, 1 if steer is Steer.LANDED else 0, 1), f"step {step}"
            else:
                assert (said, landed, unsure) == ((0, 1, 0) if how is FollowUpHow.STEERED else (1, 0, 0)), (
                    f"step {step}"
                )


async def _run_out(house: House, *task_ids: int) -> None:
    """Let every task come to its end."""
    for task_id in task_ids:
        ended = asyncio.ensure_future(house.manager.wait(task_id))
        while not ended.done():
            house.agent.release()
            begun = asyncio.ensure_future(house.agent.begun(len(house.agent.prompts) + 1))
            await asyncio.wait({ended, begun}, return_when=asyncio.FIRST_COMPLETED)
            begun.cancel()
            await asyncio.wait({begun})


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("follow up"), st.integers(0, 1)),
        st.tuples(st.just("dispatch"), st.just(0)),
        st.tuples(st.just("let it end"), st.just(0)),
        st.tuples(st.just("cancel"), st.integers(0, 1)),
        st.tuples(st.just("restart"), st.just(0)),
        st.tuples(st.just("ticks"), st.integers(1, 40)),
    ),
    min_size=3,
    max_size=14,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS, steers=st.lists(st.sampled_from(Steer), min_size=1, max_size=6), slots=st.integers(1, 2))
def test_whatever_happens_in_whatever_order_no_word_is_lost_or_doubled(
    empty_database: Path, actions: list[tuple[str, int]], steers: list[Steer], slots: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(empty_database, Path(folder) / "keryx.db")
        asyncio.run(_play(Path(folder), actions, steers, slots))


async def _play(folder: Path, actions: list[tuple[str, int]], steers: list[Steer], slots: int) -> None:
    clock = VirtualClock()
    agent = FakeAgentRunner(*(endless(steer) for steer in steers), clock=clock)
    house = House(folder, clock, agent, Limits(slots, None, "UTC"))
    story = _Story(house)
    while actions:
        async with house.opened():
            while actions:
                action, value = actions[0]
                actions = actions[1:]
                if action == "restart":
                    break
                await story.act(action, value)
            if not actions:
                await story.finish()
    await story.check()


class _Story:
    """What was asked, what became of it, and what must be true in the end."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.tasks: list[int] = []
        self.asked: dict[str, tuple[int, asyncio.Future[FollowUp]]] = {}
        self.cancelled: set[int] = set()
        self.news: list[str] = []

    async def act(self, action: str, value: int) -> None:
        manager = self.house.manager
        if action == "dispatch" or not self.tasks:
            self.tasks.append((await manager.dispatch(f"<request {len(self.tasks)}>")).id)
            return
        task_id = self.tasks[value % len(self.tasks)]
        match action:
            case "follow up":
                text = f"<addition {len(self.asked)}>"
                self.asked[text] = task_id, asyncio.ensure_future(manager.follow_up(task_id, text, request_id=text))
            case "let it end":
                self.house.agent.release()
            case "cancel":
                try:
                    await manager.cancel(task_id)
                    self.cancelled.add(task_id)
                except Refused:
                    pass
            case "ticks":
                await settle(value)

    async def finish(self) -> None:
        await asyncio.wait({future for _, future in self.asked.values()} or {asyncio.ensure_future(settle())})
        await _run_out(self.house, *self.tasks)
        self.news = [news.text for news in await self.house.manager.untold()]

    async def check(self) -> None:
        agent = self.house.agent
        # A prompt that says what was cut off repeats it on purpose; nothing else may.
        prompts = [prompt for prompt in agent.prompts if "was cut off" not in prompt and "goes on from" not in prompt]
        repeated = [prompt for prompt in agent.prompts if prompt not in prompts]
        unsure = 0
        for text, (task_id, future) in self.asked.items():
            times = sum(prompt.count(text) for prompt in prompts) + agent.steered.count(text)
            heard = times + sum(prompt.count(text) for prompt in repeated)
            assert times <= 1, f"{text} was doubled"
            error = future.exception()
            if error is None:
                assert heard or task_id in self.cancelled, f"{text} was lost"
            else:
                assert isinstance(error, Unavailable)
                unsure += task_id not in self.cancelled and "may or may not" in str(error)
        confessed = sum(UNSURE_OF_ONE in text or UNSURE_OF_SEVERAL in text for text in self.news)
        assert bool(unsure) <= bool(confessed), "nobody said that an addition is uncertain"
        assert agent.still_open == 0
