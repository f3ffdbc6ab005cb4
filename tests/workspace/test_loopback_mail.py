"""The loopback Gmail, through the real client: lists, searches, letters, drafts, labels and uploads."""

import base64
import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from typing import Any

import pytest

from keryx.clock import VirtualClock
from tests.support.google import GoogleServer, Mail, Mailbox, served_google, service

errors = pytest.importorskip("googleapiclient.errors", reason="the google extra is not installed")
uploads = pytest.importorskip("googleapiclient.http")

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@pytest.fixture
def server(clock: VirtualClock) -> Iterator[GoogleServer]:
    with served_google(clock=clock) as server:
        yield server


@pytest.fixture
def users(server: GoogleServer) -> Iterator[Any]:
    with service(server, "gmail") as gmail:
        yield gmail.users()


@pytest.fixture
def box(server: GoogleServer) -> Mailbox:
    return server.mailbox


def letter(**headers: str) -> bytes:
    message = EmailMessage()
    for name, value in {"To": "bob@example.org", "Subject": "Lunch", **headers}.items():
        message[name.replace("_", "-")] = value
    message.set_content("At noon?\n")
    return message.as_bytes()


def raw(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def found(users: Any, query: str, **more: Any) -> list[str]:
    answer = users.messages().list(userId="me", q=query, **more).execute()
    return [mail["id"] for mail in answer.get("messages", [])]


def refused(request: Any) -> tuple[int, str]:
    """The status and the message that a request is refused with."""
    with pytest.raises(errors.HttpError) as refusal:
        request.execute()
    return refusal.value.resp.status, refusal.value.reason


# -- lists and searches ------------------------------------------------------------------------------------------------


def test_a_thousand_mails_are_paged_through_the_newest_first_each_once(users: Any, box: Mailbox) -> None:
    mails = [box.write(f"Number {n}", received=NOW - timedelta(minutes=1000 - n)) for n in range(1000)]
    messages, seen, pages, answer = users.messages(), [], 0, {}
    request = messages.list(userId="me", q="number", maxResults=150)
    while request is not None:
        answer = request.execute()
        seen += [mail["id"] for mail in answer["messages"]]
        pages += 1
        if pages == 2:
            box.write("Number 1000")  # what comes in between shifts nothing
        request = messages.list_next(request, answer)
    assert seen == [mail.id for mail in reversed(mails)]
    assert pages == 7
    assert answer["resultSizeEstimate"] == 201  # Gmail counts no further


def test_a_page_holds_no_more_than_five_hundred(users: Any, box: Mailbox) -> None:
    for number in range(501):
        box.write(str(number))
    assert len(found(users, "", maxResults=1000)) == 500
    assert len(found(users, "")) == 100
    assert refused(users.messages().list(userId="me", pageToken="next"))[0] == 400


def test_nothing_found_is_no_list_at_all(users: Any) -> None:
    assert users.messages().list(userId="me", q="nothing").execute() == {"resultSizeEstimate": 0}


@pytest.fixture
def several(box: Mailbox) -> dict[str, Mail]:
    week = timedelta(days=7)
    return {
        "papers": box.write(
            "The two papers are attached.",
            subject="Papers for Friday",
            headers=[("Cc", "Carl <carl@example.net>"), ("Message-ID", "<papers-1@example.com>")],
            files=[("drafts.pdf", b"%PDF-1.7")],
            received=NOW - timedelta(minutes=30),
        ),
        "offer": box.write(
            "Buy one, get two.", sender="Shop <news@shop.example>", subject="Offer", labels=("INBOX", "work/Group A")
        ),
        "old": box.write("See you in spring.", subject="Spring", labels=("STARRED",), received=NOW - 5 * week),
        "mine": box.write("I'll be there.", sender="ada@example.org", to="anna@example.com", labels=("SENT",)),
        "binned": box.write("Papers, papers!", subject="Old papers", labels=("TRASH",)),
    }


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", "papers offer old mine"),
        ("papers", "papers"),
        ("paper", ""),
        ("PAPERS friday", "papers"),
        ('"two papers"', "papers"),
        ('"papers two"', ""),
        ("from:anna", "papers old"),
        ("from:anna@example.com", "papers old"),
        ('from:"Anna Berg"', "papers old"),
        ("from:ann", ""),
        ("from:(shop OR ada)", "offer mine"),
        ("{from:shop subject:spring}", "offer old"),
        ("to:carl", "papers"),
        ("cc:carl to:ada", "papers"),
        ("subject:(papers friday)", "papers"),
        ("subject:friday OR subject:spring", "papers old"),
        ("subject:papers -subject:friday", ""),
        ("-from:anna", "offer mine"),
        ("-(from:anna OR from:shop)", "mine"),
        ("in:inbox", "papers offer"),
        ("in:sent", "mine"),
        ("in:trash", "binned"),
        ("in:anywhere papers", "papers binned"),
        ("in:archive", "old"),
        ("label:work-group-a", "offer"),
        ("has:userlabels", "offer"),
        ("is:unread", "papers"),
        ("is:read", "offer old mine"),
        ("is:starred", "old"),
        ("has:attachment", "papers"),
        ("filename:pdf", "papers"),
        ("rfc822msgid:papers-1@example.com", "papers"),
        ("rfc822msgid:<papers-1@example.com>", "papers"),
        ("rfc822msgid:papers-1", ""),
        ("newer_than:1d", "papers offer mine"),
        ("older_than:1m", "old"),
        ("before:2026/02/01", "old"),
        ("after:2026/2/1 from:anna", "papers"),
        ("after:2026-03-02", "papers offer mine"),  # midnight in California is eight o'clock in UTC
        ("after:1772438400", "papers offer mine"),
        ("larger:1M", ""),
        ("smaller:1M in:sent", "mine"),
        ("!!! ???", "papers offer old mine"),
        ("colour:red", ""),
    ],
)
def test_gmails_query_language(users: Any, several: dict[str, Mail], query: str, names: str) -> None:
    by_id = {mail.id: name for name, mail in several.items()}
    assert {by_id[mail_id] for mail_id in found(users, query)} == set(names.split())


