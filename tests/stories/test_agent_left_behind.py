"""The daemon is killed while a real agent works: nothing of the agent stays, and nothing of anybody else's goes."""

import json
import shlex
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from keryx.agents.processes import tagged
from keryx.agents.surroundings import small_environment
from tests.agents.claude import bench as claude_bench
from tests.agents.codex import bench as codex_bench
from tests.support.acp_server import acp_model
from tests.support.anthropic_server import anthropic_server
from tests.support.daemon import Daemon, started
from tests.support.model_steps import ModelServer, Run, Say
from tests.support.programs import bystander, carrying, running, until
from tests.support.responses_server import responses_server

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows a process's environment")

ACME = Path(__file__).parent.parent / "support" / "acp_agent.py"
LONG_WORK = "setsid sleep 999 & sleep 999"

Scripted = Callable[[Path], AbstractAsyncContextManager[tuple[ModelServer, dict[str, str]]]]
"""A scripted model, and the environment in which the agent of a daemon talks to it."""


@asynccontextmanager
async def claude(folder: Path) -> AsyncIterator[tuple[ModelServer, dict[str, str]]]:
    if claude_bench.WHY_NOT:
        pytest.skip(claude_bench.WHY_NOT)
    async with anthropic_server() as model:
        yield model, {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": claude_bench.KEY}


@asynccontextmanager
async def codex(folder: Path) -> AsyncIterator[tuple[ModelServer, dict[str, str]]]:
    if codex_bench.WHY_NOT:
        pytest.skip(codex_bench.WHY_NOT)
    async with responses_server() as model:
        (folder / "codex-home").mkdir()
        (folder / "codex-home/config.toml").write_text(
            codex_bench.CONFIG.format(model=codex_bench.MODEL, url=model.url)
        )
        yield model, {"CODEX_HOME": str(folder / "codex-home")}


@asynccontextmanager
async def acme(folder: Path) -> AsyncIterator[tuple[ModelServer, dict[str, str]]]:
    if not find_spec("acp"):
        pytest.skip("ACP is not installed: pip install 'keryx[acp]'")
    async with acp_model() as model:
        (folder / "acme").mkdir()
        traits = {"model": model.url, "home": str(folder / "acme")}
        yield model, {"KERYX_ACP__ACME": shlex.join([sys.executable, str(ACME)]), "ACP_AGENT": json.dumps(traits)}


AGENTS: list[tuple[str, Scripted]] = [("claude", claude), ("codex", codex), ("acme", acme)]


def agents_of(home: Path) -> set[int]:
    """The agents that the daemon at `home` has on record."""
    return {json.loads(record.read_text())["pid"] for record in (home / "agent-processes").glob("*.json")}


async def at_work(daemon: Daemon, agent: str, home: Path) -> tuple[set[int], set[int]]:
    """Hand the long work to an agent and wait until it runs: the agent's own processes, and the two that it started."""
    await daemon.post("/api/tasks", {"description": "Wait for a long time.", "agent": agent, "mode": "full"})
    sleeping: set[int] = set()

    def both() -> bool:
        nonlocal sleeping
        sleeping = {pid for pid in carrying("KERYX_AGENT_OF", str(home)) if words(pid) == ["sleep", "999"]}
        return len(sleeping) == 2

    await until(both)
    return agents_of(home), sleeping


def words(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except OSError:
        return []


@pytest.mark.parametrize(("agent", "scripted"), AGENTS, ids=[name for name, _ in AGENTS])
async def test_a_daemon_killed_while_its_agent_works_leaves_nothing_behind_and_ends_nothing_of_anybody_elses(
    tmp_path: Path, agent: str, scripted: Scripted
) -> None:
    home = tmp_path / "home"
    nobodys, anothers = small_environment(), tagged(small_environment(KERYX_TASK_ID="1"), tmp_path / "another")
    async with (
        scripted(tmp_path) as (model, environment),
        bystander(["sleep", "999"], nobodys),
        bystander(["sleep", "999"], anothers),
    ):
        model.script(Run(LONG_WORK), Say("Waited.\n\nSPOKEN_SUMMARY: I waited."))
        async with started(home, demo=True, **environment, HOME=str(tmp_path)) as killed:
            agents, sleeping = await at_work(killed, agent, home)
            assert agents
            assert all(running(pid) for pid in agents)
            killed.process.kill()
            await killed.process.wait()
        await until(lambda: not any(running(pid) for pid in agents))

        async with started(home, demo=True, **environment, HOME=str(tmp_path)) as next_one:
            assert not any(running(pid) for pid in sleeping)
            task = await next_one.task_ends(1)
            assert task["status"] == "done", task
            await until(lambda: not carrying("KERYX_AGENT_OF", str(home)) and not agents_of(home))


@pytest.mark.parametrize(("agent", "scripted"), AGENTS, ids=[name for name, _ in AGENTS])
async def test_a_cancelled_task_leaves_nothing_running(tmp_path: Path, agent: str, scripted: Scripted) -> None:
    home = tmp_path / "home"
    async with scripted(tmp_path) as (model, environment), bystander(["sleep", "999"], small_environment()):
        model.script(Run(LONG_WORK))
        async with started(home, demo=True, **environment, HOME=str(tmp_path)) as daemon:
            await at_work(daemon, agent, home)
            await daemon.post("/api/tasks/1/cancel", {})
            assert (await daemon.task_ends(1))["status"] == "cancelled"
            await until(lambda: not carrying("KERYX_AGENT_OF", str(home)) and not agents_of(home))
