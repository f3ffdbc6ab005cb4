"""Real agents in a really started daemon, with a scripted model: whom a task goes to, and where it is done."""

import importlib.util
import os
import urllib.error
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.anthropic_server import AnthropicServer, anthropic_server
from tests.support.daemon import started
from tests.support.model_steps import Run, Say

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("claude_agent_sdk") is None, reason="Claude Code is not installed"
)

PROJECT = "Rechnungen für 東京"
KEY = "sk-ant-scripted-0123456789"


@pytest.fixture
async def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AnthropicServer]:
    """The model of a Claude Code that nobody is signed in to."""
    for name in os.environ:
        if name.startswith(("ANTHROPIC_", "CLAUDE", "CODEX_", "OPENAI_", "AWS_")):
            monkeypatch.delenv(name)
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    async with anthropic_server() as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        yield server


async def test_a_task_is_done_by_the_agent_that_is_signed_in_where_its_project_is(
    model: AnthropicServer, tmp_path: Path
) -> None:
    (tmp_path / "src" / PROJECT).mkdir(parents=True)
    (tmp_path / "src" / "gone").mkdir()
    environment = {"KERYX_PROJECTS__ROOT": str(tmp_path / "src"), "KERYX_PROJECTS__NAMES": f"{PROJECT}, gone"}
    async with started(tmp_path / "home", demo=False, KERYX_CLAUDE__API_KEY=KEY, **environment) as daemon:
        model.script(Run("printenv > seen.txt; pwd"), Say("SPOKEN_SUMMARY: I looked around."))
        made = await daemon.post("/api/tasks", {"description": "Look around.", "project": PROJECT, "model": "Opus"})
        task = await daemon.task_ends(made["id"])
        assert (task["agent"], task["status"], task["summary"]) == ("claude", "done", "I looked around.")
        assert task["cost_usd"]
        seen = (tmp_path / "src" / PROJECT / "seen.txt").read_text()
        assert str(tmp_path / "src" / PROJECT) in seen
        assert "KERYX_PROJECTS__ROOT" not in seen
        assert KEY not in (await daemon.get("/api/tasks/1"))["report"]

        (tmp_path / "src" / "gone").rmdir()
        made = await daemon.post("/api/tasks", {"description": "Look around.", "project": "gone"})
        task = await daemon.task_ends(made["id"])
        assert (task["status"], task["summary"]) == ("failed", "The gone folder isn't there any more.")

        with pytest.raises(urllib.error.HTTPError, match="404"):
            await daemon.post("/api/tasks", {"description": "Look around.", "project": "kitchen"})


async def test_in_a_demo_a_real_agent_works_only_when_it_is_named(model: AnthropicServer, tmp_path: Path) -> None:
    async with started(tmp_path / "home", ANTHROPIC_API_KEY=KEY) as daemon:
        made = await daemon.post("/api/tasks", {"description": "Run the tests.", "project": "parser"})
        assert made["agent"] == "fake"
        model.script(Run("ls"), Say("SPOKEN_SUMMARY: It is a parser."))
        made = await daemon.post("/api/tasks", {"description": "Look.", "project": "parser", "agent": "Claude Code"})
        task = await daemon.task_ends(made["id"])
        assert (task["agent"], task["summary"]) == ("claude", "It is a parser.")


async def test_in_a_demo_an_agent_that_nobody_signed_in_to_is_not_there(model: AnthropicServer, tmp_path: Path) -> None:
    async with started(tmp_path / "home") as daemon:
        with pytest.raises(urllib.error.HTTPError, match="404") as refused:
            await daemon.post("/api/tasks", {"description": "Look.", "agent": "claude"})
        assert b"there is fake" in refused.value.read()


async def test_a_default_that_is_not_there_is_one_line_that_says_what_to_do(
    model: AnthropicServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERYX_AGENTS__DEFAULT", "cursor")
    with pytest.raises(RuntimeError, match="ended with 1"):
        async with started(tmp_path / "home", demo=False):
            pass
    (line,) = (tmp_path / "home.log").read_text().splitlines()
    assert line.startswith(
        'keryx: agents.default is "cursor", and there is no such agent; there is claude, codex, fake'
    )
