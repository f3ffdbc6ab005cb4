"""Sentences that ask how things stand, with all tasks or with one. Pure, in normal form."""

import re
from dataclasses import dataclass

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.names import NOBODY, Meant, agent_pattern, it_meant
from keryx.voice.dialogue.targets import REF, meant_first, unfinished_tasks

_AGENTS = agent_pattern(())

_STATUS_WORDS = {
    "running": r"running|in progress|active|being worked on|working|busy|ongoing|on the go|under way|underway",
    "queued": (
        r"queued|queued up|waiting in the queue|waiting in line|waiting|pending|in the queue|in line|not started|"
        r"left to do|coming up|scheduled|lined up|(?:waiting|yet|due|about|supposed) to (?:start|begin|run|go)|"
        r"not (?:yet )?"
        r"(?:started|begun)(?: yet)?|up next|next"
    ),
    "done": r"done|finished|complete|completed|ready|succeeded",
    "failed": r"failed|failing|broken|broke|wrong|red|crashed",
    "cancelled": r"cancelled|canceled|aborted|stopped",
}
_ANY_STATUS = "|".join(_STATUS_WORDS.values())
_TASKS = r"(?:tasks|jobs|work|things|ones|task|job)"
_WHEN = (
    r"(?: (?:right now|now|at the moment|currently|today|so far|still|at present|just now|already|here|for me|"
    r"these days|yet|again))*"
)
_IS_IT_DONE = re.compile(
    r"are we (?:there|done|nearly there|getting there|close)(?: yet)?|(?:is|are) (?:you|we) (?:done|finished|"
    r"nearly done|almost done|ready)(?: yet| with (?:it|that))?|any (?:progress|luck|headway|movement)(?: yet| so far|"
    r" there)*|hows that going|(?:did|does) (?:it|that) (?:work|"
    r"pass|help)(?: out)?|(?:whats|what is|why is (?:it|that|this)|why are you|why does (?:it|that|this)) (?:it |"
    r"still )?"
    r"(?:taking|take) (?:it |you |them )?(?:so|this|that) long|how (?:much longer|long (?:now|left|still|to go))"
    r"(?: (?:will|does|is|do) (?:it|that|you|this) (?:take|need|going to take|be))?|how long (?:will|does|is) (?:it|"
    r"that|this) (?:take|going to take|still need)|(?:whats|what is) the (?:hold ?up|eta|delay)|when (?:will|does) "
    r"(?:it|that) (?:be )?(?:done|ready|finish(?:ed)?)|(?:has|did) (?:it|that) (?:start|begin|begun|get going)(?:ed)?"
)
_LIST_BY_STATUS = [
    re.compile(
        rf"(?:what|whats|what is|what are|what has|what have|which|which ones|who|whos)(?: is| are| has|"
        rf" have)?(?: (?:still|currently|all|been|just|everything|{_TASKS}|of them|of my tasks|my tasks|the tasks|"
        rf"is|are|has|have))*{_WHEN} (?P<status>{_ANY_STATUS}|open|left){_WHEN}"
    ),
    re.compile(
        rf"(?:(?:is|are|was|has|have|did|does)(?: there)? )?(?:anything|something|any|any {_TASKS}|any of them|"
        rf"any of my tasks|anybody|anyone)(?: (?:else|still|currently|been|"
        rf"{_TASKS}))*{_WHEN} (?P<status>{_ANY_STATUS}|fail|finish){_WHEN}"
    ),
    re.compile(
        rf"how many(?: {_TASKS})?(?: of them)?(?: (?:are|have|is|were|has|do i have|do you have|do we have|"
        rf"are there|still|currently|been))*(?: (?P<status>{_ANY_STATUS}))?{_WHEN}"
    ),
    re.compile(
        rf"(?:list|show|read|tell|give|name|what are|which are|lets hear|whatre)(?: me| us)?(?: out|"
        rf" about)?(?: all)?(?: of)?(?: the| my| our| your| all)* (?P<status>{_ANY_STATUS}|open|current|recent|"
        rf"latest)? ?{_TASKS}{_WHEN}(?: (?:that are|which are|that|still) (?P<status2>{_ANY_STATUS}))?{_WHEN}"
    ),
    re.compile(
        rf"(?:whats|what is|anything|is anything) (?:in|on) (?:the|my|your) (?P<status>queue|list|plate){_WHEN}"
    ),
]
_WORKING_ON = re.compile(
    rf"what(?:s| is| are|re)? (?:you|they|we|everybodys?|everyones?|(?:all )?the agents?|my agents?|"
    rf"{_AGENTS}) (?:all |is |are )*(?:currently )?(?:working on|doing|up to|busy with|at){_WHEN}"
    rf"|(?:are you|is anybody|are they|is anyone|are you still|are the agents) (?:still )?(?:working|busy|"
    rf"doing something|doing anything|working on (?:anything|something)){_WHEN}"
    rf"|what work is (?:running|going on|in progress){_WHEN}|whats keeping you busy"
)
_LIST_ALL = re.compile(
    rf"(?:(?:whats|what is|whats been) (?:going on|happening|up|new|cooking|the (?:overall )?(?:status|situation|"
    rf"state of (?:things|play|affairs)|latest|news|update|score))(?: (?:with|on|of) (?:everything|my tasks|"
    rf"the tasks|all (?:the |my )?tasks))?{_WHEN})"
    rf"|(?:hows|how is|how are|how re|howre|how) (?:everything|things|it all|all|all of (?:it|them)|we|"
    rf"the (?:tasks|work|jobs)|my (?:tasks|jobs)|they|the agents|are things)(?: (?:going|doing|coming along|"
    rf"coming on|getting on|looking|all going|progressing))?{_WHEN}"
    rf"|(?:status|status report|status update|update|overview|progress|progress report|news|"
    rf"state of play)(?: please| of everything| on everything)?"
    rf"|(?:give me|get me|can i have|can i get|i want|i need|id like|tell me|read me|let me have|show me)(?: an| a|"
    rf" the| my)?(?: quick| short| brief| full)? (?:update|overview|rundown|summary of (?:everything|all tasks|"
    rf"my tasks|the tasks)|status|status report|status update|quick update|list|run down|latest)(?: (?:on|"
    rf"of) (?:everything|all (?:the |my )?tasks|my tasks|the tasks|things))?{_WHEN}"
    rf"|(?:any|is there any|do you have any|got any|have you got any) (?:news|updates?|"
    rf"word)(?: for me)?{_WHEN}|anything new(?: for me)?|whats new|where are we{_WHEN}|where do we stand{_WHEN}|"
    rf"where do things stand{_WHEN}|how do things stand{_WHEN}"
    rf"|what (?:have|do) (?:you|we) (?:got|have)(?: for me| on| going| going on| on the go|"
    rf" in the works| on your plate)?{_WHEN}|what (?:tasks|"
    rf"jobs) (?:are there|do i have|do you have|do we have|have i got|have we got){_WHEN}|(?:my |the |all |all my |"
    rf"all the )?tasks|(?:list|show|show me|list me) (?:everything|all|them all)"
    rf"|what (?:have|has|did) (?:you|we|they|everybody) (?:done|finished|managed|do|achieved|got done|"
    rf"accomplished)(?: so far| today| yet| up to now)*|(?:is|are) (?:everything|all|they all|all of (?:it|them)|"
    rf"it all|(?:all )?(?:the|my) (?:tasks|jobs)|all tasks) (?:done|finished|ready|complete|completed|okay|ok|"
    rf"all right|fine|running|good){_WHEN}"
    rf"|what (?:did i|have i|was i|were we|did we) (?:ask|asked|give|given|order|ordered|asking|want|start|"
    rf"started)(?: you)?(?: for| to do)?(?: so far| today)?|what else(?: is there)?"
    rf"|(?:(?:a |the )?(?:quick |short )?(?:status|summary|overview|rundown|list|state) of|how about|"
    rf"what about) (?:everything|all (?:my |the )?tasks|my tasks|the tasks|the others|"
    rf"the rest)|hows everybody doing|how many tasks"
)

