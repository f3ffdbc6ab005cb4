"""Sentences that tell a task something more. Pure, in normal form."""

import re
from dataclasses import dataclass

from keryx.voice.dialogue.base import DialogueContext, TaskBrief
from keryx.voice.dialogue.names import NOBODY, NUMBERED, Meant, agent_pattern, fitting_projects, it_meant, task_meant
from keryx.voice.dialogue.normalise import NUMBER, Heard
from keryx.voice.dialogue.slots import work_in
from keryx.voice.dialogue.targets import meant_first, unfinished_tasks

_AGENTS = agent_pattern(())


@dataclass(frozen=True)
class Steer:
    """Something to pass on to a task, in the caller's words; `unknown` holds a name that is no task's."""

    meant: Meant
    text: str
    unknown: str | None = None


_ASIDE = r"(?:(?:no|wait|stop|oh|and|also|please|okay|hey|but|hold on|hang on|yes|yeah|sorry|actually|then|now) )*"
_TELL = re.compile(
    rf"{_ASIDE}(?:let (?P<ref1>\S+(?: \S+){{0,6}}?) know|(?:pass (?:it |this )?on to|mention to|relay to|say to|"
    rf"pass to|tell|ask|remind|instruct|inform|warn|message|nudge|"
    rf"advise) (?P<ref>\S+(?: \S+){{0,6}}?))(?P<link> (?:to|that|not to|about|its|it|if|whether|why|what|how|where|"
    rf"when|which|who|he|she|they|the|there|we|i|im|dont|never|you|your|my|our|a|this|please)\b)"
)
_GIVE_NOTE = re.compile(
    rf"{_ASIDE}(?:give|leave|send|drop|write) (?P<ref>\S+(?: \S+){{0,6}}?) (?:a|another|this|the) (?:note|message|"
    rf"hint|comment|reminder|tip)(?: saying)?(?P<link> (?:that|to|about|it|the|its)\b)"
)
_TELL_IT = re.compile(
    rf"{_ASIDE}(?:tell|ask|remind|instruct|inform|warn|let) (?P<ref>it|him|her|them)(?: know)?(?P<link> \w+)"
)
_AGENT_TOLD = re.compile(rf"(?:the )?(?:agent|{_AGENTS})(?: agent)?")
_NUMBERED_ANYWHERE = re.compile(rf"\b{NUMBERED}")
_NUMBERED_FIRST = re.compile(
    rf"{_ASIDE}(?:(?:for|on|in|to|with|about|regarding|as for) )?{NUMBERED}(?: (?:should|also)?)? ?"
)
_BARE_NUMBER_FIRST = re.compile(
    rf"{_ASIDE}(?:(?:let|have|get|make) (?P<first>))?(?P<number>{NUMBER}) (?(first)|(?:should|must|needs to|has to|"
    rf"shall|"
    r"can|may|could|ought to) (?:also )?)(?=\w)"
)
"""A task called by nothing but its number ("forty should also cover it")."""
_NAMED_SHOULD = re.compile(
    rf"{_ASIDE}(?:the )?(?P<ref>(?!add\b)(?:(?!(?:it|that|this|they|to|you|we|i) )\S+ ){{2,5}}?)(?:should|must|"
    rf"needs to|has to|"
    r"shall) (?:also )?(?!be \w+[ai]ble)(?=\w)"
)
_ONLY_LIKE = re.compile(
    rf"\b(?:like|same as|as in|similar to|than|from|after|before|based on|what) (?:in |you did in |"
    rf"we did in )?{NUMBERED}"
)
_ADD_THAT = re.compile(
    rf"{_ASIDE}(?:add|note|mention|include|append|put in|remember|keep in mind|bear in mind|consider|say)(?: (?:a|"
    rf"the|one more|another) (?:note|comment|remark|requirement|point|instruction|thing|detail|hint))?"
    r"(?: to (?:it|that|this|them|the task|that task))?(?: saying| so)? that "
)
_ADD_TO_IT = re.compile(
    rf"{_ASIDE}(?:add|append|attach) (?:this |that |the following )?to (?:it|that|this|that one|the task|that task|"
    rf"the description) "
)
_ALSO = re.compile(
    r"(?:(?:oh|and|yes|yeah|um|please|wait) )*(?:also|additionally|in addition|plus|one more thing|another thing|"
    r"one other thing|one last thing|and another thing|by the way|furthermore|on top of that|"
    r"while (?:youre|its|it is|you are) at it|oh and|and then|and please|and|ps|p s) (?:is |please )?"
)
_IT_SHOULD = re.compile(
    rf"{_ASIDE}(?:it|they|he|she|that|this|the agent|{_AGENTS})(?: (?:also|really|only|then|now|probably|still|"
    rf"just))* (?:must|should|needs? to|has to|have to|can|could|shouldnt|shouldn|mustnt|cant|cannot|may|might|"
    rf"will|ought|doesnt (?:need|have) to|does not (?:need|have) to|needs|shall|is allowed to|isnt allowed to)\b"
)
_MAKE_SURE = re.compile(
    rf"{_ASIDE}(?:make|be) sure (?:that )?(?:it|its|they|this|you|youre|not|to|theyre|thats|nothing|none)\b|"
    rf"{_ASIDE}(?:make it|have it|let it|get it to)\b"
)
_INSTEAD = re.compile(
    rf"(?:{_ASIDE}(?:actually|rather|instead|better|on second thought|i changed my mind|correction|sorry|no|i mean|"
    rf"i meant|scratch that|or better|hang on|wait) .+|.+ instead)"
)
_DONT = re.compile(rf"{_ASIDE}(?:dont|do not|never|please dont|avoid|leave out|skip|leave|keep|forget) .+")
_TOO = re.compile(r".+ (?:too|as well|also|on top|in addition|while youre at it|at the same time)")
_ON_IT = re.compile(
    rf"{_ASIDE}(?:retry|try again|try (?:it|that|this) again|try once more|run (?:it|that) again|do (?:it|"
    rf"that) again|redo (?:it|that)|continue|carry on|go on(?: with it)?|keep going|resume(?: it| that)?|"
    r"pause(?: it| that)?|proceed|start over|start again|finish (?:it|that)(?: off| up)?|undo (?:it|that)|"
    r"revert (?:it|that)|give (?:it|that) another (?:try|go|shot|chance|attempt|whirl|crack|spin|run)|(?:have|"
    r"take) another "
    r"(?:try|go|shot|crack|look|stab)(?: at (?:it|that))?|(?:do|try|run) the same(?: (?:thing|again))?(?: (?:for|on|"
    r"with|in) .{1,60})?|"
    r"restart(?: it| that)?|(?:try|run|do) (?:it |that |this )?(?:again|once more) (?:with|using|but|"
    r"without|in|on|only|after|from|and) .{1,80})"
)
_RETRY = re.compile(
    rf"{_ASIDE}(?:(?:retry|rerun|re run|redo|restart|resume|continue(?: with)?|carry on with|"
    rf"pick up) (?P<ref>.{{1,60}}?)|"
    r"(?:try|run|do|start) (?P<ref2>.{1,60}?)(?: (?:again|once more|one more time|over|another time))+|"
    r"give (?P<ref3>.{1,60}?) another (?:try|go|shot|chance|attempt|whirl|crack|run))(?: again| please| now)*"
)
_VERB_IT = re.compile(
    rf"{_ASIDE}(?:push|commit|merge|ship|deploy|revert|undo|redo|rerun|run|retry|finish|fix|rename|test|document|"
    rf"review|squash|rebase|publish|release|move|clean|simplify|format|explain|try|do|put|open|send|show|rewrite|"
    rf"split|"
    r"check|use|call|name|write|double check|polish|store|save|mark|limit|restrict|base|translate|implement|extend|"
    r"shorten) (?:it|that|this|those|them|these)\b(?: .{1,60})?"
)
_ANY_VERB_IT = re.compile(
    rf"{_ASIDE}(?!(?:i|we|you|he|she|they|is|was|has|get|got|when|if|let|call|give|tell|ask|hear|heard|cancel|abort|"
    r"stop|kill|drop|scrap|quit|end)\b)[a-z]{3,} (?:it|them)\b(?: .{1,60})?"
)
"""Whatever is to be done to "it", named by nothing before it, is meant for the task."""
_FOR_IT = re.compile(
    r"(?!.*\band\b)(?:\S+ ){1,9}(?:for|to|with|on|in|from|of|into|against|about) (?:it|that|this|them)(?: please| too)?"
)
_STATES_IT = re.compile(
    rf"{_ASIDE}(?:it|its|it is|theyre|thats (?:wrong|not|the wrong|incorrect)|that is (?:wrong|not)|but|except|"
    rf"unless|only if|in that case|only) .+|.{{1,60}} (?:should|must|needs to|has to|have to) also .+"
)
_PRIORITY = re.compile(
    rf"{_ASIDE}(?:set|change|raise|lower|increase|bump|give it|make) (?:up )?(?:the |its |a )?(?:high |higher |"
    rf"low |lower )?priority\b.*|{_ASIDE}prioriti[sz]e (?:it|this|that)"
)


