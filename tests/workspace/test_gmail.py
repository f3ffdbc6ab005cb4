"""The owner's mail is found, read, saved and tidied up over Gmail's own client."""

import base64
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from keryx.errors import ConfigError, KeryxError, NotFound, Refused, Unavailable
from keryx.workspace.gmail import Mailbox
from tests.support.google.faults import BATCH, Cut, Garbage, HangUp, Status
from tests.support.google.mailbox import Mail
from tests.support.google.server import GoogleServer, served_google
from tests.support.google_account import Waits, asking, mailbox

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
FETCH = "gmail.users.messages.attachments.get"
MODIFY = "gmail.users.messages.batchModify"


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    with served_google() as server:
        yield server


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def box(server: GoogleServer, waits: Waits, tmp_path: Path) -> Mailbox:
    return mailbox(server, waits, tmp_path)


@pytest.fixture
def task(box: Mailbox, tmp_path: Path) -> Path:
    return tmp_path / "task"


# -- searching ---------------------------------------------------------------------------------------------------------


def test_a_search_tells_what_the_headers_say_newest_first(server: GoogleServer, box: Mailbox) -> None:
    server.mailbox.write("Old.", received=NOON - timedelta(days=1), labels=["INBOX", "Work/Invoices"])
    server.mailbox.write("Could we move it?", subject="Grüße – 4 o'clock", received=NOON)
    server.mailbox.write(sender="eve@example.org", received=NOON)
    new, old = box.search("from:anna").items
    assert (new.sender.name, new.sender.address) == ("Anna Berg", "anna@example.com")
    assert (new.subject, new.snippet, new.at) == ("Grüße – 4 o'clock", "Could we move it?", NOON)
    assert (new.unread, new.labels) == (True, ("inbox", "unread"))
    assert (old.unread, sorted(old.labels)) == (False, ["Work/Invoices", "inbox"])


def test_a_search_of_twenty_is_two_requests(server: GoogleServer, box: Mailbox) -> None:
    for number in range(30):
        server.mailbox.write(subject=f"{number}")
    assert len(box.search("").items) == 20
    assert (server.count("gmail.users.messages.list"), server.batches) == (1, 1)
    assert {asked.parameters["format"] for asked in server.asked("gmail.users.messages.get")} == {"metadata"}


def test_a_thousand_messages_are_gone_through_page_by_page(server: GoogleServer, box: Mailbox) -> None:
    ids = [server.mailbox.write(f"{number}", received=NOON + timedelta(seconds=number)).id for number in range(1_003)]
    found: list[str] = []
    page = None
    while page is not None or not found:
        result = box.search("from:anna", most=50, page=page)
        found += [brief.id for brief in result.items]
        page = result.next
        assert len(result.items) <= 50
    assert found == ids[::-1]
    assert box.search("from:anna", most=10_000).items[0].id == ids[-1]


def test_nothing_found_is_an_empty_page(box: Mailbox) -> None:
    page = box.search("subject:nothing")
    assert (list(page.items), page.next) == ([], None)


def test_what_is_deleted_while_it_is_searched_for_is_not_found(server: GoogleServer, box: Mailbox) -> None:
    kept, gone = server.mailbox.write(), server.mailbox.write()
    server.faults.script("gmail.users.messages.get", *[Status(404, "notFound")])
    assert [brief.id for brief in box.search("").items] in ([kept.id], [gone.id])


def test_a_page_that_is_gone_says_to_search_again(server: GoogleServer, box: Mailbox) -> None:
    with pytest.raises(Refused, match="that page of the search is gone; search again from the beginning"):
        box.search("x", page="nonsense")


def test_a_search_that_google_refuses_is_a_sentence(server: GoogleServer, box: Mailbox) -> None:
    server.faults.script("gmail.users.messages.list", Status(400, "invalidArgument", "Invalid query"))
    with pytest.raises(Refused, match="Google did not search the mail: it says “Invalid query”"):
        box.search("x")


@pytest.mark.parametrize("fault", [HangUp(), Cut(100), Status(503), Status(429, "rateLimitExceeded"), Garbage()])
@pytest.mark.parametrize("method", ["gmail.users.messages.list", BATCH])
def test_a_search_gets_past_what_passes(server: GoogleServer, box: Mailbox, method: str, fault: Any) -> None:
    mail = server.mailbox.write()
    server.faults.script(method, fault, fault)
    assert [brief.id for brief in box.search("").items] == [mail.id]


