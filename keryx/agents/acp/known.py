"""What is known of agents that speak ACP: how each is started, and what the protocol does not say about it."""

from collections.abc import Mapping
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
    environment: Mapping[str, str] = field(default_factory=dict)
    """What makes it ask before it acts, where its own default is to act."""


KNOWN_AGENTS: Mapping[str, KnownAgent] = {
    # opencode 1.18 asks for nothing unless it is told to; a second prompt joins the loop of the first.
    "opencode": KnownAgent(
        ("opencode", "acp"),
        steers=True,
        environment={"OPENCODE_PERMISSION": '{"edit":"ask","bash":"ask","webfetch":"ask","external_directory":"ask"}'},
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
