"""What a turn's agent is told: the request, with what it needs to know when a conversation broke off. Pure."""

from collections.abc import Iterable

from keryx.prompts import render, text
from keryx.tasks.claims import TurnInput
from keryx.tasks.rows import Message


def turn_prompt(given: TurnInput, *, remembers: bool) -> str:
    """The prompt for `given`; `remembers` says whether the agent still has the task's conversation.

    A text that may have landed already in a turn that ended is never in it.
    """
    request = _joined((*given.interrupted, *given.fresh))
    if given.earlier and not remembers:
        summary = given.task.summary or "nothing; it was stopped before it ended."
        request = render(text("task_recap.md"), earlier=_joined(given.earlier), summary=summary, request=request)
    elif given.interrupted:
        request = render(text("task_resumed.md"), request=request)
    return f"{request.strip()}\n\n{text('subagent_suffix.md').strip()}\n"


def _joined(messages: Iterable[Message]) -> str:
    return "\n\n".join(message.text for message in messages)