_FINISHED = re.compile(
    r"what (?:have|has|did) (?:you|we|they|everybody|everyone|the agents?) (?:all )?(?:finished?|completed?|"
    r"got finished)"
    r"(?: so far| today| yet| up to now| lately| recently| since .{1,30})*"
)


def list_in(norm: str) -> str | None:
    """Which status a question about all tasks is limited to, "" for every one; None when it is no such question."""
    norm = re.sub(
        r"^(?:(?:and|but|so|also) )*(?:(?:give|get|tell) me (?:a |an |the )?(?:quick |short |brief |"
        r"little )*(?:summary|"
        r"overview|rundown|list|update|idea) (?:of|on|about) |tell me |and |but |so |also )(?=what|which|how|is|are|"
        r"any)",
        "",
        norm,
    )
    if _WORKING_ON.fullmatch(norm):
        return "running"
    if _WENT_WRONG.fullmatch(norm):
        return "failed"
    if _FINISHED.fullmatch(norm):
        return "done"
    if _LIST_ALL.fullmatch(norm):
        return ""
    for pattern in _LIST_BY_STATUS:
        if match := pattern.fullmatch(norm):
            groups = match.groupdict()
            return _status_named(groups.get("status") or groups.get("status2") or "")
    return None


_WENT_WRONG = re.compile(
    r"(?:(?:are|were|is|was) there |have you (?:had|seen) |did you have )?(?:any|some) (?:failures?|errors?|problems?|"
    rf"trouble|crashes|breakages)(?: with (?:my|the) (?:tasks|jobs)| to report)?{_WHEN}|"
    r"(?:(?:did|has|have|is) )?(?:anything|something|any (?:tasks|jobs|task|job)|any of (?:them|(?:the|my) tasks))"
    r"(?: else)? (?:go wrong|gone wrong|went wrong|break|broken|broke|blow up|blown up|blew up|crash|not work)"
    rf"{_WHEN}"
)