def test_a_date_in_a_query_is_a_day_in_california(users: Any, box: Mailbox) -> None:
    before, after = (box.write(received=datetime(2026, 3, 2, hour, 30, tzinfo=UTC)) for hour in (7, 8))
    assert found(users, "after:2026/03/02") == [after.id]
    assert found(users, "before:2026/03/02") == [before.id]


def test_labels_narrow_a_list_and_the_bin_is_opened_on_request(users: Any, several: dict[str, Mail]) -> None:
    assert found(users, "", labelIds=["INBOX", "UNREAD"]) == [several["papers"].id]
    assert found(users, "", labelIds=["TRASH"]) == [several["binned"].id]
    assert len(found(users, "", includeSpamTrash=True)) == 5


# -- reading -----------------------------------------------------------------------------------------------------------


def test_a_mail_is_shown_in_each_format(users: Any, box: Mailbox) -> None:
    mail = box.write("Grüße & <Küsse>", subject="Über uns", headers=[("X-Other", "1")])
    get = users.messages().get
    full = get(userId="me", id=mail.id).execute()
    assert full["snippet"] == "Grüße &amp; &lt;Küsse&gt;"
    assert full["internalDate"] == str(int(NOW.timestamp() * 1000))
    assert full["labelIds"] == ["INBOX", "UNREAD"]
    assert full["payload"]["partId"] == ""
    assert base64.urlsafe_b64decode(full["payload"]["body"]["data"]).decode() == "Grüße & <Küsse>\n"
    assert {"name": "Subject", "value": "Über uns"} in full["payload"]["headers"]
    slim = get(userId="me", id=mail.id, format="metadata", metadataHeaders=["subject", "From"]).execute()
    assert sorted(header["name"] for header in slim["payload"]["headers"]) == ["From", "Subject"]
    assert "body" not in slim["payload"]
    assert base64.urlsafe_b64decode(get(userId="me", id=mail.id, format="raw").execute()["raw"]) == mail.raw
    assert "payload" not in get(userId="me", id=mail.id, format="minimal").execute()


def test_headers_come_as_they_were_written_where_a_test_wants_that(users: Any, box: Mailbox) -> None:
    mail = box.write(subject="Über uns")
    box.decodes_headers = False
    (subject,) = (
        users.messages()
        .get(userId="me", id=mail.id, format="metadata", metadataHeaders=["Subject"])
        .execute()["payload"]["headers"]
    )
    assert subject["value"].startswith("=?utf-8?")


