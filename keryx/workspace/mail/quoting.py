"""What somebody wrote, apart from the earlier mail below it or between. Pure.

Looks at one line after the other, and at a bounded part of each: twice the text takes twice the time. Mail programs
announce what they quote in the sender's language; the words of the common ones are tables here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_ANNOUNCED_CHARS = 400
"""Of the lines that announce a quotation, together."""
MAX_ANNOUNCED_LINES = 4
KEPT_LINES = 3
"""Of a stretch that is answered in place: its last lines stay before the answer."""
KEPT_CHARS = 400
MAX_BLOCK_LINES = 10
"""How far apart the first and the last line may be of a block of headers: "From:", "Sent:", "To:", "Subject:"."""

_WROTE = re.compile(
    r"\b(?:wrote|writes|schrieb|schrieben|écrit|ecrit|escribió|escribio|scritto|scrisse|schreef|geschreven|escreveu"
    r"|skrev|skrifaði|kirjoitti|napsala?|napísala?|napisała?|napisał\(a\)|pisze|írta|yazdı|написала?|пишет|пише)\b",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:on|am|le|el|il|op|em|den|på|w dniu|dnia|dne|в|vào|pada|în|στις|\d{1,4}[./-]\d{1,2}[./-]\d{1,4})\b[\s,:]",
    re.IGNORECASE,
)
_DATED = re.compile(r"\d{1,2}[:.h]\d{2}|\b(?:19|20)\d{2}\b|\d{1,2}[./-]\d{1,2}[./-]\d{2}")
_ENDS = (":", "：", ":*", ": *")
_ADDRESS = re.compile(r"[^\s<>@]{1,64}@[^\s<>@]{1,100}")

_ORIGINAL = re.compile(
    r"[-_=]{2,40}\s{0,3}(?:original message|original appointment|ursprüngliche nachricht|original-nachricht"
    r"|ursprünglicher termin|message d['’]origine|message original|mensaje original|messaggio originale"
    r"|oorspronkelijk bericht|oorspronkelijke bericht|mensagem original|ursprungligt meddelande|oprindelig meddelelse"
    r"|opprinnelig melding|alkuperäinen viesti|wiadomość oryginalna|původní zpráva|исходное сообщение)"
    r"\s{0,3}[-_=]{2,40}",
    re.IGNORECASE,
)
_FORWARDED = re.compile(
    r"(?:[-_=]{2,40}\s{0,3})?(?:forwarded message(?: from .{1,100})?|begin forwarded message\s?:"
    r"|weitergeleitete nachricht|anfang der weitergeleiteten nachricht\s?:"
    r"|message transféré|message réexpédié|début du message (?:transféré|réexpédié)\s?:"
    r"|mensaje reenviado|inicio del mensaje reenviado\s?:|messaggio inoltrato|inizio messaggio inoltrato\s?:"
    r"|doorgestuurd bericht|begin doorgestuurd bericht\s?:|mensagem (?:encaminhada|reencaminhada)"
    r"|vidarebefordrat meddelande|videresendt (?:meddelelse|melding)|wiadomość przekazana dalej"
    r"|пересылаемое сообщение|forwarded by .{1,100})(?:\s{0,3}[-_=]{2,40})?\s{0,3}",
    re.IGNORECASE,
)
_RULED = re.compile(r"[-_=]{2}|.*:\s{0,3}$")
_FORWARDED_SUBJECT = re.compile(r"\s{0,9}(?:fwd?|wg|tr|rv|i|doorst|enc|vb|vs|pd|fs)\s?[:：]", re.IGNORECASE)

_FROM = re.compile(r"[*_]{0,2}(?:from|von|de|da|van|från|fra|od|от|expéditeur|mittente)\s?[:：]", re.IGNORECASE)
_SENT = re.compile(
    r"[*_]{0,2}(?:sent|date|gesendet|datum|envoyé|enviado(?: el)?|enviada(?: em)?|fecha|inviato|data|verzonden|skickat"
    r"|sendt|dato|wysłano|дата|отправлено)\s?[:：]",
    re.IGNORECASE,
)
_TO = re.compile(r"[*_]{0,2}(?:to|an|à|para|a|aan|till|til|do|кому|destinataire|destinatario)\s?[:：]", re.IGNORECASE)
_SUBJECT = re.compile(
    r"[*_]{0,2}(?:subject|betreff|objet|asunto|oggetto|onderwerp|assunto|ämne|emne|temat|тема)\s?[:：]", re.IGNORECASE
)
_RULE = re.compile(r"[\s*]{0,9}[-_=]{5,200}\s{0,9}")


@dataclass(frozen=True)
class Split:
    """A text in two."""

    own: str
    """With the last lines of whatever is answered in place."""
    quoted: str
    """All that was folded away, those lines too."""


def split(text: str, *, forwarded: bool = False) -> Split:
    """`text` apart from what it quotes. `forwarded`: its subject says that a message is passed on: its content."""
    lines = text.split("\n")
    kinds = _kinds(lines, forwarded)
    own: list[str] = []
    quoted: list[str] = []
    at = 0
    while at < len(lines):
        stop = at
        while stop < len(lines) and kinds[stop] == kinds[at]:
            stop += 1
        stretch = lines[at:stop]
        if kinds[at] == _OWN:
            own += stretch
        else:
            quoted += stretch
            if kinds[at] == _QUOTED and _answered(lines, kinds, stop):
                own += _shortened(stretch)
        at = stop
    return Split(_trimmed(own), _trimmed(quoted))


def is_forward(subject: str) -> bool:
    """Whether a subject says that a message is passed on."""
    return _FORWARDED_SUBJECT.match(subject[:MAX_ANNOUNCED_CHARS]) is not None


def begins_forwarded(line: str) -> bool:
    """Whether a line announces a message that is passed on."""
    line = line[:MAX_ANNOUNCED_CHARS].strip().strip("*_ ") if line[:1] in "*_ " else line[:MAX_ANNOUNCED_CHARS].strip()
    return _FORWARDED.fullmatch(line) is not None and _RULED.match(line) is not None


_OWN, _QUOTED, _ANNOUNCED, _REST = range(4)
"""What a line is: the writer's own, a quotation, what announces one, or part of an earlier message that ends it all."""