def steer_in(core: Heard, context: DialogueContext, *, in_place: bool) -> Steer | None:
    """What should be passed on to which task. `in_place`: a project or an agent was named, so it is likely new work."""
    norm = core.norm
    if (told := _told(core, context, in_place)) is not None:
        return told
    if core.is_long:
        return None
    if (numbered := _NUMBERED_ANYWHERE.search(norm)) and not _ONLY_LIKE.search(norm):
        meant = task_meant(numbered[0], context)
        if re.match(r"(?:what|whats|which|how|hows|is|are|has|did|when|where|wheres|any)\b", norm):
            return None
        first = _NUMBERED_FIRST.match(norm)
        rest = core.after(first.end()) if first and first.end() < len(norm) else core.text
        return Steer(meant, _strip(rest))
    if (retried := _RETRY.fullmatch(norm)) and (ref := retried["ref"] or retried["ref2"] or retried["ref3"]):
        meant = task_meant(ref, context)
        ended = any(task.id == meant.task_id and task.status.ended for task in context.tasks)
        if meant.found and (
            meant.by in ("number", "order") or (meant.by == "words" and ended) or re.search(r"\b(?:one|task|job)$", ref)
        ):
            return Steer(meant, core.text)
    if (more := _ALSO.match(norm)) and more.end() < len(norm) and (rest := Heard(core.after(more.end()))).words:
        named = _named_first(rest, context) or _named_before_a_pause(rest, context)
        if named is not None:
            return named
    if (bare := _BARE_NUMBER_FIRST.match(norm)) and (meant := task_meant(bare["number"], context)).found:
        return Steer(meant, _strip(core.after(bare.end())))
    if not in_place and (should := _NAMED_SHOULD.match(norm)):
        meant = task_meant(should["ref"].strip(), context, among=unfinished_tasks(context))
        if meant.found and meant.by == "words" and not fitting_projects(should["ref"].strip(), context.projects):
            return Steer(meant, _strip(core.after(should.end())))
    if named := _named_first(core, context) or _named_before_a_pause(core, context):
        return named
    if in_place:
        return None
    return _about_it(core, context)


