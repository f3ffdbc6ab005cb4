"""Sentences that want a task cancelled. The whole sentence must say so, never a word in it. Pure, in normal form."""

import re

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.names import NOBODY, NUMBERED, Meant, it_meant, task_meant
from keryx.voice.dialogue.targets import meant_first, unfinished_tasks

_CORRECTED = re.compile(
    r" (?:no wait|no sorry|sorry|no|i mean|i meant|or rather|rather|make that|wait|actually)(?: no| i mean|"
    r" i meant| cancel| stop)* "
)
_CANCEL = re.compile(
    r"(?:(?:no|wait|actually|yes|yeah|please|do|just|go ahead and|and|never mind(?= cancel| kill| stop| abort| scrap|"
    r" drop)|forget it|"
    r"scratch that|(?:i|ive|we|weve|i have) changed (?:my|our) minds?|on second thoughts?|you know what|i was wrong|"
    r"plans (?:have )?changed|it doesnt matter|then|also|you (?:can|may|should|could|must)|we (?:can|"
    r"should)|i would|id) )*"
    r"(?:(?:i dont (?:need|want) .{1,60}? (?:any ?more|any longer) (?:so )?(?:please )?))?"
    r"(?P<verb>cancel|abort|kill|stop|halt|terminate|scrap|drop|end|quit|call off|shut down|interrupt|discontinue|"
    r"pull the plug on|(?:council|counsel|cansel|cancell)(?= (?:task|number|job) )|never mind about|never mind|"
    r"forget about|forget|get rid of|give up on|give up) "
    r"(?P<target>.{1,90}?)(?: (?:immediately|please|any ?more|at once|for now|instead|too|as well|entirely|"
    r"completely|off))?"
)
_UNWANTED = re.compile(
    r"i dont (?:need|want) (?P<ref>.{1,60}?) (?:any ?more|any longer)(?: so)?(?: please)? (?P<verb>cancel|stop|"
    r"abort|kill|drop|scrap) (?:it|that|that one|this)"
)
_UNNEEDED = re.compile(
    r"(?P<ref>.{1,60}?) (?:can|should|may|must|needs to|has to) be (?:cancelled|canceled|stopped|aborted|killed|"
    r"dropped)(?: please| now)?"
    r"|(?P<ref2>.{1,60}?) (?:is|isnt|is not) (?:no longer |not )?(?:needed|necessary|wanted|required)"
    r"(?: (?:any ?more|any longer|after all))?"
    r"|(?:dont|do not) (?:do|run|start|continue(?: with)?|bother with|go on with|"
    r"work on) (?P<ref4>.{1,60}?)(?: (?:any ?more|any longer|after all|please))*"
    r"|(?:i|we) (?:dont|do not|no longer|wont|will not) (?:need|want) (?P<ref3>.{1,60}?)(?: (?:any ?more|any longer|"
    r"after all))?"
)
_WITH_REASON = re.compile(
    rf"(?P<cancel>(?:please )?(?:cancel|abort) (?:the|that|my) \S+(?: \S+){{0,4}}?|(?:please )?(?:cancel|abort|kill|"
    rf"stop|halt|terminate|scrap|drop) (?:(?:the )?{NUMBERED}|(?:it|"
    rf"that|this)|(?:the|that|my) \S+(?: \S+){{0,3}}? (?:one|task|job))) "
    r"(?:because|since|as|its|it is|it has|it was|thats|that is|theres|there is|i|im|ive|we|weve|were|dont|not|"
    r"never mind|for|before) .{2,80}"
)
_TOPIC_FIRST = re.compile(
    r"(?:(?:no|wait|actually|please|oh|okay|never mind|forget|you know what|about|regarding|as for|concerning|with|"
    r"for|that|i|we|ive|weve|changed|my|mind|on second thought|so|and|its|thats|remember|have|no longer|wont|"
    r"will not|dont|do not|"
    r"need|want) )*"
    r"(?P<ref>\S.{0,60}?)(?: (?:any ?more|any longer|after all|no longer needed|is not needed|isnt needed|"
    r"is pointless|is useless|is obsolete|is a waste|now|so|you can|you may|please|just|can you|could you|lets|and|"
    r"then|well|we can|go ahead and))* "
    r"(?:cancel|abort|kill|stop|drop|scrap|terminate|ditch|bin|axe|call off|end) (?:it|that|that one|this one|"
    r"that task|"
    r"this|them)(?: (?:off|please|now|then|for me|right away|immediately|altogether|entirely))*"
)
"""The task first, then "cancel it"."""
_CANCEL_IT = re.compile(
    r".(?:cancel|abort|kill|stop|drop|scrap|terminate|ditch|bin|axe|call off|end) (?:it|that|this|them)\b.{0,40}$"
)
_OFF_THE_LIST = re.compile(
    r"(?:take|remove|pull|cross|strike) (?P<ref>.{1,60}?) (?:off|from|out of) (?:the |my |your )?(?:task )?(?:list|"
    r"queue)"
)
_CLEAR_VERBS = ("cancel", "abort", "call off")
_CALLED_A_TASK = re.compile(r".*\b(?:one|task|job)|(?:the |my )?(?:task|job) .*|(?:work|working) on .*")


