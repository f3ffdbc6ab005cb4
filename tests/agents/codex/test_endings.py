"""The real Codex interrupted, closed, killed, taken up again, and signed in: nothing is left running, nothing leaks."""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from keryx.agents.base import FRESH_START, RunResult
from keryx.agents.codex.settings import environment_for
from keryx.agents.equipment import Login
from keryx.agents.session import AdaptedSession
from keryx.errors import Unavailable
from tests.agents.codex.bench import WHY_NOT, CodexBench, codex_bench
from tests.support.codex_stand_in import stand_in
from tests.support.model_steps import Run, Say, Stall
from tests.support.programs import carrying, running, until

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

BOUND_S = 40.0
SOON_S = 5.0
KEY = "sk-scripted-0123456789abcdef"


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[CodexBench]:
    async with codex_bench(tmp_path) as bench:
        yield bench
        assert not of_this(bench), "a process is left"


def of_this(bench: CodexBench) -> set[int]:
    """The processes of this bench's agents."""
    return carrying("CODEX_HOME", str(bench.home))


@dataclass
class Talk:
    """A conversation, and what was told of it."""

    session: AdaptedSession
    lines: list[str] = field(default_factory=list)

    async def run(self, prompt: str = "do it") -> RunResult:
        async def listen(line: str) -> None:
            self.lines.append(line)

        async with asyncio.timeout(BOUND_S):
            return await self.session.run(prompt, on_progress=listen)


async def talk_to(bench: CodexBench, resume: str | None = None, mode: str = "full") -> Talk:
    return Talk(await bench.runner.open(bench.task(mode=mode), resume=resume))


def pid_in(path: Path) -> int:
    return int(path.read_text()) if path.exists() and path.read_text().strip() else 0


async def busy(bench: CodexBench, talk: Talk, group: asyncio.TaskGroup) -> tuple[asyncio.Task[RunResult], int]:
    """A turn that runs something long, and the number of the process that does."""
    note = bench.workplace / "pid"
    note.unlink(missing_ok=True)
    bench.server.script(Run("echo $$ > pid; exec sleep 999"))
    turn = group.create_task(talk.run())
    await until(lambda: pid_in(note))
    return turn, pid_in(note)


@pytest.mark.parametrize("mode", ["full", "auto"])
async def test_an_interrupt_ends_the_turn_and_what_it_runs_and_the_conversation_goes_on(bench: CodexBench, mode: str):
    talk = await talk_to(bench, mode=mode)
    async with asyncio.TaskGroup() as group:
        turn, _ = await busy(bench, talk, group)
        async with asyncio.timeout(SOON_S):
            await talk.session.interrupt()
            result = await turn
    assert (result.ok, result.error) == (False, "interrupted")
    await until(lambda: not having(bench, "999"))
    again = await talk.run("and again")
    assert again.ok
    assert again.session_id == result.session_id
    assert bench.server.heard("do it") == 1
    await talk.session.close()


def having(bench: CodexBench, word: str) -> set[int]:
    """The processes of this bench's agents that have `word` in their command."""
    found = set()
    for pid in of_this(bench):
        with contextlib.suppress(psutil.Error):
            if word in psutil.Process(pid).cmdline():
                found.add(pid)
    return found


async def test_a_process_that_answers_no_interrupt_is_replaced_and_the_conversation_goes_on(
    bench: CodexBench, tmp_path: Path
):
    bench.equipped(program=str(stand_in(tmp_path, loses_to=["turn/interrupt"])))
    talk = await talk_to(bench)
    assert (await talk.run("remember the milk")).ok
    async with asyncio.TaskGroup() as group:
        turn, pid = await busy(bench, talk, group)
        async with asyncio.timeout(SOON_S):
            await talk.session.interrupt()
            result = await turn
    assert result.error == "interrupted"
    await until(lambda: not running(pid))
    again = await talk.run("and again")
    assert again.ok
    assert again.session_id == result.session_id
    assert bench.server.heard("remember the milk") == 1
    await talk.session.close()


async def test_many_interrupts_at_once_are_one(bench: CodexBench):
    talk = await talk_to(bench)
    async with asyncio.TaskGroup() as group:
        turn, _ = await busy(bench, talk, group)
        for _ in range(5):
            group.create_task(talk.session.interrupt())
    assert turn.result().error == "interrupted"
    assert (await talk.run()).ok
    await talk.session.close()


