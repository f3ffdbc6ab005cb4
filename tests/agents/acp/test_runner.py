"""Agents that speak ACP: the protocol against a real agent process that is built with the SDK."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from keryx.agents.acp.runner import AcpAgentRunner
from keryx.agents.base import FRESH_START, AgentSession, Answer, RunResult, SteerUnavailable
from keryx.agents.equipment import McpServer
from keryx.agents.events import Done, Failure
from keryx.agents.failures import spoken_failure
from keryx.errors import ConfigError, KeryxError, Unavailable
from tests.support.listener import Listener
from tests.support.model_steps import SAID, Call, Drop, Run, Say, Stall, Step, Write

pytest.importorskip("acp", reason="the ACP library is not installed: pip install 'keryx[acp]'")

from tests.agents.acp.bench import KEY, AcpBench, acp_bench

BOUND_S = 30.0
RACES = 30


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[AcpBench]:
    async with acp_bench(tmp_path) as bench:
        yield bench


async def ask(session: AgentSession, listener: Listener | None = None, prompt: str = "do it") -> RunResult:
    async with asyncio.timeout(BOUND_S):
        return await session.run(prompt, on_progress=listener or Listener())


async def one_turn(bench: AcpBench, *steps: Step, listener: Listener | None = None, **task: Any) -> RunResult:
    bench.script(*steps)
    session = await bench.runner.open(bench.task(**task))
    try:
        return await ask(session, listener)
    finally:
        await session.close()


def spoken(failure: Failure, error: str = "") -> str:
    return spoken_failure("Acme", Done(False, failure=failure, error=error))


def updates(*updates: dict[str, Any]) -> Call:
    return Call("acp:updates", {"updates": list(updates)})


# Opening.


async def test_an_agent_that_is_not_there_is_named_and_said(bench: AcpBench):
    runner = AcpAgentRunner(bench.equipment, name="acme", called="Acme", command=["no-such-agent", "acp"])
    with pytest.raises(ConfigError, match="no-such-agent is not on the PATH") as error:
        await runner.open(bench.task())
    assert error.value.spoken == "Acme isn't installed on your machine."


@pytest.mark.parametrize(
    ("traits", "why"),
    [
        ({"dies": f"cannot read {KEY}"}, "it ended at once: cannot read a redacted key"),
        ({"version": 2}, "version 2"),
        ({"hangs": True}, "did not open a conversation within 1 s"),
    ],
    ids=["dies", "another version", "hangs"],
)
async def test_an_agent_that_does_not_begin_is_unavailable_and_gone(bench: AcpBench, traits: dict[str, Any], why: str):
    bench.behaving(**traits)
    if "hangs" in traits:
        bench.open_s = 1.0
    with pytest.raises(Unavailable, match=why) as error:
        await bench.runner.open(bench.task())
    assert error.value.spoken == "Acme could not start."
    assert not psutil.Process().children()


@pytest.mark.parametrize("command", [["cat"], ["true"], ["sh", "-c", "echo Usage: acme [options]; sleep 616"]], ids=str)
async def test_a_program_that_does_not_speak_acp_is_unavailable(bench: AcpBench, command: list[str]):
    runner = AcpAgentRunner(bench.equipment, name="acme", called="Acme", command=command, open_s=1.0)
    with pytest.raises(Unavailable):
        await runner.open(bench.task())
    assert not psutil.Process().children()


async def test_a_directory_that_is_gone_is_said(bench: AcpBench):
    def gone(task: object) -> Path:
        raise Unavailable("the project's directory is gone")

    bench.equipped(workplace=gone)
    with pytest.raises(KeryxError, match="is gone"):
        await bench.runner.open(bench.task())


async def test_nobody_signed_in_is_a_failure_that_says_so(bench: AcpBench):
    bench.behaving(signed_in=False)
    result = await one_turn(bench)
    assert not result.ok
    assert result.spoken_summary == spoken(Failure.NOT_SIGNED_IN)
    assert result.error == "Authentication required (Run `acme login` in a terminal)"


async def test_the_agent_gets_its_login_and_not_another(bench: AcpBench):
    assert (await one_turn(bench, Run("echo key $ACME_API_KEY token $ACME_TOKEN."))).ok
    assert bench.server.heard(f"key {KEY} token .") == 1


async def test_tool_servers_are_handed_on(bench: AcpBench):
    bench.handed(notes=McpServer(command=("cat", "-u")), wiki=McpServer(url="https://wiki.example/mcp"))
    assert (await one_turn(bench)).ok
    cat, wiki = bench.server.settings["servers"]
    assert cat.startswith("notes=/")
    assert cat.endswith("/cat")
    assert wiki == "wiki=https://wiki.example/mcp"


# Settings.


@pytest.mark.parametrize("options", [True, False], ids=["as options", "as modes"])
@pytest.mark.parametrize(
    ("mode", "theirs"), [("plan", "plan"), ("ask", "ask"), ("auto", "ask"), ("full", "yolo")], ids=str
)
async def test_a_task_s_mode_is_the_agent_s_own(bench: AcpBench, options: bool, mode: str, theirs: str):
    bench.behaving(options=options)
    assert (await one_turn(bench, mode=mode)).ok
    assert bench.server.settings["mode"] == theirs


async def test_a_mode_taken_up_again_is_set_again(bench: AcpBench):
    first = await one_turn(bench, mode="ask")
    session = await bench.runner.open(bench.task(mode="plan"), resume=first.session_id)
    assert (await ask(session)).ok
    await session.close()
    assert bench.server.settings["mode"] == "plan"


@pytest.mark.parametrize("modes", [[], ["code", "auto"]], ids=str)
async def test_without_a_mode_that_is_plainly_the_same_none_is_set(bench: AcpBench, modes: list[str]):
    bench.behaving(modes=modes)
    assert (await one_turn(bench, mode="auto")).ok
    assert bench.server.settings["mode"] == "ask"


@pytest.mark.parametrize("asked", ["large", "acme/large", "Acme Large"])
async def test_a_model_is_found_by_a_part_of_its_name(bench: AcpBench, asked: str):
    bench.equipped(model="small")
    assert (await one_turn(bench, model=asked)).ok
    assert bench.server.settings["model"] == "acme/large"


@pytest.mark.parametrize("asked", ["opus", "acme", " "])
async def test_an_unknown_model_is_a_failure_that_names_the_known_ones(bench: AcpBench, asked: str):
    result = await one_turn(bench, model=asked)
    assert not result.ok
    assert result.spoken_summary == spoken(Failure.NO_SUCH_MODEL)
    assert result.error == f'no model "{asked}"; there is acme/small, acme/large'
    assert not bench.server.requests


async def test_a_model_where_there_is_no_choice_is_a_failure(bench: AcpBench):
    bench.behaving(models=[])
    result = await one_turn(bench, model="large")
    assert not result.ok
    assert result.spoken_summary == spoken(Failure.NO_SUCH_MODEL)


# A turn.


@pytest.mark.parametrize("numbered", [True, False], ids=["numbered", "unnumbered"])
async def test_pieces_become_whole_texts_and_thoughts_none(bench: AcpBench, numbered: bool):
    bench.behaving(numbers_messages=numbered)
    listener = Listener()
    result = await one_turn(
        bench,
        Run("true", say="First I look at the invoice module as a whole."),
        Call("acp:think", {"text": "secretly"}),
        Say("All is well with the invoices, every one.", piece_chars=3),
        listener=listener,
        mode="full",
    )
    assert listener.lines == ["First I look at the invoice module as a whole.", "Running true"]
    assert result.final_text == "All is well with the invoices, every one."


async def test_a_plan_s_steps_and_edits_are_told(bench: AcpBench):
    plan = [
        {"content": "Read the parser", "priority": "high", "status": "in_progress"},
        {"content": "Fix it", "priority": "high", "status": "pending"},
    ]
    gone = {"kind": "delete", "title": "rm", "status": "completed", "locations": [{"path": str(bench.workplace / "a")}]}
    listener = Listener()
    result = await one_turn(
        bench,
        updates({"sessionUpdate": "plan", "entries": plan}, {"sessionUpdate": "plan", "entries": plan}),
        Write("notes.txt", "hello\n"),
        updates({"sessionUpdate": "tool_call", "toolCallId": "d", **gone}),
        listener=listener,
        mode="full",
    )
    assert result.ok, result.error
    told = ["Read the parser", "Editing notes.txt", "Added notes.txt", "Deleting a", "Deleted a"]
    assert listener.lines == told


async def test_what_no_client_could_understand_is_passed_over(bench: AcpBench):
    half = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "?", "update": {}}})
    result = await one_turn(
        bench,
        updates({"sessionUpdate": "brand_new", "x": 1}, {"sessionUpdate": "tool_call"}),
        Call("acp:garbage", {"line": "npm warn: a new version is there"}),
        Call("acp:garbage", {"line": half}),
        Call("acp:garbage", {"line": '{"jsonrpc":"2.0","id":77,"method":"fs/read_text_file","params":{}}'}),
        Call("acp:garbage", {"line": '{"jsonrpc":"2.0","id":78,"method":"terminal/create","params":{"command":"x"}}'}),
    )
    assert result.ok, result.error


async def test_half_a_character_does_not_lose_the_text_around_it(bench: AcpBench):
    chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "All \ud83d is done."}}
    result = await one_turn(bench, updates(chunk), Call("acp:stop", {"reason": "end_turn"}))
    assert result.final_text == "All ? is done."


@pytest.mark.parametrize(
    ("reason", "failure", "error"),
    [
        ("max_tokens", Failure.LIMIT, "it stopped at a limit of its own (max tokens)"),
        ("max_turn_requests", Failure.LIMIT, "it stopped at a limit of its own (max turn requests)"),
        ("refusal", Failure.OTHER, "it refused to go on with this"),
        ("cancelled", Failure.INTERRUPTED, "interrupted"),
        ("whatever", Failure.OTHER, "it answered in a way that the protocol does not know"),
    ],
    ids=lambda value: str(value).split()[0],
)
async def test_a_turn_that_stops_early_says_why(bench: AcpBench, reason: str, failure: Failure, error: str):
    result = await one_turn(bench, Call("acp:stop", {"reason": reason}))
    assert not result.ok
    assert result.error == error
    assert result.spoken_summary == spoken(failure, error)


async def test_an_error_is_told_in_the_agent_s_own_words(bench: AcpBench):
    result = await one_turn(bench, Drop())
    assert not result.ok
    assert result.error == "Internal error: the model's connection broke"


async def test_an_agent_that_dies_in_a_turn_fails_it_with_its_last_words(bench: AcpBench):
    bench.script(Call("acp:die", {"words": f"panic: out of memory near {KEY}"}))
    session = await bench.runner.open(bench.task())
    first, second = await ask(session), await ask(session)
    await session.close()
    assert first.spoken_summary == spoken(Failure.DIED)
    assert first.error == "panic: out of memory near a redacted key"
    assert not second.ok


async def test_tokens_count_the_cached_ones_and_cost_is_the_turn_s_alone(bench: AcpBench):
    def cost(amount: float) -> Call:
        spent = {"amount": amount, "currency": "USD"}
        return updates({"sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": spent})

    bench.script(cost(0.25), Say(), cost(0.75), Say(), Say())
    session = await bench.runner.open(bench.task())
    first, second, third = await ask(session), await ask(session), await ask(session)
    await session.close()
    assert first.usage is not None
    assert (first.usage.input_tokens, first.usage.cached_input_tokens, first.usage.output_tokens) == (200, 80, 14)
    assert (first.cost_usd, second.cost_usd, third.cost_usd) == (0.25, 0.5, None)


# Permissions.


@pytest.mark.parametrize(
    "order", [["allow_always", "reject_once", "allow_once"], ["reject_always", "allow_once", "reject_once"]], ids=str
)
@pytest.mark.parametrize("allowed", [True, False], ids=["allowed", "refused"])
async def test_the_option_is_chosen_by_its_kind(bench: AcpBench, order: list[str], allowed: bool):
    bench.behaving(permissions=order)
    bench.approver.otherwise = Answer(allowed)
    result = await one_turn(bench, Run("touch made"), mode="ask")
    assert result.ok, result.error
    assert bench.server.heard("chose allow_once" if allowed else "chose reject_once") == 1
    assert (bench.workplace / "made").exists() is allowed


async def test_yes_once_is_never_answered_with_always(bench: AcpBench):
    bench.behaving(permissions=["allow_always", "reject_always"])
    result = await one_turn(bench, Run("touch made"), mode="ask")
    assert not result.ok
    assert result.error == "it ended its turn because this was not allowed: make the file made"
    assert not (bench.workplace / "made").exists()


# Taking up again.


@pytest.mark.parametrize("takes_up", ["load", "resume"])
async def test_an_old_conversation_is_taken_up_without_telling_it_all_again(bench: AcpBench, takes_up: str):
    bench.behaving(takes_up=takes_up)
    first = await one_turn(bench, Say("The first answer of all."))
    session, listener = await bench.runner.open(bench.task(), resume=first.session_id), Listener()
    second = await ask(session, listener, "and now?")
    await session.close()
    assert second.session_id == first.session_id
    assert bench.server.heard("The first answer of all.") == 1
    assert listener.lines == []
    assert second.final_text == SAID


async def test_an_agent_that_cannot_take_up_anything_starts_afresh(bench: AcpBench):
    bench.behaving(takes_up="")
    first = await one_turn(bench)
    session = await bench.runner.open(bench.task(), resume=first.session_id)
    assert getattr(session, "session_id", None) not in (None, first.session_id)
    second = await ask(session)
    await session.close()
    assert second.spoken_summary.startswith(FRESH_START)


# Stopping.


async def test_a_cancelled_command_is_gone(bench: AcpBench):
    bench.script(Run("sleep 617"))
    session, listener = await bench.runner.open(bench.task(mode="full")), Listener()
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, listener))
        await listener.told("sleep 617")
        await session.interrupt()
        assert not (await turn).ok
    assert not [child for child in psutil.Process().children(recursive=True) if "617" in child.cmdline()]
    assert (await ask(session)).ok
    await session.close()


async def test_an_agent_that_ignores_a_cancellation_is_ended_and_its_conversation_taken_up_again(bench: AcpBench):
    bench.behaving(ignores_cancel=True)
    bench.script(Stall("I will just"))
    session = await bench.runner.open(bench.task())
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session))
        await bench.server.asked()
        await session.interrupt()
        result = await turn
    assert result.spoken_summary == spoken(Failure.INTERRUPTED)
    assert not psutil.Process().children()
    await session.close()
    again = await bench.runner.open(bench.task(), resume=result.session_id)
    assert (await ask(again)).session_id == result.session_id
    await again.close()


# Steering.


async def test_an_agent_not_known_to_take_a_second_prompt_is_not_given_one(bench: AcpBench):
    bench.script(Run("sleep 618"))
    session, listener = await bench.runner.open(bench.task(mode="full")), Listener()
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, listener))
        await listener.told("sleep 618")
        with pytest.raises(SteerUnavailable, match="takes nothing in while it works"):
            await session.send("and the leap years")
        await session.interrupt()
        assert not (await turn).ok
    await session.close()


@pytest.mark.parametrize("becomes", ["taken", "lost", "refused"])
async def test_an_acknowledged_text_is_answered_in_this_run_whatever_the_agent_makes_of_it(
    bench: AcpBench, becomes: str
):
    bench.behaving(steers=becomes)
    bench.steers = True
    begun = {
        "sessionUpdate": "agent_message_chunk",
        "messageId": "m1",
        "content": {"type": "text", "text": "The first."},
    }
    step = {"content": "Saying the first", "priority": "high", "status": "in_progress"}
    last = Say("The first part.") if becomes == "taken" else Call("acp:stop", {"reason": "end_turn"})
    bench.script(updates(begun, {"sessionUpdate": "plan", "entries": [step]}), last, Say("Both parts."))
    session, listener = await bench.runner.open(bench.task()), Listener()
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, listener))
        # A message that it began before is no answer.
        await bench.server.asked()
        bench.server.ready.clear()
        await listener.told("Saying the first")
        await session.send("and the leap years of ninety-six")
        await bench.server.asked(2)
        bench.server.ready.set()
        result = await turn
    await session.close()
    assert result.ok, result.error
    assert result.final_text == "Both parts."
    assert bench.server.heard("the leap years of ninety-six") == 1


async def test_of_texts_sent_all_around_the_end_none_is_lost_and_none_doubled(bench: AcpBench):
    bench.behaving(steers="taken")
    bench.steers = True
    session = await bench.runner.open(bench.task(mode="full"))
    taken, refused = [], []
    for race in range(RACES):
        bench.script(Say("Short.", pause_s=0.002, piece_chars=1))
        text = f"text number {race} of these"
        before = len(bench.server.requests)
        async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
            turn = group.create_task(ask(session))
            await bench.server.asked(before + 1)
            # From the beginning of the answer to after its end.
            await asyncio.wait({turn}, timeout=0.001 * race)
            try:
                await session.send(text)
                taken.append(text)
            except SteerUnavailable:
                refused.append(text)
            assert (await turn).ok
    assert (await ask(session)).ok
    await session.close()
    assert taken
    assert {text: bench.server.heard(text) for text in taken} == dict.fromkeys(taken, 1)
    assert {text: bench.server.heard(text) for text in refused} == dict.fromkeys(refused, 0)
