"""What is known of agents that speak ACP: how each is started, and what the protocol does not say about it."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath

__all__ = ["KNOWN_AGENTS", "KnownAgent", "known_by"]


@dataclass(frozen=True)
class KnownAgent:
    """An agent that can be had."""

    command: tuple[str, ...]
    """What starts it speaking ACP on its standard streams."""
    steers: bool = False
    """Whether a second prompt is taken into the running turn. The protocol does not say; tried out, not assumed."""
    rules_in: str = ""
    """The variable with its rules, in JSON, on what it asks about; empty: it asks by itself."""
    rules: Mapping[str, str] = field(default_factory=dict)
    """What makes it ask before it acts, where its own default is to act."""
    tool_title: str | None = None
    """How it titles the call of a server's tool when it asks, without its arguments; None: not known."""

    def asking(self, environment: Mapping[str, str], servers: Iterable[str]) -> dict[str, str]:
        """The variables by which it asks before it acts, before it uses a tool of `servers` too.

        The owner's own rules in `environment` hold instead of ours, but for the servers that they do not name.
        """
        if not self.rules_in:
            return {}
        rules = _rules(environment.get(self.rules_in, "")) or self.rules
        # Later rules outweigh earlier ones, so these come last.
        of_servers = {f"{server}_*": "ask" for server in servers if f"{server}_*" not in rules}
        return {self.rules_in: json.dumps({**rules, **of_servers})}


def _rules(written: str) -> Mapping[str, str]:
    """The owner's rules; empty when there are none, or none that can be read."""
    try:
        match json.loads(written):
            case dict(rules):
                return rules
            case str(everything):
                return {"*": everything}
    except ValueError:
        pass
    return {}


KNOWN_AGENTS: Mapping[str, KnownAgent] = {
    # opencode 1.18 asks for nothing unless it is told to; a second prompt joins the loop of the first.
    "opencode": KnownAgent(
        ("opencode", "acp"),
        steers=True,
        rules_in="OPENCODE_PERMISSION",
        rules=dict.fromkeys(("edit", "bash", "webfetch", "external_directory"), "ask"),
        tool_title="{server}_{tool}",
    ),
    # geminicli.com/docs/cli/acp-mode; before 0.33 the flag was called --experimental-acp.
    "gemini": KnownAgent(("gemini", "--acp")),
    # block.github.io/goose/docs/guides/acp-clients.
    "goose": KnownAgent(("goose", "acp")),
    # moonshotai.github.io/kimi-cli/en/reference/kimi-acp.html.
    "kimi": KnownAgent(("kimi", "acp")),
    # docs.github.com, "ACP server" in the reference of Copilot's command line.
    "copilot": KnownAgent(("copilot", "--acp")),
}
"""By the name the owner would give them; the commands are those of each one's own documentation."""


def known_by(command: tuple[str, ...]) -> KnownAgent | None:
    """What is known of the agent that `command` starts, whatever the owner calls it; None: nothing."""
    program = PurePath(command[0]).name if command else ""
    return next((known for known in KNOWN_AGENTS.values() if known.command[0] == program), None)
