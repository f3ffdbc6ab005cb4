"""What is asked, between the words that Keryx puts around it: put together for an agent, and found again. Pure.

The parts of a prompt stand between lines of dashes, longer than any that the parts hold themselves: whatever somebody
asks for, it cannot pass for the words around it.
"""

import functools
import re

from keryx import prompts

ENDINGS = ("subagent_suffix.md", "subagent_reminder.md")
"""What every agent is told after a request: in full, and once it has been told in the same conversation."""

_FENCE = re.compile(r"^-{3,}$", re.MULTILINE)


def framed(request: str, ending: str, *, lead: str = "") -> str:
    """The prompt that asks `request`, with `lead` before it, if there is any, and `ending` after it."""
    parts = [part.strip() for part in (lead, request, ending) if part.strip()]
    longest = max((len(line) for part in parts for line in _FENCE.findall(part)), default=2)
    return f"\n\n{'-' * (longest + 1)}\n\n".join(parts) + "\n"


def what_was_asked(prompt: str) -> str:
    """The request in a prompt that `framed` made; any other prompt is all request."""
    *_, last = [None, *_FENCE.finditer(prompt)]
    if last is None or not prompt[last.end() :].lstrip().startswith(_openings()):
        return prompt.strip()
    before = prompt[: last.start()].rstrip()
    return before.split(f"\n{last[0]}\n")[-1].strip()


@functools.cache
def _openings() -> tuple[str, ...]:
    """How each ending begins, up to the first place that is filled in."""
    return tuple(prompts.text(name).partition("{")[0] for name in ENDINGS)
