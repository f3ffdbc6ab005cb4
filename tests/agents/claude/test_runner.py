"""Claude Code for real: the installed program, offline, with a scripted model. Beside what all agents keep to."""

import asyncio
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from keryx.agents.approver import Answer, Effect
from keryx.agents.base import FRESH_START, AgentSession, RunResult, SteerUnavailable
from keryx.agents.claude.log import ConversationFile
from keryx.agents.claude.runner import ClaudeAgentRunner, program_for
from keryx.agents.equipment import Login, McpServer
from keryx.agents.events import TokenUsage
from keryx.errors import ConfigError, Unavailable
from tests.agents.claude.bench import WHY_NOT, ClaudeBench, claude_bench
from tests.support import mcp_program
from tests.support.anthropic_server import CACHE_READ_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS
from tests.support.mcp_program import served_shop
from tests.support.model_steps import AskUser, Call, Drop, Refuse, Run, Say, Stall, Write

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))

BOUND_S = 60.0
OK = Answer(True)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[ClaudeBench]:
    async with claude_bench(tmp_path) as made:
        yield made


class Lines(list[str]):
    """The progress that was told."""

    async def __call__(self, line: str) -> None:
        self.append(line)


async def ask(session: AgentSession, prompt: str = "do it", lines: Lines | None = None) -> RunResult:
    async with asyncio.timeout(BOUND_S):
        return await session.run(prompt, on_progress=lines if lines is not None else Lines())


async def once(bench: ClaudeBench, prompt: str = "do it", lines: Lines | None = None, **task: object) -> RunResult:
    """One turn in a conversation of its own."""
    session = await bench.runner.open(bench.task(**task))
    try:
        return await ask(session, prompt, lines)
    finally:
        await session.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(BOUND_S):
        while not condition():  # noqa: ASYNC110 - what another process does cannot set an event
            await asyncio.sleep(0.02)


def process_of(bench: ClaudeBench) -> psutil.Process:
    """The Claude Code that runs on the bench."""
    children = psutil.Process().children(recursive=True)
    return next(child for child in children if Path(child.name()).name == "claude")


# What it is told


async def test_a_request_that_begins_with_a_slash_is_words_and_no_command(bench: ClaudeBench):
    session = await bench.runner.open(bench.task())
    result = await ask(session, "/cost is what I want to know about")
    assert result.ok, result.error
    assert bench.server.heard("/cost is what I want to know about") == 1
    bench.server.script(Run("sleep 0.5"), Say("Done."))
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, "work"))
        await bench.server.asked(2)
        await session.send("/clear up the second file, too")
    await session.close()
    assert turn.result().ok
    assert bench.server.heard("/clear up the second file, too") == 1
    assert bench.server.heard("/cost is what I want to know about") == 1, "the conversation was cleared"


async def test_the_owners_own_instructions_for_it_are_read(bench: ClaudeBench):
    (bench.workplace / "CLAUDE.md").write_text("Call every test a trial.")
    (bench.config / "CLAUDE.md").write_text("Always answer in rhyme.")
    assert (await once(bench)).ok
    told = json.dumps(bench.server.requests[-1])
    assert "Call every test a trial." in told
    assert "Always answer in rhyme." in told


