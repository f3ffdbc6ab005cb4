"""What every agent with a model behind it keeps to: tools, permissions, questions, failures, and being killed.

The agents are real and run offline; what the model says is scripted.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress

import psutil
import pytest

from keryx.agents.base import AgentSession, Answer, RunResult, SteerUnavailable
from keryx.agents.equipment import Patience
from tests.agents.benches import REAL, Real
from tests.support.listener import BOUND_S, Listener
from tests.support.model_steps import AskUser, Refuse, Run, Say, Stall, Write

DONE = "Done.\n\nSPOKEN_SUMMARY: It is done."


@pytest.fixture(params=REAL, ids=lambda factory: factory.__name__)
async def real(request: pytest.FixtureRequest, tmp_path) -> AsyncIterator[Real]:
    async with request.param(tmp_path) as bench:
        yield bench


async def ask(session: AgentSession, listener: Listener | None = None, prompt: str = "do it") -> RunResult:
    async with asyncio.timeout(BOUND_S):
        return await session.run(prompt, on_progress=listener or Listener())


async def one_turn(real: Real, *, mode: str = "full") -> RunResult:
    session = await real.runner.open(real.task(mode=mode))
    try:
        return await ask(session)
    finally:
        await session.close()


async def test_words_a_command_and_a_file_are_told_in_order_and_the_last_words_are_the_result(real: Real):
    real.server.script(
        Run("echo a1b2", say="I will look around first."),
        Write("notes.txt", "hello\n", say="Now the notes."),
        Say(DONE),
    )
    listener = Listener()
    session = await real.runner.open(real.task(mode="full"))
    result = await ask(session, listener)
    await session.close()
    assert result.ok, result
    assert result.spoken_summary == "It is done."
    assert (real.workplace / "notes.txt").read_text() == "hello\n"
    places = [listener.place(words) for words in ("look around", "echo a1b2", "Now the notes", "notes.txt")]
    assert places == sorted(places), listener.lines
    assert not any("It is done" in line for line in listener.lines)
    assert not any(str(real.workplace) in line for line in listener.lines)


async def test_tokens_are_counted_for_the_turn_alone(real: Real):
    session = await real.runner.open(real.task())
    first, second = await ask(session), await ask(session)
    await session.close()
    if first.usage is None:
        pytest.skip("this agent does not tell its tokens")
    assert second.usage is not None
    assert first.usage.input_tokens >= first.usage.cached_input_tokens > 0
    assert second.usage.output_tokens == first.usage.output_tokens > 0


async def test_a_provider_that_refuses_is_a_failure_with_its_own_words(real: Real):
    real.server.script(*[Refuse(400, "the moon is in the wrong phase")] * 12)
    result = await one_turn(real)
    assert not result.ok
    assert result.error is not None
    assert "the moon is in the wrong phase" in result.error
    assert result.spoken_summary


async def test_an_answer_of_five_megabytes_without_a_newline_ends_well(real: Real):
    real.server.script(Say("y" * 5_000_000 + "\n\nSPOKEN_SUMMARY: That was long.", piece_chars=1_000_000))
    result = await one_turn(real)
    assert result.ok, result.error
    assert result.spoken_summary == "That was long."


async def test_a_command_that_prints_five_megabytes_on_one_line_ends_well(real: Real):
    real.server.script(Run("head -c 5000000 /dev/zero | tr '\\0' 'x'"), Say(DONE))
    result = await one_turn(real)
    assert result.ok, result.error


async def test_output_that_is_no_text_ends_well(real: Real):
    real.server.script(Run("printf 'a\\0b\\377\\376c\\n'"), Say(DONE))
    assert (await one_turn(real)).ok


async def test_an_answer_that_never_goes_on_is_ended_and_says_so(real: Real):
    real.equipped(patience=Patience(idle_s=2.0, deadline_s=60.0))
    real.server.script(*[Stall()] * 5)
    result = await one_turn(real)
    assert not result.ok
    assert "nothing had come" in result.spoken_summary


async def test_a_refused_permission_is_not_carried_out_and_the_turn_goes_on(real: Real):
    real.approver.otherwise = Answer(False, "Not on a Friday.")
    real.server.script(Run("touch made-by-command"), Say(DONE))
    result = await one_turn(real, mode="ask")
    assert result.ok, result.error
    assert real.approver.asks
    assert "touch" in real.approver.asks[0].detail
    assert real.approver.asks[0].effect is not None
    assert not (real.workplace / "made-by-command").exists()


async def test_a_granted_permission_is_carried_out(real: Real):
    real.server.script(Run("touch made-by-command"), Say(DONE))
    result = await one_turn(real, mode="ask")
    assert result.ok, result.error
    assert len(real.approver.asks) == 1
    assert (real.workplace / "made-by-command").exists()


async def test_a_file_is_asked_for_too(real: Real):
    real.approver.otherwise = Answer(False, "No.")
    real.server.script(Write("asked.txt", "hello\n"), Say(DONE))
    assert (await one_turn(real, mode="ask")).ok
    assert real.approver.asks
    assert not (real.workplace / "asked.txt").exists()


async def test_full_mode_asks_nobody(real: Real):
    real.approver.otherwise = Answer(False, "No.")
    real.server.script(Run("touch ../outside"), Write("inside.txt", "x\n"), Say(DONE))
    assert (await one_turn(real, mode="full")).ok
    assert not real.approver.asks
    assert (real.workplace.parent / "outside").exists()
    assert (real.workplace / "inside.txt").exists()


async def test_plan_mode_changes_nothing_even_when_the_model_tries(real: Real):
    # Whoever decides sees to it that a plan stays one: every effect is refused.
    real.approver.otherwise = Answer(False, "This task only plans.")
    real.server.script(Run("touch made-by-command"), Write("made-by-tool.txt", "x\n"), Say(DONE))
    result = await one_turn(real, mode="plan")
    assert result.ok, result.error
    assert not (real.workplace / "made-by-command").exists()
    assert not (real.workplace / "made-by-tool.txt").exists()


async def test_a_question_is_put_and_its_answer_goes_back_into_the_same_turn(real: Real):
    if not real.asks_questions:
        pytest.skip("this agent has no tool for questions")
    real.approver.otherwise = Answer(True, "the violet one")
    real.server.script(AskUser("Which database?", ("sqlite", "postgres")), Say(DONE))
    result = await one_turn(real, mode="auto")
    assert result.ok, result.error
    asked = real.approver.asks[0]
    assert (asked.effect, asked.text, asked.choices) == (None, "Which database?", ("sqlite", "postgres"))
    assert real.server.heard("the violet one") == 1


async def test_a_question_that_nobody_answers_tells_the_agent_why(real: Real):
    if not real.asks_questions:
        pytest.skip("this agent has no tool for questions")
    real.approver.otherwise = Answer(False, "Everybody is at lunch.")
    real.server.script(AskUser("Which database?", ("sqlite", "postgres")), Say(DONE))
    assert (await one_turn(real, mode="auto")).ok
    assert real.server.heard("Everybody is at lunch.") == 1


async def test_an_interrupt_while_somebody_is_asked_withdraws_the_question(real: Real):
    real.approver.otherwise = None
    real.server.script(Run("touch made-by-command"), Say(DONE))
    session = await real.runner.open(real.task(mode="ask"))
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session))
        await real.approver.asked()
        await session.interrupt()
        result = await turn
    await session.close()
    assert not result.ok
    assert len(real.approver.withdrawn) == 1
    assert not (real.workplace / "made-by-command").exists()


async def test_a_credential_comes_out_nowhere(real: Real):
    real.server.script(
        Run(f"echo {real.secret}", say=f"The key is {real.secret}."), Say(f"It is {real.secret}. {DONE}")
    )
    listener = Listener()
    session = await real.runner.open(real.task(mode="full"))
    result = await ask(session, listener)
    await session.close()
    assert result.ok, result.error
    assert real.secret not in repr(result)
    assert not any(real.secret in line for line in listener.lines)


async def test_a_follow_up_while_a_tool_runs_is_heard_once_or_refused(real: Real):
    real.server.script(Run("sleep 1; echo slept", say="Sleeping."), Say(DONE), Say(DONE))
    listener = Listener()
    session = await real.runner.open(real.task(mode="full"))
    refused = False
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, listener))
        await listener.told("sleep 1")
        try:
            await session.send("also handle the leap years of ninety-six")
        except SteerUnavailable:
            refused = True
        result = await turn
    await session.close()
    assert result.ok, result.error
    assert real.server.heard("the leap years of ninety-six") == (0 if refused else 1)
    assert refused is not real.steers


async def test_an_agent_that_is_killed_keeps_its_conversation(real: Real):
    """Its turn fails, or is carried on by a new process; either way nothing said before is lost."""
    session = await real.runner.open(real.task(mode="full"))
    assert (await ask(session, prompt="remember the number ninety-six")).ok
    real.server.script(Run("sleep 614"))
    listener = Listener()
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, listener))
        await listener.told("sleep 614")
        for child in psutil.Process().children(recursive=True):
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
        result = await turn
    assert result.session_id
    await session.close()
    resumed = await real.runner.open(real.task(mode="full"), resume=result.session_id)
    after = await ask(resumed)
    await resumed.close()
    assert after.ok, after.error
    assert after.session_id == result.session_id
    assert real.server.heard("the number ninety-six") == 1