def test_parts_are_a_tree_and_a_mail_within_a_mail_is_both_tree_and_file(users: Any, box: Mailbox) -> None:
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("Deep.")
    message = EmailMessage()
    message["From"], message["Subject"] = "anna@example.com", "Outer"
    message.set_content("Plain.")
    message.add_alternative("<p>Rich.</p>", subtype="html")
    message.add_attachment(inner)
    message.add_attachment(b"x" * 5000, maintype="application", subtype="pdf", filename="Übersicht.pdf")
    message.add_attachment(b"small", maintype="image", subtype="png", filename="dot.png")
    mail = box.add(message)
    payload = users.messages().get(userId="me", id=mail.id).execute()["payload"]
    assert payload["mimeType"] == "multipart/mixed"
    kinds = [(part["partId"], part["mimeType"], part["filename"]) for part in payload["parts"]]
    assert kinds == [
        ("0", "multipart/alternative", ""),
        ("1", "message/rfc822", ""),
        ("2", "application/pdf", "Übersicht.pdf"),
        ("3", "image/png", "dot.png"),
    ]
    assert [part["mimeType"] for part in payload["parts"][0]["parts"]] == ["text/plain", "text/html"]
    (nested,) = payload["parts"][1]["parts"]
    assert (nested["partId"], nested["headers"][0]["value"]) == ("1.0", "Inner")
    assert "attachmentId" in payload["parts"][1]["body"]
    assert payload["parts"][2]["body"].keys() == {"size", "attachmentId"}
    assert payload["parts"][3]["body"]["data"] == base64.urlsafe_b64encode(b"small").decode()


def test_an_attachment_has_another_id_at_each_look_and_all_of_them_are_good(users: Any, box: Mailbox) -> None:
    content = bytes(range(256)) * 40
    mail, other = box.write(files=[("a.bin", content)]), box.write()
    messages = users.messages()
    ids = [
        messages.get(userId="me", id=mail.id).execute()["payload"]["parts"][1]["body"]["attachmentId"] for _ in range(2)
    ]
    assert ids[0] != ids[1]
    for attachment in ids:
        answer = messages.attachments().get(userId="me", messageId=mail.id, id=attachment).execute()
        assert base64.urlsafe_b64decode(answer["data"]) == content
        assert answer["size"] == len(content)
    assert refused(messages.attachments().get(userId="me", messageId=other.id, id=ids[0]))[0] == 400
    assert refused(messages.attachments().get(userId="me", messageId=mail.id, id="made-up"))[0] == 400


def test_an_id_that_is_none_and_one_that_is_gone(users: Any) -> None:
    get = users.messages().get
    assert refused(get(userId="me", id="ffffffffffffffff")) == (404, "Requested entity was not found.")
    assert refused(get(userId="me", id="not-an-id")) == (400, "Invalid id value")
    assert refused(users.getProfile(userId="bob@example.org"))[0] == 403


def test_replies_are_in_a_thread_by_their_references_and_their_subject(users: Any, box: Mailbox) -> None:
    first = box.write(subject="Trip", headers=[("Message-ID", "<a@x>")])
    reply = box.write(subject="Re: Trip", headers=[("In-Reply-To", "<a@x>"), ("Message-ID", "<b@x>")])
    again = box.write(subject="AW: Re: trip", headers=[("References", "<a@x> <b@x>")])
    other = box.write(subject="Something else", headers=[("References", "<a@x> <b@x>")])
    assert first.thread_id == reply.thread_id == again.thread_id != other.thread_id
    thread = users.threads().get(userId="me", id=first.thread_id, format="minimal").execute()
    assert [mail["id"] for mail in thread["messages"]] == [first.id, reply.id, again.id]
    listed = users.threads().list(userId="me").execute()
    assert {entry["id"] for entry in listed["threads"]} == {first.thread_id, other.thread_id}
    assert refused(users.threads().get(userId="me", id="ffff"))[0] == 404


def test_a_profile_counts(users: Any, box: Mailbox) -> None:
    box.write()
    profile = users.getProfile(userId="me").execute()
    assert profile["emailAddress"] == "ada@example.org"
    assert (profile["messagesTotal"], profile["threadsTotal"]) == (1, 1)


# -- letters -----------------------------------------------------------------------------------------------------------


