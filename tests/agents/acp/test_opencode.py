"""The real opencode over ACP, before a scripted model. Only with KERYX_TEST_ACP=1, and where opencode is installed."""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil
import pytest

from keryx.agency.workspace import workspace_servers
from keryx.agents.base import AgentSession, Answer, RunResult
from keryx.agents.equipment import Equipment, Login
from keryx.agents.processes import AgentProcesses
from keryx.agents.surroundings import small_environment
from keryx.approvals.modes import ModeApprover
from keryx.config.settings import Settings
from keryx.tasks.models import Task, TaskStatus
from tests.agents.test_known_tools import SHOP, orders, shop
from tests.support.chat_server import ChatServer, chat_server
from tests.support.google.oauth import signed_in
from tests.support.google.server import served_google
from tests.support.model_steps import Call, Refuse, Run, Say, Write
from tests.support.scripted_approver import ScriptedApprover

pytestmark = [
    pytest.mark.skipif(os.environ.get("KERYX_TEST_ACP") != "1", reason="opencode is tried only with KERYX_TEST_ACP=1"),
    pytest.mark.skipif(shutil.which("opencode") is None, reason="opencode is not installed: npm install opencode-ai"),
]

BOUND_S = 90.0
"""It takes seconds to start, and more on a machine that runs other things too."""
DONE = Say("All done.\n\nSPOKEN_SUMMARY: It is done.")


@dataclass
class Bench:
    equipment: Equipment
    server: ChatServer
    approver: ScriptedApprover
    workplace: Path

    async def open(self, resume: str | None = None, **changes: Any) -> AgentSession:
        from keryx.agents.acp.runner import AcpAgentRunner

        task = Task(1, "a task", TaskStatus.RUNNING, "opencode", datetime(2026, 3, 2, tzinfo=UTC), **changes)
        command = ["opencode", "acp"]
        runner = AcpAgentRunner(self.equipment, name="opencode", called="Opencode", command=command, steers=True)
        return await runner.open(task, resume=resume)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    pytest.importorskip("acp", reason="the ACP library is not installed: pip install 'keryx[acp]'")
    workplace = tmp_path / "работа one"
    workplace.mkdir()
    approver = ScriptedApprover()
    async with chat_server(("bash", "command"), ("write", "filePath", "content"), {"description": "as told"}) as server:
        models = {name: {"name": name, "limit": {"context": 100_000, "output": 8_000}} for name in ("small", "large")}
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": {"baseURL": server.url, "apiKey": "{env:SCRIPTED_KEY}"},
            "models": models,
        }
        config = {"model": "scripted/small", "small_model": "scripted/small", "provider": {"scripted": provider}}
        environment = small_environment(
            HOME=str(tmp_path),
            OPENCODE_CONFIG_CONTENT=json.dumps({**config, "autoupdate": False, "share": "disabled"}),
            **dict.fromkeys(("OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_AUTOUPDATE"), "1"),
        )
        equipment = Equipment(
            workplace=lambda task: workplace,
            processes=AgentProcesses(tmp_path / "data"),
            login=Login("API key", {"SCRIPTED_KEY": "scripted-0123456789"}),
            approver=approver,
            environment=environment,
        )
        yield Bench(equipment, server, approver, workplace)
    assert not psutil.Process().children(recursive=True)


async def ask(session: AgentSession, lines: list[str] | None = None, prompt: str = "do it") -> RunResult:
    async def listen(line: str) -> None:
        if lines is not None:
            lines.append(line)

    async with asyncio.timeout(BOUND_S):
        return await session.run(prompt, on_progress=listen)


async def test_a_command_and_a_file_are_asked_for_told_of_and_done(bench: Bench):
    bench.server.script(
        Run("echo a1b2 > made", say="I look around."), Write(str(bench.workplace / "notes.txt"), "hello\n"), DONE
    )
    session, lines = await bench.open(), []
    result = await ask(session, lines)
    await session.close()
    assert result.ok, result.error
    assert result.spoken_summary == "It is done."
    assert lines == ["I look around.", "Running echo a1b2 > made", "Editing notes.txt", "Added notes.txt"]
    assert [asked.effect for asked in bench.approver.asks] == ["change", "change"]
    assert (bench.workplace / "notes.txt").read_text() == "hello\n"
    assert (bench.workplace / "made").exists()
    assert result.usage is not None
    assert result.usage.input_tokens >= result.usage.cached_input_tokens > 0


async def test_what_is_refused_is_not_done(bench: Bench):
    bench.approver.otherwise = Answer(False, "No.")
    bench.server.script(Run("touch made"), DONE)
    session = await bench.open(mode="ask")
    await ask(session)
    await session.close()
    assert len(bench.approver.asks) == 1
    assert not (bench.workplace / "made").exists()