async def test_an_interrupt_before_the_turn_has_begun_stops_it_all_the_same(bench: CodexBench):
    talk = await talk_to(bench)
    bench.server.otherwise = lambda request: Stall()
    for turns_of_the_loop in range(12):
        async with asyncio.TaskGroup() as group:
            turn = group.create_task(talk.run())
            for _ in range(turns_of_the_loop):
                await asyncio.sleep(0)
            await talk.session.interrupt()
            async with asyncio.timeout(SOON_S):
                while not turn.done():
                    await talk.session.interrupt()
                    await asyncio.wait({turn}, timeout=0.02)
        assert not turn.result().ok
    bench.server.otherwise = lambda request: Say()
    assert (await talk.run()).ok
    await talk.session.close()


async def test_a_cancelled_turn_leaves_nothing_running_and_the_conversation_usable(bench: CodexBench):
    talk = await talk_to(bench)
    async with asyncio.TaskGroup() as group:
        turn, pid = await busy(bench, talk, group)
        turn.cancel()
        await asyncio.wait({turn}, timeout=SOON_S)
        assert turn.cancelled()
    await until(lambda: not running(pid))
    bench.server.script()
    assert (await talk.run("and again")).ok
    assert bench.server.heard("and again") == 1
    await talk.session.close()


async def test_closing_in_the_middle_ends_also_what_went_into_a_session_of_its_own(bench: CodexBench):
    talk = await talk_to(bench)
    bench.server.script(Run("setsid sh -c 'echo $$ > far; exec sleep 999' & echo $$ > pid; exec sleep 999"))
    async with asyncio.TaskGroup() as group:
        turn = group.create_task(talk.run())
        await until(lambda: pid_in(bench.workplace / "far") and pid_in(bench.workplace / "pid"))
        async with asyncio.timeout(SOON_S):
            await talk.session.close()
            assert not (await turn).ok
    await until(lambda: not running(pid_in(bench.workplace / "far")))


async def test_a_conversation_is_taken_up_again_with_all_that_was_said(bench: CodexBench):
    talk = await talk_to(bench)
    await talk.run("remember the milk")
    await talk.session.close()
    again = await talk_to(bench, talk.session.session_id)
    assert again.session.session_id == talk.session.session_id
    result = await again.run("what was it?")
    assert FRESH_START not in result.spoken_summary
    assert bench.server.heard("remember the milk") == 1
    await again.session.close()


async def test_killed_in_the_middle_it_says_so_and_goes_on_in_the_same_conversation(bench: CodexBench):
    talk = await talk_to(bench)
    await talk.run("remember the milk")
    async with asyncio.TaskGroup() as group:
        turn, _ = await busy(bench, talk, group)
        for pid in having(bench, "app-server"):
            os.kill(pid, signal.SIGKILL)
        result = await turn
    assert "stopped unexpectedly" in result.spoken_summary
    await talk.session.close()
    resumed = await talk_to(bench, talk.session.session_id)
    assert (await resumed.run("go on")).ok
    assert bench.server.heard("remember the milk") == 1
    await resumed.session.close()


async def test_killed_between_turns_it_goes_on_as_if_nothing_had_been(bench: CodexBench):
    talk = await talk_to(bench)
    await talk.run("remember the milk")
    for pid in of_this(bench):
        os.kill(pid, signal.SIGKILL)
    await until(lambda: not of_this(bench))
    result = await talk.run("go on")
    assert result.ok
    assert result.session_id == talk.session.session_id
    assert bench.server.heard("remember the milk") == 1
    await talk.session.close()


@pytest.mark.parametrize("left", ["never begun", "emptied", "no id", ""])
async def test_a_conversation_that_is_gone_starts_afresh_under_another_id(bench: CodexBench, left: str):
    talk = await talk_to(bench)
    gone = talk.session.session_id or ""
    if left == "emptied":
        await talk.run()
    await talk.session.close()
    for rollout in bench.home.glob("sessions/**/*.jsonl"):
        rollout.write_bytes(b"")
    again = await talk_to(bench, gone if left in ("never begun", "emptied") else left)
    assert again.session.session_id not in (None, gone, left)
    result = await again.run()
    assert result.ok
    assert result.spoken_summary.startswith(FRESH_START)
    await again.session.close()


