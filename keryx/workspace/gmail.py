"""The owner's mailbox: searched, read, saved from and tidied up; `outgoing` writes. Each method is few requests."""

import dataclasses
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from keryx.errors import KeryxError, NotFound, Refused
from keryx.workspace.asking.faults import Lost
from keryx.workspace.google import Google
from keryx.workspace.mail.labels import SYSTEM, Labels
from keryx.workspace.mail.mime import attachment_part, brief_of, message_of
from keryx.workspace.mail.outgoing import Expected, Outgoing
from keryx.workspace.mail.saving import BrokenAnswer, Folder, decoded
from keryx.workspace.models import Letter, Message, MessageBrief, Page, Sent
from keryx.workspace.plain import one_line

MOST_FOUND = 50
"""Messages on one page of a search."""
NEWEST_OF_A_THREAD = 20
"""Messages of a thread that are read; the older ones are counted."""
MOST_MODIFIED = 1_000
"""What Gmail relabels with one request."""
MOST_TEXT_BYTES = 2_000_000
"""Of the texts that Gmail keeps apart from their message, as it does with long ones."""
MOST_TEXTS_APART = 8
"""Each costs a request, and a sender may write hundreds."""

_BRIEF_HEADERS = ["From", "To", "Subject", "Date"]
_BRIEF_FIELDS = "id,threadId,labelIds,snippet,internalDate,payload/headers"
_ID = re.compile(r"[0-9A-Za-z_-]{1,200}")


class Thread(list[Message]):
    """The newest messages of a thread, oldest first; `older` is how many more there are before them."""

    def __init__(self, messages: Sequence[Message], older: int) -> None:
        super().__init__(messages)
        self.older = older


