"""Sentences about a task there already is: cancel it, ask after it, hear its result, tell it more. Pure, in normal form.

Each function answers None when the sentence is not one of its kind.
"""

import re
from dataclasses import dataclass

from keryx.voice.dialogue.base import DialogueContext, TaskBrief
from keryx.voice.dialogue.names import NOBODY, NUMBERED, Meant, agent_pattern, it_meant, task_meant
from keryx.voice.dialogue.normalise import Heard, in_words
from keryx.voice.dialogue.slots import CALLBACK_TAIL

_REF = r"(?P<ref>\S+(?: \S+){0,8}?)"
_CORRECTED = re.compile(
    r" (?:no wait|no sorry|sorry|no|i mean|i meant|or rather|rather|make that|wait|actually)(?: no| i mean| i meant| cancel| stop)* "
)


_ASKING = re.compile(
    r"(?:(?:and|but|so|okay|or|also|say|hey|tell me|do you know|(?:can|could) you (?:tell me|see|check)|do you have any idea|any idea|"
    r"i want to know|id like to know|i wonder|id love to know|remind me|maybe|by the way|quick question|one question|question) )+"
    r"(?=(?:what|whats|which|how|hows|is|are|has|have|did|any|where|when|if|whether|who|why|cancel|stop|abort|kill|tell|call)\b)"
)


def without_asking(core: Heard) -> Heard:
    """A question or command without the words that lead up to it ("and", "do you know")."""
    match = _ASKING.match(core.norm)
    return Heard(core.after(match.end())) if match else core


def number_words(number: int | None) -> list[str]:
    """A task's number as it may be said, word by word."""
    return [] if number is None else in_words(number).replace("-", " ").split()


def _unfinished(context: DialogueContext) -> list[TaskBrief]:
    return [task for task in context.tasks if not task.status.ended]


def _ended(context: DialogueContext) -> list[TaskBrief]:
    return [task for task in context.tasks if task.status.ended]


def _prefer(phrase: str, context: DialogueContext, first: list[TaskBrief], *, least: float = 1.0) -> Meant:
    """The task meant, looked for among `first` and then among all."""
    meant = task_meant(phrase, context, among=first, least=least)
    if meant.found or meant.which:
        return meant
    return task_meant(phrase, context, least=least)


# --- cancel -----------------------------------------------------------------------------------------------------------

_CANCEL = re.compile(
    r"(?:(?:no|wait|actually|yes|yeah|please|and|forget it|then|also|you (?:can|may|should|could|must)|we (?:can|should)|i would|id) )*"
    r"(?:(?:i dont (?:need|want) .{1,60}? (?:any ?more|any longer) (?:so )?(?:please )?))?"
    r"(?P<verb>cancel|abort|kill|stop|halt|terminate|scrap|drop|end|quit|call off|shut down|interrupt|discontinue|pull the plug on|never mind about|never mind|forget about|forget|get rid of|give up on|give up) "
    r"(?P<target>.{1,90}?)(?: (?:immediately|please|any ?more|at once|for now|instead|too|as well|entirely|completely|off))?"
)
_UNWANTED = re.compile(
    r"i dont (?:need|want) (?P<ref>.{1,60}?) (?:any ?more|any longer)(?: so)?(?: please)? (?P<verb>cancel|stop|abort|kill|drop|scrap) (?:it|that|that one|this)"
)
_UNNEEDED = re.compile(
    r"(?P<ref>.{1,60}?) (?:can|should|may|must|needs to|has to) be (?:cancelled|canceled|stopped|aborted|killed|dropped)(?: please| now)?"
    r"|(?P<ref2>.{1,60}?) (?:is|isnt|is not) (?:no longer |not )?(?:needed|necessary|wanted|required)(?: any ?more)?"
    r"|(?:i|we) (?:dont|do not|no longer) (?:need|want) (?P<ref3>.{1,60}?)(?: (?:any ?more|any longer))?"
)
_WITH_REASON = re.compile(
    rf"(?P<cancel>(?:please )?(?:cancel|abort|kill|stop|halt|terminate|scrap|drop) (?:(?:the )?{NUMBERED}|(?:it|that|this)|(?:the|that|my) \S+(?: \S+){{0,3}}? (?:one|task|job))) "
    r"(?:because|since|as|its|it is|it has|it was|thats|that is|theres|there is|i|im|ive|we|weve|were|dont|not|never mind|for|before) .{2,80}"
)
_CLEAR_VERBS = ("cancel", "abort", "call off")
_CALLED_A_TASK = re.compile(r".*\b(?:one|task|job)|(?:the |my )?(?:task|job) .*|(?:work|working) on .*")