async def test_a_conversation_that_another_process_is_about_to_let_go_is_waited_for(bench: CodexBench):
    first = await talk_to(bench)
    await first.run("remember the milk")
    async with asyncio.TaskGroup() as group:
        opening = group.create_task(talk_to(bench, first.session.session_id))
        await asyncio.wait({opening}, timeout=0.8)
        assert not opening.done()
        await first.session.close()
    second = opening.result()
    assert second.session.session_id == first.session.session_id
    await second.session.close()


async def test_a_conversation_that_another_process_holds_on_to_starts_afresh(bench: CodexBench):
    bench.bounded(writer_s=0.3)
    first = await talk_to(bench)
    await first.run()
    second = await talk_to(bench, first.session.session_id)
    assert second.session.session_id != first.session.session_id
    assert (await second.run()).spoken_summary.startswith(FRESH_START)
    await second.session.close()
    await first.session.close()


async def test_a_take_up_that_hangs_starts_afresh(bench: CodexBench, tmp_path: Path):
    bench.equipped(program=str(stand_in(tmp_path, loses_to=["thread/resume"])))
    bench.bounded(resume_s=0.3)
    talk = await talk_to(bench, "01a22edb-3a13-7293-9009-616d89deb302")
    assert (await talk.run()).spoken_summary.startswith(FRESH_START)
    await talk.session.close()


async def test_a_beginning_that_fails_leaves_nothing_behind(bench: CodexBench, tmp_path: Path):
    bench.equipped(program=str(stand_in(tmp_path, loses_to=["thread/start"])))
    bench.bounded(call_s=0.3)
    with pytest.raises(Unavailable):
        await talk_to(bench)
    assert not of_this(bench)


def signed_in(bench: CodexBench, **stored: str) -> None:
    """An API key in the login, and Codex's own provider at the scripted model's address."""
    bench.configured()
    config = (bench.home / "config.toml").read_text().splitlines()
    own = [line for line in config if line.startswith(("model =", "check_for"))]
    (bench.home / "config.toml").write_text("\n".join([*own, f'openai_base_url = "{bench.server.url}"']))
    if stored:
        (bench.home / "auth.json").write_text(json.dumps(stored))
    bench.equipped(login=Login("API key", {"CODEX_API_KEY": KEY}, frozenset({"OPENAI_API_KEY"})))


async def test_the_api_key_signs_it_in_and_is_seen_by_nobody_else(bench: CodexBench):
    signed_in(bench, OPENAI_API_KEY="sk-the-owners-own")
    before = (bench.home / "auth.json").read_text()
    talk = await talk_to(bench)
    bench.server.script(Run("env"), Say(f"The key is {KEY}."))
    result = await talk.run()
    await talk.session.close()
    assert set(bench.server.authorizations) == {f"Bearer {KEY}"}
    assert bench.server.heard("CODEX_HOME="), "the command did not show its environment"
    assert bench.server.heard(KEY) == 0
    assert KEY not in result.final_text
    assert (bench.home / "auth.json").read_text() == before


async def test_without_a_key_of_ours_the_owners_own_login_counts(bench: CodexBench):
    signed_in(bench, OPENAI_API_KEY="sk-the-owners-own")
    bench.equipped(login=Login("stored login"))
    talk = await talk_to(bench)
    assert (await talk.run()).ok
    await talk.session.close()
    assert set(bench.server.authorizations) == {"Bearer sk-the-owners-own"}


def test_the_voice_models_key_is_never_lent(bench: CodexBench):
    bench.surrounded(OPENAI_API_KEY="sk-voice", CODEX_ACCESS_TOKEN="other")
    bench.equipped(login=Login("API key", {"CODEX_API_KEY": KEY}, frozenset({"CODEX_ACCESS_TOKEN"})))
    seen = environment_for(bench.equipment)
    assert not {"OPENAI_API_KEY", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN"} & seen.keys()
    assert seen["CODEX_HOME"] == str(bench.home)
