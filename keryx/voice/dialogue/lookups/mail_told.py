"""How the owner's mail is told: who wrote about what, and what one message says. Pure but for the turns of phrases."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from keryx.voice.dialogue.lines import Line, Question
from keryx.voice.dialogue.lookups.aloud import in_breaths, name_words, sentences_of, title_words
from keryx.voice.dialogue.lookups.clock_said import day_words, time_words
from keryx.voice.dialogue.normalise import in_words
from keryx.voice.dialogue.replies import Phrases, counted
from keryx.voice.dialogue.telling import TOLD_OF_A_LIST

Asked = Mapping[str, Any]
"""The arguments of the question."""
Found = Mapping[str, Any]
"""What `check_mail` answered."""


class MailTold:
    """Says mail to one person."""

    def __init__(self, phrases: Phrases) -> None:
        self._phrases = phrases

    def lines(self, asked: Asked, found: Found, now: datetime) -> list[Line]:
        """The answer; `now` is in the owner's zone."""
        return self._read(found, now) if "text" in found else self._list(asked, found, now)

    # -- a list ------------------------------------------------------------------------------------------------------

    def _list(self, asked: Asked, found: Found, now: datetime) -> list[Line]:
        narrowed = _narrowed(asked, found)
        messages = found["messages"]
        if not messages:
            if narrowed:
                return [Line(self._phrases.say("mail_none", narrowed=narrowed))]
            return [Line(self._phrases.say("mail_none_new" if asked.get("unread_only") else "mail_none_there"))]
        items = [_item(message, now, sender=not asked.get("sender")) for message in messages]
        if found["only_last"]:
            return [Line(self._phrases.say("mail_last", narrowed=narrowed, mail=items[0]))]
        # Without a time, a sender's unread ones are told; see the tool.
        unread = asked.get("unread_only") or (asked.get("sender") and not asked.get("when") and messages[0]["unread"])
        head = _head(found, narrowed, unread=bool(unread), named=bool(asked.get("sender")))
        if len(items) == 1:
            return [Line(self._phrases.say("mail_one", head=head, mail=items[0]))]
        told, rest = items[:TOLD_OF_A_LIST], items[TOLD_OF_A_LIST:]
        key = "mail_many" if rest else "mail_few"
        return [Line(self._phrases.say(key, head=head, mails=_joined(told))), *self._offered(rest)]

    def _offered(self, rest: Sequence[str]) -> list[Line]:
        """A question that, answered with yes, tells the next few."""
        if not rest:
            return []
        text = self._phrases.say("mail_others")
        few = [Line(self._phrases.say("mail_more", mails=_joined(rest[:TOLD_OF_A_LIST])))]
        more = (*few, *self._offered(rest[TOLD_OF_A_LIST:]))
        return [Line(text, asks=Question("more", text=text, more=more))]

    # -- one message -------------------------------------------------------------------------------------------------

    def _read(self, found: Found, now: datetime) -> list[Line]:
        who, when = name_words(found["sender"]), moment_said(found["at"], now)
        subject = title_words(found["subject"])
        breaths = in_breaths(sentences_of(found["text"]))
        if not breaths:
            first = self._phrases.say("mail_read_empty", who=who, when=when, subject=subject or "nothing")
        elif subject:
            first = self._phrases.say("mail_read", who=who, when=when, subject=subject, text=breaths[0])
        else:
            first = self._phrases.say("mail_read_bare", who=who, when=when, text=breaths[0])
        files = []
        if count := len(found["attachments"]):
            files = [Line(self._phrases.say("mail_files", files=counted(count, "file")))]
        if found["cut"] and breaths:
            files.append(Line(self._phrases.say("mail_too_long")))
        return [Line(first), *self._rest(breaths[1:], files)]

    def _rest(self, breaths: Sequence[str], end: Sequence[Line]) -> list[Line]:
        if not breaths:
            return list(end)
        text = self._phrases.say("mail_rest")
        more = (Line(breaths[0]), *self._rest(breaths[1:], end))
        return [Line(text, asks=Question("more", text=text, more=more))]


def told_of(found: Found) -> int:
    """How many messages of a list have been told before anything more is offered."""
    return min(len(found.get("messages", ())), TOLD_OF_A_LIST)


def moment_said(at: str, now: datetime) -> str:
    """When something came: "at nine ten", "yesterday at noon", "on Monday"."""
    moment = datetime.fromisoformat(at).astimezone(now.tzinfo)
    days = (now.date() - moment.date()).days
    if days == 0:
        return f"at {time_words(moment)}"
    return f"{day_words(moment.date(), now.date())}{f' at {time_words(moment)}' if days == 1 else ''}"


def _item(message: Mapping[str, Any], now: datetime, *, sender: bool) -> str:
    subject = title_words(message["subject"])
    if sender:
        who = name_words(message["sender"])
        return f"{who} about {subject}" if subject else f"{who}, without a subject"
    return f"{subject or 'one without a subject'}, {moment_said(message['at'], now)}"


def _joined(items: Sequence[str]) -> str:
    """Items with commas in them, in one sentence."""
    return ", and ".join(items) if len(items) <= 2 else f"{'; '.join(items[:-1])}; and {items[-1]}"


def _narrowed(asked: Asked, found: Found) -> str:
    parts = [
        f"from {_capital(found['sender'])}" if found.get("sender") else "",
        f"about {asked['about']}" if asked.get("about") else "",
        found.get("when") or "",
    ]
    return " ".join(filter(None, parts))


def _capital(name: str) -> str:
    """A name that was typed or heard in small letters with capitals; "the bank" stays."""
    if name != name.lower() or name.split()[0] in ("the", "my", "our"):
        return name
    return " ".join(word if word in ("and", "or") else word[:1].upper() + word[1:] for word in name.split())


def _head(found: Found, narrowed: str, *, unread: bool, named: bool) -> str:
    """ "Two from Anna today", "three unread mails"."""
    count = found["count"]
    number = f"more than {in_words(count)}" if found["more"] else in_words(count)
    kind = "unread" if unread else ""
    thing = "" if named else "mail" if count == 1 and not found["more"] else "mails"
    return " ".join(filter(None, (number, kind, thing, narrowed)))
