"""Sentences that ask about the owner's mail, told by the whole of them. Pure, in normal form.

"Fix the mail sender" and "send Anna a mail" are work for an agent: a question about mail begins as one and holds
nothing but what narrows it.
"""

import re
from typing import Any

from keryx.voice.dialogue.base import DialogueContext, Looked
from keryx.voice.dialogue.lookups.qualifiers import (
    Qualifiers,
    as_said,
    is_anybody,
    is_somebody,
    qualifiers_in,
    without_possessive,
)
from keryx.voice.dialogue.normalise import NUMBER, ORDINAL, Heard, number_in

_MAIL = r"(?:e ?mails?|mails?|messages?)"
_BOX = r"(?:inbox|mailbox|mail|e ?mails?)"
_ANY = r"(?:any|some|a|an|the|my|more|other|further|new|unread|recent|latest|fresh|important|of|all)"
_I_HAVE = (
    r"(?:(?:is|are|was|were|has|have) there(?: been)?|(?:do|did) (?:i|we) (?:have|get|receive)|"
    r"have (?:i|we)(?: got| had| received| gotten)?|have you got|do you (?:have|see)|can you see|i(?:ve| have)? got|"
    r"(?:check|see|look|check and see)(?: (?:if|whether|for))?(?: (?:there(?:s| is| are)|i have|ive got|ive|i got))?|"
    r"got|get me|show me|give me|read me)"
)
_LISTS = [
    re.compile(rf"(?P<asks>{_I_HAVE}) (?P<how>(?:{_ANY} )*)(?P<kind>{_MAIL})(?= |$)"),
    re.compile(rf"(?P<how>(?:{_ANY} )+)(?P<kind>{_MAIL})(?= |$)"),
    re.compile(
        r"(?P<asks>check|read|look (?:at|in|through)|go through|open|get|fetch|show me|read me|whats|tell me about)"
        rf"(?: out)? (?P<how>my (?:new |unread |latest |recent )*)(?P<kind>{_BOX})(?= |$)"
    ),
    re.compile(r"(?P<asks>check)(?: for)? (?:the )?(?P<how>(?:new |unread )*)(?P<kind>mail|e ?mail|inbox)(?= |$)"),
    re.compile(
        r"(?P<asks>whats|what is|what do i have|what have i got|anything|is there anything|whatve i got)"
        rf"(?P<how>(?: new| unread)?) (?:waiting )?in my (?P<kind>{_BOX})(?= |$)"
    ),
    re.compile(
        r"(?P<asks>who)(?P<how>)(?P<kind>)(?: has| have|s)? (?:wrote|written|mailed|e ?mailed|(?:sent|send)(?: me)?"
        rf"(?: an?| any| some)? {_MAIL})(?: to)?(?: me| us)?(?= |$)"
    ),
    re.compile(
        rf"(?P<asks>what|which|how many|how much) (?P<how>(?:{_ANY} )*)(?P<kind>{_MAIL})"
        r"(?: (?:do (?:i|we) have|have (?:i|we)(?: got)?|are (?:there|waiting)|is there|did (?:i|we) (?:get|receive)|"
        r"are in my inbox|(?:has |have )?(?:come|came|arrived)(?: in)?))?(?= |$)"
    ),
]
_BIDS = re.compile(r"(?:check|see|look|get|show|give|read)(?!.*\b(?:there|ive|i)\b)")
_WROTE = re.compile(
    r"(?:has|did|have) (?P<who>\w+(?: \w+){0,3}?) (?:just |already |ever )?"
    r"(?:written|wrote|write|replied|reply|responded|respond|answered|answer|mailed|mail|e ?mailed|e ?mail|"
    r"(?:sent|send) (?:me |us )?(?:anything|something|(?:a|any) (?:mail|e ?mail|message)|mail|e ?mail)|"
    r"got back to me|gotten back to me|get back to me|been in touch)"
    r"(?: back)?(?: to)?(?: me| us| my (?:mail|e ?mail))?(?: back)?(?= |$)"
)
_IN_A_MAIL = rf"(?: in (?:his|her|their|the|that)(?: last| latest)? {_MAIL})"
_WHAT_WROTE = re.compile(
    rf"what (?:did|does|has|have) (?P<who>\w+(?: \w+){{0,3}}?) (?:just |last )?(?:"
    rf"(?:write|wrote|written|mail|mailed|e ?mail|e ?mailed)(?: (?:to )?(?:me|us))?{_IN_A_MAIL}?"
    rf"|(?:say|said|want|wanted|send|sent|ask|asked)(?: (?:to )?(?:me|us))?{_IN_A_MAIL})(?= |$)"
)
_WHAT_SAID = re.compile(
    r"what (?:did|does|has) (?P<who>\w+(?: \w+){0,3}?) (?:say|said|want|wanted|send|sent)(?: (?:me|us))?(?= |$)"
)
_ANYTHING_FROM = re.compile(
    r"(?:is there |have i got |got |did |has )?(?:anything|something)(?: (?:new|else|in|come in|come|arrived?))*"
    r"(?= from )"
)
"""Could be asked of an agent too, so these count only when nothing else does."""