def _told(core: Heard, context: DialogueContext, in_place: bool) -> Steer | None:
    match = _TELL_IT.match(core.norm) or _GIVE_NOTE.match(core.norm) or _TELL.match(core.norm)
    if match is None:
        return None
    ref, link = match["ref"] or match.groupdict().get("ref1") or "", match["link"].strip()
    by_agent = bool(_AGENT_TOLD.fullmatch(ref))
    if by_agent and in_place and not context.tasks:
        return None
    if ref in ("me", "us", "everyone", "everybody", "the user", "users", "you"):
        return None
    begin = match.end() if link in ("to", "that") else match.start("link")
    text = _strip(core.after(begin))
    if not text:
        return None
    if by_agent:
        # "Tell Claude to add tests": to the agent that works on something already, else it is new work for it.
        at_work = it_meant(context, unfinished_tasks(context))
        spoken_of = next((task for task in context.tasks if task.id == at_work.task_id), None)
        adds = re.match(rf"{_ASIDE}(?:tell|let|remind)\b", core.norm) or re.search(
            r"\b(?:also|too|as well)\b", core.norm
        )
        if spoken_of is None or not adds or _names_other_project(core, spoken_of, context):
            return None
        return Steer(at_work, text)
    if ref == "it" or ref in ("him", "her", "them", "that one", "this one"):
        return Steer(it_meant(context, unfinished_tasks(context)), text)
    meant = meant_first(ref, context, unfinished_tasks(context))
    if meant.found or meant.which:
        return Steer(meant, text)
    if re.search(r"\b(?:one|task|job)$", ref):
        return Steer(NOBODY, text, unknown=ref)
    return None