class Mailbox:
    """One account's mail. Files are saved to, and attached from, `save_in` only. Blocking, thread-safe.

    Every method raises what `Google.ask` raises: `NotSignedIn`, `ConfigError`, `NotFound`, `Refused`, `BudgetSpent`,
    `Unavailable`.
    """

    def __init__(self, google: Google, *, save_in: Path | None = None) -> None:
        self._google = google
        self._folder = Folder(save_in, closed=google.account.folder.path) if save_in else None
        self._outgoing = Outgoing(google, self._folder)
        self._labels = Labels({})

    def address(self) -> str:
        """Whose mailbox it is."""
        return self._outgoing.address()

    # -- reading ---------------------------------------------------------------------------------------------------

    def search(self, query: str, *, most: int = 20, page: str | None = None) -> Page[MessageBrief]:
        """The messages that `query`, in Gmail's own language, finds, newest first; at most 50 at once."""
        messages = self._google.gmail().users().messages()
        try:
            listed = self._google.ask(
                messages.list(
                    userId="me",
                    q=query or None,
                    maxResults=max(1, min(most, MOST_FOUND)),
                    pageToken=page,
                    fields="messages(id),nextPageToken,resultSizeEstimate",
                ),
                doing="search the mail",
            )
        except Refused as error:
            if page and "token" in str(error).lower():
                raise Refused(
                    "that page of the search is gone; search again from the beginning",
                    spoken="I've lost my place in that list. Let me search again.",
                ) from None
            raise
        found = self._google.ask_all(
            [
                messages.get(
                    userId="me",
                    id=message["id"],
                    format="metadata",
                    metadataHeaders=_BRIEF_HEADERS,
                    fields=_BRIEF_FIELDS,
                )
                for message in listed.get("messages", ())
            ],
            doing="read what the search found",
        )
        # One that is gone since it was listed is no longer found.
        briefs = [brief_of(answer) for answer in _there(found)]
        return Page(self._named(briefs), listed.get("nextPageToken"), listed.get("resultSizeEstimate"))

    def read(self, message_id: str) -> Message:
        """One message, whole."""
        resource = self._google.ask(
            self._google.gmail().users().messages().get(userId="me", id=_id(message_id, "message"), format="full"),
            doing="read the message",
        )
        return self._read([resource])[0]

    def thread(self, thread_id: str) -> Thread:
        """The newest messages of a thread, oldest first."""
        users = self._google.gmail().users()
        listed = self._google.ask(
            users.threads().get(
                userId="me", id=_id(thread_id, "thread"), format="minimal", fields="messages(id,internalDate)"
            ),
            doing="read the thread",
        ).get("messages", [])
        listed.sort(key=lambda message: int(message.get("internalDate", "0")))
        newest = listed[-NEWEST_OF_A_THREAD:]
        resources = self._google.ask_all(
            [users.messages().get(userId="me", id=message["id"], format="full") for message in newest],
            doing="read the thread",
        )
        return Thread(self._read(list(_there(resources))), len(listed) - len(newest))

    def save(self, message_id: str, number: int, *, name: str | None = None) -> Path:
        """Put a message's attachment `number` (from 1) on the disk as it comes in; where it is.

        `name` is what it is to be called, with a folder of the task's before it if wanted; otherwise it is called what
        the sender called it, made safe. Another file of that name stays. Raises `Refused` where nothing may be saved,
        `Unavailable` for a full disk or a file that did not come whole; nothing of it is left then.
        """
        if self._folder is None:
            raise Refused(
                "there is no task's folder to save files in; save it from within a task",
                spoken="I can only save files for a task. Shall I start one?",
            )
        folder, messages = self._folder, self._google.gmail().users().messages()
        resource = self._google.ask(
            messages.get(userId="me", id=_id(message_id, "message"), format="full", fields="id,payload"),
            doing="read the message",
        )
        part = attachment_part(resource, number)
        called, size = part.attachment.name, part.attachment.size
        if part.data is not None:
            return folder.put([part.data], name=called, wanted=name)

        def take(pieces: Iterator[bytes]) -> Path:
            try:
                return folder.put(decoded(pieces), name=called, wanted=name, size=size)
            except BrokenAnswer as broken:
                raise Lost(broken) from None

        request = messages.attachments().get(
            userId="me", messageId=message_id, id=part.attachment_id, fields="size,data"
        )
        return self._google.fetch(request, take, doing="save the attachment")

    def _read(self, resources: Sequence[dict[str, Any]]) -> list[Message]:
        messages = [message_of(self._whole(resource)) for resource in resources]
        briefs = self._named([message.brief for message in messages])
        return [dataclasses.replace(message, brief=brief) for message, brief in zip(messages, briefs, strict=True)]

    def _whole(self, resource: dict[str, Any]) -> dict[str, Any]:
        """The message with the texts that Gmail sent only a reference to, as long as they can be read at all."""
        attachments = self._google.gmail().users().messages().attachments()
        left = MOST_TEXT_BYTES
        for body in itertools.islice(_texts_apart(resource.get("payload") or {}), MOST_TEXTS_APART):
            if (size := body.get("size", 0)) <= left:
                left -= size
                request = attachments.get(userId="me", messageId=resource["id"], id=body["attachmentId"])
                body["data"] = self._google.ask(request, doing="read the message").get("data", "")
        return resource

    def _named(self, briefs: Sequence[MessageBrief]) -> list[MessageBrief]:
        """With the names of their labels in place of Gmail's ids."""
        if any(label not in SYSTEM and label not in self._labels.names for brief in briefs for label in brief.labels):
            self._all_labels()
        labels = self._labels
        return [dataclasses.replace(brief, labels=labels.named(brief.labels)) for brief in briefs]

    # -- tidying up ------------------------------------------------------------------------------------------------

    def labels(self) -> list[str]:
        """The names of all labels, Gmail's own first: "inbox", "unread", …, "work/invoices"."""
        return list(self._all_labels().names.values())

    def label(self, ids: Sequence[str], add: Sequence[str] = (), remove: Sequence[str] = ()) -> None:
        """Put labels on messages and take others off, by name; `NotFound` names the nearest ones."""
        if not add and not remove:
            raise Refused("no label was named, neither to put on nor to take off; name one")
        labels = self._all_labels()
        self._modify(ids, add=labels.ids_of(add), remove=labels.ids_of(remove), doing="label the messages")

    def archive(self, ids: Sequence[str]) -> None:
        """Take messages out of the inbox; they stay in the mailbox."""
        self._modify(ids, remove=["INBOX"], doing="archive the messages")

    def bin(self, ids: Sequence[str]) -> None:
        """Put messages into the bin, out of which Gmail deletes them after thirty days."""
        self._modify(ids, add=["TRASH"], doing="bin the messages")

    def _all_labels(self) -> Labels:
        request = self._google.gmail().users().labels().list(userId="me", fields="labels(id,name)")
        self._labels = Labels.of(self._google.ask(request, doing="list the labels"))
        return self._labels

    def _modify(self, ids: Sequence[str], *, add: Sequence[str] = (), remove: Sequence[str] = (), doing: str) -> None:
        if not ids:
            raise Refused("no message was named; give the ids of some")
        unique = list(dict.fromkeys(_id(message_id, "message") for message_id in ids))
        for start in range(0, len(unique), MOST_MODIFIED):
            body = {
                "ids": unique[start : start + MOST_MODIFIED],
                "addLabelIds": list(add),
                "removeLabelIds": list(remove),
            }
            request = self._google.gmail().users().messages().batchModify(userId="me", body=body)
            self._google.ask(request, doing=doing)

    # -- writing ---------------------------------------------------------------------------------------------------

    def draft(self, letter: Letter) -> str:
        """Keep `letter` as a draft; its id. The same letter twice on a day is one draft."""
        return self._outgoing.draft(letter)

    def draft_reply(self, message_id: str, text: str, *, everyone: bool) -> str:
        """Keep an answer to a message, in its thread, as a draft; its id. `everyone`: to all who got it."""
        return self._outgoing.draft_reply(_id(message_id, "message"), text, everyone=everyone)

    def send(self, letter: Letter, *, again: bool = False) -> Sent:
        """Send `letter`, unless the same one was sent today; `again`: send it all the same.

        `MaybeDone` when Google gave no answer and it cannot be found out whether the letter went out.
        """
        return self._outgoing.send(letter, again=again)

    def reply(self, message_id: str, text: str, *, everyone: bool, again: bool = False) -> Sent:
        """Send an answer to a message in its thread, once, as `send` does.

        `Refused` when it would go to somebody who neither wrote the message nor, with `everyone`, got it.
        """
        return self._outgoing.reply(_id(message_id, "message"), text, everyone=everyone, again=again)

    def send_draft(self, draft_id: str, expected: Expected | None = None) -> Sent:
        """Send a draft, once, as `send` does; `Refused` when it is not as `expected`."""
        return self._outgoing.send_draft(_id(draft_id, "draft"), expected)


def _there(answers: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """The answers of a batch without those about what is not there any more."""
    for answer in answers:
        if not isinstance(answer, KeryxError):
            yield answer
        elif not isinstance(answer, NotFound):
            raise answer


def _texts_apart(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The bodies of texts that are to be read but did not come along."""
    body = part.get("body") or {}
    if str(part.get("mimeType", "")).startswith("text/") and not part.get("filename"):
        if body.get("attachmentId") and not body.get("data"):
            yield body
    for child in part.get("parts") or ():
        yield from _texts_apart(child)


def _id(given: str, what: str) -> str:
    """An id as Google makes them: anything else would be another address there."""
    if not _ID.fullmatch(given):
        raise NotFound(
            f"there is no {what} “{one_line(given, 60)}”; use an id that a search or a list gave",
            spoken=f"I can't find that {what}.",
        )
    return given
