"""Claude Code as an agent: is it here, is somebody signed in, and opening conversations with it.

Importing this loads nothing heavy; claude-agent-sdk is loaded when the first conversation is opened.
"""

import asyncio
import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid4

from keryx.agents.claude_adapter import ClaudeAdapter
from keryx.agents.claude_launch import CONNECT_S, Gone, Launch
from keryx.agents.claude_log import ConversationFile, settings_folder
from keryx.agents.equipment import Equipment
from keryx.agents.session import AdaptedSession
from keryx.agents.surroundings import find_program
from keryx.errors import ConfigError
from keryx.tasks.models import Task

__all__ = ["CREDENTIALS", "INSTALL", "INSTRUCTIONS", "MODELS", "ClaudeAgentRunner", "Found", "installed", "signed_in"]

CREDENTIALS = {
    "ANTHROPIC_API_KEY": "API key",
    "CLAUDE_CODE_OAUTH_TOKEN": "headless token",
    "ANTHROPIC_AUTH_TOKEN": "gateway token",
}
"""The variables by which it signs in, in the order in which they are chosen, and what each is called."""
STORED_LOGIN = "stored login"
MODELS = ("opus", "sonnet", "haiku", "fable", "opusplan", "best")
"""The names of models that it knows in every version; any full model name is one too."""
INSTALL = "pip install 'keryx[claude]'"
INSTRUCTIONS = "CLAUDE.md"
"""The file in a project that it reads by itself."""

_SDK = "claude-agent-sdk"


@dataclass(frozen=True)
class Found:
    """A Claude Code on this machine."""

    program: str
    version: str | None
    """None when only the program itself could tell."""


def installed(program: str | None = None, environment: Mapping[str, str] | None = None) -> Found | None:
    """The Claude Code that would be started, or None; starts nothing.

    `program` is the one that the owner named. Without one it is the one that comes with claude-agent-sdk, which is the
    one that Keryx was tried with, else the one on the PATH of `environment`. The library itself is needed in any case.
    """
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec is None or spec.origin is None:
        return None
    bundled = Path(spec.origin).parent / "_bundled" / "claude"
    if program is None and os.access(bundled, os.X_OK):
        note = bundled.with_name("claude.version")
        return Found(str(bundled), note.read_text(encoding="utf-8").strip() or None if note.exists() else None)
    found = find_program(program or "claude", os.environ if environment is None else environment)
    return Found(found, None) if found else None


def signed_in(environment: Mapping[str, str]) -> str | None:
    """How Claude Code would sign in with these variables, for a person; None: not, as far as one can see."""
    for variable, how in CREDENTIALS.items():
        if environment.get(variable):
            return how
    folder = settings_folder(environment)
    if (folder / ".credentials.json").exists():
        return STORED_LOGIN
    if sys.platform == "darwin":
        # The login itself is in the keychain, which would ask its owner; this notes whose it is.
        beside = folder if environment.get("CLAUDE_CONFIG_DIR") else folder.parent
        try:
            noted = json.loads((beside / ".claude.json").read_bytes())
        except (OSError, ValueError):
            return None
        return STORED_LOGIN if isinstance(noted, dict) and noted.get("oauthAccount") else None
    return None


class ClaudeAgentRunner:
    """Opens conversations with Claude Code."""

    def __init__(self, equipment: Equipment, *, name: str = "claude", connect_s: float = CONNECT_S) -> None:
        """`connect_s`: how long it may take from its start until it answers."""
        self.name = name
        self._equipment = equipment
        self._connect_s = connect_s

    async def open(self, task: Task, *, resume: str | None = None) -> AdaptedSession:
        equipment = self._equipment
        place = await asyncio.to_thread(equipment.workplace, task)
        launch = Launch(equipment, task, place.resolve(), self._program(), _sdk_version(), self._connect_s)
        if resume is not None and await asyncio.to_thread(ConversationFile(launch.environment, resume).exists):
            adapter = ClaudeAdapter(launch, resume)
            try:
                await adapter.connect(resume=True)
                return AdaptedSession(adapter, task, equipment)
            except Gone:
                pass
        adapter = ClaudeAdapter(launch, str(uuid4()))
        await adapter.connect(resume=False)
        return AdaptedSession(adapter, task, equipment, forgotten=resume is not None)

    def _program(self) -> str:
        named = self._equipment.program
        if found := installed(named, self._equipment.environment):
            return found.program
        what = f"There is no program {named}" if named and _sdk_version() else "Claude Code is not installed"
        raise ConfigError(f"{what}. To install it: {INSTALL}", spoken="Claude Code isn't installed on your machine.")


def _sdk_version() -> str:
    try:
        return version(_SDK)
    except PackageNotFoundError:
        return ""
