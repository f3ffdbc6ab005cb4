"""Sending, at most once.

Every letter has a Message-ID made from its content. It is looked up before the letter is sent, and again when no answer
came: only what is not in the mailbox is tried a second time. What Gmail's search does not show yet is remembered here,
and in a journal that outlives the process and that other processes read.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeAlias, TypeVar

from keryx.errors import KeryxError, NotFound
from keryx.workspace.asking.faults import MaybeDone
from keryx.workspace.google import Google
from keryx.workspace.mail.journal import Journal
from keryx.workspace.models import Sent

T = TypeVar("T")

LOOK_PAUSES_S = (1.0, 2.0, 4.0)
"""Before each look that follows the first: Gmail's search lags behind its mailbox by seconds."""
NIGHT = timedelta(hours=6)
"""A letter of yesterday's (UTC) is the same one when it was sent no longer ago: midnight may pass between two tries."""
MOST_REMEMBERED = 2_000
NEWEST_SENT = 10


@dataclass(frozen=True)
class Mark:
    """What a thing is known by: of a letter the Message-ID that it has, or had if it was sent before midnight."""

    id: str
    since: datetime | None = None
    """What was done earlier does not count; None: all does."""


Look: TypeAlias = Callable[[bool], T | None]
"""Finds out whether a thing is done; asked with True, it looks harder."""


class Once(Generic[T]):
    """Does each thing at most once, for any number of threads and processes, and remembers what became of it."""

    def __init__(
        self,
        google: Google,
        *,
        unclear: str,
        look_in: str,
        kept: Callable[[T], Sequence[str]],
        restored: Callable[[Sequence[str]], T],
    ) -> None:
        """`unclear` says, for a person, that it cannot be told; `look_in` is where they can see for themselves.

        `kept` and `restored`: a result as texts, and back. Each `look_in` has a journal of its own.
        """
        self._google = google
        self._journal = Journal(google.account.folder.path / f"tried-{look_in.lower()}", google.account.clock)
        self._kept, self._restored = kept, restored
        self._open_question, self._look_in = unclear, look_in
        self._done: OrderedDict[str, tuple[T, datetime]] = OrderedDict()
        self._unclear: set[str] = set()
        self._busy: set[str] = set()
        self._turn = threading.Condition()

    def do(self, marks: Sequence[Mark], do: Callable[[], T], look: Look[T] | None) -> tuple[T, bool]:
        """What `do` gives, and whether it had been done before, under any of `marks`, the first of which is today's.

        Without `look` what is unclear stays so. `do` raises `MaybeDone` when it may have been done; any other error of
        Keryx's means that it was not. Raises `MaybeDone` when it cannot be told, and what `do` and a first look raise.
        """
        key = marks[0].id
        with self._alone(key), self._journal.turn(key):
            if (known := self.known(marks)) is not None:
                return known, True
            unclear = any(self._is_unclear(mark) for mark in marks)
            found = self._found(look, patiently=unclear) if look else None
            if found is not None:
                return self._remember(key, found), True
            if unclear and look is None:
                raise self._maybe_done("an earlier try got no answer")
            for last in (False, True):
                self._unclear.add(key)
                self._journal.write(key, None)
                try:
                    return self._remember(key, do()), False
                except MaybeDone as trouble:
                    found = self._found_after(trouble, look)
                    if found is not None:
                        return self._remember(key, found), False
                    if last or look is None:
                        raise self._maybe_done(_why(trouble)) from None
                except KeryxError:
                    if not (last or unclear):
                        self._unclear.discard(key)
                        self._journal.forget(key)
                    raise
            raise AssertionError("the last try returns or raises")

    def forget(self, mark: Mark) -> None:
        """What was done is undone."""
        with self._turn:
            self._done.pop(mark.id, None)
        self._journal.forget(mark.id)

    def note(self, marks: Sequence[Mark], result: T) -> None:
        """What has these marks was done, too."""
        for mark in marks:
            self._remember(mark.id, result)

    def known(self, marks: Sequence[Mark]) -> T | None:
        """What came of a thing that was done here or by another process; None: it was not, as far as is known."""
        for mark in marks:
            with self._turn:
                found = self._done.get(mark.id)
            if found is None and (entry := self._journal.entry(mark.id)) and entry.result is not None:
                found = self._restored(entry.result), entry.at
            if found is not None and (mark.since is None or found[1] >= mark.since):
                return found[0]
        return None

    def _is_unclear(self, mark: Mark) -> bool:
        """Whether it was tried, perhaps by a process that is no more, and nothing shows what came of it."""
        if mark.id in self._unclear:
            return True
        entry = self._journal.entry(mark.id)
        return entry is not None and entry.result is None and (mark.since is None or entry.at >= mark.since)

    def _found_after(self, trouble: MaybeDone, look: Look[T] | None) -> T | None:
        if look is None:
            return None
        try:
            return self._found(look, patiently=True)
        except KeryxError:
            raise self._maybe_done(_why(trouble)) from None

    def _found(self, look: Look[T], *, patiently: bool) -> T | None:
        found = look(False)
        for pause_s in LOOK_PAUSES_S if patiently else ():
            if found is not None:
                break
            self._google.pause(pause_s)
            found = look(True)
        return found

    def _maybe_done(self, why: str) -> MaybeDone:
        return MaybeDone(
            f"{self._open_question}: {why}; look in {self._look_in} before you try again",
            spoken=f"I can't tell whether that worked. Look in {self._look_in} before we try again.",
        )

    def _remember(self, key: str, result: T) -> T:
        with self._turn:
            self._unclear.discard(key)
            self._done[key] = (result, self._google.account.clock.now())
            while len(self._done) > MOST_REMEMBERED:
                self._done.popitem(last=False)
        self._journal.write(key, self._kept(result))
        return result

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        with self._turn:
            self._turn.wait_for(lambda: key not in self._busy)
            self._busy.add(key)
        try:
            yield
        finally:
            with self._turn:
                self._busy.discard(key)
                self._turn.notify_all()


