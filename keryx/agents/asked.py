"""What a prompt asks, without the words that Keryx puts around it. For the agents that understand words literally."""

import functools

from keryx import prompts

_AROUND = ("task_recap.md", "task_resumed.md")


def what_was_asked(prompt: str) -> str:
    """The request in `prompt`: without what every agent is told after it, and what a taken-up task says before it."""
    request = prompt.partition(prompts.text("subagent_suffix.md").strip())[0]
    for lead in _leads():
        request = request.rpartition(lead)[2]
    return request.strip()


@functools.cache
def _leads() -> tuple[str, ...]:
    """The last words before the request in each prompt that puts words before it."""
    return tuple(prompts.text(name).partition("{request}")[0].strip().rpartition("\n")[2] for name in _AROUND)