def test_a_letter_leaves_and_is_found_by_its_message_id(users: Any, box: Mailbox) -> None:
    content = letter(Message_ID="<mine-1@keryx>", Cc="Carl <carl@example.net>")
    sent = users.messages().send(userId="me", body={"raw": raw(content)}).execute()
    assert sent["labelIds"] == ["SENT"]
    (left,) = box.outbox
    assert (left.id, left.subject, left.header("From")) == (sent["id"], "Lunch", "ada@example.org")
    assert left.header("Date") == "Mon, 02 Mar 2026 09:00:00 +0000"
    assert found(users, "rfc822msgid:mine-1@keryx") == [sent["id"]]


def test_a_letter_to_nobody_and_an_empty_one_are_refused(users: Any, box: Mailbox) -> None:
    send = users.messages().send
    assert refused(send(userId="me", body={"raw": raw(b"Subject: x\r\n\r\nHi")})) == (400, "Recipient address required")
    assert refused(send(userId="me", body={"raw": raw(letter(To="bob"))}))[0] == 400
    assert refused(send(userId="me", body={"raw": ""}))[0] == 400
    assert box.outbox == []


def test_a_letter_joins_the_thread_that_it_names_if_the_subject_is_its(users: Any, box: Mailbox) -> None:
    mail = box.write(subject="Trip", headers=[("Message-ID", "<a@x>")])
    headers = {"In_Reply_To": "<a@x>", "References": "<a@x>"}

    def thread(subject: str, thread_id: str) -> Any:
        body = {"raw": raw(letter(Subject=subject, **headers)), "threadId": thread_id}
        return users.messages().send(userId="me", body=body)

    assert thread("Re: Trip", mail.thread_id).execute()["threadId"] == mail.thread_id
    assert thread("Car", mail.thread_id).execute()["threadId"] != mail.thread_id
    assert refused(thread("Re: Trip", "ffff"))[0] == 404


@pytest.mark.parametrize("in_pieces", [False, True], ids=["at once", "in pieces"])
@pytest.mark.parametrize("described", [False, True], ids=["alone", "with a thread"])
def test_a_letter_can_be_uploaded(users: Any, box: Mailbox, in_pieces: bool, described: bool) -> None:
    mail = box.write(subject="Lunch")
    content = letter() + b"x" * 600_000
    media = uploads.MediaIoBaseUpload(
        io.BytesIO(content), "message/rfc822", chunksize=256 * 1024 if in_pieces else -1, resumable=in_pieces
    )
    body = {"threadId": mail.thread_id} if described else None
    sent = users.messages().send(userId="me", body=body, media_body=media).execute()
    assert box.outbox[0].raw.endswith(content)
    assert (sent["threadId"] == mail.thread_id) == described


def test_what_is_no_mail_cannot_be_uploaded(server: GoogleServer, users: Any) -> None:
    media = uploads.MediaInMemoryUpload(letter(), "message/rfc822", resumable=True)
    request = users.messages().send(userId="me", media_body=media)
    media._mimetype = "image/png"
    with pytest.raises(errors.HttpError, match="is not supported"):
        request.execute()
    assert server.mailbox.outbox == []


# -- drafts ------------------------------------------------------------------------------------------------------------


def test_a_draft_is_written_changed_and_sent_as_a_mail_with_another_id(users: Any, box: Mailbox) -> None:
    drafts = users.drafts()
    made = drafts.create(userId="me", body={"message": {"raw": raw(letter())}}).execute()
    assert made["message"]["labelIds"] == ["DRAFT"]
    body = {"message": {"raw": raw(letter(Subject="Dinner"))}}
    changed = drafts.update(userId="me", id=made["id"], body=body).execute()
    assert changed["id"] == made["id"]
    assert changed["message"]["id"] != made["message"]["id"]
    listed = drafts.list(userId="me", q="subject:dinner").execute()
    assert [draft["id"] for draft in listed["drafts"]] == [made["id"]]
    assert drafts.get(userId="me", id=made["id"]).execute()["message"]["snippet"] == "At noon?"
    sent = drafts.send(userId="me", body={"id": made["id"]}).execute()
    assert sent["id"] != changed["message"]["id"]
    assert [mail.subject for mail in box.outbox] == ["Dinner"]
    assert refused(drafts.get(userId="me", id=made["id"]))[0] == 404
    assert list(box.mails) == [sent["id"]]