# -- reading -----------------------------------------------------------------------------------------------------------


def test_a_message_is_read_with_what_came_with_it(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(
        "The papers are attached.\n\nOn Monday, Bob wrote:\n> Where are they?\n",
        labels=["INBOX", "Papers"],
        files=[("a.pdf", b"%PDF"), ("ü.txt", b"text")],
    )
    message = box.read(mail.id)
    assert message.text.startswith("The papers are attached.")
    assert "Where are they?" in message.quoted
    assert [(file.number, file.name, file.size) for file in message.attachments] == [(1, "a.pdf", 4), (2, "ü.txt", 4)]
    assert message.message_id == mail.message_id
    assert sorted(message.brief.labels) == ["Papers", "inbox"]


@pytest.mark.parametrize("message_id", ["18d0ffffffffffff", "not-hex", "", "../labels", "a b", "x" * 300, "\u202e"])
def test_a_message_that_is_not_there_is_a_sentence(box: Mailbox, message_id: str) -> None:
    with pytest.raises(NotFound, match="there is no ") as caught:
        box.read(message_id)
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


def test_a_mail_in_hundreds_of_texts_is_read_with_a_few_requests(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write("Here.")
    texts = [
        {"mimeType": "text/plain", "filename": "", "body": {"attachmentId": f"a{place}", "size": 5}}
        for place in range(300)
    ]
    whole = {"id": mail.id, "threadId": mail.id, "payload": {"mimeType": "multipart/mixed", "parts": texts}}
    server.faults.script(
        "gmail.users.messages.get", Garbage(json.dumps(whole).encode(), content_type="application/json")
    )
    server.mailbox.attachment = lambda *_: b"Words"  # type: ignore[method-assign]
    assert "Words" in box.read(mail.id).text
    assert server.count("gmail.users.messages.attachments.get") <= 8


def test_a_text_that_gmail_keeps_apart_is_read_all_the_same(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write("Words. " * 10)
    attachment = server.mailbox.keep_apart(mail)("0")
    apart = (
        b'{"id": "%s", "threadId": "1", "payload": {"mimeType": "text/plain", "headers": [],'
        b' "body": {"size": 70, "attachmentId": "%s"}}}' % (mail.id.encode(), attachment.encode())
    )
    server.faults.script("gmail.users.messages.get", Garbage(apart, content_type="application/json"))
    server.mailbox.attachment = lambda *_: b"Words kept apart."  # type: ignore[method-assign]
    assert box.read(mail.id).text == "Words kept apart."


def thread_of(server: GoogleServer, length: int) -> list[Mail]:
    first = server.mailbox.write("0", subject="Plan", received=NOON)
    return [first] + [
        server.mailbox.write(
            f"{number}",
            subject="Re: Plan",
            received=NOON + timedelta(minutes=number),
            headers=[("In-Reply-To", first.message_id)],
        )
        for number in range(1, length)
    ]


def test_a_thread_is_read_from_its_beginning(server: GoogleServer, box: Mailbox) -> None:
    mails = thread_of(server, 3)
    thread = box.thread(mails[0].thread_id)
    assert [message.text for message in thread] == ["0", "1", "2"]
    assert thread.older == 0


def test_of_a_long_thread_the_newest_are_read_and_the_others_counted(server: GoogleServer, box: Mailbox) -> None:
    mails = thread_of(server, 200)
    thread = box.thread(mails[0].thread_id)
    assert [message.text for message in thread] == [f"{number}" for number in range(180, 200)]
    assert thread.older == 180


def test_a_thread_that_is_not_there_is_a_sentence(box: Mailbox) -> None:
    with pytest.raises(NotFound, match="Google did not read the thread: there is no such thing"):
        box.thread("18d0ffffffffffff")


# -- saving ------------------------------------------------------------------------------------------------------------


def test_a_file_is_saved_in_the_tasks_folder(server: GoogleServer, box: Mailbox, task: Path) -> None:
    mail = server.mailbox.write(files=[("../../a.pdf", b"%PDF \x00\xff" * 1000), ("b.txt", b"")])
    first = box.save(mail.id, 1)
    assert (first.parent, first.name) == (task, "_.._a.pdf")
    assert first.read_bytes() == b"%PDF \x00\xff" * 1000
    assert box.save(mail.id, 1, name="c.pdf") == task / "c.pdf"
    assert box.save(mail.id, 1, name="c.pdf") == task / "c (2).pdf"


def test_a_file_that_is_not_there_names_those_that_are(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(files=[("a.pdf", b"%PDF"), ("b.pdf", b"%PDF")])
    for number in (0, 3, -1):
        with pytest.raises(NotFound, match="numbered 1 to 2"):
            box.save(mail.id, number)


def test_outside_the_tasks_folder_nothing_is_saved(server: GoogleServer, box: Mailbox, task: Path) -> None:
    mail = server.mailbox.write(files=[("a.pdf", b"%PDF")])
    (task / "out").symlink_to(task.parent)
    for name in ("../a.pdf", "/tmp/a.pdf", "out/a.pdf"):
        with pytest.raises(Refused, match="outside the task's own folder"):
            box.save(mail.id, 1, name=name)
    assert not (task.parent / "a.pdf").exists()


def test_without_a_task_nothing_is_saved(server: GoogleServer, waits: Waits, tmp_path: Path) -> None:
    mail = server.mailbox.write(files=[("a.pdf", b"%PDF")])
    with pytest.raises(Refused, match="save it from within a task"):
        Mailbox(asking(server, waits, tmp_path)).save(mail.id, 1)


@pytest.mark.parametrize("fault", [HangUp(), Cut(10), Cut(5_000), Status(503), Garbage(), Garbage(b"{}"), Garbage(b"")])
def test_a_file_that_breaks_off_is_fetched_again_and_leaves_nothing_behind(
    server: GoogleServer, box: Mailbox, task: Path, fault: Any
) -> None:
    mail = server.mailbox.write(files=[("a.pdf", os.urandom(10_000))])
    server.faults.script(FETCH, fault)
    assert box.save(mail.id, 1).stat().st_size == 10_000
    assert [path.name for path in task.iterdir()] == ["a.pdf"]
    assert server.count(FETCH) == 2


def test_a_file_that_goes_on_breaking_off_is_a_sentence(server: GoogleServer, box: Mailbox, task: Path) -> None:
    mail = server.mailbox.write(files=[("a.pdf", os.urandom(10_000))])
    server.faults.script(FETCH, *[Cut(5_000)] * 9)
    with pytest.raises(Unavailable, match="Google did not save the attachment: the connection broke off"):
        box.save(mail.id, 1)
    assert not list(task.iterdir())


@pytest.mark.parametrize("size", [8_999, 9_001])
def test_a_file_of_the_wrong_size_is_not_kept(server: GoogleServer, box: Mailbox, task: Path, size: int) -> None:
    mail = server.mailbox.write(files=[("a.pdf", b"x" * 9_000)])
    body = b'{"size": %d, "data": "%s"}' % (size, base64.urlsafe_b64encode(b"x" * size))
    server.faults.script(FETCH, Garbage(body, content_type="application/json"))
    with pytest.raises(Unavailable, match=f"the attachment did not come whole \\({size} of 9000 bytes\\); nothing was"):
        box.save(mail.id, 1)
    assert not list(task.iterdir())


def test_a_full_disk_leaves_nothing(server: GoogleServer, box: Mailbox, task: Path) -> None:
    mail = server.mailbox.write(files=[("a.pdf", b"x" * 300_000)])
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(
            Unavailable, match="the disk is full: the attachment was not saved and nothing of it is left"
        ):
            box.save(mail.id, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(task.iterdir())
    assert server.count(FETCH) == 1


def test_a_token_that_ends_before_a_file_is_fetched_is_renewed(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(files=[("a.pdf", b"%PDF" * 2_500)])
    server.faults.script(FETCH, Status(401, "authError"))
    assert box.save(mail.id, 1).read_bytes() == b"%PDF" * 2_500
    server.faults.script(FETCH, *[Status(401, "authError")] * 2)
    with pytest.raises(ConfigError, match="check this machine's clock"):
        box.save(mail.id, 1)


SAVING = """
import resource, sys
from pathlib import Path
from keryx.workspace.auth import GoogleAccount
from keryx.workspace.gmail import Mailbox
from keryx.workspace.google import Google

folder, url, task, small, large = sys.argv[1:]
box = Mailbox(Google(GoogleAccount(Path(folder)), api_url=url), save_in=Path(task))
box.save(small, 1)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
box.save(large, 1)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_25_megabytes_go_to_the_disk_and_not_through_memory(
    server: GoogleServer, box: Mailbox, task: Path, tmp_path: Path
) -> None:
    content = os.urandom(1_000_000) * 25
    small = server.mailbox.write(files=[("small.bin", b"x" * 100_000)])
    large = server.mailbox.write(files=[("large.bin", content)])
    command = [sys.executable, "-c", SAVING, tmp_path / "google", server.url, task, small.id, large.id]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert outcome.returncode == 0, outcome.stderr
    assert (task / "large.bin").read_bytes() == content
    more_kib = int(outcome.stdout) // (1024 if sys.platform == "darwin" else 1)
    assert more_kib < 6_000


# -- tidying up --------------------------------------------------------------------------------------------------------


def test_labels_are_put_on_and_taken_off_by_name(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(labels=["INBOX", "UNREAD"])
    server.mailbox.label("Work/Invoices")
    box.label([mail.id, mail.id], ["work/invoices", "Starred"], ["unread"])
    assert mail.labels == {"INBOX", "STARRED", "Label_1"}
    assert box.labels()[:2] == ["inbox", "unread"]
    assert box.labels()[-1] == "Work/Invoices"


def test_a_label_that_is_not_there_changes_nothing(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write()
    server.mailbox.label("Work/Invoices")
    with pytest.raises(NotFound, match="there is no label “invoices”; the nearest: “Work/Invoices”"):
        box.label([mail.id], ["starred", "invoices"])
    assert server.count(MODIFY) == 0


def test_many_messages_are_archived_with_one_request(server: GoogleServer, box: Mailbox) -> None:
    mails = [server.mailbox.write() for _ in range(2)]
    gone = [f"{number:x}" for number in range(999)]
    box.archive([mails[0].id, *gone])
    assert server.count(MODIFY) == 1
    box.archive([mails[0].id, *gone, mails[1].id])
    assert server.count(MODIFY) == 3
    assert not any("INBOX" in mail.labels for mail in mails)


def test_what_is_binned_can_still_be_found_in_the_bin(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write()
    box.bin([mail.id])
    assert not box.search("").items
    assert [brief.id for brief in box.search("in:trash").items] == [mail.id]


@pytest.mark.parametrize("fault", [HangUp(after=True), Status(503, after=True), Cut(0)])
def test_tidying_up_twice_is_no_harm_so_it_is_tried_again(server: GoogleServer, box: Mailbox, fault: Any) -> None:
    mail = server.mailbox.write()
    server.faults.script(MODIFY, fault)
    box.archive([mail.id])
    assert "INBOX" not in mail.labels


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda box: box.archive([]), "no message was named"),
        (lambda box: box.bin([""]), "there is no message “”"),
        (lambda box: box.label(["18d0"]), "no label was named"),
        (lambda box: box.label(["18d0"], ["sent"]), "only Gmail itself"),
        (lambda box: box.label([], ["starred"]), "no message was named"),
    ],
)
def test_what_makes_no_sense_is_refused(server: GoogleServer, box: Mailbox, call: Any, words: str) -> None:
    with pytest.raises(KeryxError, match=words):
        call(box)
    assert server.count(MODIFY) == 0


def test_a_mail_of_any_make_is_read_and_its_files_are_saved(server: GoogleServer, box: Mailbox) -> None:
    inner = EmailMessage()
    inner["Subject"], inner["From"] = "Inner", "eve@example.org"
    inner.set_content("The inner words.")
    outer = EmailMessage()
    outer["Subject"], outer["From"], outer["To"] = "Fwd: Inner", "Anna <anna@example.com>", server.mailbox.address
    outer.set_content("See below.")
    outer.add_alternative("<p>See <b>below</b>.</p>", subtype="html")
    outer.add_attachment(inner)
    outer.add_attachment(b"\x00\x01", maintype="application", subtype="x-odd", filename="odd\u202egnp.exe")
    mail = server.mailbox.add(outer)
    message = box.read(mail.id)
    assert "See below." in message.text
    assert "The inner words." in message.text
    odd = next(file for file in message.attachments if file.kind == "application/x-odd")
    assert box.save(mail.id, odd.number).read_bytes() == b"\x00\x01"
