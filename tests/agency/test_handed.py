"""A whole daemon and a task of it: is its agent handed the owner's mail and calendar?"""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from keryx.app import Keryx
from keryx.config.files import load
from keryx.tasks.models import TaskStatus
from tests.support.acp_server import AcpModel, acp_model
from tests.support.google.oauth import signed_in
from tests.support.google.server import GoogleServer

BOUND_S = 60.0
ROOT = Path(__file__).parents[2]

CONFIG = """\
[agents]
default = "acme"
pass_environment = "PYTHONPATH"
[acp]
acme = "{python} {agent}"
[projects]
root = "{projects}"
"""


def household(tmp_path: Path) -> dict[str, str]:
    """The environment of a daemon whose only agent is the scripted one."""
    home, projects = tmp_path / "home", tmp_path / "projects"
    for folder in (home, projects / "parser"):
        folder.mkdir(parents=True)
    agent = ROOT / "tests" / "support" / "acp_agent.py"
    (home / "config.toml").write_text(CONFIG.format(python=sys.executable, agent=agent, projects=projects))
    return {"KERYX_HOME": str(home), "HOME": str(tmp_path)}


async def handed(keryx: Keryx, model: AcpModel) -> list[str]:
    """The servers of tools that the agent of a new task has."""
    # Whatever else runs here already, a helper of Python's own included, is none of this task's.
    others = set(psutil.Process().children())
    async with asyncio.timeout(BOUND_S):
        task = await keryx.manager.dispatch("look for the papers", agent="acme", project="parser")
        assert (await keryx.manager.wait(task.id)).status is TaskStatus.DONE
        while set(psutil.Process().children()) - others:  # noqa: ASYNC110 - nothing tells of it, once the task is done
            await asyncio.sleep(0.02)
    return model.settings["servers"]


async def test_the_next_task_after_a_sign_in_has_the_mail_and_the_calendar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("acp", reason="the ACP library is not installed")
    from tests.support.acp_agent import Traits

    environ = household(tmp_path)
    settings, places = load(environ=environ)
    async with acp_model() as model:
        # What an agent inherits is the daemon's own environment.
        traits = json.dumps(asdict(Traits(model=model.url, home=str(tmp_path))))
        for name, value in {**environ, "ACP_AGENT": traits, "PYTHONPATH": str(ROOT)}.items():
            monkeypatch.setenv(name, value)
        async with Keryx.open(settings, places) as keryx:
            assert await handed(keryx, model) == []
            signed_in(places.google_dir, GoogleServer("http://127.0.0.1:9"))
            (server,) = await handed(keryx, model)
            assert server.startswith("mail_and_calendar_")
            assert server.endswith(f"={sys.executable}")
            assert keryx.page_key not in server
        # Nothing may happen to anybody's account in a demo.
        async with Keryx.open(settings, places, demo=True) as keryx:
            assert await handed(keryx, model) == []
