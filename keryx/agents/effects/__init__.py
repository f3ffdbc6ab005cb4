"""What a command that an agent wants to run would change, judged by its words alone.

This decides what is asked about, not what is possible: an interpreter can do anything, whatever its words say. What
holds an agent back is its own sandbox. When in doubt the worse effect is named, and what cannot be read is
`Effect.UNKNOWN`. Linear in time; never raises.

- A fetch from a repository's remote is `NETWORK`, like any other machine that is no package index.
- A server on this machine's own loopback is `RUN`: tests talk to servers they started. Keryx's own interface lies there
  too, but answers only to a token that no agent is given.
- Running a package by its name (npx, uvx) is `PACKAGES`: installing one runs its code just the same.
- Looking at files is `READ` wherever they are, but for the well-known places of credentials: `OUTSIDE`.
- A container engine runs as root, outside any sandbox: all but looking is `OUTSIDE`.
"""

from pathlib import Path

from keryx.agents.approver import Effect
from keryx.agents.effects.lines import judged
from keryx.agents.effects.paths import effect_of_look, effect_of_path, worst
from keryx.agents.effects.spoken import spoken_command

__all__ = ["effect_of_command", "effect_of_look", "effect_of_path", "spoken_command", "worst"]


def effect_of_command(command: str, inside: Path) -> Effect:
    """The worst effect of the shell line `command`, run in the directory `inside`."""
    return judged(command, inside)[0]