class Sentbox:
    """What has been sent, by Message-ID."""

    def __init__(self, google: Google) -> None:
        self._google = google

    def find(self, marks: Sequence[Mark], *, harder: bool = False) -> Sent | None:
        """The message that was sent under one of `marks`, also when it was binned since; a draft is none.

        `harder`: not only by Gmail's search, also among what was sent last.
        """
        for mark in marks:
            query = f"rfc822msgid:{mark.id.strip('<>')}"
            for message in self._listed(q=query, includeSpamTrash=True, maxResults=5):
                if _counts(message, mark):
                    return Sent(message["id"], message["threadId"])
        for message in self._listed(labelIds=["SENT"], maxResults=NEWEST_SENT) if harder else ():
            ids = {header["value"].strip() for header in message.get("payload", {}).get("headers", ())}
            if any(mark.id in ids and _counts(message, mark) for mark in marks):
                return Sent(message["id"], message["threadId"])
        return None

    def _listed(self, **which: Any) -> Iterator[dict[str, Any]]:
        """Messages, with what tells whether they count."""
        messages, doing = self._google.gmail().users().messages(), "see whether it was sent already"
        listed = self._google.ask(messages.list(userId="me", fields="messages(id)", **which), doing=doing)
        requests = [
            messages.get(
                userId="me",
                id=message["id"],
                format="metadata",
                # Gmail keeps an id that it replaces under the longer name.
                metadataHeaders=["Message-ID", "X-Google-Original-Message-ID"],
                fields="id,threadId,labelIds,internalDate,payload/headers",
            )
            for message in listed.get("messages", ())
        ]
        for answer in self._google.ask_all(requests, doing=doing):
            if not isinstance(answer, KeryxError):
                yield answer
            elif not isinstance(answer, NotFound):  # that one was deleted between the list and the look
                raise answer


def _counts(message: Mapping[str, Any], mark: Mark) -> bool:
    sent_at_s = int(message.get("internalDate", "0")) / 1000
    return "DRAFT" not in message.get("labelIds", ()) and (mark.since is None or sent_at_s >= mark.since.timestamp())


def _why(trouble: MaybeDone) -> str:
    return str(trouble).partition(": ")[2].partition(";")[0]
