"""The one session that every real agent runs through, over an agent that does as its script says."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.agents.adapter import AskOwner
from keryx.agents.base import (
    FRESH_START,
    MAX_SUMMARY_CHARS,
    Answer,
    Ask,
    Effect,
    Leash,
    RunResult,
    SteerUnavailable,
    TokenUsage,
    TurnStopped,
)
from keryx.agents.equipment import Equipment, Login, Patience
from keryx.agents.events import (
    AgentEvent,
    Alive,
    Done,
    Failure,
    FileEdit,
    Notice,
    Question,
    SessionId,
    Text,
    ToolCall,
    ToolEnd,
)
from keryx.agents.processes import AgentProcesses
from keryx.agents.session import AdaptedSession
from keryx.agents.turn import MAX_LINE_CHARS, MAX_TEXT_CHARS
from keryx.clock import VirtualClock, settle
from keryx.security.redact import REDACTED
from keryx.tasks.models import Task, TaskStatus

TASK = Task(7, "run the tests", TaskStatus.RUNNING, "claude", datetime(2026, 3, 2, tzinfo=UTC))
SECRET = "opensesame-4711-abcdef"
BOUND_S = 20.0
OK = Done(True)
PUSH = Ask("push to origin", Effect.PUSH)


@dataclass(frozen=True)
class Quiet:
    """Nothing comes for so long; an interrupt ends it, and the turn, unless the agent is `deaf`."""

    for_s: float
    deaf: bool = False


@dataclass(frozen=True)
class Cancelled:
    """Something within the agent is cancelled."""


Step = AgentEvent | Ask | Exception | Quiet | Cancelled
FOREVER = Quiet(1e9)


class ScriptedAdapter:
    """Does what its script says, one list of steps for each turn."""

    called = "Claude"

    def __init__(self, clock: VirtualClock, *turns: Sequence[Step]) -> None:
        self.session_id: str | None = None
        self.clock = clock
        self.turns = list(turns)
        self.prompts: list[str] = []
        self.answers: list[Answer] = []
        self.steered: list[str] = []
        self.interrupts = 0
        self.closes = 0
        self.left = 0
        """How many turns were ended from outside."""
        self.interrupt_error: Exception | None = None
        self.close_hangs = False
        self.close_error: Exception | None = None
        self.last_words: BaseException | None = None
        """Raised by a turn that is ended from outside."""
        self._leash = Leash()

    async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
        self.prompts.append(prompt)
        self._leash = Leash()
        try:
            for step in self.turns.pop(0):
                match step:
                    case Ask():
                        self.answers.append(await ask(step))
                    case Exception():
                        raise step
                    case Cancelled():
                        raise asyncio.CancelledError
                    case Quiet(for_s, deaf=True):
                        await self.clock.sleep(for_s)
                    case Quiet(for_s):
                        async with self._leash.held():
                            await self.clock.sleep(for_s)
                    case SessionId(session_id):
                        self.session_id = session_id
                        yield step
                    case _:
                        yield step
        except TurnStopped:
            yield Done(False, failure=Failure.INTERRUPTED, error="interrupted")
        except (asyncio.CancelledError, GeneratorExit):
            self.left += 1
            if self.last_words is not None:
                raise self.last_words from None
            raise

    async def steer(self, text: str) -> None:
        self.steered.append(text)

    async def interrupt(self) -> None:
        self.interrupts += 1
        if self.interrupt_error is not None:
            raise self.interrupt_error
        self._leash.pull()

    async def close(self) -> None:
        self.closes += 1
        if self.close_error is not None:
            raise self.close_error
        if self.close_hangs:
            await asyncio.get_running_loop().create_future()


@dataclass
class Owner:
    """Whoever decides; takes `thinks_s` for it."""

    clock: VirtualClock
    thinks_s: float = 0.0
    answer: Answer = field(default_factory=lambda: Answer(True, "go on"))
    error: Exception | None = None
    asked: list[Ask] = field(default_factory=list)
    withdrawn: int = 0

    async def ask(self, task: Task, ask: Ask) -> Answer:
        self.asked.append(ask)
        try:
            if self.thinks_s:
                await self.clock.sleep(self.thinks_s)
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise
        if self.error is not None:
            raise self.error
        return self.answer


class Room:
    """One session with all that is around it."""

    def __init__(self, *turns: Sequence[Step], forgotten: bool = False, patience: Patience | None = None) -> None:
        self.clock = VirtualClock()
        self.adapter = ScriptedAdapter(self.clock, *turns)
        self.owner = Owner(self.clock)
        self.progress: list[str] = []
        self.equipment = Equipment(
            workplace=lambda task: Path("/"),
            processes=AgentProcesses(Path("/nowhere")),
            login=Login("API key", {"SOME_API_KEY": SECRET, "SHORT": "abc"}),
            approver=self.owner,
            patience=patience or Patience(),
            clock=self.clock,
        )
        self.session = AdaptedSession(self.adapter, TASK, self.equipment, forgotten=forgotten)

    async def listen(self, line: str) -> None:
        self.progress.append(line)

    async def run(self, prompt: str = "do it") -> RunResult:
        """A whole turn, for which no time needs to pass."""
        async with asyncio.timeout(BOUND_S):
            return await self.session.run(prompt, on_progress=self.listen)

    async def begin(self, group: asyncio.TaskGroup) -> asyncio.Task[RunResult]:
        """A turn that has got as far as it gets without time passing."""
        turn = group.create_task(self.session.run("do it", on_progress=self.listen))
        await settle()
        return turn


async def result_of(*steps: Step) -> RunResult:
    return await Room(steps).run()


# Progress


async def test_progress_is_told_in_order_and_in_single_lines() -> None:
    room = Room(
        [
            SessionId("s-1"),
            Text("Let me look\nat **the** tests."),
            ToolCall("1", "Running\n  pytest -q"),
            ToolEnd("1"),
            FileEdit("src/a.py"),
            FileEdit("src/b.py", "added"),
            Text("All good."),
            Alive(),
            OK,
        ]
    )
    result = await room.run()
    assert room.progress == [
        "Let me look at the tests.",
        "Running pytest -q",
        "Edited src/a.py",
        "Added src/b.py",
    ]
    assert (result.ok, result.spoken_summary, result.session_id) == (True, "All good.", "s-1")
    assert room.adapter.prompts == ["do it"]


async def test_the_last_text_is_not_told_before_it_is_the_result() -> None:
    room = Room([Text("First."), Text("Second."), Notice("The provider is slow"), OK])
    result = await room.run()
    assert room.progress == ["First.", "The provider is slow"]
    assert result.spoken_summary == "Second."


async def test_what_cannot_be_said_of_a_text_is_no_progress() -> None:
    room = Room([Text("```\nx = 1\n```"), ToolCall("1", "Reading"), Text("   "), ToolCall("2", "Writing"), OK])
    await room.run()
    assert room.progress == ["Reading", "Writing"]


async def test_a_line_is_told_once_in_a_row_and_is_cut() -> None:
    room = Room([ToolCall("1", "Reading"), ToolCall("2", "Reading"), ToolCall("3", "word " * 1_000_000), OK])
    await room.run()
    assert room.progress[0] == "Reading"
    assert len(room.progress) == 2
    assert 0 < len(room.progress[1]) <= MAX_LINE_CHARS


async def test_a_listener_that_fails_loses_its_line_and_nothing_else() -> None:
    room = Room([ToolCall("1", "Reading"), Text("Done it."), OK])

    async def fails(line: str) -> None:
        raise ValueError(line)

    assert (await room.session.run("do it", on_progress=fails)).spoken_summary == "Done it."


# What comes of it


async def test_the_summary_is_taken_out_of_the_last_text() -> None:
    result = await result_of(Text("Long story.\n\nSPOKEN_SUMMARY: **Three** tests fixed."), OK)
    assert result.spoken_summary == "Three tests fixed."
    assert result.final_text == "Long story.\n\nSPOKEN_SUMMARY: **Three** tests fixed."
    assert (result.error, result.restart_reason) == (None, None)


async def test_the_ends_own_text_counts_before_the_last_one_said() -> None:
    assert (await result_of(Text("Nearly."), Done(True, "Finished."))).final_text == "Finished."


async def test_of_megabytes_only_the_end_is_read() -> None:
    result = await result_of(Text("y " * 3_000_000 + "\n\nSPOKEN_SUMMARY: That was long."), Done(True))
    assert result.spoken_summary == "That was long."
    assert len(result.final_text) <= MAX_TEXT_CHARS


async def test_a_restart_request_usage_and_cost_are_passed_on() -> None:
    usage = TokenUsage(100, 20, 30)
    result = await result_of(Text("Updated.\nRESTART_REQUIRED: new settings"), Done(True, usage=usage, cost_usd=0.25))
    assert (result.restart_reason, result.usage, result.cost_usd) == ("new settings", usage, 0.25)


async def test_a_failure_keeps_what_was_said_used_and_spent() -> None:
    usage = TokenUsage(1, 2)
    failed = Done(False, usage=usage, cost_usd=0.5, failure=Failure.QUOTA, error="limit\nreached", resets="3pm")
    result = await result_of(Text("I got this far."), failed)
    assert result == RunResult(
        ok=False,
        final_text="I got this far.",
        spoken_summary="Claude has used up its limit. Ask me again after 3pm.",
        usage=usage,
        cost_usd=0.5,
        error="limit reached",
    )


@pytest.mark.parametrize(
    ("text", "question", "summary"),
    [
        ("I stopped.", Question("Which database?"), "I stopped. Which database?"),
        ("I stopped.", Question("Which one", ("SQLite", "Postgres")), "I stopped. Which one: SQLite or Postgres?"),
        ("I stopped.", Question("Which?", ("A", "B", "C")), "I stopped. Which: A, B or C?"),
        ("Which database?", Question("Which database do you want?"), "Which database?"),
        ("", Question("Which database?"), "Which database?"),
        ("I stopped.", Question(" "), "I stopped."),
    ],
)
async def test_a_question_asked_without_waiting_ends_the_summary(text: str, question: Question, summary: str) -> None:
    assert (await result_of(Text(text), question, OK)).spoken_summary == summary


async def test_a_question_that_does_not_fit_behind_the_summary_stands_alone() -> None:
    result = await result_of(Text("word " * 75), Question("Shall I go on with all of it, whatever it takes?"), OK)
    assert result.spoken_summary == "Shall I go on with all of it, whatever it takes?"


# Secrets


async def test_a_credential_that_was_handed_over_is_in_nothing_that_comes_out(caplog: pytest.LogCaptureFixture) -> None:
    escaped = SECRET.replace("-", "\\-")
    room = Room(
        [
            Text(f"The key is {SECRET}."),
            ToolCall("1", f"echo {SECRET}"),
            FileEdit(f"/tmp/{SECRET}/x"),
            Notice(f"again with {SECRET}"),
            ToolCall("2", "x " * 1590 + SECRET),
            Question(f"Keep {SECRET}?"),
            Text(
                f"I used {SECRET}.\n\nRESTART_REQUIRED: {escaped} is new\n\nSPOKEN_SUMMARY: Set {escaped} and {SECRET}."
            ),
            OK,
        ],
        [Text(f"tried {SECRET}"), Done(False, failure=Failure.OTHER, error=f"bad key {SECRET}\nhere")],
        [ConnectionError(f"401 for {SECRET}")],
    )
    results = [await room.run() for _ in range(3)]
    out = [*room.progress, *map(str, results), caplog.text]
    assert not [text for text in out if SECRET in text]
    assert REDACTED in results[0].final_text
    assert REDACTED in results[0].spoken_summary
    assert REDACTED in (results[0].restart_reason or "")
    assert REDACTED in results[1].spoken_summary
    assert REDACTED in (results[1].error or "")
    assert "abc" in (await result_of(Text("The abc of it."), OK)).spoken_summary, "a placeholder is no secret"


async def test_no_half_of_a_credential_is_left_where_something_is_cut() -> None:
    for length in range(MAX_SUMMARY_CHARS - 40, MAX_SUMMARY_CHARS + 3):
        room = Room(
            [ToolCall("1", "x" * length + SECRET), Text("y" * length + SECRET), OK],
            [Done(False, failure=Failure.OTHER, error="z" * length + SECRET)],
        )
        results = [await room.run(), await room.run()]
        for text in (*room.progress, *(r.spoken_summary for r in results)):
            assert SECRET[:8] not in text


async def test_a_summary_full_of_credentials_keeps_its_bound() -> None:
    room = Room([Text("SPOKEN_SUMMARY: " + "abcdef " * 55), OK])
    equipment = Equipment(room.equipment.workplace, room.equipment.processes, Login("key", {"K": "abcdef\n"}))
    result = await AdaptedSession(room.adapter, TASK, equipment).run("do it", on_progress=room.listen)
    assert REDACTED in result.spoken_summary
    assert "abcdef" not in result.spoken_summary
    assert len(result.spoken_summary) <= MAX_SUMMARY_CHARS


# Watching the time


IDLE = Patience(idle_s=60, deadline_s=1000)


async def test_an_agent_from_which_nothing_comes_is_stopped() -> None:
    room = Room([Text("Hm."), FOREVER], patience=IDLE)
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.clock.advance(59)
        assert not turn.done()
        await room.clock.advance(1)
    result = turn.result()
    assert (result.ok, result.error, room.adapter.interrupts) == (False, "nothing came from it", 1)
    assert result.spoken_summary.startswith("I stopped Claude")
    assert result.final_text == "Hm."
    assert room.adapter.closes == 0, "it ended when it was told to: the conversation may go on"


async def test_any_sign_of_life_puts_the_stop_off() -> None:
    room = Room([*[step for _ in range(5) for step in (Quiet(50), Alive())], OK], patience=IDLE)
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.clock.advance(250)
    assert turn.result().ok


async def test_silence_is_no_fault_while_a_tool_runs() -> None:
    steps = [ToolCall("1", "a"), ToolCall("2", "b"), Quiet(300), ToolEnd("1"), Quiet(300), ToolEnd("2"), Quiet(59), OK]
    room = Room(steps, patience=IDLE)
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.clock.advance(659)
    assert turn.result().ok


async def test_silence_after_the_last_tool_counts_from_its_end() -> None:
    room = Room([ToolCall("1", "a"), Quiet(100), ToolEnd("1"), FOREVER], patience=IDLE)
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.clock.advance(159)
        assert not turn.done()
        await room.clock.advance(1)
    assert turn.result().error == Failure.SILENT


async def test_both_clocks_stand_still_while_somebody_is_asked() -> None:
    room = Room([Quiet(50), PUSH, Quiet(50), ToolCall("1", "a"), FOREVER], patience=Patience(60, 200))
    room.owner.thinks_s = 5000
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.clock.advance(5100)
        assert room.adapter.answers == [Answer(True, "go on")]
        await room.clock.advance(99)
        assert not turn.done()
        await room.clock.advance(1)
    assert turn.result().error == Failure.TOO_SLOW


async def test_the_deadline_ends_a_turn_even_while_a_tool_runs() -> None:
    room = Room([ToolCall("1", "sleep"), FOREVER], patience=IDLE)
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.clock.advance(999)
        assert not turn.done()
        await room.clock.advance(1)
    assert turn.result().error == Failure.TOO_SLOW


async def test_an_agent_that_takes_no_notice_is_left_and_closed() -> None:
    room = Room([Text("Hm."), Quiet(1e9, deaf=True)], patience=IDLE)
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.clock.advance(70)
    assert turn.result().error == Failure.SILENT
    assert (room.adapter.left, room.adapter.closes) == (1, 1)
    assert (await room.run()).error == "the conversation is closed"


async def test_a_watchdogs_end_keeps_what_the_agent_used() -> None:
    class Late(ScriptedAdapter):
        async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
            async for event in super().turn(prompt, ask):
                late = isinstance(event, Done)
                yield Done(True, "as far as I got", TokenUsage(5, 6), 0.1) if late else event

    room = Room(patience=IDLE)
    adapter = Late(room.clock, [FOREVER])
    session = AdaptedSession(adapter, TASK, room.equipment)
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("do it", on_progress=room.listen))
        await room.clock.advance(61)
    result = turn.result()
    assert (result.ok, result.usage, result.cost_usd) == (False, TokenUsage(5, 6), 0.1)
    assert result.final_text == "as far as I got"


# What may go wrong


async def test_an_adapter_that_raises_fails_the_turn_and_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    room = Room([Text("Hm."), ConnectionError(f"token {SECRET} was refused")])
    result = await room.run()
    assert (result.ok, result.error) == (False, "it stopped unexpectedly (ConnectionError)")
    assert result.spoken_summary == "Claude stopped unexpectedly. What it had done is still there."
    assert room.adapter.closes == 1
    assert "agent's turn broke off" in caplog.text
    assert f"ConnectionError: token {REDACTED} was refused" in caplog.text


async def test_an_adapter_that_ends_without_a_result_fails_the_turn() -> None:
    result = await result_of(Text("Hm."))
    assert (result.ok, result.error, result.final_text) == (False, "it ended without a result", "Hm.")


async def test_something_cancelled_within_the_adapter_fails_the_turn_and_cancels_nobody_else() -> None:
    room = Room([Text("Hm."), Cancelled()])
    assert (await room.run()).error == "it stopped unexpectedly (CancelledError)"


async def test_what_comes_after_the_end_is_not_looked_at() -> None:
    room = Room([Text("Ready."), OK, Text("More."), ConnectionError()])
    result = await room.run()
    assert (result.ok, result.spoken_summary, room.progress) == (True, "Ready.", [])


async def test_what_breaks_behind_the_end_takes_the_conversation_and_not_the_result() -> None:
    room = Room([Text("Ready."), OK])
    room.adapter.last_words = ConnectionResetError("gone")
    assert (await room.run()).spoken_summary == "Ready."
    assert room.adapter.closes == 1


# Asking


async def test_what_is_asked_reaches_the_approver_and_the_answer_the_agent() -> None:
    room = Room([PUSH, Text("Pushed."), OK])
    assert (await room.run()).ok
    assert room.owner.asked == [PUSH]
    assert room.adapter.answers == [room.owner.answer]


async def test_an_approver_that_raises_is_a_denial(caplog: pytest.LogCaptureFixture) -> None:
    room = Room([PUSH, OK])
    room.owner.error = TimeoutError(f"no answer for {SECRET}")
    assert (await room.run()).ok
    assert [answer.allowed for answer in room.adapter.answers] == [False]
    assert SECRET not in caplog.text


async def test_an_interrupt_withdraws_what_is_being_asked() -> None:
    room = Room([PUSH, FOREVER])
    room.owner.thinks_s = 5000
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.session.interrupt()
        assert turn.done()
    assert room.owner.withdrawn == 1
    assert [answer.allowed for answer in room.adapter.answers] == [False]
    assert turn.result().error == "interrupted"


async def test_nobody_is_asked_for_a_turn_that_is_over() -> None:
    kept: list[AskOwner] = []

    class Keeps(ScriptedAdapter):
        async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
            kept.append(ask)
            yield OK

    room = Room()
    session = AdaptedSession(Keeps(room.clock), TASK, room.equipment)
    assert (await session.run("do it", on_progress=room.listen)).ok
    assert not (await kept[0](PUSH)).allowed
    assert room.owner.asked == []


async def test_an_ask_that_is_left_behind_by_its_turn_is_withdrawn() -> None:
    class Leaves(ScriptedAdapter):
        async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
            self.waiting = group.create_task(self._ask(ask))
            await settle()
            yield OK

        async def _ask(self, ask: AskOwner) -> None:
            self.answers.append(await ask(PUSH))

    room = Room()
    room.owner.thinks_s = 5000
    adapter = Leaves(room.clock)
    async with asyncio.TaskGroup() as group:
        assert (await AdaptedSession(adapter, TASK, room.equipment).run("do it", on_progress=room.listen)).ok
    assert (room.owner.withdrawn, [answer.allowed for answer in adapter.answers]) == (1, [False])


# Stopping


async def test_an_interrupt_ends_the_turn_and_the_next_one_runs() -> None:
    room = Room([Text("Hm."), FOREVER], [Text("Again."), OK])
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.session.interrupt()
        assert turn.done()
    assert turn.result().error == "interrupted"
    assert turn.result().spoken_summary == "Claude was stopped before it finished."
    assert (await room.run()).spoken_summary == "Again."
    await room.session.interrupt()
    assert room.adapter.interrupts == 1, "between turns there is nothing to interrupt"


async def test_an_agent_that_ignores_an_interrupt_is_left() -> None:
    room = Room([Quiet(1e9, deaf=True)])
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.session.interrupt()
    assert turn.result().error == "interrupted"
    assert (room.adapter.left, room.adapter.closes) == (1, 1)


async def test_an_agent_that_cannot_be_interrupted_is_left() -> None:
    room = Room([Quiet(1e9, deaf=True)])
    room.adapter.interrupt_error = BrokenPipeError()
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.session.interrupt()
    assert turn.result().error == "interrupted"


async def test_an_interrupt_before_the_agent_has_begun_keeps_the_conversation() -> None:
    room = Room([OK], forgotten=True)
    session = room.session

    async def interrupts(line: str) -> None:
        group.create_task(session.interrupt())
        await settle()

    async with asyncio.TaskGroup() as group:
        result = await session.run("do it", on_progress=interrupts)
    assert (result.error, room.adapter.prompts, room.adapter.closes) == ("interrupted", [], 0)
    assert (await room.run()).ok


async def test_a_result_that_beats_the_interrupt_counts() -> None:
    class Finishes(ScriptedAdapter):
        async def turn(self, prompt: str, ask: AskOwner) -> AsyncGenerator[AgentEvent, None]:
            async for event in super().turn(prompt, ask):
                yield Done(True, "Just done.") if isinstance(event, Done) else event

    room = Room()
    session = AdaptedSession(Finishes(room.clock, [FOREVER]), TASK, room.equipment)
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(session.run("do it", on_progress=room.listen))
        await settle()
        await session.interrupt()
    assert turn.result().spoken_summary == "Just done."


@pytest.mark.parametrize("last_words", [None, ConnectionResetError("gone")])
async def test_a_cancellation_interrupts_the_agent_and_is_not_swallowed(last_words: Exception | None) -> None:
    room = Room([Quiet(1e9, deaf=True)], [OK])
    room.adapter.last_words = last_words
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        turn.cancel()
        await settle()
    assert turn.cancelled()
    assert (room.adapter.interrupts, room.adapter.left) == (1, 1)
    room.adapter.last_words = None
    assert (await room.run()).ok, "the conversation is still there"
    await room.session.close()
    assert room.adapter.closes == 1


async def test_a_cancellation_withdraws_what_is_being_asked() -> None:
    room = Room([PUSH])
    room.owner.thinks_s = 5000
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        turn.cancel()
    assert turn.cancelled()
    assert room.owner.withdrawn == 1


async def test_a_close_in_the_middle_ends_the_turn() -> None:
    room = Room([PUSH, FOREVER])
    room.owner.thinks_s = 5000
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.session.close()
    assert turn.result().error == "interrupted"
    assert room.owner.withdrawn == 1
    await room.session.close()
    assert (await room.run()).error == "the conversation is closed"


async def test_a_close_that_hangs_is_bounded_and_one_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    room = Room()
    room.adapter.close_hangs = True
    async with asyncio.timeout(BOUND_S):
        await room.session.close()
    room.adapter.close_error = BrokenPipeError(SECRET)
    await room.session.close()
    assert [record.levelno for record in caplog.records] == [logging.ERROR, logging.ERROR]
    assert SECRET not in caplog.text


# Steering, one turn at a time, a fresh start


async def test_a_text_sent_into_the_turn_reaches_the_agent_as_it_is() -> None:
    room = Room([FOREVER])
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.session.send("and the docs")
        await room.session.interrupt()
    assert room.adapter.steered == ["and the docs"]
    assert turn.done()


async def test_nothing_is_taken_in_between_turns_or_by_one_that_is_to_stop() -> None:
    room = Room([Quiet(1e9, deaf=True)], patience=IDLE)
    with pytest.raises(SteerUnavailable):
        await room.session.send("too early")
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        await room.clock.advance(60)
        with pytest.raises(SteerUnavailable):
            await room.session.send("its time is up")
        await room.clock.advance(2)
    with pytest.raises(SteerUnavailable):
        await room.session.send("too late")
    assert turn.done()
    assert room.adapter.steered == []


async def test_one_turn_at_a_time() -> None:
    room = Room([FOREVER])
    async with asyncio.TaskGroup() as group:
        turn = await room.begin(group)
        second = await room.run("and this")
        assert (second.ok, second.error) == (False, "a turn is already running")
        assert not turn.done()
        await room.session.interrupt()
    assert room.adapter.prompts == ["do it"]


async def test_a_fresh_start_is_told_at_once_and_said_once() -> None:
    room = Room([ToolCall("1", "Reading"), Text("Done."), OK], [Text("Done."), OK], forgotten=True)
    first, second = await room.run(), await room.run()
    assert room.progress == [FRESH_START, "Reading"]
    assert first.spoken_summary == f"{FRESH_START} Done."
    assert second.spoken_summary == "Done."


# Anything at all

words = st.text(max_size=60) | st.sampled_from(
    ["SPOKEN_SUMMARY: Yes?", "x" * 500, SECRET, "RESTART_REQUIRED: it", "\n"]
)
ids = st.sampled_from(["1", "2"])
events: st.SearchStrategy[Step] = st.one_of(
    st.builds(Text, words),
    st.builds(ToolCall, ids, words),
    st.builds(ToolEnd, ids),
    st.builds(FileEdit, words, words),
    st.builds(Notice, words),
    st.builds(Question, words, st.lists(words, max_size=3).map(tuple)),
    st.builds(SessionId, ids),
    st.just(Alive()),
    st.builds(Quiet, st.sampled_from([1.0, 50.0, 70.0]), st.booleans()),
    st.just(PUSH),
    st.just(Ask("Which?")),
    st.builds(OSError, words),
    st.just(Cancelled()),
    st.builds(Done, st.just(True), words),
    st.builds(Done, st.just(False), words, failure=st.sampled_from(Failure), error=st.none() | words, resets=words),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(events, max_size=8), min_size=1, max_size=2),
    st.sampled_from([0.0, 30.0, 500.0]),
    st.sampled_from([None, "interrupt", "close", "cancel"]),
    st.sampled_from([0, 10, 60, 200]),
    st.booleans(),
)
def test_whatever_an_agent_does_a_turn_ends_in_a_sound_result(
    turns: list[list[Step]], thinks_s: float, stop: str | None, stop_after_s: float, forgotten: bool
) -> None:
    deaf = any(isinstance(step, Quiet) and step.deaf for steps in turns for step in steps)
    if deaf and stop == "interrupt":
        stop = "close"  # it would be waited for in real time

    async def converse() -> None:
        room = Room(*turns, forgotten=forgotten, patience=Patience(60, 300))
        room.owner.thinks_s = thinks_s
        for _ in turns:
            async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
                turn = await room.begin(group)
                await room.clock.advance(stop_after_s)
                match stop:
                    case "interrupt":
                        await room.session.interrupt()
                    case "close":
                        await room.session.close()
                    case "cancel":
                        turn.cancel()
                    case _:
                        pass
                await room.clock.advance(5000)
            if turn.cancelled():
                assert stop == "cancel"
                continue
            result = turn.result()
            assert (result.error is None) == result.ok
            assert 0 < len(result.spoken_summary) <= MAX_SUMMARY_CHARS
            assert len(result.spoken_summary.splitlines()) == 1
            assert SECRET not in str(result)
        assert not [line for line in room.progress if SECRET in line or not line or len(line.splitlines()) != 1]
        assert all(len(line) <= MAX_LINE_CHARS for line in room.progress)

    asyncio.run(converse())
