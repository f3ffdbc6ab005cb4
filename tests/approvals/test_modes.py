"""What each mode allows, asks about and denies; and that the approver that goes by it never stands in the way."""

import asyncio
import itertools
import logging
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest

from keryx.agents.base import Answer, Ask, Effect, NobodyToAsk
from keryx.approvals import ModeApprover, Verdict, decide
from keryx.approvals.modes import ONLY_PLANS
from keryx.clock import settle
from keryx.tasks.models import Task, TaskStatus

TASK = Task(7, "tidy up", TaskStatus.RUNNING, "fake", datetime(2026, 3, 2, tzinfo=UTC))
MODES = ("plan", "ask", "auto", "full")

TABLE = {
    #                 plan     ask      auto     full
    Effect.READ:     ("allow", "allow", "allow", "allow"),
    Effect.CHANGE:   ("deny",  "ask",   "allow", "allow"),
    Effect.RUN:      ("deny",  "ask",   "allow", "allow"),
    Effect.PACKAGES: ("deny",  "ask",   "allow", "allow"),
    Effect.NETWORK:  ("deny",  "ask",   "ask",   "allow"),
    Effect.PUSH:     ("deny",  "ask",   "ask",   "allow"),
    Effect.SEND:     ("deny",  "ask",   "ask",   "allow"),
    Effect.OUTSIDE:  ("deny",  "ask",   "ask",   "allow"),
    Effect.UNKNOWN:  ("deny",  "ask",   "ask",   "allow"),
}  # fmt: skip


@dataclass
class Owner:
    """Somebody who is asked, and answers in the end."""

    answer: Answer = field(default_factory=lambda: Answer(True, "from the owner"))
    thinks: bool = False
    asked: list[Ask] = field(default_factory=list)
    withdrawn: list[Ask] = field(default_factory=list)

    async def ask(self, task: Task, ask: Ask) -> Answer:
        self.asked.append(ask)
        try:
            if self.thinks:
                await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.withdrawn.append(ask)
            raise
        return self.answer


def test_the_table_is_whole() -> None:
    assert set(TABLE) == set(Effect)


@pytest.mark.parametrize(("mode", "effect"), list(itertools.product(MODES, Effect)))
def test_each_mode_decides_as_the_table_says(mode: str, effect: Effect) -> None:
    assert decide(mode, effect).verdict == TABLE[effect][MODES.index(mode)]


@pytest.mark.parametrize("effect", Effect)
@pytest.mark.parametrize("mode", ["", "AUTO", "yolo", "plan "])
def test_an_unknown_mode_asks(mode: str, effect: Effect) -> None:
    assert decide(mode, effect) == decide("ask", effect)


def test_no_mode_allows_what_a_stricter_one_refuses_to_look_at() -> None:
    order = [Verdict.DENY, Verdict.ASK, Verdict.ALLOW]
    for effect in Effect:
        verdicts = [order.index(decide(mode, effect).verdict) for mode in MODES]
        assert verdicts == sorted(verdicts)


def test_a_denial_tells_the_agent_what_to_do_instead() -> None:
    assert decide("plan", Effect.CHANGE).reason == ONLY_PLANS
    assert "describe" in ONLY_PLANS


@pytest.mark.parametrize(("mode", "effect"), list(itertools.product((*MODES, "yolo"), Effect)))
async def test_only_what_is_asked_about_reaches_the_owner(mode: str, effect: Effect) -> None:
    owner = Owner()
    ask = Ask("do it", effect)
    answer = await ModeApprover(owner).ask(replace(TASK, mode=mode), ask)
    match decide(mode, effect).verdict:
        case Verdict.ALLOW:
            assert (answer, owner.asked) == (Answer(True), [])
        case Verdict.DENY:
            assert (answer, owner.asked) == (Answer(False, ONLY_PLANS), [])
        case Verdict.ASK:
            assert (answer, owner.asked) == (owner.answer, [ask])


@pytest.mark.parametrize("mode", [*MODES, "yolo"])
async def test_a_question_always_reaches_the_owner(mode: str) -> None:
    owner = Owner(Answer(True, "Postgres"))
    question = Ask("Which database?", choices=("Postgres", "SQLite"))
    assert await ModeApprover(owner).ask(replace(TASK, mode=mode), question) == Answer(True, "Postgres")
    assert owner.asked == [question]


async def test_the_owners_refusal_stays_one() -> None:
    owner = Owner(Answer(False, "not today"))
    assert await ModeApprover(owner).ask(TASK, Ask("push to origin", Effect.PUSH)) == Answer(False, "not today")


async def test_where_nobody_can_be_asked_it_is_denied_with_a_reason() -> None:
    for ask in (Ask("push to origin", Effect.PUSH), Ask("Which database?")):
        answer = await ModeApprover(NobodyToAsk()).ask(TASK, ask)
        assert not answer.allowed
        assert "Nobody can be asked" in answer.text


@pytest.mark.parametrize("ask", [Ask("push to origin", Effect.PUSH), Ask("Which database?")])
async def test_a_cancelled_ask_is_withdrawn_from_whoever_is_asked(ask: Ask) -> None:
    owner = Owner(thinks=True)
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(ModeApprover(owner).ask(TASK, ask))
        await settle()
        assert owner.asked == [ask]
        asking.cancel()
    assert asking.cancelled()
    assert owner.withdrawn == [ask]


async def test_asks_of_one_task_do_not_wait_for_each_other() -> None:
    owner = Owner(thinks=True)
    approver = ModeApprover(owner)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(approver.ask(TASK, Ask("push to origin", Effect.PUSH)))
        await settle()
        assert await approver.ask(TASK, Ask("edit a file", Effect.CHANGE)) == Answer(True)
        waiting.cancel()


async def test_denials_and_far_allowances_are_logged_without_what_was_asked(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    approver = ModeApprover(Owner())
    for mode, effect in (("plan", Effect.PUSH), ("full", Effect.SEND), ("auto", Effect.PACKAGES)):
        await approver.ask(replace(TASK, mode=mode), Ask("the words", effect, detail="the command"))
    for mode, effect in (("full", Effect.RUN), ("auto", Effect.CHANGE), ("plan", Effect.READ)):
        await approver.ask(replace(TASK, mode=mode), Ask("the words", effect, detail="the command"))
    records = [record for record in caplog.records if record.name == "keryx.approvals.modes"]
    assert [(record.message, vars(record)["mode"], vars(record)["effect"]) for record in records] == [
        ("denied by the task's mode", "plan", "push"),
        ("allowed by the task's mode", "full", "send"),
        ("allowed by the task's mode", "auto", "packages"),
    ]
    assert not [record for record in records if {"the words", "the command"} & set(map(str, vars(record).values()))]