def _status_named(word: str) -> str:
    word = {"queue": "queued", "fail": "failed", "finish": "finished"}.get(word, word)
    return next((status for status, words in _STATUS_WORDS.items() if re.fullmatch(words, word)), "")


@dataclass(frozen=True)
class StatusAsked:
    """A question about one task, `by_it` when it was only called "it"; `unknown` holds a name that is no task's."""

    meant: Meant
    by_it: bool = False
    unknown: str | None = None


_END_STATE = (
    r"(?:done|finished|complete|completed|ready|over|through|still running|running|still going|going|still at it|"
    r"finished yet|up and running|stuck|queued|waiting|still waiting|still working|working|all done|failing|failed|"
    r"in progress|cancelled|(?:nearly|almost|about|fully|completely|quite|just about) (?:done|finished|ready|there|"
    r"complete|over|through)|close|progressing|moving|making progress|any closer)"
)
_SURELY_STATUS = [
    re.compile(
        rf"(?:hows|how is|how are|how re|how has|how does|how did) {REF} (?:going|doing|coming|coming along|"
        rf"coming on|getting on|progressing|looking|getting along|faring|been going)(?: along)?{_WHEN}"
    ),
    re.compile(
        rf"(?:(?:whats|what is|tell me|give me|get me|check|show me|read me|i want|i need|can i have|can i get|"
        rf"id like)(?: an| a)? )?(?:the )?(?:current |latest )?(?:status|state|progress|update|news|latest|word|"
        rf"status update|progress update|situation)(?: update| report)? (?:of|on|with|for|about|from) {REF}{_WHEN}"
    ),
    re.compile(
        rf"(?:any|is there any|have you any|got any|do you have any) (?:news|update|updates|progress|"
        rf"word)(?: yet)? (?:on|about|of|from|with|for) {REF}{_WHEN}"
    ),
    re.compile(
        rf"how far (?:along |on |ahead )?(?:is|are|with|has|have|did)(?: we| you)?(?: with| on| in)? {REF}(?: got|"
        rf" gotten| along| come| progressed| gone| on)?{_WHEN}"
    ),
    re.compile(rf"how much (?:is|more is|work is) (?:left|there) (?:to do )?(?:on|with|for|in|of) {REF}{_WHEN}"),
    re.compile(rf"where (?:is|are|s|do|does) (?:we|you|it|things)(?: stand)? (?:with|on|at with|in) {REF}{_WHEN}"),
    re.compile(
        rf"how (?:are|is) (?:we|you|things|it|everything|they) (?:doing|getting on|going|coming along|looking|"
        rf"progressing) (?:on|with|for|in) {REF}{_WHEN}"
    ),
]
_MAYBE_STATUS = [
    re.compile(rf"(?:is|are|was|isnt) {REF} {_END_STATE}(?: (?:yet|already|by now|finished))?{_WHEN}"),
    re.compile(
        rf"(?:has|have|did|hasnt|didnt) {REF} (?:finished|finish|completed|complete|failed|fail|started|start|"
        rf"passed|pass|worked|work|work out|succeeded|succeed|ended|end|gone through|go through|crashed|crash|"
        rf"got stuck|get done|gotten anywhere|get anywhere|been done|been finished|made progress|make it){_WHEN}"
    ),
    re.compile(rf"(?:whats|what is) {REF} (?:doing|up to|working on|about|at|stuck on|waiting for){_WHEN}"),
    re.compile(rf"(?:whats|what is) (?:happening|going on|up|the matter|the holdup) (?:with|in|on) {REF}{_WHEN}"),
    re.compile(rf"(?:whats|what is) {REF} status{_WHEN}"),
    re.compile(
        rf"how long (?:has|is|does|did|will|until|till|before|have|for)(?: it (?:be|take)(?: until| till| before|"
        rf" for))? {REF} (?:been running|been going|running|take|taking|need|be done|is done|is finished|"
        rf"been at it|be|still need|been working|finishes|left|going to take){_WHEN}"
    ),
    re.compile(
        rf"are (?:you|we|they) (?:still )?(?:working on|doing|busy with|done with|finished with|through with|"
        rf"making progress on|making progress with) {REF}{_WHEN}"
    ),
    re.compile(
        rf"(?:when (?:will|is|does|do)|how soon will) {REF} (?:be |going to be )?(?:done|finished|finish|ready|end|"
        rf"complete|over){_WHEN}"
    ),
    re.compile(
        rf"(?:what about|how about|and what about|tell me about|tell me more about|check on|check in on|check|"
        rf"check up on|how is|hows|where is|wheres|what is|whats|what was|status|and) {REF}{_WHEN}"
    ),
    re.compile(rf"did you (?:finish|complete|get to|get around to|start|do) {REF}{_WHEN}"),
    re.compile(rf"{REF} status"),
]


def status_in(norm: str, context: DialogueContext) -> StatusAsked | None:
    """Which task the sentence asks after."""
    norm = re.sub(
        r"^(?:and|but|so|okay|tell me|also|do you know|can you see|i want to know|id like to know|i wonder) (?=how|"
        r"is|are|what|has|have|did|any|where|if|whether)",
        "",
        norm,
    )
    norm = re.sub(r"^(?:check|see) (?:if|whether) (?P<ref>.+) is (?=done|finished|ready)", r"is \g<ref> ", norm)
    if _IS_IT_DONE.fullmatch(norm):
        return StatusAsked(it_meant(context, unfinished_tasks(context)), by_it=True)
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
    meant = meant_first(ref, context, unfinished_tasks(context))
    if meant.found or meant.which or meant.by:
        return meant
    return meant_first(ref, context, unfinished_tasks(context), least=0.6) if len(ref.split()) >= 3 else meant
