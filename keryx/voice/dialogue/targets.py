"""Which task a command or a question is about, the likely ones looked at first. Pure, in normal form."""

import re

from keryx.voice.dialogue.base import DialogueContext, TaskBrief
from keryx.voice.dialogue.names import Meant, task_meant
from keryx.voice.dialogue.normalise import NUMBER, TENS, UNITS, Heard, in_words

REF = r"(?P<ref>\S+(?: \S+){0,8}?)"
"""A few words in a task's place, as the group `ref` of a regular expression."""


_ASKING = re.compile(
    r"(?:(?:and|but|so|okay|or|also|say|hey|tell me(?: again)?|do you know|(?:can|could) you (?:tell me|see|check)|"
    r"do you have any idea|any idea|excuse me|sorry|please|actually|oh|just|"
    r"(?:i|we)(?: just| really| only| also)* (?:want|wanted|need|needed|would like|was going|am going|was about|meant)"
    r"(?: you)? to (?:know|ask|check|hear|see|find out|tell me)(?: you)?|"
    r"(?:id|wed) (?:like|love) to (?:know|ask|check|hear|see)(?: you)?|(?:im|i am|i was|was|just)? ?(?:wondering|"
    r"curious)|"
    r"(?:can|could|may|might) (?:i|we) (?:please |just |quickly |maybe |also )*(?:ask(?: you)?|know|check|find out|see|"
    r"hear)|(?:let me|lets) (?:ask|see|check|hear)(?: you)?|i wonder|remind me|maybe|by the way|"
    r"quick question|one question|question|one more question|another question) )+"
    r"(?=(?:what|whats|which|how|hows|is|are|has|have|did|any|where|wheres|when|if|whether|who|why|cancel|stop|abort|"
    r"kill|tell|call|the (?:status|result|progress|outcome|state)|youve|you have|theres|there is)\b)"
)
_MAY_I_HAVE = re.compile(
    r"(?:(?:can|could|may|might) i|would it be possible to|is it possible to|i would like to|id like to|i want to|"
    r"i need to) (?:please |just |quickly |maybe |also )*(?=(?:have|get|hear|see|know)\b)"
)
_WHETHER = re.compile(r"(?:if|whether) (?P<who>.{1,60}?) (?P<verb>is|are|has|have|did|was)(?= )")
_YOU_HEARD = re.compile(
    r"(?:(?:if|whether) )?(?:(?:youve|you have|have you|did you) (?:heard?|got|get)|theres|there is|is there|heard)"
    r"(?: (?:any|anything|something|news|back))+ (?:about|on|from|of) "
)


def without_asking(core: Heard) -> Heard:
    """A question or command without the words that lead up to it ("and", "do you know")."""
    asked = _ASKING.match(core.norm)
    if match := asked:
        core = Heard(core.after(match.end()))
    if match := _MAY_I_HAVE.match(core.norm):
        return Heard(f"can I {core.after(match.end())}")
    if match := _YOU_HEARD.match(core.norm):
        return Heard(f"any news on {core.after(match.end())}")
    # "Whether task four is done" is the question "is task four done"; "if it is done, call me" is none.
    if (asked or core.norm.startswith("whether")) and (match := _WHETHER.match(core.norm)):
        return Heard(f"{match['verb']} {match['who']} {core.after(match.end() + 1)}")
    return core


_CORRECTION = (
    r"(?:(?:no|wait|sorry|oh|um+|uh+|i mean|i meant|or rather|rather|make that|actually|not that|scratch that|"
    r"correction|excuse me|er+m*) )+"
)
_CORRECTED_NUMBER = re.compile(
    rf"\b(?:(?P<kind>task|number|job) (?:number )?)?(?:{NUMBER}) {_CORRECTION}(?:its |that |the )?(?:(?:task|number|"
    rf"job) "
    rf"(?:number )?)?(?P<number>{NUMBER})"
)
_ITS_NUMBER = re.compile(rf"\b(?P<number>(?:task|number|job) (?:\w+ )?(?:{'|'.join([*UNITS[1:], *TENS])}|\d+))s\b")
_STRAY_BEFORE_NUMBER = re.compile(rf"\b(?P<kind>task|number) (?:to|too|two|for|number) (?={'|'.join(TENS)}|\d\d)")


def with_numbers_settled(core: Heard) -> Heard:
    """ "Task four, no, five" as "task five", and "task to twenty two" as "task twenty two"; else `core` itself."""
    norm = _CORRECTED_NUMBER.sub(lambda found: f"task {found['number']}", core.norm)
    norm = _STRAY_BEFORE_NUMBER.sub(lambda found: f"{found['kind']} ", norm)
    norm = _ITS_NUMBER.sub(lambda found: found["number"], norm)
    return core if norm == core.norm else Heard(norm)


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