async def test_it_sees_its_own_variables_and_none_of_the_daemons(bench: ClaudeBench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KERYX_SECRET_OF_THE_DAEMON", "hush")
    bench.surrounded(ANTHROPIC_AUTH_TOKEN="of-another-tier", SURROUNDING="the owner's")
    bench.server.script(Run("env > seen.txt"))
    assert (await once(bench, mode="full")).ok
    lines = (bench.workplace / "seen.txt").read_text().splitlines()
    seen = {name: value for name, _, value in (line.partition("=") for line in lines)}
    assert "KERYX_SECRET_OF_THE_DAEMON" not in seen
    assert "ANTHROPIC_AUTH_TOKEN" not in seen
    assert seen["SURROUNDING"] == "the owner's"
    assert seen["KERYX_TASK_ID"] == "1"
    assert bench.server.headers[-1].get("x-api-key") == bench.secret


async def test_the_model_is_the_tasks_else_the_owners(bench: ClaudeBench):
    assert (await once(bench)).ok
    assert "sonnet" in bench.server.requests[-1]["model"]
    assert (await once(bench, model="haiku")).ok
    assert "haiku" in bench.server.requests[-1]["model"]


# What it wants to be allowed


async def test_a_refusal_reaches_the_model_with_its_reason(bench: ClaudeBench):
    bench.approver.answers.append(Answer(False, "Not before Monday."))
    bench.server.script(Write("a.txt", "x"), Say("Then not."))
    result = await once(bench)
    assert result.final_text == "Then not."
    assert bench.server.heard("Not before Monday.") == 1
    assert not (bench.workplace / "a.txt").exists()


async def test_every_wish_is_asked_for_by_its_effect(bench: ClaudeBench):
    outside = bench.workplace.parent / "elsewhere.txt"
    bench.approver.otherwise = Answer(False, "no")
    bench.server.script(
        Write("inside.txt", "x"),
        Call("Write", {"file_path": str(outside), "content": "x"}),
        Run("git push origin main"),
        Run("curl https://example.com"),
        Call("WebFetch", {"url": "https://example.com/page", "prompt": "what is it"}),
        Run("pip install requests"),
    )
    assert (await once(bench)).ok
    assert [(ask.text, ask.effect) for ask in bench.approver.asks] == [
        ("write inside.txt", Effect.CHANGE),
        ("write elsewhere.txt", Effect.OUTSIDE),
        ("run git push origin main", Effect.PUSH),
        ("run curl https://example.com", Effect.NETWORK),
        ("fetch a page from example.com", Effect.NETWORK),
        ("run pip install requests", Effect.PACKAGES),
    ]
    assert not outside.exists()


async def test_looking_around_inside_is_put_as_that_or_not_at_all(bench: ClaudeBench):
    (bench.workplace / "notes.txt").write_text("hello")
    bench.server.script(Run("ls"), Call("Read", {"file_path": str(bench.workplace / "notes.txt")}))
    assert (await once(bench, mode="ask")).ok
    assert [(ask.text, ask.effect) for ask in bench.approver.asks] == [("run ls", Effect.READ)]


@pytest.mark.parametrize("mode", ["plan", "ask", "auto"])
@pytest.mark.parametrize("own", [True, False], ids=["of the owner", "of the project"])
async def test_what_a_settings_file_allows_is_put_to_the_owner_all_the_same(bench: ClaudeBench, mode: str, own: bool):
    (bench.workplace / ".claude").mkdir()
    file = bench.config / "settings.json" if own else bench.workplace / ".claude" / "settings.local.json"
    allowed = ["Bash", "Bash(touch:*)", "Edit", "Write", "mcp__shop"]
    file.write_text(json.dumps({"permissions": {"allow": allowed}}))
    bench.handed(shop=McpServer((sys.executable, str(mcp_program.__file__))))
    bench.approver.otherwise = Answer(False, "No.")
    bench.server.script(Run("touch made.txt"), Write("written.txt", "x"), Call("mcp__shop__order"), Say("Nothing."))
    assert (await once(bench, mode=mode)).ok
    wanted = ["run touch made.txt", "write written.txt", "use order from shop"]
    assert [ask.text for ask in bench.approver.asks] == wanted
    assert [path.name for path in bench.workplace.iterdir()] == [".claude"]


async def test_full_mode_asks_for_nothing_but_still_puts_its_questions(bench: ClaudeBench):
    bench.approver.answers.append(Answer(True, "Postgres"))
    bench.server.script(Write("a.txt", "x"), Run("touch b.txt"), AskUser("Which database?", ("Postgres", "SQLite")))
    assert (await once(bench, mode="full")).ok
    assert [ask.text for ask in bench.approver.asks] == ["Which database?"]
    assert {path.name for path in bench.workplace.iterdir()} >= {"a.txt", "b.txt"}


async def test_a_plan_is_what_its_turn_comes_back_with(bench: ClaudeBench):
    session = await bench.runner.open(bench.task(mode="plan"))
    assert (await ask(session, "make a plan")).ok
    plan = next(word for word in json.dumps(bench.server.requests[-1]).split() if "/plans/" in word).strip('\\"`')
    bench.server.script(
        Call("Write", {"file_path": plan, "content": "1. Read.\n2. Change.\n\nSPOKEN_SUMMARY: Two steps."}),
        Call("ExitPlanMode"),
    )
    result = await ask(session, "hand it over")
    assert result.ok, result.error
    assert result.final_text.startswith("1. Read.")
    assert result.spoken_summary == "Two steps."
    bench.server.script(Say("Three steps, then."))
    assert (await ask(session, "add a third step")).final_text == "Three steps, then."
    await session.close()


async def test_in_plan_mode_commands_and_edits_are_put_to_the_owner_and_not_to_the_provider(bench: ClaudeBench):
    bench.approver.otherwise = Answer(False, "Only a plan.")
    bench.server.script(Run("touch made.txt"), Write("a.txt", "x"), Say("A plan."))
    assert (await once(bench, mode="plan")).ok
    assert [(ask.text, ask.effect) for ask in bench.approver.asks] == [
        ("run touch made.txt", Effect.CHANGE),
        ("write a.txt", Effect.CHANGE),
    ]
    assert list(bench.workplace.iterdir()) == []


async def test_several_questions_are_put_one_after_another(bench: ClaudeBench):
    questions = [
        {"question": f"Which {what}?", "header": what, "multiSelect": False, "options": options}
        for what, options in {
            "colour": [{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}],
            "size": [{"label": "small", "description": "s"}, {"label": "large", "description": "l"}],
        }.items()
    ]
    bench.approver.answers.extend([Answer(True, "blue"), Answer(True, "medium, in fact")])
    bench.server.script(Call("AskUserQuestion", {"questions": questions}))
    assert (await once(bench)).ok
    assert [(ask.text, ask.choices) for ask in bench.approver.asks] == [
        ("Which colour?", ("red", "blue")),
        ("Which size?", ("small", "large")),
    ]
    assert bench.server.heard("blue") >= 1
    assert bench.server.heard("medium, in fact") == 1


async def test_a_tool_server_is_there_and_its_tools_are_asked_for_by_what_they_say_of_themselves(bench: ClaudeBench):
    shop = McpServer((sys.executable, str(mcp_program.__file__)), environment={"SHOP_KEY": "swordfish"})
    bench.handed(shop=shop)
    bench.server.script(Call("mcp__shop__look_up"), Call("mcp__shop__order"), Say("Ordered."))
    session = await bench.runner.open(bench.task())
    assert "swordfish" not in " ".join(process_of(bench).cmdline())
    result = await ask(session)
    await session.close()
    assert result.final_text == "Ordered."
    assert bench.server.heard("order with swordfish") == 1
    assert [(ask.text, ask.effect) for ask in bench.approver.asks] == [
        ("use look up from shop", Effect.READ),
        ("use order from shop", Effect.UNKNOWN),
    ]


async def test_a_tool_server_at_an_address_is_there_too(bench: ClaudeBench):
    async with served_shop() as url:
        bench.handed(shop=McpServer(url=url))
        bench.server.script(Call("mcp__shop__order"), Say("Ordered."))
        assert (await once(bench)).final_text == "Ordered."
    assert bench.server.heard("order with no key") == 1


# How it fails


@pytest.mark.parametrize(
    ("refusal", "said"),
    [
        (Refuse(401, "invalid x-api-key"), "isn't signed in"),
        (Refuse(404, "model: nope"), "doesn't know that model"),
        (Refuse(529, "Overloaded"), "overloaded"),
        (Refuse(500, "boom"), "overloaded"),
        (Refuse(400, "Your credit balance is too low to access the API."), "used up its limit"),
        (Refuse(429, "You've hit your usage limit · resets 3pm (Europe/Berlin)"), "used up its limit"),
        (Refuse(429, "too many requests at once"), "overloaded"),
        (Refuse(400, "prompt is too long: 250000 tokens > 200000 maximum"), "too long"),
    ],
    ids=lambda value: f"{value.status} {value.message[:12]}" if isinstance(value, Refuse) else None,
)
async def test_a_refusal_of_the_provider_is_a_failure_that_says_what_to_do(
    bench: ClaudeBench, refusal: Refuse, said: str
):
    bench.server.script(*[refusal] * 12)
    result = await once(bench)
    assert not result.ok
    assert said in result.spoken_summary
    assert result.error
    assert "success" not in result.error
    if "3pm" in refusal.message:
        assert "3pm" in result.spoken_summary


async def test_without_a_credential_it_says_that_nobody_is_signed_in(bench: ClaudeBench):
    bench.equipped(login=Login(None))
    result = await once(bench)
    assert not result.ok
    assert "isn't signed in" in result.spoken_summary
    assert "Not logged in" in (result.error or "")


async def test_without_a_connection_it_says_so(bench: ClaudeBench):
    bench.surrounded(ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    lines = Lines()
    result = await once(bench, lines=lines)
    assert not result.ok
    assert "couldn't reach its provider" in result.spoken_summary
    assert "The provider could not be reached, trying again" in lines


async def test_a_provider_that_is_overloaded_for_a_while_is_waited_for_and_told_of(bench: ClaudeBench):
    bench.server.script(Refuse(529), Say("There it is."))
    lines = Lines()
    result = await once(bench, lines=lines)
    assert result.final_text == "There it is."
    assert lines == ["The provider is overloaded, trying again"]


async def test_a_stream_that_breaks_or_falls_silent_is_taken_up_again(bench: ClaudeBench):
    bench.surrounded(CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS="1000")
    bench.server.script(Drop(), Stall(), Say("At last."))
    result = await once(bench)
    assert result.ok, result.error
    assert result.final_text == "At last."


async def test_an_empty_answer_leaves_what_was_said_before_it(bench: ClaudeBench):
    bench.server.script(Run("ls", say="There is nothing in it."), Say(""), Say(""), Say(""))
    result = await once(bench)
    assert result.ok, result.error
    assert result.final_text == "There is nothing in it."


async def test_what_cannot_be_started_is_said_at_once(bench: ClaudeBench, tmp_path: Path):
    bench.equipped(program=str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="no program"):
        await bench.runner.open(bench.task())
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho 'this machine is too old' >&2\nexit 3\n")
    broken.chmod(0o755)
    bench.equipped(program=str(broken))
    with pytest.raises(Unavailable, match="this machine is too old"):
        await bench.runner.open(bench.task())


async def test_one_that_never_answers_is_given_up_and_leaves_nothing_running(bench: ClaudeBench, tmp_path: Path):
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nsleep 917\n")
    silent.chmod(0o755)
    bench.equipped(program=str(silent))
    with pytest.raises(Unavailable, match=r"did not answer within 0\.5 s"):
        await ClaudeAgentRunner(bench.equipment, connect_s=0.5).open(bench.task())
    assert not [child for child in psutil.Process().children(recursive=True) if "917" in child.cmdline()]


# What it costs


async def test_tokens_and_cost_are_each_turns_own_also_when_it_is_taken_up_again(bench: ClaudeBench):
    session = await bench.runner.open(bench.task())
    first = await ask(session)
    bench.server.script(Run("ls"))
    second = await ask(session)
    await session.close()
    again = await bench.runner.open(bench.task(), resume=session.session_id)
    third = await ask(again)
    process_of(bench).kill()
    await until(lambda: not bench_processes())
    fourth = await ask(again)
    await again.close()
    usage = TokenUsage(INPUT_TOKENS, OUTPUT_TOKENS, CACHE_READ_TOKENS)
    assert [result.usage for result in (first, third, fourth)] == [usage] * 3
    assert second.usage == TokenUsage(2 * INPUT_TOKENS, 2 * OUTPUT_TOKENS, 2 * CACHE_READ_TOKENS)
    assert first.cost_usd
    costs = [result.cost_usd for result in (second, third, fourth)]
    assert costs == pytest.approx([2 * first.cost_usd, first.cost_usd, first.cost_usd])


def bench_processes() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.status() != psutil.STATUS_ZOMBIE]


async def test_what_a_helper_of_its_own_used_counts_too(bench: ClaudeBench):
    helper = {"description": "count the files", "prompt": "count", "subagent_type": "general-purpose"}
    bench.server.script(Call("Agent", helper), Run("ls"), Say("Three files."), Say("Done."))
    lines = Lines()
    result = await once(bench, lines=lines, mode="full")
    assert result.final_text == "Done."
    assert result.usage
    assert result.usage.output_tokens == 4 * OUTPUT_TOKENS
    assert lines == ["Handing on: count the files", "Running ls"]


# Taking up a conversation


async def test_a_conversation_is_taken_up_after_its_project_has_moved(bench: ClaudeBench):
    session = await bench.runner.open(bench.task())
    assert (await ask(session, "remember ninety-six")).ok
    await session.close()
    moved = bench.workplace.parent / "moved"
    shutil.move(bench.workplace, moved)
    bench.equipped(workplace=lambda task: moved)
    again = await bench.runner.open(bench.task(), resume=session.session_id)
    assert (await ask(again)).ok
    await again.close()
    assert again.session_id == session.session_id
    assert bench.server.heard("remember ninety-six") == 1


@pytest.mark.parametrize("gone", ["8ca45547-55ac-4b1a-806b-97c6f9219e58", "../../etc/passwd", "--help", ""])
async def test_a_conversation_that_is_gone_is_begun_afresh_under_a_name_known_at_once(bench: ClaudeBench, gone: str):
    session = await bench.runner.open(bench.task(), resume=gone)
    assert session.session_id
    assert session.session_id != gone
    result = await ask(session)
    await session.close()
    assert result.spoken_summary.startswith(FRESH_START)
    assert result.session_id == session.session_id


# Being killed


async def test_a_request_it_had_not_yet_written_down_is_carried_on_by_a_new_process(bench: ClaudeBench):
    session = await bench.runner.open(bench.task(mode="full"))
    assert (await ask(session, "remember ninety-six")).ok
    bench.server.script(Stall(), Say("Carried on."))
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, "and ninety-seven"))
        await bench.server.asked(2)
        process_of(bench).kill()
    await session.close()
    result = turn.result()
    assert result.session_id == session.session_id
    # Whether it had been written down is a matter of milliseconds; it is never heard twice, and never unsaid.
    if result.ok:
        assert result.final_text == "Carried on."
        assert bench.server.heard("and ninety-seven") == 1
    else:
        assert "stopped unexpectedly" in result.spoken_summary