def test_a_draft_that_is_gone_is_not_sent_and_one_to_nobody_stays(users: Any, box: Mailbox) -> None:
    drafts = users.drafts()
    made = drafts.create(userId="me", body={"message": {"raw": raw(b"Subject: x\r\n\r\nHi")}}).execute()
    assert refused(drafts.send(userId="me", body={"id": made["id"]}))[0] == 400
    assert list(box.drafts) == [made["id"]]
    drafts.delete(userId="me", id=made["id"]).execute()
    assert refused(drafts.send(userId="me", body={"id": made["id"]}))[0] == 404
    assert refused(drafts.send(userId="me", body={}))[0] == 400
    assert box.mails == {}


def test_a_draft_can_be_uploaded(users: Any, box: Mailbox) -> None:
    media = uploads.MediaInMemoryUpload(letter(), "message/rfc822")
    made = users.drafts().create(userId="me", media_body=media).execute()
    assert box.drafts[made["id"]].mail.subject == "Lunch"


# -- labels ------------------------------------------------------------------------------------------------------------


def test_labels_are_put_on_and_taken_off(users: Any, box: Mailbox) -> None:
    mail, label = box.write(), box.label("Travel")
    body = {"addLabelIds": [label, "STARRED"], "removeLabelIds": ["UNREAD"]}
    answer = users.messages().modify(userId="me", id=mail.id, body=body).execute()
    assert answer["labelIds"] == sorted({"INBOX", "STARRED", label})
    listed = users.labels().list(userId="me").execute()["labels"]
    assert {"id": label, "name": "Travel"}.items() <= listed[-1].items()
    assert {entry["type"] for entry in listed} == {"system", "user"}
    counted = users.labels().get(userId="me", id=label).execute()
    assert (counted["messagesTotal"], counted["messagesUnread"]) == (1, 0)


def test_a_label_that_there_is_not_or_that_nobody_sets_is_refused(users: Any, box: Mailbox) -> None:
    mail = box.write()

    def modify(**body: list[str]) -> tuple[int, str]:
        return refused(users.messages().modify(userId="me", id=mail.id, body=body))

    assert modify(addLabelIds=["Label_9"]) == (400, "Invalid label: Label_9")
    assert modify(removeLabelIds=["SENT"]) == (400, "Invalid label: SENT")
    assert modify() == (400, "No label add or removes specified")
    assert mail.labels == {"INBOX", "UNREAD"}


def test_many_mails_are_labelled_at_once(users: Any, box: Mailbox) -> None:
    mails = [box.write() for _ in range(3)]
    body = {"ids": [mail.id for mail in mails], "removeLabelIds": ["INBOX"]}
    assert users.messages().batchModify(userId="me", body=body).execute() == ""
    assert found(users, "in:inbox") == []
    body = {"ids": ["a"] * 1001, "removeLabelIds": ["INBOX"]}
    assert refused(users.messages().batchModify(userId="me", body=body))[0] == 400


def test_a_label_is_made_once(users: Any) -> None:
    body = {"name": "Travel", "labelListVisibility": "labelShow", "messageListVisibility": "show"}
    made = users.labels().create(userId="me", body=body).execute()
    assert (made["name"], made["type"]) == ("Travel", "user")
    assert refused(users.labels().create(userId="me", body=body)) == (409, "Label name exists or conflicts")


def test_what_is_binned_is_in_no_list_and_comes_back(users: Any, box: Mailbox) -> None:
    mail = box.write()
    assert users.messages().trash(userId="me", id=mail.id).execute()["labelIds"] == ["TRASH", "UNREAD"]
    assert found(users, "") == []
    users.messages().untrash(userId="me", id=mail.id).execute()
    assert found(users, "") == [mail.id]
    users.threads().trash(userId="me", id=mail.thread_id).execute()
    assert found(users, "in:trash") == [mail.id]
    users.threads().untrash(userId="me", id=mail.thread_id).execute()
    users.threads().modify(userId="me", id=mail.thread_id, body={"addLabelIds": ["INBOX"]}).execute()
    assert found(users, "in:inbox") == [mail.id]
    users.messages().delete(userId="me", id=mail.id).execute()
    assert box.mails == {}


def test_a_mail_can_be_put_into_the_mailbox_without_being_sent(users: Any, box: Mailbox) -> None:
    content = letter(Date="Sun, 01 Mar 2026 09:00:00 +0000")
    body = {"raw": raw(content), "labelIds": ["INBOX"]}
    made = users.messages().insert(userId="me", body=body, internalDateSource="dateHeader").execute()
    assert box.mails[made["id"]].received == NOW - timedelta(days=1)
    assert box.outbox == []
