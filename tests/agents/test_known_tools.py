"""Servers of tools that the house itself hands to agents: judged by what the house knows, and there when they are used.

The agents are real and run offline; what the model says is scripted, and the server is a program of the tests.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from keryx.agents.base import Answer, Ask, Effect, RunResult
from keryx.agents.equipment import KnownTool, McpServer, McpServers
from keryx.approvals.modes import ModeApprover
from tests.agents.benches import REAL, Real
from tests.support import mcp_program
from tests.support.listener import BOUND_S, Listener
from tests.support.model_steps import Call, Say

SHOP = "shop_7f3a91"
LOOK_UP, ORDER = Call(f"mcp__{SHOP}__look_up", {"what": "lamps"}), Call(f"mcp__{SHOP}__order", {"what": "a lamp"})
DONE = Say("Done.\n\nSPOKEN_SUMMARY: It is done.")


@pytest.fixture(params=REAL, ids=lambda factory: factory.__name__)
async def real(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Real]:
    async with request.param(tmp_path) as bench:
        yield bench


def known(doing: str, text: str, effect: Effect) -> KnownTool:
    def judge(arguments: Mapping[str, Any]) -> Ask:
        return Ask(f"{text} {arguments.get('what')}", effect, detail=str(arguments))

    return KnownTool(doing, judge, frozenset({"what"}), frozenset({"what"}))


def shop(tmp_path: Path, manner: str = "") -> McpServers:
    """The shop, of which the house knows that looking is harmless and ordering is not, whatever it says of itself."""
    tools = {
        "look_up": known("Looking it up", "look up", Effect.READ),
        "order": known("Ordering something", "order", Effect.SEND),
    }
    environment = {"SHOP": manner, "ORDERS": str(tmp_path / "orders")}
    command = (sys.executable, str(mcp_program.__file__))
    return {SHOP: McpServer(command, environment=environment, tools=tools, call_s=2.0)}


def orders(tmp_path: Path) -> int:
    file = tmp_path / "orders"
    return len(file.read_text().splitlines()) if file.exists() else 0


def hand(real: Real, servers: McpServers) -> None:
    """Hand out `servers`, with the modes deciding what the scripted approver is asked."""
    real.equipped(mcp_servers=lambda place: servers, approver=ModeApprover(real.approver))


async def turn(real: Real, mode: str = "auto", listener: Listener | None = None) -> RunResult:
    session = await real.runner.open(real.task(mode=mode))
    try:
        async with asyncio.timeout(BOUND_S):
            return await session.run("do it", on_progress=listener or Listener())
    finally:
        await session.close()


async def test_what_only_looks_is_free_and_what_others_see_is_asked_with_its_own_sentence(real: Real, tmp_path: Path):
    hand(real, shop(tmp_path))
    real.server.script(LOOK_UP, ORDER, DONE)
    listener = Listener()
    result = await turn(real, listener=listener)
    assert result.ok, result.error
    assert real.server.heard("look_up with no key") == 1
    assert [(ask.text, ask.effect, ask.detail) for ask in real.approver.asks] == [
        ("order a lamp", Effect.SEND, "{'what': 'a lamp'}")
    ]
    assert orders(tmp_path) == 1
    assert listener.place("Looking it up") < listener.place("Ordering something")


async def test_what_is_refused_does_not_happen_and_the_turn_goes_on(real: Real, tmp_path: Path):
    hand(real, shop(tmp_path))
    real.approver.otherwise = Answer(False, "Not today.")
    real.server.script(ORDER, DONE)
    result = await turn(real)
    assert result.ok, result.error
    assert result.spoken_summary == "It is done."
    assert len(real.approver.asks) == 1
    assert orders(tmp_path) == 0


async def test_a_plan_may_look_and_do_nothing_else(real: Real, tmp_path: Path):
    hand(real, shop(tmp_path))
    real.server.script(LOOK_UP, ORDER, DONE)
    assert (await turn(real, "plan")).ok
    assert not real.approver.asks
    assert orders(tmp_path) == 0


async def test_full_mode_asks_nobody(real: Real, tmp_path: Path):
    hand(real, shop(tmp_path))
    real.approver.otherwise = Answer(False, "No.")
    real.server.script(ORDER, DONE)
    assert (await turn(real, "full")).ok
    assert not real.approver.asks
    assert orders(tmp_path) == 1


async def test_a_server_that_takes_two_seconds_to_start_is_there_at_the_first_turn(real: Real, tmp_path: Path):
    hand(real, shop(tmp_path, "slow"))
    real.server.script(LOOK_UP, DONE)
    assert (await turn(real)).ok
    assert real.server.heard("look_up with no key") == 1


@pytest.mark.parametrize("manner", ["gone", "dies", "silent"])
async def test_a_server_that_fails_does_not_take_the_turn_down(real: Real, tmp_path: Path, manner: str):
    if manner == "silent" and real.task().agent == "acme":
        pytest.skip("how long a tool may run is for each agent of this kind to say")
    hand(real, shop(tmp_path, manner))
    real.server.script(LOOK_UP, DONE)
    result = await turn(real)
    assert result.ok, result.error
    assert result.spoken_summary == "It is done."
    assert real.server.heard("look_up with no key") == 0


async def test_the_servers_are_those_of_the_moment_a_conversation_is_opened(real: Real, tmp_path: Path):
    handed: list[Path] = []
    servers: dict[str, McpServer] = {}

    def now(place: Path) -> McpServers:
        handed.append(place)
        return dict(servers)

    real.equipped(mcp_servers=now, approver=ModeApprover(real.approver))
    session = await real.runner.open(real.task())
    servers.update(shop(tmp_path))
    real.server.script(LOOK_UP, DONE)
    async with asyncio.timeout(BOUND_S):
        await session.run("do it", on_progress=Listener())
    await session.close()
    assert real.server.heard("look_up with no key") == 0
    assert handed == [real.workplace.resolve()]
    real.server.script(LOOK_UP, DONE)
    assert (await turn(real)).ok
    assert real.server.heard("look_up with no key") == 1
    assert len(handed) == 2


async def test_a_conversation_that_is_taken_up_again_has_its_servers(real: Real, tmp_path: Path):
    hand(real, shop(tmp_path, "slow"))
    first = await turn(real)
    real.server.script(LOOK_UP, DONE)
    session = await real.runner.open(real.task(), resume=first.session_id)
    async with asyncio.timeout(BOUND_S):
        second = await session.run("go on", on_progress=Listener())
    await session.close()
    assert second.session_id == first.session_id
    assert real.server.heard("look_up with no key") == 1
    assert not real.approver.asks


async def test_an_agent_that_was_killed_between_two_turns_has_its_servers_again(real: Real, tmp_path: Path):
    if real.task().agent == "acme":
        pytest.skip("an agent of this kind is started again with the next conversation")
    hand(real, shop(tmp_path, "slow"))
    session = await real.runner.open(real.task())
    async with asyncio.timeout(BOUND_S):
        await session.run("do it", on_progress=Listener())
        for agent in psutil.Process().children():
            agent.kill()
        real.server.script(LOOK_UP, DONE)
        result = await session.run("go on", on_progress=Listener())
    await session.close()
    assert result.ok, result.error
    assert real.server.heard("look_up with no key") == 1
    assert not real.approver.asks


@pytest.mark.parametrize("how", ["closed", "killed"])
async def test_a_server_does_not_outlive_its_agent(real: Real, tmp_path: Path, how: str):
    hand(real, shop(tmp_path))
    real.server.script(LOOK_UP, DONE)
    session = await real.runner.open(real.task())
    async with asyncio.timeout(BOUND_S):
        await session.run("do it", on_progress=Listener())
    (server,) = [each for each in psutil.Process().children(recursive=True) if is_shop(each)]
    assert server.environ()["KERYX_TASK_ID"] == "1"
    assert server.environ()["KERYX_AGENT_OF"] == str(tmp_path / "data")
    if how == "killed":
        server.suspend()  # it does not even see the end of its input
        for agent in psutil.Process().children():
            agent.kill()
    await session.close()
    assert not psutil.pid_exists(server.pid) or server.status() == psutil.STATUS_ZOMBIE


def is_shop(process: psutil.Process) -> bool:
    try:
        return str(mcp_program.__file__) in process.cmdline()
    except psutil.Error:
        return False


async def test_another_server_of_the_same_name_in_other_hands_is_a_stranger(real: Real, tmp_path: Path):
    """As when the owner has put one of their own in its place."""
    servers = {name: replace(server, tools={}) for name, server in shop(tmp_path).items()}
    hand(real, servers)
    real.server.script(ORDER, DONE)
    assert (await turn(real)).ok
    assert [ask.effect for ask in real.approver.asks] == [Effect.UNKNOWN]


def test_a_tool_is_called_with_what_it_takes_and_needs():
    tool = KnownTool("Looking", lambda arguments: Ask("look"), frozenset({"query", "most"}), frozenset({"query"}))
    assert tool.fits({"query": "x"})
    assert tool.fits({"query": "x", "most": 3})
    assert not tool.fits({"most": 3})
    assert not tool.fits({"query": "x", "command": "rm"})
