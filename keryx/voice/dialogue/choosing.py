"""The answer to "which one?": a project or a task among those that were named. Pure."""

import re
from collections.abc import Sequence

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.names import agent_named, agent_pattern, fitting_projects, mentioned_projects, task_meant
from keryx.voice.dialogue.normalise import ORDINAL, Heard, number_in

MOST_WORDS = 8
"""A longer answer is no choice but something else."""

_AROUND = re.compile(
    r"^(?:(?:in|the|for|on|i|mean|meant|said|um+|uh+|oh|its|it|is|that|would|be|please|yes|yeah|well|no|sorry|use|"
    r"take|cancel|stop|tell|just|lets|say) )+"
    r"|(?: (?:project|repo|repository|one|please|thanks|task|then|of course))+$"
)
_NO_PROJECT = re.compile(
    r"(?:none|neither|no project|any(?: of them)?|anywhere|(?:it )?doesnt matter|whatever|without(?: a project)?|"
    r"none of (?:them|those|these)|i dont (?:care|know)|no (?:particular|specific) (?:one|project))"
)
_PLACE = re.compile(rf"(?:the )?(?P<place>{ORDINAL}|last|former|latter)(?: one| project)?")


def chosen_project(text: str, choices: Sequence[str]) -> str | None:
    """The project chosen, "" for none in particular, None when the answer names none of them."""
    heard = Heard(text)
    if len(heard.words) > MOST_WORDS:
        return None
    core = _core(heard.norm)
    if _NO_PROJECT.fullmatch(core) or _NO_PROJECT.fullmatch(heard.norm):
        return ""
    if place := _place(core, len(choices)):
        return choices[place - 1]
    fits = fitting_projects(core, choices)
    if len(fits) == 1:
        return fits[0]
    mentioned = mentioned_projects(heard.words, choices)
    return mentioned[0] if len(mentioned) == 1 else None


def chosen_task(text: str, choices: Sequence[str], context: DialogueContext) -> int | None:
    """The task chosen among `choices` (their numbers), None when the answer names none of them."""
    heard = Heard(text)
    if len(heard.words) > MOST_WORDS:
        return None
    numbers = [int(choice) for choice in choices]
    among = [task for task in context.tasks if task.id in numbers]
    for phrase in (heard.norm, _core(heard.norm)):
        number = number_in(phrase) if phrase and phrase not in ("one", "a") else None
        if number in numbers:
            return number
        meant = task_meant(phrase, context, among=among)
        if meant.by not in ("it", "any", "") and meant.task_id in numbers:
            return meant.task_id
    return None


def chosen_agent(text: str, agents: Sequence[str]) -> str | None:
    """The agent chosen among `agents` ("no, have Codex do it"), None when the answer names none of them."""
    match = re.fullmatch(
        r"(?:(?:no|then|okay|well|um+|uh+|oh|please|and|but|rather) )*(?:(?:have|let|use|take|with|ask|try|give it to|"
        rf"make it|i said|i meant|i mean) )?(?P<agent>{agent_pattern(agents)})"
        r"(?: (?:(?:to )?(?:do|handle|take|try) (?:it|that|this)|then|instead|please|can(?: do (?:it|that))?))*",
        Heard(text).norm,
    )
    named = agent_named(match["agent"], agents) if match else None
    return named if named in agents else None


def _core(norm: str) -> str:
    while (shorter := _AROUND.sub("", norm)) != norm and shorter:
        norm = shorter
    return norm


def _place(core: str, size: int) -> int | None:
    match = _PLACE.fullmatch(core)
    if match is None:
        return None
    word = match["place"]
    place = {"last": size, "former": 1, "latter": 2}.get(word) or number_in(word) or 0
    return place if 1 <= place <= size else None
