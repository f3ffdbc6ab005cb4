"""How Codex is set up: its program, and what a task's mode and the house's tool servers mean in its own settings.

What enforces a mode where Codex's sandbox works:

- plan: the sandbox. All is read-only and there is no network; file changes, and commands that ask to leave the sandbox,
  are put to us, and the mode denies them.
- ask: our own answer. Every command and file change is put to us; what was allowed runs in the sandbox of mode auto, or
  outside if it asked for that.
- auto: the sandbox. Writing is possible only below the task's directory, in its repository and in the scratch
  directory, and there is no network; commands that ask to leave the sandbox, and changes of files elsewhere, are put to
  us.
- full: nothing. What Codex itself takes for dangerous is put to us all the same, and the mode allows it.

Where it does not work, as in many containers, every command and file change is put to us in every mode but full, and
what was allowed runs with nothing around it. The first line of progress says so.

The repository (`.git`) is writable in the sandbox, which Codex by itself forbids: an agent that cannot commit is no
use. A command that may leave the sandbox, or runs where there is none, and whose words do not show what it does (any
interpreter, any program nobody knows) is asked about in mode auto: nothing else would hold it.

Tools of MCP servers are put to us one by one, except in mode full.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keryx.agents.equipment import Equipment, McpServer, McpServers
from keryx.agents.processes import TAGS
from keryx.agents.surroundings import bundled_program, find_program
from keryx.errors import ConfigError

API_KEY = "CODEX_API_KEY"
"""What the login calls its API key. The app-server does not look for it in its environment: it is handed over."""
NEVER = frozenset({"OPENAI_API_KEY"})
"""The voice model's key, which Codex would find and use."""
NO_SANDBOX = "Codex's own sandbox doesn't work on this machine, so everything it does is put to you or the rules first"

_GITDIR = re.compile(r"gitdir: (.+)")


@dataclass(frozen=True)
class Hold:
    """What holds Codex back in one mode."""

    policy: str
    """untrusted: every command and change is put to us. on-request: what asks to leave the sandbox."""
    sandbox: str
    wary: bool = False
    """What is put to us may leave the sandbox, or there is none: a command counts as more than its words show."""
    tools: str = "prompt"
    """How tools of MCP servers are approved: `prompt` puts each to us, `approve` none."""


def hold_for(mode: str, *, sandboxed: bool) -> Hold:
    """What holds Codex back in `mode`, where its sandbox works or does not; an unknown mode is held as `ask`."""
    if mode == "full":
        # Policy "never" would refuse some commands that every other mode may allow.
        return Hold("on-request", "danger-full-access", tools="approve")
    if not sandboxed:
        # A read-only sandbox that cannot be set up would fail every command, reading included.
        return Hold("untrusted", "danger-full-access", wary=mode != "ask")
    match mode:
        case "plan":
            return Hold("on-request", "read-only", wary=True)
        case "auto":
            return Hold("on-request", "workspace-write", wary=True)
        case _:
            return Hold("untrusted", "workspace-write")


def thread_settings(
    hold: Hold, directory: Path, model: str | None, equipment: Equipment, servers: McpServers
) -> dict[str, Any]:
    """The settings of a thread, the same for a new one and one that is taken up again. Reads a file or two."""
    config: dict[str, Any] = {
        "features.default_mode_request_user_input": True,
        "suppress_unstable_features_warning": True,
    }
    if hold.sandbox == "workspace-write":
        config["sandbox_workspace_write.writable_roots"] = [str(place) for place in repository_places(directory)]
        config["sandbox_workspace_write.network_access"] = False
    if _meddles(directory, servers, equipment.environment):
        # Codex would lay the project's table over ours, and let a tool run unasked that is named there.
        config["projects"] = {str(directory): {"trust_level": "untrusted"}}
    elif hold.sandbox != "read-only" and not _distrusted(directory, equipment.environment):
        # Codex trusts a directory that it is to write in; told so here, it does not write that into the owner's file.
        config["projects"] = {str(directory): {"trust_level": "trusted"}}
    if servers:
        config["mcp_servers"] = {name: _server(server, hold) for name, server in servers.items()}
    settings: dict[str, Any] = {
        "cwd": str(directory),
        "approvalPolicy": hold.policy,
        "approvalsReviewer": "user",
        "sandbox": hold.sandbox,
        "config": config,
    }
    return settings | ({"model": model} if model else {})