_READ = r"(?:read|open|play|show|give|tell|let me hear|hear)(?: me)?(?: out)?(?: to me)?"
_WHATS_IN = r"(?:whats|what is|what was) in"
_READS_NEWEST = re.compile(
    rf"(?:{_READ}|{_WHATS_IN}) (?:my|the)(?: very)? (?:last|latest|newest|most recent|first) "
    r"(?P<kind>e ?mail|mail|message)(?= |$)"
)
_READS_THE = re.compile(rf"(?:{_READ}|{_WHATS_IN}) (?:the|that) (?P<kind>e ?mail|mail|message)(?= |$)")
_READS_WHOSE = re.compile(
    rf"(?:{_READ}|{_WHATS_IN}|what does|what did) (?P<who>\w+(?: \w+){{0,2}}?s) (?:last |latest |newest |new )?"
    r"(?P<kind>e ?mail|mail|message)(?: say)?(?= |$)"
)
_SAYS = re.compile(r"what does (?:the|that) (?:last |latest )?(?P<kind>e ?mail|mail)(?P<narrowed>.*) say")

_LEAD = r"(?:(?:and|then|now|okay|yes|no|please|so|also) )*"
_HEAR = rf"(?:{_READ}|(?:can i|let me|id like to|i want to) (?:hear|have)|ill (?:take|have|hear)|{_WHATS_IN})"
_ONE = rf"(?: (?:one|{_MAIL}))?"
_SAY = r"(?:say|write|want|need|mean)"
_READS_IT = re.compile(
    rf"{_LEAD}(?:{_HEAR} (?:it|that|this)(?: one)?|what does (?:it|that one|that|the (?:mail|e ?mail|message)) {_SAY}|"
    rf"what (?:did|does|do) (?:he|she|they) {_SAY}|whats (?:it|that) about|(?:tell me )?more about (?:it|that)|"
    r"open it|read on)(?: out| aloud)?(?: please)?"
)
_PLACE = (
    rf"(?:the )?(?:(?P<place>{ORDINAL})|number (?P<number>{NUMBER})|(?P<end>last|latest|newest|next|other|oldest))"
    rf"{_ONE}"
)
_READS_PLACE = re.compile(
    rf"{_LEAD}(?:{_HEAR} |what does |what about |how about )?{_PLACE}(?: {_SAY})?(?: (?:out|please|to me))*"
)
_READS_HERS = re.compile(
    rf"{_LEAD}(?:{_HEAR} |what does )?(?:the (?:one|{_MAIL}) from (?P<from>\w+(?: \w+){{0,2}}?)|"
    rf"(?P<whose>\w+(?: \w+)?s){_ONE})(?: {_SAY})?(?: please)?"
)
_ITS_SENDER = ("he", "she", "they")


