"""Sentences that ask what came of a task. Pure, in normal form."""

import re

from keryx.tasks.models import TaskStatus
from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.names import NOBODY, Meant, agent_pattern
from keryx.voice.dialogue.normalise import NUMBER
from keryx.voice.dialogue.targets import REF, ended_tasks, meant_first, unfinished_tasks

_AGENTS = agent_pattern(())
_AGAIN = r"(?: again| once more| one more time| out loud| to me)*"
_RESULT_WORD = (
    r"(?:result|results|outcome|answer|summary|report|conclusion|findings|output|verdict|response|reply|error message|"
    r"error)"
)
_RESULTS_OF = [
    re.compile(
        rf"(?:what|whatd) (?:did|does|has|have|was) {REF} (?:say|said|find|found|find out|found out|report|"
        rf"come up with|answer|conclude|concluded|tell (?:me|us)|think|reply|produce|write|done|do|got|get|change|"
        rf"changed|discover|discovered|turn up|show|suggest|recommend|achieve|manage|fix|fixed|see|"
        rf"decide){_AGAIN}(?: about (?:it|that))?{_AGAIN}"
    ),
    re.compile(
        rf"(?:whats|what is|what was|what were|whatre|read|read me|read out|read to me|tell me|give me|say|repeat|"
        rf"let me hear|i want to hear|id like to hear|hear|get|show me|go over)(?: me)?(?: again)? (?:the |its |"
        rf"my )?(?:full |final |last )?{_RESULT_WORD}{_AGAIN} (?:of|from|for|to|on|in) {REF}{_AGAIN}"
    ),
    re.compile(
        rf"(?:whats|what is|what was|read|read me|tell me|give me|let me hear) (?:the )?{REF} {_RESULT_WORD}{_AGAIN}"
    ),
    re.compile(rf"what {REF} (?:did|said|found|found out|reported|answered|concluded|came up with|changed){_AGAIN}"),
    re.compile(rf"what (?:came|became|has come|has become) (?:out )?of {REF}{_AGAIN}"),
    re.compile(rf"what (?:went|is|was) wrong (?:with|in|on) {REF}"),
    re.compile(rf"(?:read|read me|tell me about|play) {REF} (?:again|once more|one more time)"),
    re.compile(rf"(?:the )?{_RESULT_WORD}{_AGAIN} (?:of|from|for|on) {REF}{_AGAIN}"),
    re.compile(rf"{_RESULT_WORD} (?:task |number )?(?P<ref>{NUMBER})"),
]
_WHY_FAILED = re.compile(
    rf"(?:why|how come) (?:did|has|is|was|does|didnt|hasnt) {REF} (?:fail|failed|go wrong|gone wrong|crash|crashed|"
    rf"stop|stopped|break|broken|not (?:work|finish))"
)
_HOW_ENDED = re.compile(
    rf"(?:how did {REF} (?:go|turn out|end|end up|work out|do|come out)|what(?:s| has| is)? ?happened (?:to|with|"
    rf"in|on) (?P<ref2>.{{1,60}}))"
)
_RESULT_OF_IT = re.compile(
    rf"(?:whats|what is|what was|what were|read|read me|read out|tell me|give me|say|repeat|let me hear|"
    rf"i want to hear|show me|can i hear|hear|and)(?: me)?(?: again)? (?:the |its |that )?(?:full |final |"
    rf"last )?{_RESULT_WORD}{_AGAIN}"
    rf"|what did (?:it|they|he|she|that|this|the agent|{_AGENTS}) (?:say|find|find out|report|come up with|answer|"
    rf"conclude|tell (?:me|us)|think|reply|do|change|write){_AGAIN}"
    rf"|what did you (?:find|find out|do|change|come up with){_AGAIN}|read (?:it|that)(?: to me)?{_AGAIN}|"
    rf"what went wrong|why did (?:it|that) fail|how did (?:it|that) (?:go|turn out|end)|what happened|"
    rf"{_RESULT_WORD}|tell me what (?:it|they|{_AGENTS}) said{_AGAIN}"
    r"|the results?(?: again)?|what (?:came|has come) (?:out|back|of (?:it|that)|out of (?:it|that))(?: again)?"
)


def result_in(norm: str, context: DialogueContext) -> Meant | None:
    """Whose result is asked for."""
    if _RESULT_OF_IT.fullmatch(norm):
        return _newest_result(norm, context)
    for pattern in _RESULTS_OF:
        if match := pattern.fullmatch(norm):
            ref = match["ref"]
            if re.fullmatch(_AGENTS, ref):
                return _newest_result(norm, context)
            meant = meant_first(ref, context, ended_tasks(context))
            if re.match(r"(?:all|everything|every|my tasks|the tasks)\b", ref):
                return None
            if meant.found or meant.which:
                return meant
    if (match := _WHY_FAILED.fullmatch(norm)) or (match := _HOW_ENDED.fullmatch(norm)):
        ref = match["ref"] or match.groupdict().get("ref2") or ""
        meant = meant_first(ref, context, ended_tasks(context))
        if not meant.found:
            return None
        task = next((task for task in context.tasks if task.id == meant.task_id), None)
        # "Why does the login test fail?" is work; only a task that failed itself has a result to read out.
        if task is None:
            return meant if meant.by == "number" else None
        return meant if task.status.ended else None
    return None


def _newest_result(norm: str, context: DialogueContext) -> Meant | None:
    """The focus when it has ended, else what ended last; None when there is nothing it could be."""
    # What was cancelled says nothing any more; asked for "again", a task that runs still has not said it.
    ended = [task.id for task in ended_tasks(context) if task.status is not TaskStatus.CANCELLED]
    running = any(task.id == context.focus for task in unfinished_tasks(context))
    said_before = re.search(r"\b(?:again|once more|one more time|repeat)\b", norm)
    if context.focus is not None and (context.focus in ended or context.focus == context.told):
        return Meant(context.focus, by="it")
    if context.focus is not None and running and not said_before:
        return Meant(context.focus, by="it")
    if context.told is not None and (said_before or not running):
        return Meant(context.told, by="it")
    if ended:
        return Meant(max(ended), by="it")
    if context.focus is not None:
        return Meant(context.focus, by="it")
    return NOBODY if context.tasks or "again" in norm else None
