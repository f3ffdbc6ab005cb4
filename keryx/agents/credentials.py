"""How an agent is signed in: which credential its process gets, and which it must not see.

What the settings hold goes before what the environment holds, since the owner put it there for this; within each, the
order of the tiers. Only without either does the login count that is stored on this machine.
"""

import json
import sys
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from keryx.agents.equipment import Login

MAX_FILE_BYTES = 16_000_000
"""A larger file of an agent's is not read."""

_CLOUDS = {
    "CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex",
    "CLAUDE_CODE_USE_FOUNDRY": "Microsoft Foundry",
}


@dataclass(frozen=True)
class Tier:
    """One kind of credential."""

    how: str
    """For a person: "API key"."""
    variable: str
    """What it is called in the agent's process, and in an environment that holds it already."""
    setting: str | None = None
    """The field of the agent's section that may hold it."""


@dataclass(frozen=True)
class Credentials:
    """Every way one agent can be signed in."""

    tiers: tuple[Tier, ...] = ()
    """In order of preference."""
    stored: Callable[[Mapping[str, str]], str | None] = lambda environ: None
    """How the agent is signed in by itself in this environment, for a person; None: not, as far as one can see."""
    never: frozenset[str] = frozenset()
    """Further credential variables that the agent would use and must never see."""

    def login(self, given: Mapping[str, str | None], environ: Mapping[str, str]) -> Login:
        """The login for `given` (from the settings, by the tiers' `setting`) and `environ`. Reads a file or two."""
        known = self.never | {tier.variable for tier in self.tiers}
        found = [(tier, given.get(tier.setting) if tier.setting else None) for tier in self.tiers]
        found += [(tier, environ.get(tier.variable)) for tier in self.tiers]
        for tier, value in found:
            if value:
                return Login(tier.how, {tier.variable: value}, known - {tier.variable})
        return Login(self.stored(environ), blank=known)


def claude_login(environ: Mapping[str, str]) -> str | None:
    """How Claude Code is signed in without any credential of ours."""
    for variable, cloud in _CLOUDS.items():
        if environ.get(variable, "").lower() not in ("", "0", "false", "no"):
            return cloud
    home = _home(environ)
    folder = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    match _json(folder / ".credentials.json"):
        case {"claudeAiOauth": {"accessToken": str(token)}} if token:
            return "stored login"
    # On macOS the login itself is in the keychain, which asks a person before it shows anything.
    state = _json((folder if environ.get("CLAUDE_CONFIG_DIR") else home) / ".claude.json")
    match state:
        case {"oauthAccount": {}} if sys.platform == "darwin":
            return "stored login"
    return None


def codex_login(environ: Mapping[str, str]) -> str | None:
    """How Codex is signed in without any credential of ours: by its own file, or with a provider that needs none."""
    folder = Path(environ.get("CODEX_HOME") or _home(environ) / ".codex")
    match _json(folder / "auth.json"):
        case {"OPENAI_API_KEY": str(key)} if key:
            return "stored login"
        case {"tokens": {"access_token": str(token)}} if token:
            return "stored login"
    match _toml(folder / "config.toml"):
        case {"model_provider": str(name), "model_providers": dict(providers)} if not _wants_login(providers.get(name)):
            return "its own provider"
        case {"cli_auth_credentials_store": "keyring"}:
            return "stored login"
    return None


def _wants_login(provider: object) -> bool:
    return not isinstance(provider, dict) or provider.get("requires_openai_auth") is True


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or Path.home())


def _json(path: Path) -> object:
    try:
        return json.loads(_read(path))
    except (OSError, ValueError, RecursionError):
        return None


def _toml(path: Path) -> object:
    try:
        return tomllib.loads(_read(path))
    except (OSError, ValueError, RecursionError):
        return None


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(MAX_FILE_BYTES).decode("utf-8")
