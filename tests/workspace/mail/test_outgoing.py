"""What the owner writes arrives as they wrote it: letters, answers in their thread, drafts, files."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

from keryx.errors import NotFound, Refused
from keryx.workspace.gmail import Mailbox
from keryx.workspace.mail.outgoing import Expected
from keryx.workspace.models import Letter, Person
from tests.support.google.faults import Cut, HangUp, Status
from tests.support.google.server import GoogleServer, served_google
from tests.support.google_account import Waits, asking, mailbox

ANNA, BOB = Person("anna@example.com", "Anna Berg"), Person("bob@example.org")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def waits() -> Waits:
    return Waits(NOON)


@pytest.fixture
def server(waits: Waits) -> Iterator[GoogleServer]:
    with served_google(clock=waits) as server:
        yield server


@pytest.fixture
def box(server: GoogleServer, waits: Waits, tmp_path: Path) -> Mailbox:
    return mailbox(server, waits, tmp_path)


@pytest.fixture
def task(box: Mailbox, tmp_path: Path) -> Path:
    return tmp_path / "task"


def letter(**changes: Any) -> Letter:
    return Letter(**{"to": (BOB,), "subject": "Papers", "text": "Here they are.", **changes})


def sent_files(message: Message) -> list[tuple[str | None, Any]]:
    return [
        (part.get_filename(), part.get_payload(decode=True))
        for part in message.walk()
        if part.get_content_disposition() == "attachment"
    ]


def test_a_letter_goes_to_whom_it_names_from_the_owner(server: GoogleServer, box: Mailbox) -> None:
    box.send(letter(to=(ANNA,), cc=(BOB,), bcc=(Person("eve@example.org"),), subject="Grüße – 5 €"))
    (mail,) = server.mailbox.outbox
    assert mail.header("From") == server.mailbox.address == box.address()
    assert mail.header("To") == "Anna Berg <anna@example.com>"
    assert (mail.header("Cc"), mail.header("Bcc")) == ("bob@example.org", "eve@example.org")
    assert mail.subject == "Grüße – 5 €"


def test_an_answer_stays_in_its_thread_and_goes_to_who_wrote(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(
        subject="Lunch?", headers=[("References", "<first@example.com>"), ("Cc", "eve@example.org")]
    )
    sent = box.reply(mail.id, "Gladly.", everyone=False)
    (answer,) = server.mailbox.outbox
    assert sent.thread_id == mail.thread_id == answer.thread_id
    assert (answer.header("To"), answer.header("Cc")) == ("Anna Berg <anna@example.com>", "")
    assert answer.subject == "Re: Lunch?"
    assert answer.header("In-Reply-To") == mail.message_id
    assert answer.header("References").split() == ["<first@example.com>", mail.message_id]


def test_an_answer_may_go_to_everyone_but_the_owner(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(to=f"{server.mailbox.address}, bob@example.org", headers=[("Cc", "eve@example.org")])
    box.reply(mail.id, "Gladly.", everyone=True)
    (answer,) = server.mailbox.outbox
    assert answer.header("To") == "Anna Berg <anna@example.com>, bob@example.org"
    assert answer.header("Cc") == "eve@example.org"


@pytest.mark.parametrize("everyone", [False, True])
@pytest.mark.parametrize(
    "hidden",
    [
        {"headers": [("Reply-To", "eve@evil.example")]},
        {"headers": [("Reply-To", "Anna Berg <anna@example.com>, eve@evil.example")]},
        {"headers": [("Reply-To", '"anna@example.com" <eve@evil.example>')]},
        {"sender": "OWNER", "to": "eve@evil.example"},
    ],
)
def test_an_answer_never_goes_to_somebody_whom_only_the_sender_chose(
    server: GoogleServer, box: Mailbox, hidden: dict[str, Any], everyone: bool
) -> None:
    given: dict[str, Any] = {k: server.mailbox.address if v == "OWNER" else v for k, v in hidden.items()}
    mail = server.mailbox.write(**given)
    if "sender" in hidden and everyone:
        assert box.reply(mail.id, "Gladly.", everyone=True).id  # she did get it, as far as it says
        return
    with pytest.raises(Refused, match="eve@evil.example, who did not write it"):
        box.reply(mail.id, "Gladly.", everyone=everyone)
    assert not server.mailbox.outbox
    assert box.draft_reply(mail.id, "Gladly.", everyone=everyone)


def test_an_answer_to_a_list_goes_to_it_only_when_it_is_for_everyone(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(to="list@example.org", headers=[("Reply-To", "list@example.org")])
    with pytest.raises(Refused, match="list@example.org"):
        box.reply(mail.id, "Just between us.", everyone=False)
    box.reply(mail.id, "Hello all.", everyone=True)
    assert server.mailbox.outbox[0].header("To") == "list@example.org"


def test_an_answer_to_ones_own_letter_goes_to_whom_it_went(server: GoogleServer, box: Mailbox) -> None:
    sent = box.send(letter())
    box.reply(sent.id, "One more thing.", everyone=False)
    assert server.mailbox.outbox[1].header("To") == "bob@example.org"


@pytest.mark.parametrize("fault", [HangUp(after=True), HangUp(), Status(500, after=True), Cut()])
def test_an_answer_goes_out_once_whatever_happens(server: GoogleServer, box: Mailbox, fault: Any) -> None:
    mail = server.mailbox.write()
    server.faults.script("gmail.users.messages.send", fault)
    first = box.reply(mail.id, "Gladly.", everyone=False)
    again = box.reply(mail.id, "Gladly.", everyone=False)
    assert (again.id, again.already) == (first.id, True)
    assert len(server.mailbox.outbox) == 1
    box.reply(mail.id, "Gladly.", everyone=False, again=True)
    assert len(server.mailbox.outbox) == 2


def test_a_message_that_is_gone_cannot_be_answered(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write()
    del server.mailbox.mails[mail.id]
    with pytest.raises(NotFound, match="Google did not read the message that is to be answered: there is no such"):
        box.reply(mail.id, "Gladly.", everyone=False)


# -- drafts ------------------------------------------------------------------------------------------------------------


def test_a_draft_is_kept_and_not_sent(server: GoogleServer, box: Mailbox) -> None:
    draft_id = box.draft(letter())
    assert server.mailbox.drafts[draft_id].mail.subject == "Papers"
    assert not server.mailbox.outbox


def test_the_same_draft_twice_is_one_also_for_another_process(
    server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path
) -> None:
    first = box.draft(letter())
    assert [box.draft(letter()), mailbox(server, waits, tmp_path).draft(letter())] == [first, first]
    assert len(server.mailbox.drafts) == 1
    assert box.draft(letter(text="Other words.")) != first


def test_a_draft_that_was_thrown_away_is_made_anew(server: GoogleServer, box: Mailbox) -> None:
    first = box.draft(letter())
    server.mailbox.drop_draft(first)
    second = box.draft(letter())
    assert [*server.mailbox.drafts] == [second]


def test_an_answer_may_be_a_draft_in_its_thread(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(subject="Lunch?")
    draft_id = box.draft_reply(mail.id, "Gladly.", everyone=False)
    draft = server.mailbox.drafts[draft_id]
    assert draft.mail.thread_id == mail.thread_id
    assert draft.mail.subject == "Re: Lunch?"
    assert box.send_draft(draft_id).thread_id == mail.thread_id


@pytest.mark.parametrize(
    ("receivers", "subject"),
    [
        ({"anna@example.com"}, "Hi"),
        ({"anna@example.com", "eve@example.com", "bo@example.com"}, "Hi"),
        ({"anna@example.com", "eve@example.com"}, "Hello"),
    ],
)
def test_a_draft_that_is_another_than_was_told_is_not_sent(
    server: GoogleServer, box: Mailbox, receivers: set[str], subject: str
) -> None:
    people = Person("anna@example.com"), Person("Eve@example.com")
    draft_id = box.draft(Letter(to=people[:1], bcc=people[1:], subject="Hi", text="Hi."))
    with pytest.raises(Refused, match="the draft goes to anna@example.com, Eve@example.com, subject: Hi"):
        box.send_draft(draft_id, Expected(frozenset(receivers), subject))
    assert not server.mailbox.outbox
    box.send_draft(draft_id, Expected(frozenset({"anna@example.com", "eve@example.com"}), "Hi"))
    assert len(server.mailbox.outbox) == 1


def test_a_draft_that_is_not_there_says_where_to_look(box: Mailbox) -> None:
    with pytest.raises(NotFound, match="there is no such draft, or not any more: .*look in Sent"):
        box.send_draft("r123")
    with pytest.raises(NotFound, match="there is no draft “../labels”"):
        box.send_draft("../labels")


def test_a_draft_to_nobody_is_refused_in_googles_words(server: GoogleServer, box: Mailbox) -> None:
    draft = server.mailbox.draft(b"Subject: Hi\r\n\r\nHi.", None)
    with pytest.raises(Refused, match="Google did not send the draft: it says “Recipient address required”"):
        box.send_draft(draft.id)
    assert not server.mailbox.outbox


# -- files -------------------------------------------------------------------------------------------------------------


def test_files_of_the_task_go_with_a_letter(server: GoogleServer, box: Mailbox, task: Path) -> None:
    (task / "papers").mkdir()
    (task / "papers" / "a ü.pdf").write_bytes(b"%PDF \x00\xff")
    (task / "b.txt").write_bytes(b"two\r\nlines\n")
    box.send(letter(files=("papers/a ü.pdf", str(task / "b.txt"))))
    message = message_from_bytes(server.mailbox.outbox[0].raw)
    assert sent_files(message)[0] == ("a ü.pdf", b"%PDF \x00\xff")
    assert sent_files(message)[1][0] == "b.txt"


@pytest.mark.parametrize("fault", [None, HangUp(after=True), HangUp(), Cut(), Status(503, after=True)])
def test_a_large_letter_is_uploaded_byte_for_byte_and_once(
    server: GoogleServer, box: Mailbox, task: Path, fault: Any
) -> None:
    content = os.urandom(2_000_000)
    (task / "large.bin").write_bytes(content)
    if fault:
        server.faults.script("gmail.users.messages.send", fault)
    sent = box.send(letter(files=("large.bin",)))
    assert [mail.id for mail in server.mailbox.outbox] == [sent.id]
    assert sent_files(message_from_bytes(server.mailbox.outbox[0].raw)) == [("large.bin", content)]
    assert all(asked.media for asked in server.asked("gmail.users.messages.send"))


def test_a_large_answer_stays_in_its_thread_and_may_be_a_draft(server: GoogleServer, box: Mailbox) -> None:
    mail = server.mailbox.write(subject="Lunch?")
    text = "Gladly. " * 130_000
    draft_id = box.draft_reply(mail.id, text, everyone=False)
    assert server.mailbox.drafts[draft_id].mail.thread_id == mail.thread_id
    assert box.reply(mail.id, text, everyone=False).thread_id == mail.thread_id


def test_a_file_that_was_changed_makes_another_letter(server: GoogleServer, box: Mailbox, task: Path) -> None:
    (task / "a.txt").write_text("one")
    box.send(letter(files=("a.txt",)))
    assert box.send(letter(files=(str(task / "a.txt"),))).already
    (task / "a.txt").write_text("two")
    assert not box.send(letter(files=("a.txt",))).already


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("../secret.txt", "outside the task's own folder"),
        ("/etc/passwd", "outside the task's own folder"),
        ("link.txt", "outside the task's own folder"),
        ("folder/secret.txt", "outside the task's own folder"),
        ("nowhere.txt", "nowhere.txt is not there; nothing was sent"),
        ("nowhere/a.txt", "is not there"),
        ("papers", "is no file|cannot be read"),
        (".", "is no file|cannot be read"),
        ("pipe", "pipe is no file"),
    ],
)
def test_what_may_not_be_attached_is_not_sent(
    server: GoogleServer, box: Mailbox, task: Path, path: str, words: str
) -> None:
    (task.parent / "secret.txt").write_text("secret")
    (task / "link.txt").symlink_to(task.parent / "secret.txt")
    (task / "folder").symlink_to(task.parent)
    (task / "papers").mkdir()
    os.mkfifo(task / "pipe")
    with pytest.raises(Refused, match=words):
        box.send(letter(files=(path,)))
    assert not server.mailbox.outbox


def test_more_than_gmail_takes_is_not_read_to_the_end(server: GoogleServer, box: Mailbox, task: Path) -> None:
    for name in ("a.bin", "b.bin"):
        with open(task / name, "wb") as file:
            file.truncate(13_000_000)
    with pytest.raises(Refused, match="with b.bin the letter is larger than the 25 MB that Gmail takes"):
        box.send(letter(files=("a.bin", "b.bin")))
    assert server.requests == []


def test_without_a_task_there_is_nothing_to_attach(server: GoogleServer, waits: Waits, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(Refused, match="no task's folder to attach files from"):
        Mailbox(asking(server, waits, tmp_path)).send(letter(files=(str(tmp_path / "a.txt"),)))


def test_a_letter_that_cannot_be_is_refused_before_anything_is_asked(server: GoogleServer, box: Mailbox) -> None:
    with pytest.raises(Refused, match="nobody to go to"):
        box.send(letter(to=()))
    with pytest.raises(Refused, match="not exactly one mail address|no address|domain"):
        box.send(letter(to=(Person("Bob"),)))
    assert server.requests == []
