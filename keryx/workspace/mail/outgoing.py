"""What the owner writes: letters and answers, as drafts or sent, with files of the task's own folder."""

import base64
import dataclasses
import io
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from keryx.errors import NotFound, Refused
from keryx.workspace.asking.faults import MaybeDone
from keryx.workspace.features import Feature
from keryx.workspace.google import Google
from keryx.workspace.mail.headers import Headers
from keryx.workspace.mail.letters import (
    MAX_LETTER_BYTES,
    answer_to,
    message_id_for,
    reply_subject,
    strangers_in,
    written,
)
from keryx.workspace.mail.mime import message_of
from keryx.workspace.mail.outbox import NIGHT, Mark, Once, Sentbox
from keryx.workspace.mail.saving import Folder
from keryx.workspace.models import Letter, Message, Person, Sent
from keryx.workspace.plain import one_line

IN_JSON_BYTES = 1_000_000
"""Larger letters are uploaded as they are: in JSON they would be a third larger, and several times in memory."""

MOST_NAMED = 3
_ANSWERED_HEADERS = ["From", "To", "Cc", "Reply-To", "Subject", "Message-ID", "References", "In-Reply-To"]

MOST_NAMED = 50
"""So many receivers of a draft are named."""

Files: TypeAlias = Sequence[tuple[str, bytes]]


@dataclass(frozen=True)
class Expected:
    """What a draft has to be for it to be sent: what whoever allowed it was told."""

    receivers: frozenset[str]
    """The addresses of all who get it, copies included, in small letters."""
    subject: str

    def check(self, headers: Headers) -> None:
        """`Refused`, saying what the draft is, when it is another."""
        people = [person for name in ("to", "cc", "bcc") for person in headers.people(name)]
        receivers = {person.address.casefold() for person in people}
        subject = one_line(headers.line("subject"))
        if receivers != self.receivers or subject.casefold() != one_line(self.subject).casefold():
            named = ", ".join(one_line(person.address, 120) for person in people[:MOST_NAMED]) or "nobody"
            more = f" and {len(people) - MOST_NAMED} more" if len(people) > MOST_NAMED else ""
            raise Refused(
                f"nothing was sent: the draft goes to {named}{more}, subject: {one_line(subject, 200)}; give all its "
                "receivers, and its subject, as they are",
                spoken="That draft isn't the one you were told of, so I haven't sent it.",
            )