async def test_a_follow_up_that_died_with_the_process_is_sent_again_and_heard_once(bench: ClaudeBench):
    session = await bench.runner.open(bench.task(mode="full"))
    bench.server.script(Run("sleep 613"), Say("I heard it."))
    written = ConversationFile(bench.equipment.environment, str(session.session_id))
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, "a long thing"))
        await bench.server.asked()
        await until(lambda: written.exists() and b"sleep 613" in _bytes(bench))
        await session.send("mind the leap years")
        process_of(bench).kill()
    result = turn.result()
    assert result.ok, result.error
    assert result.final_text == "I heard it."
    assert bench.server.heard("mind the leap years") == 1
    assert bench.server.heard("a long thing") == 1
    assert (await ask(session, "and now")).ok
    await session.close()


def _bytes(bench: ClaudeBench) -> bytes:
    return b"".join(path.read_bytes() for path in bench.config.glob("projects/*/*.jsonl"))


async def test_a_follow_up_into_a_process_that_is_stuck_is_refused_and_never_heard(bench: ClaudeBench):
    session = await bench.runner.open(bench.task(mode="full"))
    bench.server.script(Run("sleep 612"))
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, "a long thing"))
        await bench.server.asked()
        await until(lambda: b"sleep 612" in _bytes(bench))
        process_of(bench).send_signal(signal.SIGSTOP)
        with pytest.raises(SteerUnavailable):
            await session.send("mind the leap years")
    assert not turn.result().ok
    assert "stopped unexpectedly" in turn.result().spoken_summary
    assert (await ask(session, "and now")).ok
    await session.close()
    assert bench.server.heard("mind the leap years") == 0
    assert bench.server.heard("a long thing") == 1