def mail_in(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    """What `check_mail` is asked for; None when the sentence is no question about mail."""
    asked = _about_listed(heard, context)
    if asked is None:
        asked = _read_out(heard, context)
    if asked is None:
        asked = _written_by(heard, context)
    return asked if asked is not None else _listed(heard, context)


def mail_perhaps(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    """The same for "what did Anna say", which is about a task when there is one it could be about."""
    if match := _ANYTHING_FROM.match(heard.norm):
        narrowed = qualifiers_in(heard, len(match[0].split()))
        in_the_box = bool(re.search(rf" in my {_BOX}\b", heard.norm))
        fits = narrowed and is_somebody(narrowed.who, context, or_house=in_the_box)
        return _arguments(narrowed) if narrowed and fits else None
    match = _WHAT_SAID.match(heard.norm)
    if match is None or not is_somebody(match["who"], context):
        return None
    narrowed = qualifiers_in(heard, len(match[0].split()))
    return None if narrowed is None else _arguments(narrowed, who=_said(heard, match, "who"), read=1)


def _listed(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    for pattern in _LISTS:
        match = pattern.match(heard.norm)
        if match is None:
            continue
        how, kind = match["how"].split(), match["kind"]
        asks = match.groupdict().get("asks")
        if asks is None and (context.pending or not {"any", "new", "unread", "more"} & set(how)):
            continue  # A few words without a question may answer one.
        narrowed = qualifiers_in(heard, len(match[0].split()))
        if narrowed is None:
            continue
        if narrowed.who and not is_somebody(narrowed.who, context, or_house="message" not in kind):
            continue
        if asks and not narrowed.who and _BIDS.match(asks) and not {"my", "any", "new", "unread"} & set(how):
            continue  # "Check the mails" may be work.
        unread = "unread" in how or ("new" in how and not narrowed.when) or narrowed == Qualifiers()
        return _arguments(narrowed, unread=unread)
    return _misheard(heard, context)


def _misheard(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    """ "Any male from Anna": only where nothing else can be meant."""
    match = re.match(r"(?:is there |have i got |do i have )?any (?P<new>new )?males?(?= from)", heard.norm)
    narrowed = qualifiers_in(heard, len(match[0].split())) if match else None
    if narrowed is None or not is_somebody(narrowed.who, context):
        return None
    return _arguments(narrowed)


def _written_by(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    for pattern, read in ((_WROTE, None), (_WHAT_WROTE, 1)):
        match = pattern.match(heard.norm)
        narrowed = qualifiers_in(heard, len(match[0].split())) if match else None
        if match is None or narrowed is None:
            continue
        if is_anybody(match["who"]) and read is None:
            return _arguments(narrowed, unread=not narrowed.when)
        if match["who"] in _ITS_SENDER and (sender := _sender_of(context.looked)):
            return _arguments(narrowed, who=sender, read=read)
        if is_somebody(match["who"], context):
            return _arguments(narrowed, who=_said(heard, match, "who"), read=read)
    return None


def _read_out(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    norm = heard.norm
    if match := _READS_NEWEST.match(norm):
        narrowed = qualifiers_in(heard, len(match[0].split()))
        mine = "message" not in match["kind"] or " my " in match[0]
        return _arguments(narrowed, read=1) if narrowed and (mine or narrowed.who) else None
    if match := _READS_WHOSE.match(norm):
        start = len(norm[: match.start("who")].split())
        who = without_possessive(heard, start, start + len(match["who"].split()))
        narrowed = qualifiers_in(heard, len(match[0].split()))
        return _arguments(narrowed, who=who, read=1) if narrowed and is_somebody(who, context) else None
    if match := _READS_THE.match(norm):
        narrowed = qualifiers_in(heard, len(match[0].split()))
    elif match := _SAYS.fullmatch(norm):
        narrowed = qualifiers_in(heard, len(norm[: match.start("narrowed")].split()), len(heard.words) - 1)
    else:
        return None
    if narrowed is None or not narrowed.who or not is_somebody(narrowed.who, context, or_house=True):
        return None
    return _arguments(narrowed, read=1)


def _about_listed(heard: Heard, context: DialogueContext) -> dict[str, Any] | None:
    """ "Read the second one", after some were told."""
    looked = context.looked
    if looked is None or looked.tool != "check_mail" or not looked.listed:
        return None
    norm = heard.norm
    if _READS_IT.fullmatch(norm):
        return {"read": looked.arguments.get("read") or 1}
    if match := _READS_PLACE.fullmatch(norm):
        now = looked.arguments.get("read") or (0 if match["end"] == "next" else 1)
        ends = {"last": looked.listed, "oldest": looked.listed, "next": now + 1, "latest": 1, "newest": 1, "other": 2}
        place = ends[match["end"]] if match["end"] else number_in(match["place"] or match["number"]) or 0
        return {"read": place} if place > 0 else None
    if match := re.fullmatch(rf"{_LEAD}(?:what about |how about )?from (?P<from>\w+(?: \w+){{0,2}})", norm):
        narrowed = {key: value for key, value in looked.arguments.items() if key != "read"}
        who = _said(heard, match, "from")
        return narrowed | {"sender": who} if is_somebody(who, context, or_house=True) else None
    if match := _READS_HERS.fullmatch(norm):
        group = "from" if match["from"] else "whose"
        start = len(norm[: match.start(group)].split())
        end = start + len(match[group].split())
        who = as_said(heard, start, end) if group == "from" else without_possessive(heard, start, end)
        if group == "whose" and not re.search(r"['’]", heard.original(start, end)):
            return None
        return {"sender": who, "read": 1} if is_somebody(who, context, or_house=True) else None
    return None


def _sender_of(looked: Looked | None) -> str | None:
    return looked.arguments.get("sender") if looked and looked.tool == "check_mail" else None


def _said(heard: Heard, match: "re.Match[str]", group: str) -> str:
    """What a group holds, in the caller's own letters."""
    start = len(heard.norm[: match.start(group)].split())
    return as_said(heard, start, start + len(match[group].split()))


def _arguments(
    narrowed: Qualifiers, *, who: str = "", unread: bool = False, read: int | None = None
) -> dict[str, Any] | None:
    if narrowed.length or (who and narrowed.who):
        return None
    given = {
        "sender": who or narrowed.who,
        "about": narrowed.about,
        "when": narrowed.when,
        "unread_only": unread,
        "read": read,
    }
    return {name: value for name, value in given.items() if value}
