"""Sentences that want a call when a task is done. Pure, in normal form."""

import re

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.names import NOBODY, Meant, it_meant
from keryx.voice.dialogue.targets import meant_first, unfinished_tasks

_DONE_WORDS = frozenset(
    "it its it that thats they theyre you youre youve have are is has been was be done finished finish finishes ready "
    "over complete completed completes ended ends "
    "everything all this he hes she shes something anything later tomorrow changes change happens happened"
    " afterwards news there any then through with by phone please "
    "know more the results result an answer up both tests pass passed passes works worked".split()
)
"""A clause of nothing but these is about the task in focus ("when it's done")."""

_RING = r"(?:call|ring|phone|text|message|ping|buzz|notify|dial|alert)"
_SHOUT = r"(?:phone call|call|ring|shout|buzz|bell|ping|message|text|tinkle|callback|call back)"
_BY_PHONE = r"(?: (?:back|up|again|by (?:phone|telephone)|on (?:the|my) phone))*"
_CALL_ME = (
    rf"(?:(?:{_RING}|(?:calling|ringing|phoning|texting)) me{_BY_PHONE}|(?:give|giving) me a {_SHOUT}{_BY_PHONE}|"
    rf"get back to me{_BY_PHONE}|send me a (?:message|text)|"
    rf"(?:i(?:d| would)? (?:like|want|love|need|appreciate)|(?:can|could|may) i (?:get|have)|please arrange|arrange|"
    rf"schedule|request|set up) (?:a |you to )(?:{_SHOUT}|call me)(?: back)?(?: me)?{_BY_PHONE}|"
    rf"(?:a )?(?:callback|call back)|(?:i want to |i would like to |id like to )?be (?:called|rung|phoned)(?: back)?)"
)
_TELL_ME = rf"(?:let me know{_BY_PHONE}|letting me know{_BY_PHONE}|tell me|i want to (?:know|hear)|keep me posted)"
_WHEN = r"(?:when(?:ever)?|once|after|as soon as|if|the (?:moment|minute|second))"
_MINDING = r"(?:(?:yes|yeah|and|then|also|please|just|would you mind|do you mind|you can|you may|so) )*"
_ASKED = re.compile(
    rf"{_MINDING}(?P<call>{_CALL_ME}|{_TELL_ME})"
    rf"(?: (?P<when>(?:{_WHEN}|about|later|tomorrow|then|with|on|for|afterwards|regarding)\b.*))?"
)
_CLAUSE_FIRST = re.compile(
    rf"{_MINDING}(?P<when>{_WHEN} .+?) (?:then |please |just |could you |can you )*(?P<call>{_CALL_ME})"
)
_LEAD_OF_CLAUSE = re.compile(
    rf"^(?:{_WHEN}|about|with|on|for|then|regarding)\b ?(?:youre |you are |you have |youve )?(?:done |"
    rf"finished )?(?:with )?"
    r"(?:the results? (?:of|for) )?"
)


def callback_in(norm: str, context: DialogueContext) -> Meant | None:
    """For which task a call back is wanted; None unless that is all the sentence asks."""
    asked = _ASKED.fullmatch(norm) or _CLAUSE_FIRST.fullmatch(norm)
    if asked is None:
        return None
    only_told = bool(re.match(_TELL_ME, asked["call"]))
    when = asked["when"]
    if when is None:
        return _in_focus(context) if not only_told or "know" in asked["call"] or "posted" in asked["call"] else None
    if only_told and not re.match(_WHEN, when):
        return None
    full = _LEAD_OF_CLAUSE.sub("", when)
    words = (full or when).split()
    if not full or _DONE_WORDS.issuperset(words):
        return it_meant(context, unfinished_tasks(context)) if _is_about_it(words) else _in_focus(context)
    # "fourteen's" was one word: the "s" is no part of the name.
    for phrase in (full, re.sub(r"^(\S+?)s\b", r"\1", full)):
        words = phrase.split()
        for size in range(len(words), 0, -1):
            meant = meant_first(" ".join(words[:size]), context, unfinished_tasks(context))
            if meant.by not in ("", "it", "any") and meant.found:
                return meant
    if only_told or (asked.re is _CLAUSE_FIRST and not _is_about_it(words)):
        # "Let me know when you've bumped the version": the clause itself is the work.
        return None
    return _in_focus(context)


def _is_about_it(words: list[str]) -> bool:
    return bool(words) and words[0] in ("it", "its", "that", "thats", "this", "theyre", "youre", "youve", "everything")


def _in_focus(context: DialogueContext) -> Meant:
    return Meant(context.focus) if context.focus is not None else NOBODY


# --- the wish around a request, which is not part of the work ---

_ME = (
    r"(?:call|ring|phone|text|message|ping|buzz|notify|dial|tell|alert) me|give me a (?:call|ring|shout|buzz|bell|"
    r"ping)|let me know|send me a (?:message|text)|get back to me"
)
_DONE_CLAUSE = (
    r"(?:when(?:ever)?|once|after|as soon as|if|the moment) (?:it|its|it is|that|thats|thatis|that is|theyre|they|"
    r"youre|you|youve|you are|this|everything|all|the|done|finished|ready|she|he|hes|shes|claude|codex)"
    r"(?: \w+){0,8}"
)
CALLBACK_TAIL = re.compile(
    rf"(?: |^)(?:(?:and|then|also|please|but|plus|afterwards|could you|can you|and then) )*"
    rf"(?:(?:{_ME})(?: back| up)?(?: {_DONE_CLAUSE}| afterwards| after| after that| later| then| with the results?|"
    rf" about it)"
    r"|(?:call|ring|phone|text|message|ping|buzz|notify|dial) me(?: back| up)?|give me a (?:call|ring|shout|buzz|"
    r"bell)(?: back)?)$"
)
CALLBACK_LEAD = re.compile(
    rf"(?:{_ME})(?: back| up)? (?:when|once|after|as soon as) (?:youve|you have|youre done|you are done|"
    rf"youre finished|you)(?: finished| done)? "
)
NO_CALLBACK_TAIL = re.compile(
    r" (?:(?:and|but) )?(?:theres )?(?:no need to|you dont (?:need|have) to|dont|do not) (?:call|ring|phone|"
    r"text)(?: me)?(?: back)?(?: when .{0,30})?$"
)