# Follow-ups where the race suite does not go


async def test_a_follow_up_that_waits_when_the_turn_is_stopped_is_not_run_after_it(bench: ClaudeBench):
    bench.approver.otherwise = None
    bench.server.script(Write("a.txt", "x"), Say("Both."))
    session = await bench.runner.open(bench.task())
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session))
        await bench.approver.asked()
        await session.send("mind the leap years")
        await session.interrupt()
    assert not turn.result().ok
    with pytest.raises(SteerUnavailable):
        await session.send("too late")
    bench.approver.otherwise = OK
    assert (await ask(session, "again")).ok
    await session.close()
    assert bench.server.heard("again") == 1
    assert bench.server.heard("mind the leap years") == 0, "what waited when it was stopped runs no more"
    assert bench.server.heard("too late") == 0


async def test_a_follow_up_during_a_refusal_of_the_provider_is_the_turns_end(bench: ClaudeBench):
    bench.server.script(Refuse(529), Say("The first."), Say("The second."))
    session = await bench.runner.open(bench.task())
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session))
        await bench.server.asked()
        await session.send("mind the leap years")
    await session.close()
    assert turn.result().ok
    assert bench.server.heard("mind the leap years") == 1
    assert turn.result().final_text == {2: "The first.", 3: "The second."}[len(bench.server.requests)]


async def test_a_turn_that_nobody_waits_for_any_more_does_not_answer_for_the_next(bench: ClaudeBench):
    session = await bench.runner.open(bench.task(mode="full"))
    bench.server.script(Run("sleep 611"))
    turn = asyncio.ensure_future(ask(session, "the first"))
    await bench.server.asked()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    bench.server.unscript()
    for number in range(3):
        bench.server.script(Say(f"answer {number}"))
        assert (await ask(session, f"question {number}")).final_text == f"answer {number}"
    await session.close()


# Being found


def test_the_one_that_comes_with_the_library_is_found_without_being_started():
    found = program_for({})
    assert found
    told = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout
    assert "Claude Code" in told


def test_one_that_the_owner_named_is_found_or_nothing(tmp_path: Path):
    named = tmp_path / "claude"
    assert program_for({}, str(named)) is None
    named.write_text("#!/bin/sh\n")
    named.chmod(0o755)
    assert program_for({}, str(named)) == str(named)


def test_importing_it_does_not_load_the_sdk():
    script = "import sys, keryx.agents.claude.runner; print('claude_agent_sdk' in sys.modules, 'anyio' in sys.modules)"
    outcome = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert outcome.stdout.split() == ["False", "False"]
