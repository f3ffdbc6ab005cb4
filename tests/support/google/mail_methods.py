"""The methods of Gmail v1 that are served, over the mailbox."""

import base64
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.google import mail_parts
from tests.support.google.mail_search import understood
from tests.support.google.mailbox import Draft, Mail, Mailbox
from tests.support.google.refusals import GoogleError, invalid
from tests.support.google.routing import Asked

MOST_ON_A_PAGE = 500
MOST_AT_ONCE = 1000
"""Mails that one batchModify takes."""
_NO_LETTER = "'raw' RFC822 payload message string or uploading message via /upload/* URL required"
_ESTIMATE = 201
"""What Gmail says of a number of results that it has not counted."""


class MailMethods:
    """`table`: what answers each method, by its id. `GoogleError` is an answer too."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._box = mailbox
        self.table: dict[str, Callable[[Asked], Any]] = {
            f"gmail.users.{name}": self._mine(do)
            for name, do in {
                "getProfile": self._profile,
                "messages.list": self._list,
                "messages.get": lambda asked: self._shown(self._mail(asked), asked.parameters),
                "messages.send": self._send,
                "messages.insert": self._insert,
                "messages.modify": self._modify,
                "messages.batchModify": self._batch_modify,
                "messages.trash": lambda asked: self._bin([self._mail(asked)]),
                "messages.untrash": lambda asked: self._bin([self._mail(asked)], back=True),
                "messages.delete": self._delete,
                "messages.attachments.get": self._attachment,
                "threads.list": self._list_threads,
                "threads.get": self._thread,
                "threads.modify": self._modify_thread,
                "threads.trash": lambda asked: self._bin_thread(asked),
                "threads.untrash": lambda asked: self._bin_thread(asked, back=True),
                "labels.list": lambda asked: {"labels": self._box.shown_labels()},
                "labels.get": self._label,
                "labels.create": self._create_label,
                "drafts.create": self._create_draft,
                "drafts.update": self._update_draft,
                "drafts.get": self._get_draft,
                "drafts.list": self._list_drafts,
                "drafts.send": self._send_draft,
                "drafts.delete": self._delete_draft,
            }.items()
        }

    def _mine(self, do: Callable[[Asked], Any]) -> Callable[[Asked], Any]:
        def done(asked: Asked) -> Any:
            if asked.parameters["userId"] not in ("me", self._box.address):
                raise GoogleError(403, "forbidden", f"Delegation denied for {self._box.address}")
            with self._box.lock:
                return do(asked)

        return done

    # -- mails ---------------------------------------------------------------------------------------------------------

    def _profile(self, asked: Asked) -> dict[str, Any]:
        return {
            "emailAddress": self._box.address,
            "messagesTotal": len(self._box.mails),
            "threadsTotal": len({mail.thread_id for mail in self._box.mails.values()}),
            "historyId": self._box.history_id(),
        }

    def _mail(self, asked: Asked) -> Mail:
        return self._box.mail(asked.parameters["id"])

    def _list(self, asked: Asked) -> dict[str, Any]:
        page, answer = self._page(self._found(asked.parameters), asked.parameters)
        if page:
            answer["messages"] = [{"id": mail.id, "threadId": mail.thread_id} for mail in page]
        return answer

    def _found(self, parameters: Mapping[str, Any]) -> list[Mail]:
        """The mails that a list asks for, the newest first."""
        query = understood(parameters.get("q", ""), now=self._box.clock.now(), labels=self._box.labels)
        labels = set(parameters.get("labelIds", ()))
        everywhere = parameters.get("includeSpamTrash") or labels & {"SPAM", "TRASH"}
        found = [
            mail
            for mail in self._box.mails.values()
            if labels <= mail.labels and (query.test(mail) if everywhere else query.finds(mail))
        ]
        return sorted(found, key=lambda mail: mail.sort_key, reverse=True)

    def _page(self, found: list[Any], parameters: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """A page of it, and what is said of the whole."""
        most = min(parameters.get("maxResults", 100), MOST_ON_A_PAGE) or 100
        token = parameters.get("pageToken", "0")
        if not token.isdecimal() or int(token) > 10**9:
            raise invalid("Invalid pageToken", reason="invalidArgument")
        # A token names how many mails come after the page, so that new mail, which comes before, shifts nothing.
        start = len(found) - int(token) if "pageToken" in parameters else 0
        page = found[max(start, 0) :][:most]
        left = len(found) - max(start, 0) - len(page)
        answer: dict[str, Any] = {"resultSizeEstimate": min(len(found), _ESTIMATE)}
        if left > 0:
            answer["nextPageToken"] = str(left)
        return page, answer

    def _brief(self, mail: Mail) -> dict[str, Any]:
        return {"id": mail.id, "threadId": mail.thread_id, "labelIds": sorted(mail.labels)}

    def _shown(self, mail: Mail, parameters: Mapping[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {
            **self._brief(mail),
            "snippet": mail_parts.snippet(mail.text),
            "historyId": str(mail.history),
            "internalDate": str(int(mail.received.timestamp() * 1000)),
            "sizeEstimate": len(mail.raw),
        }
        decoded = self._box.decodes_headers
        match parameters.get("format", "full"):
            case "raw":
                shown["raw"] = base64.urlsafe_b64encode(mail.raw).decode()
            case "full":
                shown["payload"] = mail_parts.payload(mail.message, self._box.keep_apart(mail), decoded=decoded)
            case "metadata":
                wanted = {name.lower() for name in parameters.get("metadataHeaders", ())}
                headers = mail_parts.headers_of(mail.message, decoded=decoded)
                if wanted:
                    headers = [header for header in headers if header["name"].lower() in wanted]
                shown["payload"] = {"mimeType": mail.message.get_content_type(), "headers": headers}
        return shown

    def _send(self, asked: Asked) -> dict[str, Any]:
        raw, thread = _letter(asked.body, asked.media)
        return self._brief(self._box.send(raw, thread))

    def _insert(self, asked: Asked) -> dict[str, Any]:
        raw, thread = _letter(asked.body, asked.media)
        labels = (asked.body or {}).get("labelIds") or ()
        received = self._box.clock.now() if asked.parameters.get("internalDateSource") == "receivedTime" else None
        return self._brief(self._box.add(raw, labels=labels, received=received, thread=thread))

    def _modify(self, asked: Asked) -> dict[str, Any]:
        mail = self._mail(asked)
        self._box.relabel(mail, *_change(asked.body))
        return self._brief(mail)

    def _batch_modify(self, asked: Asked) -> None:
        ids = asked.body.get("ids") or []
        if not 0 < len(ids) <= MOST_AT_ONCE:
            raise invalid("No message ids specified" if not ids else "Too many messages", reason="invalidArgument")
        for mail_id in ids:
            if mail_id in self._box.mails:  # Gmail says nothing of those that are gone
                self._box.relabel(self._box.mails[mail_id], *_change(asked.body))

    def _bin(self, mails: list[Mail], *, back: bool = False) -> dict[str, Any]:
        for mail in mails:
            if back:
                self._box.relabel(mail, (), ("TRASH",))
            else:
                self._box.relabel(mail, ("TRASH",), ("INBOX",))
        return self._brief(mails[0])

    def _delete(self, asked: Asked) -> None:
        del self._box.mails[self._mail(asked).id]

    def _attachment(self, asked: Asked) -> dict[str, Any]:
        content = self._box.attachment(asked.parameters["messageId"], asked.parameters["id"])
        return {"size": len(content), "data": base64.urlsafe_b64encode(content).decode()}

    # -- threads and labels --------------------------------------------------------------------------------------------

    def _list_threads(self, asked: Asked) -> dict[str, Any]:
        newest: dict[str, Mail] = {}
        for mail in self._found(asked.parameters):
            newest.setdefault(mail.thread_id, mail)
        page, answer = self._page(list(newest.values()), asked.parameters)
        if page:
            answer["threads"] = [
                {"id": mail.thread_id, "snippet": mail_parts.snippet(mail.text), "historyId": str(mail.history)}
                for mail in page
            ]
        return answer

    def _mails_of(self, asked: Asked) -> list[Mail]:
        mails = self._box.thread(asked.parameters["id"])
        if not mails:
            raise GoogleError(404, "notFound", "Requested entity was not found.")
        return mails

    def _thread(self, asked: Asked) -> dict[str, Any]:
        mails = self._mails_of(asked)
        return {
            "id": asked.parameters["id"],
            "historyId": str(max(mail.history for mail in mails)),
            "messages": [self._shown(mail, asked.parameters) for mail in mails],
        }

    def _modify_thread(self, asked: Asked) -> dict[str, Any]:
        for mail in self._mails_of(asked):
            self._box.relabel(mail, *_change(asked.body))
        return {"id": asked.parameters["id"]}

    def _bin_thread(self, asked: Asked, *, back: bool = False) -> dict[str, Any]:
        self._bin(self._mails_of(asked), back=back)
        return {"id": asked.parameters["id"]}

    def _label(self, asked: Asked) -> dict[str, Any]:
        shown = next((label for label in self._box.shown_labels() if label["id"] == asked.parameters["id"]), None)
        if shown is None:
            raise GoogleError(404, "notFound", "Requested entity was not found.")
        mails = [mail for mail in self._box.mails.values() if shown["id"] in mail.labels]
        unread = [mail for mail in mails if "UNREAD" in mail.labels]
        return shown | {
            "messagesTotal": len(mails),
            "messagesUnread": len(unread),
            "threadsTotal": len({mail.thread_id for mail in mails}),
            "threadsUnread": len({mail.thread_id for mail in unread}),
        }

    def _create_label(self, asked: Asked) -> dict[str, Any]:
        name = asked.body["name"]
        if name.lower() in {label["name"].lower() for label in self._box.shown_labels()}:
            raise GoogleError(409, "aborted", "Label name exists or conflicts")
        label = self._box.label(name)
        return next(shown for shown in self._box.shown_labels() if shown["id"] == label)

    # -- drafts --------------------------------------------------------------------------------------------------------

    def _create_draft(self, asked: Asked) -> dict[str, Any]:
        raw, thread = _letter((asked.body or {}).get("message"), asked.media)
        return self._brief_draft(self._box.draft(raw, thread))

    def _update_draft(self, asked: Asked) -> dict[str, Any]:
        raw, thread = _letter((asked.body or {}).get("message"), asked.media)
        return self._brief_draft(self._box.redraft(asked.parameters["id"], raw, thread))

    def _get_draft(self, asked: Asked) -> dict[str, Any]:
        draft = self._box.found_draft(asked.parameters["id"])
        return {"id": draft.id, "message": self._shown(draft.mail, asked.parameters)}

    def _list_drafts(self, asked: Asked) -> dict[str, Any]:
        by_mail = {draft.mail.id: draft for draft in self._box.drafts.values()}
        found = [by_mail[mail.id] for mail in self._found(asked.parameters) if mail.id in by_mail]
        page, answer = self._page(found, asked.parameters)
        if page:
            answer["drafts"] = [
                {"id": draft.id, "message": {"id": draft.mail.id, "threadId": draft.mail.thread_id}} for draft in page
            ]
        return answer

    def _send_draft(self, asked: Asked) -> dict[str, Any]:
        """The draft is gone, and a mail with another id has left."""
        body = asked.body or {}
        draft = self._box.found_draft(body.get("id", ""))
        raw, thread = draft.mail.raw, draft.mail.thread_id
        if asked.media is not None or (body.get("message") or {}).get("raw"):
            raw, given = _letter(body.get("message"), asked.media)
            thread = given or thread
        sent = self._box.send(raw, thread)
        self._box.drop_draft(draft.id)
        return self._brief(sent)

    def _delete_draft(self, asked: Asked) -> None:
        self._box.drop_draft(asked.parameters["id"])

    def _brief_draft(self, draft: Draft) -> dict[str, Any]:
        return {"id": draft.id, "message": self._brief(draft.mail)}


def _letter(body: Mapping[str, Any] | None, media: bytes | None) -> tuple[bytes, str | None]:
    """What is to be sent or kept, and the thread it is to be in."""
    body = body or {}
    raw = media
    if raw is None:
        text = body.get("raw") or ""
        raw = base64.urlsafe_b64decode((text + "=" * (-len(text) % 4)).replace("+", "-").replace("/", "_"))
    if not raw:
        raise invalid(_NO_LETTER, reason="invalidArgument")
    return raw, body.get("threadId") or None


def _change(body: Mapping[str, Any] | None) -> tuple[list[str], list[str]]:
    body = body or {}
    add, remove = body.get("addLabelIds") or [], body.get("removeLabelIds") or []
    if not add and not remove:
        raise invalid("No label add or removes specified", reason="invalidArgument")
    return add, remove
