"""Which task a command or a question is about, the likely ones looked at first. Pure, in normal form."""

import re

from keryx.voice.dialogue.base import DialogueContext, TaskBrief
from keryx.voice.dialogue.names import Meant, task_meant
from keryx.voice.dialogue.normalise import Heard, in_words

REF = r"(?P<ref>\S+(?: \S+){0,8}?)"
"""A few words in a task's place, as the group `ref` of a regular expression."""


_ASKING = re.compile(
    r"(?:(?:and|but|so|okay|or|also|say|hey|tell me(?: again)?|do you know|(?:can|could) you (?:tell me|see|check)|"
    r"do you have any idea|any idea|"
    r"i want to know|id like to know|i wonder|id love to know|remind me|maybe|by the way|quick question|"
    r"one question|question) )+"
    r"(?=(?:what|whats|which|how|hows|is|are|has|have|did|any|where|when|if|whether|who|why|cancel|stop|abort|kill|"
    r"tell|call)\b)"
)


def without_asking(core: Heard) -> Heard:
    """A question or command without the words that lead up to it ("and", "do you know")."""
    match = _ASKING.match(core.norm)
    return Heard(core.after(match.end())) if match else core


_HESITATION = re.compile(r"\b(?:u+m+|u+h+|e+rm?|hm+|mm+)\b[,.…]*", re.IGNORECASE)


def without_hesitation(core: Heard) -> Heard:
    """A sentence without the sounds of thinking inside it ("cancel task, uh, four")."""
    return Heard(_HESITATION.sub(" ", core.text))


def number_words(number: int | None) -> list[str]:
    """A task's number as it may be said, word by word."""
    return [] if number is None else in_words(number).replace("-", " ").split()


def unfinished_tasks(context: DialogueContext) -> list[TaskBrief]:
    return [task for task in context.tasks if not task.status.ended]


def ended_tasks(context: DialogueContext) -> list[TaskBrief]:
    return [task for task in context.tasks if task.status.ended]


def meant_first(phrase: str, context: DialogueContext, first: list[TaskBrief], *, least: float = 1.0) -> Meant:
    """The task meant, looked for among `first` and then among all."""
    meant = task_meant(phrase, context, among=first, least=least)
    if meant.found or meant.which:
        return meant
    return task_meant(phrase, context, least=least)