def _kinds(lines: Sequence[str], forwarded: bool) -> list[int]:
    kinds = [_OWN] * len(lines)
    said = False
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(">"):
            if begins_forwarded(line.lstrip("> ")) and (not at or kinds[at - 1] == _OWN):
                break  # Apple's Mail passes a message on as if it quoted it
            kinds[at] = _QUOTED
        elif not line.strip():
            # An empty line between two quoted ones belongs to them.
            between = at and kinds[at - 1] == _QUOTED and at + 1 < len(lines) and lines[at + 1].startswith(">")
            kinds[at] = _QUOTED if between else _OWN
        elif begins_forwarded(line):
            break  # all that follows is what is being sent
        elif announced := _announcement(lines, at):
            followed = _next_line(lines, at + announced)
            if followed.startswith(">"):
                kinds[at : at + announced] = [_ANNOUNCED] * announced
                at += announced
                continue
            if _is_dated(lines[at : at + announced]) and not forwarded:
                kinds[at:] = [_REST] * (len(lines) - at)
                break
            said = True
        elif _begins_earlier(lines, at):
            if forwarded or not said:
                break  # without a word before it, a message is passed on
            start = at
            while start and (not lines[start - 1].strip() or _RULE.fullmatch(lines[start - 1][:MAX_ANNOUNCED_CHARS])):
                start -= 1
            kinds[start:] = [_REST] * (len(lines) - start)
            break
        elif not _RULE.fullmatch(line[:MAX_ANNOUNCED_CHARS]):
            said = True
        at += 1
    return kinds