def cancel_in(norm: str, context: DialogueContext) -> Meant | None:
    """Which task the sentence wants cancelled; None unless the whole of it says so."""
    if (named := _UNNEEDED.fullmatch(norm)) and (called := named["ref"] or named["ref2"] or named["ref3"]):
        if re.fullmatch(rf"(?:the )?{NUMBERED}|.* (?:one|task|job)", called):
            meant = _prefer(called, context, _unfinished(context))
            return meant if meant.found else None
    if (reasoned := _WITH_REASON.fullmatch(norm)) and (meant := cancel_in(reasoned["cancel"], context)) is not None:
        return meant if meant.found else None
    if (unwanted := _UNWANTED.fullmatch(norm)) and (
        meant := _prefer(unwanted["ref"], context, _unfinished(context))
    ).found:
        return meant
    match = _CANCEL.fullmatch(norm)
    if match is None:
        return _bare_cancel(norm, context)
    verb, target = match["verb"], match["target"]
    corrected = _CORRECTED.split(target)
    target = corrected[-1]
    target = re.sub(r"^(?:work|working) on |^(?:doing|running) |^(?:number|task) (?=the )", "", target)
    meant = _prefer(target, context, _unfinished(context))
    match meant.by:
        case "number" | "order":
            return meant
        case "it":
            # "Stop it", "end it" and "quit it" silence the voice or mean something else: only a cancelling verb cancels "it".
            named = target not in ("it", "this", "that")
            return meant if verb in (*_CLEAR_VERBS, "kill", "scrap", "terminate") or named else None
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


def _bare_cancel(norm: str, context: DialogueContext) -> Meant | None:
    if norm in ("cancel", "abort"):
        return it_meant(context, _unfinished(context))
    return None


# --- call me back -----------------------------------------------------------------------------------------------------

_DONE_WORDS = frozenset(
    "it its it that thats they theyre you youre youve have are is has been was be done finished finish ready over complete completed "
    "everything all this he hes she shes something anything later tomorrow changes change happens happened afterwards news there any "
    "know more the results result with an answer through up both tests pass passed".split()
)
"""A clause of nothing but these is about the task in focus ("when it's done")."""


def callback_in(norm: str, context: DialogueContext) -> Meant | None:
    """For which task a call back is wanted; None unless that is all the sentence asks."""
    asked = re.fullmatch(
        r"(?:(?:yes|yeah|and|then|also|please) )*(?:call|ring|phone|text|message|ping|buzz|notify|dial|alert)(?: me)(?: back| up)?"
        r"(?: (?P<when>(?:when|once|after|as soon as|if|about|later|tomorrow|then|with|on|afterwards).*))?"
        r"|(?:give me a (?:call|ring|shout|buzz|bell|ping)|let me know|get back to me|send me a (?:message|text))(?: back)?(?: (?P<when2>(?:when|once|after|as soon as|if|about|later|then|on|with).*))?"
        r"|(?:tell me|i want to (?:know|hear)) (?P<when3>(?:when|once|as soon as) .*)|(?:i(?:d| would) (?:like|want) (?:a|you to) (?:call|callback|call back)(?: me)?(?: back)?)(?: (?P<when4>when.*))?"
        r"|(?:can|could) i (?:get|have) a (?:call ?back|call)(?: (?P<when5>when.*))?",
        norm,
    )
    if asked is None:
        return None
    when = next((value for value in asked.groups() if value), None)
    if when is None:
        return Meant(context.focus) if context.focus is not None else NOBODY
    words = re.sub(r"^(?:when(?:ever)?|once|after|as soon as|if|about|with|on|then)\b ?(?:the results? (?:of|for) )?", "", when).split()
    if not words or _DONE_WORDS.issuperset(words):
        return Meant(context.focus) if context.focus is not None else NOBODY
    for size in range(len(words), 0, -1):
        meant = _prefer(" ".join(words[:size]), context, _unfinished(context))
        if meant.by not in ("", "it", "any") and meant.found:
            return meant
    if asked[0].split()[0] in ("let", "tell", "i"):
        # "Let me know when you've bumped the version": the clause itself is the work.
        return None
    return Meant(context.focus) if context.focus is not None else NOBODY