def _home(environment: Mapping[str, str]) -> Path:
    """Where the owner's own settings of Codex lie."""
    return Path(environment.get("CODEX_HOME") or Path(environment.get("HOME") or Path.home(), ".codex"))


def _distrusted(directory: Path, environment: Mapping[str, str]) -> bool:
    """Whether the owner has told Codex not to trust `directory`, or what it lies in."""
    places = [str(place) for place in (directory, *directory.parents)]
    try:
        projects = tomllib.loads((_home(environment) / "config.toml").read_text(encoding="utf-8")).get("projects", {})
        return any(projects.get(place, {}).get("trust_level") == "untrusted" for place in places)
    except FileNotFoundError:
        return False
    except (OSError, ValueError, AttributeError):
        return True  # what cannot be read may say so


def _meddles(directory: Path, servers: McpServers, environment: Mapping[str, str]) -> bool:
    """Whether a project's own settings say something of a server that it is not theirs to say anything of."""
    owners = _home(environment)
    for folder in (each / ".codex" for each in (directory, *directory.parents)):
        if folder == owners:
            continue
        try:
            tables = tomllib.loads((folder / "config.toml").read_text(encoding="utf-8")).get("mcp_servers")
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            return bool(servers)
        if servers.keys() & (tables if isinstance(tables, dict) else {}).keys():
            return True
    return False


def _server(server: McpServer, hold: Hold) -> dict[str, Any]:
    more: dict[str, Any] = {"default_tools_approval_mode": hold.tools}
    if server.call_s is not None:
        more["tool_timeout_sec"] = server.call_s
    if server.url:
        return {"url": server.url, **more}
    command, *arguments = server.command
    # It hands its servers a few variables only, and the tags are how one that it left behind is found.
    return {"command": command, "args": arguments, "env": dict(server.environment), "env_vars": [*TAGS], **more}


def repository_places(directory: Path) -> list[Path]:
    """Where git keeps the repository that `directory` lies in; of a worktree, both its own part and the whole."""
    for folder in (directory, *directory.parents):
        place = folder / ".git"
        if place.is_dir():
            return [place]
        if place.is_file():
            return _worktree_places(place)
    return []


def _worktree_places(place: Path) -> list[Path]:
    try:
        if not (found := _GITDIR.match(place.read_text(encoding="utf-8"))):
            return []
        own = (place.parent / found[1].strip()).resolve()
        common = own / "commondir"
        whole = (own / common.read_text(encoding="utf-8").strip()).resolve() if common.is_file() else own
    except (OSError, ValueError):
        return []
    return list(dict.fromkeys((own, whole)))


def environment_for(equipment: Equipment) -> dict[str, str]:
    """What Codex's process sees, which is what its shell sees too: the API key is not in it."""
    hidden = NEVER | {API_KEY}
    return {name: value for name, value in equipment.signed_in_environment.items() if name not in hidden}


def program_for(equipment: Equipment) -> str:
    """The executable: the owner's choice, the one that comes with the package, or the one on the PATH.

    Raises `ConfigError` when there is none.
    """
    if equipment.program:
        found = find_program(equipment.program, equipment.environment)
    else:
        found = bundled_program("codex_cli_bin", "bin/codex") or find_program("codex", equipment.environment)
    if found is None:
        raise ConfigError(
            "Codex is not installed: pip install 'keryx[codex]', or name its program in codex.program",
            spoken="Codex isn't installed on your machine.",
        )
    return found