class Outgoing:
    """Writes in the name of one account. Blocking, thread-safe. Raises what `Google.ask` raises."""

    def __init__(self, google: Google, folder: Folder | None) -> None:
        self._google = google
        self._folder = folder
        self._sentbox = Sentbox(google)
        self._sent = Once[Sent](
            google,
            unclear="the letter may or may not have been sent",
            look_in="Sent",
            kept=lambda sent: (sent.id, sent.thread_id),
            restored=lambda texts: Sent(texts[0], texts[1]),
        )
        self._drafted = Once[str](
            google,
            unclear="the draft may or may not be there",
            look_in="Drafts",
            kept=lambda draft_id: (draft_id,),
            restored=lambda texts: texts[0],
        )

    def address(self) -> str:
        """The account's address."""
        known = self._google.account.status().address
        if known:
            return known
        request = self._google.gmail().users().getProfile(userId="me", fields="emailAddress")
        return str(self._google.ask(request, doing="say whose mailbox it is").get("emailAddress", ""))

    def send(self, letter: Letter, *, again: bool = False) -> Sent:
        return self._send(letter, None, again=again)

    def reply(self, message_id: str, text: str, *, everyone: bool, again: bool = False) -> Sent:
        letter, answering = self._answer(message_id, text, everyone=everyone)
        # Whoever allowed it was told that it goes to who wrote the message, or to everybody who got it.
        if strangers := strangers_in(letter, answering, self.address(), everyone=everyone):
            named = ", ".join(one_line(person.address, 80) for person in strangers[:MOST_NAMED])
            more = f" and {len(strangers) - MOST_NAMED} more" if len(strangers) > MOST_NAMED else ""
            raise Refused(
                f"the message wants its answers to go to {named}{more}, who did not write it"
                f"{' nor get it' if everyone else ''}; nothing was sent: write to them with a new letter that names "
                "them, or keep the answer as a draft",
                spoken="Answers to that mail would go to somebody else than who wrote it, so I sent nothing.",
            )
        return self._send(letter, answering, again=again)

    def draft(self, letter: Letter) -> str:
        return self._draft(letter, None)

    def draft_reply(self, message_id: str, text: str, *, everyone: bool) -> str:
        return self._draft(*self._answer(message_id, text, everyone=everyone))

    def send_draft(self, draft_id: str, expected: Expected | None) -> Sent:
        drafts = self._google.gmail().users().drafts()
        marks: list[Mark] = []
        thread_id, tried = "", False

        def look(harder: bool) -> Sent | None:
            """A draft that is there was not sent, unless as another one of the same id; one that is gone was."""
            nonlocal thread_id
            fields = "message(threadId,payload/headers)"
            try:
                draft = self._google.ask(
                    drafts.get(userId="me", id=draft_id, format="metadata", fields=fields), doing="find the draft"
                )
            except NotFound:
                if not thread_id:
                    raise
                return self._sentbox.find(marks, harder=True) if marks and self._may_look else Sent("", thread_id)
            message = draft.get("message", {})
            thread_id = message.get("threadId", "")
            headers = Headers.of(message.get("payload") or {})
            if expected is not None:
                expected.check(headers)
            marks[:] = [Mark(id_) for id_ in headers.ids("message-id")]
            if (known := self._sent.known(marks)) is not None:
                return known  # as a letter, which the search need not show yet
            return self._sentbox.find(marks, harder=harder) if self._may_look else None

        def post() -> Sent:
            nonlocal tried
            first, tried = not tried, True
            request = drafts.send(userId="me", body={"id": draft_id})
            try:
                return _sent(self._google.ask(request, doing="send the draft", once=True))
            except NotFound:
                if first:
                    raise
                return Sent("", thread_id)  # the try before took it, though the search does not show it yet

        try:
            sent, already = self._sent.do([Mark(f"draft {draft_id}")], post, look)
        except NotFound:
            raise NotFound(
                "there is no such draft, or not any more: it was sent or thrown away; look in Sent",
                spoken="That draft isn't there any more. It may have been sent already.",
            ) from None
        self._sent.note(marks, sent)
        return dataclasses.replace(sent, already=already)

    # -- letters ---------------------------------------------------------------------------------------------------

    def _send(self, letter: Letter, answering: Message | None, *, again: bool) -> Sent:
        messages = self._google.gmail().users().messages()
        letter, sender, files = self._prepared(letter)
        now = self._google.account.clock.now()
        marks = self._marks(letter, sender, answering, files, now, salt=secrets.token_hex(8) if again else "")
        raw = written(letter, sender=sender, message_id=marks[0].id, at=now, answering=answering, files=files)

        def look(harder: bool) -> Sent | None:
            return self._sentbox.find(marks, harder=harder)

        def post() -> Sent:
            request = messages.send(userId="me", **_content(raw, answering))
            return _sent(self._google.ask(request, doing="send the letter", once=True))

        sent, already = self._sent.do(marks, post, look if self._may_look else None)
        return dataclasses.replace(sent, already=already)

    def _draft(self, letter: Letter, answering: Message | None) -> str:
        drafts = self._google.gmail().users().drafts()
        letter, sender, files = self._prepared(letter)
        now = self._google.account.clock.now()
        mark = self._marks(letter, sender, answering, files, now)[0]
        raw = written(letter, sender=sender, message_id=mark.id, at=now, answering=answering, files=files)

        def look(harder: bool) -> str | None:
            query = f"rfc822msgid:{mark.id.strip('<>')}"
            listed = self._google.ask(
                drafts.list(userId="me", q=query, maxResults=1, fields="drafts(id)"), doing="look for the draft"
            )
            return next((str(draft["id"]) for draft in listed.get("drafts", ())), None)

        def post() -> str:
            content = _content(raw, answering)
            content["body"] = {"message": content["body"]}
            answer = self._google.ask(drafts.create(userId="me", **content), doing="keep the draft", once=True)
            if not answer.get("id"):
                raise MaybeDone("Google may or may not have kept the draft: its answer is odd; look in Drafts")
            return str(answer["id"])

        draft_id, already = self._drafted.do([mark], post, look)
        if already and not self._there(draft_id):
            self._drafted.forget(mark)  # it was sent or thrown away since
            draft_id, _ = self._drafted.do([mark], post, look)
        return draft_id

    def _there(self, draft_id: str) -> bool:
        request = self._google.gmail().users().drafts().get(userId="me", id=draft_id, format="minimal", fields="id")
        try:
            self._google.ask(request, doing="look for the draft")
        except NotFound:
            return False
        return True

    @property
    def _may_look(self) -> bool:
        """Whether the owner lets the mailbox be searched; without that, what is unclear stays unclear."""
        return Feature.READ_MAIL in self._google.account.features()

    def _answer(self, message_id: str, text: str, *, everyone: bool) -> tuple[Letter, Message]:
        """An answer to a message, and that message, without its text."""
        request = (
            self._google.gmail()
            .users()
            .messages()
            .get(userId="me", id=message_id, format="metadata", metadataHeaders=_ANSWERED_HEADERS)
        )
        answering = message_of(self._google.ask(request, doing="read the message that is to be answered"))
        to, cc = answer_to(answering, self.address(), everyone)
        return Letter(to=to, cc=cc, subject=reply_subject(answering.brief.subject), text=text), answering

    def _prepared(self, letter: Letter) -> tuple[Letter, Person, Files]:
        """The letter with its files apart from it, as they are now, and whose letter it is."""
        return dataclasses.replace(letter, files=()), Person(self.address()), self._files(letter.files)

    def _files(self, paths: Sequence[str]) -> Files:
        if not paths:
            return ()
        if self._folder is None:
            raise Refused(
                "there is no task's folder to attach files from; write the letter without files",
                spoken="I can only attach files in a task.",
            )
        files: list[tuple[str, bytes]] = []
        left = MAX_LETTER_BYTES
        for path in paths:
            files.append(self._folder.read(path, most_bytes=left))
            left -= len(files[-1][1])
        return files

    def _marks(
        self, letter: Letter, sender: Person, answering: Message | None, files: Files, now: datetime, salt: str = ""
    ) -> list[Mark]:
        """Today's Message-ID of the letter, and yesterday's while it is night."""
        thread_id = answering.brief.thread_id if answering else None
        marks = [Mark(message_id_for(letter, sender, thread_id, now.date(), salt, files=files))]
        if not salt and (before := now - NIGHT).date() != now.date():
            marks.append(Mark(message_id_for(letter, sender, thread_id, before.date(), files=files), since=before))
        return marks


def _content(raw: bytes, answering: Message | None) -> dict[str, Any]:
    """What a request is given for a letter; a large one travels as it is."""
    body: dict[str, Any] = {"threadId": answering.brief.thread_id} if answering else {}
    if len(raw) <= IN_JSON_BYTES:
        body["raw"] = base64.urlsafe_b64encode(raw).decode("ascii")
        return {"body": body}
    from googleapiclient.http import MediaIoBaseUpload

    return {"body": body, "media_body": MediaIoBaseUpload(io.BytesIO(raw), "message/rfc822", resumable=True)}


def _sent(answer: Any) -> Sent:
    if not answer.get("id"):
        raise MaybeDone("Google may or may not have sent the letter: its answer is odd; look in Sent")
    return Sent(str(answer["id"]), str(answer.get("threadId", "")))
