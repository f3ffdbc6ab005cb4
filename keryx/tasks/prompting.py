"""What a turn's agent is told: the request, what it needs to know of earlier work, how it is to work. Pure."""

from collections.abc import Iterable

from keryx.agents.asked import framed
from keryx.prompts import render, table, text
from keryx.tasks.claims import TurnInput
from keryx.tasks.requests import one_line
from keryx.tasks.rows import Message

NAMELESS_OWNER = "the owner of this machine"


def turn_prompt(given: TurnInput, *, remembers: bool, owner: str = "") -> str:
    """The prompt for `given`; `remembers` says whether the agent still has the task's conversation.

    A text that may have landed already in a turn that ended is never in it. `owner` is who asks, "" for no name.
    """
    lead = ""
    if given.earlier and not remembers:
        summary = given.task.summary or "nothing; it was stopped before it ended."
        lead = render(text("task_recap.md"), earlier=_joined(given.earlier), summary=summary)
    elif given.interrupted:
        lead = text("task_resumed.md")
    return framed(_joined((*given.interrupted, *given.fresh)), _ending(given, remembers, owner), lead=lead)


def _ending(given: TurnInput, remembers: bool, owner: str) -> str:
    """How the agent is to work, in full once per conversation; the mode each time, since a follow-up may change it."""
    told = {"mode": table("modes.toml")[given.task.mode], "task": given.task.id}
    # A turn that broke off may have done so before its prompt arrived: it is told everything again.
    if remembers and given.earlier and not given.interrupted:
        return render(text("subagent_reminder.md"), **told)
    return render(text("subagent_suffix.md"), owner=one_line(owner, 80) or NAMELESS_OWNER, **told)


def _joined(messages: Iterable[Message]) -> str:
    return "\n\n".join(message.text for message in messages)
