"""Two clauses, the task first and then what is asked of it: "the parser one, is it done?". Pure."""

import dataclasses
import re
from dataclasses import dataclass

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.names import NOBODY, Meant
from keryx.voice.dialogue.normalise import Heard
from keryx.voice.dialogue.targets import meant_first, unfinished_tasks

_PAUSE = re.compile(r"(?:[,.;:?!]+|\s[-–—]+)\s+")
_FRAME = re.compile(
    r"(?:(?:and|but|so|okay|oh|about|regarding|as for|concerning|what about|how about|with|for|on|its about|"
    r"(?:you )?(?:know|remember)|there was|there is|theres|i was going to ask|i wanted to ask|that|you said|"
    r"(?:i|we)(?: really)? (?:dont|do not|no longer|wont|will not) (?:need|want|care about)|"
    r"(?:please )?(?:dont|do not) (?:do|bother with|start|finish|worry about)|"
    r"(?:ive|i have|i|weve|we)(?: have)? changed (?:my|our) minds? (?:about|on)) )*"
    r"(?P<ref>.+?)(?: (?:any ?more|any longer|after all|isnt needed|is not needed|is no longer needed))*"
)
_THERE = re.compile(r" (?:there|with (?:it|that)|of (?:it|that)|on that|to it)$")


@dataclass(frozen=True)
class Topic:
    """What is asked, and the context in which "it" is the task that was named first."""

    said: Heard
    context: DialogueContext


def about_its_topic(core: Heard, context: DialogueContext) -> Topic | None:
    """The last clause against the task that the one before it names; None when it names none."""
    clauses = [clause for clause in _PAUSE.split(core.text.strip()) if clause.strip()]
    if len(clauses) < 2 or core.is_long:
        return None
    last = Heard(re.sub(r"^(?:so |and |please |you can |just )+", "", clauses[-1], flags=re.IGNORECASE))
    for clause in reversed(clauses[:-1]):
        meant = _task_in(Heard(clause).norm, context)
        if meant.found:
            said = Heard(_THERE.sub("", last.norm))
            return Topic(said, dataclasses.replace(context, focus=meant.task_id))
    return None


def _task_in(clause: str, context: DialogueContext) -> Meant:
    match = _FRAME.fullmatch(clause)
    if match is None:
        return NOBODY
    meant = meant_first(match["ref"], context, unfinished_tasks(context))
    return meant if meant.by in ("number", "words", "order") else NOBODY