def _names_other_project(core: Heard, task: TaskBrief, context: DialogueContext) -> bool:
    project = work_in(core, context).project
    return project is not None and project != task.project


def _named_first(core: Heard, context: DialogueContext) -> Steer | None:
    """ "The parser one should also read comments": a task's name, then what it should do."""
    match = re.match(
        rf"{_ASIDE}(?:(?:for|on|in|to|with|as for|regarding) )?(?P<ref>(?:the|that|my) \S+(?: \S+){{0,4}}? (?:one|"
        rf"task|job))(?: (?:should|must|needs to|has to|also|can|could|please|shall|may))* ",
        core.norm,
    )
    if match is None or re.match(
        r".*\b(?:new|cron|background|ci|deploy|build|scheduled|celery|nightly) (?:one|task|job)$", match["ref"]
    ):
        return None
    if re.match(r"be \w+(?:able|ible)\b", core.norm[match.end() :]):
        return None
    meant = meant_first(match["ref"], context, unfinished_tasks(context))
    if meant.by != "words" or not (meant.found or meant.which):
        return None
    return Steer(meant, _strip(core.after(match.end())))


_FOR_NAMED_PLEASE = re.compile(
    r"(?:for|on|with|about|regarding|as for|concerning) (?P<ref>(?:the|my|that) \S+(?: \S+){0,4}?) (?:(?:please|"
    r"can you|"
    r"could you|also|just|only|it should|make sure|instead) )"
)
_FOR_NAMED = re.compile(r"(?:for|on|with|about|regarding|as for|concerning) (?P<ref>(?:the|my|that) \S+(?: \S+){0,4})")


def _named_before_a_pause(core: Heard, context: DialogueContext) -> Steer | None:
    """ "For the parser rewrite, use the new grammar": a task's own words, not a project's, and a comma."""
    if spoken := _FOR_NAMED_PLEASE.match(core.norm):
        meant = task_meant(spoken["ref"], context, among=unfinished_tasks(context))
        if meant.found and meant.by == "words":
            return Steer(meant, _strip(core.after(spoken.end("ref") + 1)))
    head, comma, rest = core.text.partition(",")
    match = _FOR_NAMED.fullmatch(Heard(head).norm) if comma and len(head) < 100 else None
    if match is None or fitting_projects(re.sub(r"^(?:the|my|that) ", "", match["ref"]), context.projects):
        return None
    meant = task_meant(match["ref"], context, among=unfinished_tasks(context))
    return Steer(meant, _strip(rest)) if meant.found and meant.by == "words" else None


def _about_it(core: Heard, context: DialogueContext) -> Steer | None:
    norm = core.norm
    meant = it_meant(context, unfinished_tasks(context))
    for pattern in (_ADD_THAT, _ADD_TO_IT):
        if match := pattern.match(norm):
            if not meant.found and not meant.which:
                return None
            return Steer(meant, _strip(core.after(match.end())) or core.text)
    if not meant.found:
        return None
    if re.match(r"(?:why|what|which|who|where|when|how|is|are|does|do (?!the same)|did|can|could|should)\b", norm):
        return None
    if (match := _ALSO.match(norm)) and match.end() < len(norm):
        return Steer(meant, _strip(core.after(match.end())))
    for pattern in (_IT_SHOULD, _MAKE_SURE):
        if pattern.match(norm):
            return Steer(meant, _strip(core.text))
    for pattern in (_INSTEAD, _DONT, _TOO, _ON_IT, _VERB_IT, _ANY_VERB_IT, _PRIORITY, _FOR_IT, _STATES_IT):
        if pattern.fullmatch(norm) and len(core.words) <= 30:
            return Steer(meant, _strip(core.text))
    return None


def _strip(text: str) -> str:
    text = text.strip(" ,;:")
    return text[:-1] if text.endswith(".") and not text.endswith("..") else text