def cancel_in(norm: str, context: DialogueContext) -> Meant | None:
    """Which task the sentence wants cancelled; None unless the whole of it says so."""
    if (named := _UNNEEDED.fullmatch(norm)) and (
        called := named["ref"] or named["ref2"] or named["ref3"] or named["ref4"]
    ):
        surely = re.search(r"\b(?:any ?more|any longer|no longer|after all)$|\bno longer\b", norm)
        if surely or re.fullmatch(rf"(?:the )?{NUMBERED}|.* (?:one|task|job)", called):
            meant = meant_first(called, context, unfinished_tasks(context))
            if surely and meant.by not in ("number", "words", "it"):
                meant = NOBODY
            return meant if meant.found else None
    if (reasoned := _WITH_REASON.fullmatch(norm)) and (meant := cancel_in(reasoned["cancel"], context)) is not None:
        return meant if meant.found else None
    if (unwanted := _UNWANTED.fullmatch(norm)) and (
        meant := meant_first(unwanted["ref"], context, unfinished_tasks(context))
    ).found:
        return meant
    if (
        _CANCEL_IT.search(norm)
        and (topic := _TOPIC_FIRST.fullmatch(norm))
        and (meant := _meant_as_topic(topic["ref"], context)).found
    ):
        return meant
    if re.fullmatch(r"(?:cancel|abort) (?:for|fore|to|too|won|ate|tree)", norm):
        # At the end of it a recogniser's "for" can only be a number.
        meant = task_meant(f"task {norm.split()[1]}", context)
        return meant if meant.task_id in {task.id for task in context.tasks} else None
    if (off := _OFF_THE_LIST.fullmatch(norm)) and (meant := _meant_as_topic(off["ref"], context)).found:
        return meant
    match = _CANCEL.fullmatch(norm)
    if match is None:
        return _bare_cancel(norm, context)
    verb, target = match["verb"], match["target"]
    corrected = _CORRECTED.split(target)
    target = corrected[-1]
    target = re.sub(r"^(?:work|working) on |^(?:doing|running) |^(?:number|task) (?=the )", "", target)
    if verb in _CLEAR_VERBS and len(both := _several(target, context)) > 1:
        return Meant(which=both, by="words")
    meant = meant_first(target, context, unfinished_tasks(context))
    match meant.by:
        case "number" | "order":
            return meant
        case "it":
            # "Stop it" and "quit it" silence the voice or mean something else: only a cancelling verb cancels "it".
            named = target not in ("it", "this", "that")
            return meant if verb in (*_CLEAR_VERBS, "kill", "scrap", "terminate", "drop") or named else None
        case "any":
            plain = target.startswith(
                ("one", "all", "everything", "both", "them", "any", "some", "every", "the other", "other")
            )
            return meant if verb in (*_CLEAR_VERBS, "kill", "stop") and (plain or "task" in target) else None
        case "words":
            return meant
    if len(corrected) == 1 and _CALLED_A_TASK.fullmatch(target) and verb in _CLEAR_VERBS and len(target.split()) <= 5:
        return NOBODY
    return None


def _several(target: str, context: DialogueContext) -> tuple[int, ...]:
    """Several tasks named one after the other; empty unless each part names one."""
    parts = re.split(r" (?:and|plus|as well as)(?: also)? ", target)
    each = [meant_first(part, context, unfinished_tasks(context)) for part in parts] if len(parts) > 1 else []
    named = all(meant.found and meant.by in ("number", "words") for meant in each)
    return tuple(dict.fromkeys(meant.task_id for meant in each if meant.task_id is not None)) if named else ()


def _meant_as_topic(ref: str, context: DialogueContext) -> Meant:
    meant = meant_first(ref, context, unfinished_tasks(context))
    return meant if meant.by in ("number", "words") else NOBODY


def _bare_cancel(norm: str, context: DialogueContext) -> Meant | None:
    if norm in ("cancel", "abort"):
        return it_meant(context, unfinished_tasks(context))
    return None