def _announcement(lines: Sequence[str], at: int) -> int:
    """How many lines from `at` on announce a quotation, as "On … wrote:" does; 0 is none."""
    held: list[str] = []
    for line in lines[at : at + MAX_ANNOUNCED_LINES]:
        held.append(line.strip())
        if not held[-1] or line.startswith(">") or sum(map(len, held)) > MAX_ANNOUNCED_CHARS:
            return 0
        if line.rstrip().endswith(_ENDS):
            return (
                0 if any(_stands_alone(held, start) for start in range(1, len(held))) else len(held) * _announces(held)
            )
    return 0


def _stands_alone(lines: Sequence[str], start: int) -> bool:
    """Whether the lines from `start` on announce a quotation by themselves: those before are the writer's own then."""
    rest = lines[start:]
    opened = _OPENS.match(rest[0]) is not None or _OPENS.match(lines[0]) is None
    return opened and _announces(rest) and _is_dated(rest)


def _announces(lines: Sequence[str]) -> bool:
    """Whether these lines together do."""
    together = " ".join(lines)
    opened = _OPENS.match(together) is not None
    wrote = _WROTE.search(together) is not None
    named = _ADDRESS.search(together) is not None and _DATED.search(together) is not None
    short = len(lines) == 1 and len(together) < 200
    return together.endswith(_ENDS) and ((opened and wrote) or (wrote and short) or (named and len(lines) <= 2))


def _is_dated(lines: Sequence[str]) -> bool:
    """Whether an announcement names a day or a time: nobody's own sentence before a colon does all that."""
    together = " ".join(lines)
    opened = _OPENS.match(together.strip()) is not None or _ADDRESS.search(together) is not None
    return opened and _DATED.search(together) is not None


def _begins_earlier(lines: Sequence[str], at: int) -> bool:
    """Whether an earlier message begins here, with its headers or a line that says so."""
    line = lines[at].strip()[:MAX_ANNOUNCED_CHARS]
    if _ORIGINAL.fullmatch(line):
        return True
    if not _FROM.match(line):
        return False
    block = [follower.strip()[:40] for follower in lines[at + 1 : at + MAX_BLOCK_LINES]]
    sent = any(_SENT.match(follower) for follower in block)
    return sent and any(_TO.match(follower) or _SUBJECT.match(follower) for follower in block)


def _answered(lines: Sequence[str], kinds: Sequence[int], at: int) -> bool:
    """Whether the writer says something behind a quotation that ends before `at`, other than a signature."""
    for place in range(at, len(lines)):
        if kinds[place] in (_REST,) or lines[place].rstrip() == "--":
            return False
        if kinds[place] == _OWN and lines[place].strip():
            return True
        if kinds[place] in (_QUOTED, _ANNOUNCED):
            return False
    return False


def _shortened(stretch: Sequence[str]) -> list[str]:
    """The last lines of a quotation, for what is answered to be understood."""
    kept: list[str] = []
    size = 0
    said = [line for line in stretch if line.strip("> ")]
    if said and _announces([said[0][:MAX_ANNOUNCED_CHARS].strip("> ")]):
        said = said[1:]
    for line in reversed(said[-KEPT_LINES:]):
        size += len(line)
        if size > KEPT_CHARS and kept:
            break
        kept.insert(0, line if len(line) <= KEPT_CHARS else f"{line[:KEPT_CHARS]}…")
    return [*(["> …"] if len(kept) < len(said) else []), *kept]


def _next_line(lines: Sequence[str], at: int) -> str:
    """The next line that is not empty, of the next few."""
    return next((line for line in lines[at : at + 3] if line.strip()), "")


def _trimmed(lines: Sequence[str]) -> str:
    """Without empty lines around, and never two in a row."""
    kept: list[str] = []
    for line in lines:
        if line.strip() or (kept and kept[-1]):
            kept.append(line.rstrip())
    return "\n".join(kept).strip("\n")