@pytest.mark.parametrize("answer", [Answer(True), Answer(False, "No.")], ids=["allowed", "refused"])
async def test_a_tool_of_the_house_is_judged_by_the_house_whatever_the_project_allows(bench: Bench, answer: Answer):
    everything = {"*": "allow", "shop*": "allow", "*order": "allow"}
    (bench.workplace / "opencode.json").write_text(json.dumps({"permission": everything}))
    servers = shop(bench.workplace.parent)
    approver = ModeApprover(bench.approver)
    bench.equipment = replace(bench.equipment, mcp_servers=lambda place: servers, approver=approver)
    bench.approver.otherwise = answer
    look_up, order = (Call(f"{SHOP}_{tool}", {"what": "lamps"}) for tool in ("look_up", "order"))
    bench.server.script(look_up, order, DONE)
    session, lines = await bench.open(mode="auto"), []
    await ask(session, lines)
    await session.close()
    assert bench.server.heard("look_up with no key") == 1
    assert [asked.effect for asked in bench.approver.asks] == ["send"]
    assert orders(bench.workplace.parent) == answer.allowed
    assert lines[0] == "Looking it up"


async def test_it_has_the_owners_mail_and_asks_before_it_sends_any(bench: Bench, tmp_path: Path):
    with served_google() as google:
        signed_in(tmp_path / "google", google)
        google.mailbox.write("As promised.", subject="The papers for Tuesday")
        settings = Settings.model_validate({"google": {"api_url": google.url}})
        servers = workspace_servers(tmp_path / "google", settings, {"HOME": str(tmp_path)}, secret="secret")
        approver = ModeApprover(bench.approver)
        bench.equipment = replace(bench.equipment, mcp_servers=servers, approver=approver)
        bench.approver.otherwise = Answer(False, "No.")
        (name,) = servers(bench.workplace)
        letter = {"to": ["bo@example.org"], "subject": "Thursday", "text": "Thursday it is."}
        bench.server.script(Call(f"{name}_search_mail", {"query": ""}), Call(f"{name}_send_mail", letter), DONE)
        session = await bench.open(mode="auto")
        await ask(session)
        await session.close()
        assert bench.server.heard("Anna Berg <anna@example.com>: The papers for Tuesday") == 1
        assert [asked.effect for asked in bench.approver.asks] == ["send"]
        assert not [mail for mail in google.mailbox.mails.values() if "SENT" in mail.labels]


async def test_full_mode_asks_nobody(bench: Bench):
    bench.approver.otherwise = Answer(False, "No.")
    bench.server.script(Run("touch made"), DONE)
    session = await bench.open(mode="full")
    assert (await ask(session)).ok
    await session.close()
    assert not bench.approver.asks
    assert (bench.workplace / "made").exists()


async def test_a_model_is_chosen_and_an_unknown_one_refused(bench: Bench):
    session = await bench.open(model="large", mode="plan")
    assert (await ask(session)).ok
    await session.close()
    assert bench.server.requests[-1]["model"] == "large"
    session = await bench.open(model="no such thing")
    assert "no such thing" in ((await ask(session)).error or "")
    await session.close()


async def test_a_provider_that_refuses_is_a_failure_with_its_words(bench: Bench):
    bench.server.script(*[Refuse(400, "the moon is in the wrong phase")] * 3)
    session = await bench.open()
    result = await ask(session)
    await session.close()
    assert not result.ok
    assert "the moon is in the wrong phase" in (result.error or "")


async def test_a_second_prompt_is_answered_in_the_same_turn(bench: Bench):
    bench.server.script(Run("sleep 1"), DONE, DONE)
    session = await bench.open(mode="full")
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session))
        await bench.server.asked()
        await session.send("and the leap years of ninety-six")
        result = await turn
    await session.close()
    assert result.ok, result.error
    assert bench.server.heard("the leap years of ninety-six") == 1


async def test_a_second_prompt_near_the_end_is_answered_too_and_once(bench: Bench):
    session = await bench.open(mode="full")
    for race in range(12):
        bench.server.script(Say("Short enough to end soon.", pause_s=0.01, piece_chars=5))
        text = f"text number {race} of these"
        before = len(bench.server.requests)
        async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
            turn = group.create_task(ask(session))
            await bench.server.asked(before + 1)
            await asyncio.wait({turn}, timeout=0.02 * race)
            if turn.done():
                break
            await session.send(text)
            assert (await turn).ok
        assert bench.server.heard(text) == 1
    await session.close()


async def test_an_interrupted_command_is_gone_and_the_conversation_goes_on(bench: Bench):
    bench.server.script(Run("sleep 619"), DONE)
    session, lines = await bench.open(mode="full"), []
    async with asyncio.timeout(BOUND_S), asyncio.TaskGroup() as group:
        turn = group.create_task(ask(session, lines))
        while not any("619" in line for line in lines):
            await asyncio.wait({turn}, timeout=0.02)
            assert not turn.done()
        await session.interrupt()
        stopped = await turn
    assert not stopped.ok
    assert not [child for child in psutil.Process().children(recursive=True) if "619" in child.cmdline()]
    assert (await ask(session)).ok
    await session.close()


async def test_a_conversation_is_taken_up_again_and_a_lost_one_is_not(bench: Bench):
    session = await bench.open()
    first = await ask(session, prompt="remember the number 4711")
    await session.close()
    resumed = await bench.open(resume=first.session_id)
    second = await ask(resumed, prompt="which number?")
    await resumed.close()
    assert second.session_id == first.session_id
    assert bench.server.heard("4711") == 1
    fresh = await bench.open(resume="ses_gone")
    third = await ask(fresh)
    await fresh.close()
    assert third.ok
    assert third.session_id not in (None, "ses_gone", first.session_id)