# --- results ----------------------------------------------------------------------------------------------------------

_AGENTS = agent_pattern(())
_AGAIN = r"(?: again| once more| one more time| out loud| to me)*"
_RESULT_WORD = r"(?:result|results|outcome|answer|summary|report|conclusion|findings|output|verdict|response|reply)"
_RESULTS_OF = [
    re.compile(
        rf"(?:what|whatd) (?:did|does|has|have|was) {_REF} (?:say|said|find|found|find out|found out|report|come up with|answer|conclude|concluded|tell (?:me|us)|think|reply|produce|write|done|do|got|get|change|changed|discover|discovered|turn up|show|suggest|recommend|achieve|manage|fix|fixed|see|decide){_AGAIN}(?: about (?:it|that))?{_AGAIN}"
    ),
    re.compile(
        rf"(?:whats|what is|what was|what were|whatre|read|read me|read out|read to me|tell me|give me|say|repeat|let me hear|i want to hear|id like to hear|hear|get|show me|go over)(?: me)?(?: again)? (?:the |its |my )?(?:full |final |last )?{_RESULT_WORD}{_AGAIN} (?:of|from|for|to|on|in) {_REF}{_AGAIN}"
    ),
    re.compile(
        rf"(?:whats|what is|what was|read|read me|tell me|give me|let me hear) (?:the )?{_REF} {_RESULT_WORD}{_AGAIN}"
    ),
    re.compile(rf"what (?:came|became|has come|has become) (?:out )?of {_REF}{_AGAIN}"),
    re.compile(rf"what (?:went|is|was) wrong (?:with|in|on) {_REF}"),
    re.compile(rf"(?:read|read me|tell me about|play) {_REF} (?:again|once more|one more time)"),
    re.compile(rf"{_RESULT_WORD} (?:of|from|for) {_REF}"),
]
_WHY_FAILED = re.compile(
    rf"(?:why|how come) (?:did|has|is|was|does|didnt|hasnt) {_REF} (?:fail|failed|go wrong|gone wrong|crash|crashed|stop|stopped|break|broken|not (?:work|finish))"
)
_HOW_ENDED = re.compile(
    rf"(?:how did {_REF} (?:go|turn out|end|end up|work out|do|come out)|what(?:s| has| is)? ?happened (?:to|with|in|on) (?P<ref2>.{{1,60}}))"
)
_RESULT_OF_IT = re.compile(
    rf"(?:whats|what is|what was|what were|read|read me|read out|tell me|give me|say|repeat|let me hear|i want to hear|show me|can i hear|hear|and)(?: me)?(?: again)? (?:the |its |that )?(?:full |final |last )?{_RESULT_WORD}{_AGAIN}"
    rf"|what did (?:it|they|he|she|that|this|the agent|{_AGENTS}) (?:say|find|find out|report|come up with|answer|conclude|tell (?:me|us)|think|reply|do|change|write){_AGAIN}"
    rf"|what did you (?:find|find out|do|change|come up with){_AGAIN}|read (?:it|that)(?: to me)?{_AGAIN}|what went wrong|why did (?:it|that) fail|how did (?:it|that) (?:go|turn out|end)|what happened|{_RESULT_WORD}|tell me what (?:it|they|{_AGENTS}) said{_AGAIN}"
    r"|the results?(?: again)?"
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
            meant = _prefer(ref, context, _ended(context))
            if meant.found or meant.which:
                return meant
    if (match := _WHY_FAILED.fullmatch(norm)) or (match := _HOW_ENDED.fullmatch(norm)):
        ref = match["ref"] or match.groupdict().get("ref2") or ""
        meant = _prefer(ref, context, _ended(context))
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
    ended = [task.id for task in _ended(context)]
    if context.focus is not None and (context.focus in ended or not ended):
        return Meant(context.focus, by="it")
    if ended:
        return Meant(max(ended), by="it")
    return NOBODY if context.tasks or "again" in norm else None


# --- how things stand -------------------------------------------------------------------------------------------------

_STATUS_WORDS = {
    "running": r"running|in progress|active|being worked on|working|busy|ongoing|on the go|under way|underway",
    "queued": r"queued|queued up|waiting in the queue|waiting in line|waiting|pending|in the queue|in line|not started|left to do|coming up|scheduled|lined up",
    "done": r"done|finished|complete|completed|ready|succeeded",
    "failed": r"failed|failing|broken|broke|wrong|red|crashed",
    "cancelled": r"cancelled|canceled|aborted|stopped",
}
_ANY_STATUS = "|".join(_STATUS_WORDS.values())
_TASKS = r"(?:tasks|jobs|work|things|ones|task|job)"
_WHEN = r"(?: (?:right now|now|at the moment|currently|today|so far|still|at present|just now|already|here|for me|these days|yet|again))*"
_IS_IT_DONE = re.compile(r"are we (?:there|done|nearly there|getting there|close)(?: yet)?|(?:is|are) (?:you|we) (?:done|finished|nearly done|almost done|ready)(?: yet| with (?:it|that))?|hows that going|(?:did|does) (?:it|that) (?:work|pass|help)(?: out)?")
_LIST_BY_STATUS = [
    re.compile(
        rf"(?:what|whats|what is|what are|what has|what have|which|which ones|who|whos)(?: is| are| has| have)?(?: (?:still|currently|all|been|just|everything|{_TASKS}|of them|of my tasks|my tasks|the tasks|is|are|has|have))*{_WHEN} (?P<status>{_ANY_STATUS}|open|left){_WHEN}"
    ),
    re.compile(
        rf"(?:(?:is|are|was|has|have|did|does)(?: there)? )?(?:anything|something|any|any {_TASKS}|any of them|any of my tasks|anybody|anyone)(?: (?:else|still|currently|been|{_TASKS}))*{_WHEN} (?P<status>{_ANY_STATUS}|fail|finish){_WHEN}"
    ),
    re.compile(
        rf"how many(?: {_TASKS})?(?: of them)?(?: (?:are|have|is|were|has|do i have|do you have|do we have|are there|still|currently|been))*(?: (?P<status>{_ANY_STATUS}))?{_WHEN}"
    ),
    re.compile(
        rf"(?:list|show|read|tell|give|name|what are|which are|lets hear|whatre)(?: me| us)?(?: out| about)?(?: all)?(?: of)?(?: the| my| our| your| all)* (?P<status>{_ANY_STATUS}|open|current|recent|latest)? ?{_TASKS}{_WHEN}(?: (?:that are|which are|that|still) (?P<status2>{_ANY_STATUS}))?{_WHEN}"
    ),
    re.compile(
        rf"(?:whats|what is|anything|is anything) (?:in|on) (?:the|my|your) (?P<status>queue|list|plate){_WHEN}"
    ),
]
_WORKING_ON = re.compile(
    rf"what(?:s| is| are|re)? (?:you|they|we|everybody|everyone|the agents?|my agents?|{_AGENTS}) (?:all )?(?:working on|doing|up to|busy with|at){_WHEN}"
    rf"|(?:are you|is anybody|are they|is anyone|are you still|are the agents) (?:still )?(?:working|busy|doing something|doing anything|working on (?:anything|something)){_WHEN}"
    rf"|what work is (?:running|going on|in progress){_WHEN}|whats keeping you busy"
)
_LIST_ALL = re.compile(
    rf"(?:(?:whats|what is|whats been) (?:going on|happening|up|new|cooking|the (?:overall )?(?:status|situation|state of (?:things|play|affairs)|latest|news|update|score))(?: (?:with|on|of) (?:everything|my tasks|the tasks|all (?:the |my )?tasks))?{_WHEN})"
    rf"|(?:hows|how is|how are|how re|howre|how) (?:everything|things|it all|all|all of (?:it|them)|we|the (?:tasks|work|jobs)|my (?:tasks|jobs)|they|the agents|are things)(?: (?:going|doing|coming along|coming on|getting on|looking|all going|progressing))?{_WHEN}"
    rf"|(?:status|status report|status update|update|overview|progress|progress report|news|state of play)(?: please| of everything| on everything)?"
    rf"|(?:give me|get me|can i have|can i get|i want|i need|id like|tell me|read me|let me have|show me)(?: an| a| the| my)?(?: quick| short| brief| full)? (?:update|overview|rundown|summary of (?:everything|all tasks|my tasks|the tasks)|status|status report|status update|quick update|list|run down|latest)(?: (?:on|of) (?:everything|all (?:the |my )?tasks|my tasks|the tasks|things))?{_WHEN}"
    rf"|(?:any|is there any|do you have any|got any|have you got any) (?:news|updates?|progress|word)(?: for me)?{_WHEN}|anything new(?: for me)?|whats new|where are we{_WHEN}|where do we stand{_WHEN}|where do things stand{_WHEN}|how do things stand{_WHEN}"
    rf"|what (?:have|do) (?:you|we) (?:got|have)(?: for me| on| going| going on)?{_WHEN}|what (?:tasks|jobs) (?:are there|do i have|do you have|do we have|have i got|have we got){_WHEN}|(?:my |the |all |all my |all the )?tasks|(?:list|show|show me|list me) (?:everything|all|them all)"
    rf"|what (?:have|has|did) (?:you|we|they|everybody) (?:done|finished|managed|do|achieved|got done|accomplished)(?: so far| today| yet| up to now)*|(?:is|are) (?:everything|all|they all|all of (?:it|them)|it all|(?:all )?(?:the|my) (?:tasks|jobs)|all tasks) (?:done|finished|ready|complete|completed|okay|ok|all right|fine|running|good){_WHEN}"
    rf"|what (?:did i|have i|was i|were we|did we) (?:ask|asked|give|given|order|ordered|asking|want|start|started)(?: you)?(?: for| to do)?(?: so far| today)?|what else(?: is there)?"
    rf"|(?:status of|how about|what about) (?:everything|all (?:my |the )?tasks|my tasks|the tasks|the others|the rest)|hows everybody doing|how many tasks"
)


def list_in(norm: str) -> str | None:
    """Which status a question about all tasks is limited to, "" for every one; None when it is no such question."""
    norm = re.sub(r"^(?:and|but|so|tell me|also) (?=what|which|how|is|are|any)", "", norm)
    if _WORKING_ON.fullmatch(norm):
        return "running"
    if _LIST_ALL.fullmatch(norm):
        return ""
    for pattern in _LIST_BY_STATUS:
        if match := pattern.fullmatch(norm):
            groups = match.groupdict()
            return _status_named(groups.get("status") or groups.get("status2") or "")
    return None


def _status_named(word: str) -> str:
    word = {"queue": "queued", "fail": "failed", "finish": "finished"}.get(word, word)
    return next((status for status, words in _STATUS_WORDS.items() if re.fullmatch(words, word)), "")


@dataclass(frozen=True)
class StatusAsked:
    """A question about one task, `by_it` when it was only called "it"; `unknown` holds a name that is no task's."""

    meant: Meant
    by_it: bool = False
    unknown: str | None = None


_END_STATE = r"(?:done|finished|complete|completed|ready|over|through|still running|running|still going|going|still at it|finished yet|up and running|stuck|queued|waiting|still waiting|still working|working|all done|failing|failed|in progress|cancelled|nearly done|almost done|close|progressing|moving|making progress|any closer)"
_SURELY_STATUS = [
    re.compile(
        rf"(?:hows|how is|how are|how re|how has|how does|how did) {_REF} (?:going|doing|coming|coming along|coming on|getting on|progressing|looking|getting along|faring|been going)(?: along)?{_WHEN}"
    ),
    re.compile(
        rf"(?:(?:whats|what is|tell me|give me|get me|check|show me|read me|i want|i need|can i have|can i get|id like)(?: an| a)? )?(?:the )?(?:current |latest )?(?:status|state|progress|update|news|latest|word|status update|progress update|situation)(?: update| report)? (?:of|on|with|for|about|from) {_REF}{_WHEN}"
    ),
    re.compile(
        rf"(?:any|is there any|have you any|got any|do you have any) (?:news|update|updates|progress|word)(?: yet)? (?:on|about|of|from|with|for) {_REF}{_WHEN}"
    ),
    re.compile(
        rf"how far (?:along |on |ahead )?(?:is|are|with|has|have|did)(?: we| you)?(?: with| on| in)? {_REF}(?: got| gotten| along| come| progressed| gone| on)?{_WHEN}"
    ),
    re.compile(rf"where (?:is|are|s|do|does) (?:we|you|it|things)(?: stand)? (?:with|on|at with|in) {_REF}{_WHEN}"),
    re.compile(
        rf"how (?:are|is) (?:we|you|things|it|everything|they) (?:doing|getting on|going|coming along|looking|progressing) (?:on|with|for|in) {_REF}{_WHEN}"
    ),
]
_MAYBE_STATUS = [
    re.compile(rf"(?:is|are|was|isnt) {_REF} {_END_STATE}(?: (?:yet|already|by now|finished))?{_WHEN}"),
    re.compile(
        rf"(?:has|have|did|hasnt|didnt) {_REF} (?:finished|finish|completed|complete|failed|fail|started|start|passed|pass|worked|work|work out|succeeded|succeed|ended|end|gone through|go through|crashed|crash|got stuck|get done|gotten anywhere|get anywhere|been done|been finished|made progress|make it){_WHEN}"
    ),
    re.compile(rf"(?:whats|what is) {_REF} (?:doing|up to|working on|about|at|stuck on|waiting for){_WHEN}"),
    re.compile(rf"(?:whats|what is) (?:happening|going on|up|the matter|the holdup) (?:with|in|on) {_REF}{_WHEN}"),
    re.compile(rf"(?:whats|what is) {_REF} status{_WHEN}|{{0}}".replace("|{0}", "")),
    re.compile(
        rf"how long (?:has|is|does|did|will|until|till|before|have|for)(?: it (?:be|take)(?: until| till| before| for))? {_REF} (?:been running|been going|running|take|taking|need|be done|is done|is finished|been at it|be|still need|been working|finishes|left|going to take){_WHEN}"
    ),
    re.compile(
        rf"are (?:you|we|they) (?:still )?(?:working on|doing|busy with|done with|finished with|through with|making progress on|making progress with) {_REF}{_WHEN}"
    ),
    re.compile(
        rf"(?:when (?:will|is|does|do)|how soon will) {_REF} (?:be |going to be )?(?:done|finished|finish|ready|end|complete|over){_WHEN}"
    ),
    re.compile(
        rf"(?:what about|how about|and what about|tell me about|tell me more about|check on|check in on|check|check up on|how is|hows|where is|wheres|what is|whats|what was|status|and) {_REF}{_WHEN}"
    ),
    re.compile(rf"did you (?:finish|complete|get to|get around to|start|do) {_REF}{_WHEN}"),
    re.compile(rf"{_REF} status"),
]


def status_in(norm: str, context: DialogueContext) -> StatusAsked | None:
    """Which task the sentence asks after."""
    norm = re.sub(
        r"^(?:and|but|so|okay|tell me|also|do you know|can you see|i want to know|id like to know|i wonder) (?=how|is|are|what|has|have|did|any|where|if|whether)",
        "",
        norm,
    )
    norm = re.sub(r"^(?:check|see) (?:if|whether) (?P<ref>.+) is (?=done|finished|ready)", r"is \g<ref> ", norm)
    if _IS_IT_DONE.fullmatch(norm):
        return StatusAsked(it_meant(context, _unfinished(context)), by_it=True)
    for pattern in _SURELY_STATUS:
        if match := pattern.fullmatch(norm):
            ref = match["ref"]
            meant = _status_of(ref, context)
            if meant.found or meant.which or meant.by == "it":
                return StatusAsked(meant, by_it=meant.by == "it")
            if not context.tasks and len(ref.split()) > 3:
                continue
            return StatusAsked(NOBODY, unknown=ref)
    for pattern in _MAYBE_STATUS:
        if match := pattern.fullmatch(norm):
            meant = _status_of(match["ref"], context)
            if meant.by == "it":
                return StatusAsked(meant, by_it=True)
            if meant.found or meant.which:
                return StatusAsked(meant)
    return None


def _status_of(ref: str, context: DialogueContext) -> Meant:
    meant = _prefer(ref, context, _unfinished(context))
    if meant.found or meant.which or meant.by:
        return meant
    return _prefer(ref, context, _unfinished(context), least=0.6) if len(ref.split()) >= 3 else meant


# --- tell it more -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Steer:
    """Something to pass on to a task, in the caller's words; `unknown` holds a name that is no task's."""

    meant: Meant
    text: str
    unknown: str | None = None


_ASIDE = r"(?:(?:no|wait|stop|oh|and|also|please|okay|hey|but|hold on|hang on|yes|yeah|sorry|actually|then|now) )*"
_TELL = re.compile(
    rf"{_ASIDE}(?:let (?P<ref1>\S+(?: \S+){{0,6}}?) know|(?:tell|ask|remind|instruct|inform|warn|message|nudge|advise) (?P<ref>\S+(?: \S+){{0,6}}?))(?P<link> (?:to|that|not to|about|its|it|if|whether|why|what|how|where|when|which|who|he|she|they|the|there|we|i|im|dont|never|you|your|my|our|a|this|please)\b)"
)
_GIVE_NOTE = re.compile(
    rf"{_ASIDE}(?:give|leave|send|drop|write) (?P<ref>\S+(?: \S+){{0,6}}?) (?:a|another|this|the) (?:note|message|hint|comment|reminder|tip)(?: saying)?(?P<link> (?:that|to|about|it|the|its)\b)"
)
_TELL_IT = re.compile(
    rf"{_ASIDE}(?:tell|ask|remind|instruct|inform|warn|let) (?P<ref>it|him|her|them)(?: know)?(?P<link> \w+)"
)
_AGENT_TOLD = re.compile(rf"(?:the )?(?:agent|{_AGENTS})(?: agent)?")
_NUMBERED_ANYWHERE = re.compile(rf"\b{NUMBERED}")
_NUMBERED_FIRST = re.compile(
    rf"{_ASIDE}(?:(?:for|on|in|to|with|about|regarding|as for) )?{NUMBERED}(?: (?:should|also)?)? ?"
)
_ONLY_LIKE = re.compile(
    rf"\b(?:like|same as|as in|similar to|than|from|after|before|based on|what) (?:in |you did in |we did in )?{NUMBERED}"
)
_ADD_THAT = re.compile(
    rf"{_ASIDE}(?:add|note|mention|include|append|put in|remember|keep in mind|bear in mind|consider|say)(?: (?:a|the|one more|another) (?:note|comment|remark|requirement|point|instruction|thing|detail|hint))?"
    r"(?: to (?:it|that|this|them|the task|that task))?(?: saying| so)? that "
)
_ADD_TO_IT = re.compile(
    rf"{_ASIDE}(?:add|append|attach) (?:this |that |the following )?to (?:it|that|this|that one|the task|that task|the description) "
)
_ALSO = re.compile(
    r"(?:(?:oh|and|yes|yeah|um|please|wait) )*(?:also|additionally|in addition|plus|one more thing|another thing|one other thing|one last thing|and another thing|by the way|furthermore|on top of that|"
    r"while (?:youre|its|it is|you are) at it|oh and|and then|and please|and|ps|p s) (?:is |please )?"
)
_IT_SHOULD = re.compile(
    rf"{_ASIDE}(?:it|they|he|she|that|this|the agent|{_AGENTS})(?: (?:also|really|only|then|now|probably|still|just))* (?:must|should|needs? to|has to|have to|can|could|shouldnt|shouldn|mustnt|cant|cannot|may|might|will|ought|doesnt (?:need|have) to|does not (?:need|have) to|needs|shall|is allowed to|isnt allowed to)\b"
)
_MAKE_SURE = re.compile(
    rf"{_ASIDE}(?:make|be) sure (?:that )?(?:it|its|they|that|this|you|youre|not|to|theyre|thats|nothing|none)\b|{_ASIDE}(?:make it|have it|let it|get it to)\b"
)
_INSTEAD = re.compile(
    rf"(?:{_ASIDE}(?:actually|rather|instead|better|on second thought|i changed my mind|correction|sorry|no|i mean|i meant|scratch that|or better|hang on|wait) .+|.+ instead)"
)
_DONT = re.compile(rf"{_ASIDE}(?:dont|do not|never|please dont|avoid|leave out|skip|leave|keep|forget) .+")
_TOO = re.compile(r".+ (?:too|as well|also|on top|in addition|while youre at it|at the same time)")
_ON_IT = re.compile(
    rf"{_ASIDE}(?:retry|try again|try (?:it|that|this) again|try once more|run (?:it|that) again|do (?:it|that) again|redo (?:it|that)|continue|carry on|go on(?: with it)?|keep going|resume(?: it| that)?|"
    r"pause(?: it| that)?|proceed|start over|start again|finish (?:it|that)(?: off| up)?|undo (?:it|that)|revert (?:it|that)|give it another (?:try|go)|restart(?: it| that)?)"
)
_VERB_IT = re.compile(
    rf"{_ASIDE}(?:push|commit|merge|ship|deploy|revert|undo|redo|rerun|run|retry|finish|fix|rename|test|document|review|squash|rebase|publish|release|move|clean|simplify|format|explain|try|do|put|open|send|show|rewrite|split|"
    r"check|use|call|name|write|double check|polish|store|save|mark|limit|restrict|base|translate|implement|extend|shorten) (?:it|that|this|those|them|these)\b(?: .{1,60})?"
)
_FOR_IT = re.compile(r"(?!.*\band\b)(?:\S+ ){1,9}(?:for|to|with|on|in|from|of|into|against|about) (?:it|that|this|them)(?: please| too)?")
_STATES_IT = re.compile(
    rf"{_ASIDE}(?:it|its|it is|theyre|thats (?:wrong|not|the wrong|incorrect)|that is (?:wrong|not)|but|except|unless|only if|in that case|only) .+|.{{1,60}} (?:should|must|needs to|has to|have to) also .+"
)
_PRIORITY = re.compile(
    rf"{_ASIDE}(?:set|change|raise|lower|increase|bump|give it|make) (?:up )?(?:the |its |a )?(?:high |higher |low |lower )?priority\b.*|{_ASIDE}prioriti[sz]e (?:it|this|that)"
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
    if named := _named_first(core, context):
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
        at_work = it_meant(context, _unfinished(context))
        spoken_of = next((task for task in context.tasks if task.id == at_work.task_id), None)
        adds = re.match(rf"{_ASIDE}(?:tell|let|remind)\b", core.norm) or re.search(r"\b(?:also|too|as well)\b", core.norm)
        if spoken_of is None or not adds or _names_other_project(core, spoken_of, context):
            return None
        return Steer(at_work, text)
    if ref == "it" or ref in ("him", "her", "them", "that one", "this one"):
        return Steer(it_meant(context, _unfinished(context)), text)
    meant = _prefer(ref, context, _unfinished(context))
    if meant.found or meant.which:
        return Steer(meant, text)
    if re.search(r"\b(?:one|task|job)$", ref):
        return Steer(NOBODY, text, unknown=ref)
    return None


def _names_other_project(core: Heard, task: TaskBrief, context: DialogueContext) -> bool:
    from keryx.voice.dialogue.slots import work_in  # here, because only this rare question needs it

    project = work_in(core, context).project
    return project is not None and project != task.project


def _named_first(core: Heard, context: DialogueContext) -> Steer | None:
    """ "The parser one should also read comments": a task's name, then what it should do."""
    match = re.match(
        rf"{_ASIDE}(?:(?:for|on|in|to|with|as for|regarding) )?(?P<ref>(?:the|that|my) \S+(?: \S+){{0,4}}? (?:one|task|job))(?: (?:should|must|needs to|has to|also|can|could|please|shall|may))* ",
        core.norm,
    )
    if match is None or re.match(
        r".*\b(?:new|cron|background|ci|deploy|build|scheduled|celery|nightly) (?:one|task|job)$", match["ref"]
    ):
        return None
    meant = _prefer(match["ref"], context, _unfinished(context))
    if meant.by != "words" or not (meant.found or meant.which):
        return None
    return Steer(meant, _strip(core.after(match.end())))


def _about_it(core: Heard, context: DialogueContext) -> Steer | None:
    norm = core.norm
    meant = it_meant(context, _unfinished(context))
    for pattern in (_ADD_THAT, _ADD_TO_IT):
        if match := pattern.match(norm):
            if not meant.found and not meant.which:
                return None
            return Steer(meant, _strip(core.after(match.end())) or core.text)
    if not meant.found:
        return None
    if re.match(r"(?:why|what|which|who|where|when|how|is|are|does|do|did|can|could|should)\b", norm):
        return None
    if (match := _ALSO.match(norm)) and match.end() < len(norm):
        return Steer(meant, _strip(core.after(match.end())))
    for pattern in (_IT_SHOULD, _MAKE_SURE):
        if pattern.match(norm):
            return Steer(meant, _strip(core.text))
    for pattern in (_INSTEAD, _DONT, _TOO, _ON_IT, _VERB_IT, _PRIORITY, _FOR_IT, _STATES_IT):
        if pattern.fullmatch(norm) and len(core.words) <= 30:
            return Steer(meant, _strip(core.text))
    return None


def _strip(text: str) -> str:
    text = text.strip(" ,;:")
    return text[:-1] if text.endswith(".") and not text.endswith("..") else text
