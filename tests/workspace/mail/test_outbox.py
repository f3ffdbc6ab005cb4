"""A letter goes out once: whatever the connection does, whoever asks again, from wherever, and around midnight."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from keryx.errors import Unavailable
from keryx.workspace.asking.faults import MaybeDone
from keryx.workspace.features import Feature
from keryx.workspace.gmail import Mailbox
from keryx.workspace.models import Letter, Person
from tests.support.google.faults import Cut, Garbage, HangUp, Late, Status
from tests.support.google.server import GoogleServer, served_google
from tests.support.google_account import Waits, mailbox

SEND = "gmail.users.messages.send"
LIST = "gmail.users.messages.list"
UNSEEN = Garbage(b'{"resultSizeEstimate": 0}', content_type="application/json")
"""What Gmail's search answers while it does not show a message yet."""
LETTER = Letter(to=(Person("bob@example.org"),), subject="Four o'clock", text="Could we move it to tomorrow?")
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


def test_a_letter_is_sent_with_an_id_made_of_what_it_says(server: GoogleServer, box: Mailbox) -> None:
    sent = box.send(LETTER)
    (mail,) = server.mailbox.outbox
    assert (sent.id, sent.thread_id, sent.already) == (mail.id, mail.thread_id, False)
    assert mail.message_id.startswith("<keryx.")
    assert (mail.subject, mail.text.strip()) == (LETTER.subject, LETTER.text)


@pytest.mark.parametrize(
    "fault",
    [Status(500, after=True), Status(503, after=True), HangUp(after=True), Cut(), Cut(0), Garbage(), Garbage(b"{}")]
    + [Garbage(b'{"a":' * 100_000, content_type="application/json")],
)
def test_a_letter_that_went_out_without_an_answer_is_found_and_not_sent_again(
    server: GoogleServer, box: Mailbox, fault: Any
) -> None:
    server.faults.script(SEND, fault)
    sent = box.send(LETTER)
    assert [mail.id for mail in server.mailbox.outbox] == [sent.id]
    assert server.count(SEND) == 1
    assert box.send(LETTER).already


@pytest.mark.parametrize("fault", [HangUp(), Status(500), Status(502), Status(503)])
def test_a_letter_that_did_not_go_out_is_tried_once_more(server: GoogleServer, box: Mailbox, fault: Any) -> None:
    server.faults.script(SEND, fault)
    sent = box.send(LETTER)
    assert [mail.id for mail in server.mailbox.outbox] == [sent.id]
    assert server.count(SEND) == 2


@pytest.mark.parametrize("unseen", [1, 2])
def test_a_search_that_lags_behind_is_asked_again_before_anything_is_sent_again(
    server: GoogleServer, box: Mailbox, waits: Waits, unseen: int
) -> None:
    server.faults.script(SEND, HangUp(after=True))
    # The look before the sending finds nothing; then each look searches, and goes through what was sent last.
    server.faults.script(LIST, None, UNSEEN, *[UNSEEN, UNSEEN] * (unseen - 1))
    sent = box.send(LETTER)
    assert [mail.id for mail in server.mailbox.outbox] == [sent.id]
    assert len(waits.pauses) == unseen


def test_what_the_search_does_not_show_at_all_is_found_among_what_was_sent_last(
    server: GoogleServer, box: Mailbox
) -> None:
    server.faults.script(SEND, HangUp(after=True))
    server.faults.script(LIST, None, UNSEEN, UNSEEN, None)
    sent = box.send(LETTER)
    assert [mail.id for mail in server.mailbox.outbox] == [sent.id]


def test_a_letter_that_fails_twice_is_left_open_and_says_where_to_look(server: GoogleServer, box: Mailbox) -> None:
    server.faults.script(SEND, HangUp(), HangUp())
    with pytest.raises(
        MaybeDone, match="may or may not have been sent: the connection broke off; look in Sent"
    ) as caught:
        box.send(LETTER)
    assert server.count(SEND) == 2
    assert "Sent" in caught.value.spoken
    # Asked again, it looks longer before it sends.
    assert not box.send(LETTER).already
    assert len(server.mailbox.outbox) == 1


def test_a_second_try_that_is_refused_does_not_settle_the_first(
    server: GoogleServer, box: Mailbox, waits: Waits
) -> None:
    server.faults.script(SEND, HangUp(after=True), *[Status(429, "rateLimitExceeded")] * 5)
    server.faults.script(LIST, None, *[UNSEEN] * 7)
    with pytest.raises(Unavailable, match="too much was asked"):
        box.send(LETTER)
    server.faults.script(LIST, UNSEEN, UNSEEN)
    assert box.send(LETTER).already  # it looks as long as it would after a failure
    assert len(server.mailbox.outbox) == 1


def test_when_it_cannot_be_looked_up_nothing_is_sent_again(server: GoogleServer, box: Mailbox) -> None:
    server.faults.script(SEND, HangUp(after=True))
    server.faults.script(LIST, None, *[Status(503)] * 5)
    with pytest.raises(MaybeDone, match="look in Sent"):
        box.send(LETTER)
    assert server.count(SEND) == 1
    assert box.send(LETTER).already
    assert len(server.mailbox.outbox) == 1


def test_nothing_is_sent_when_it_cannot_be_looked_up_before(server: GoogleServer, box: Mailbox) -> None:
    server.faults.script(LIST, *[Status(503)] * 5)
    with pytest.raises(Unavailable, match="Google did not see whether it was sent already"):
        box.send(LETTER)
    assert server.count(SEND) == 0


def test_a_refusal_leaves_nothing_open(server: GoogleServer, box: Mailbox, waits: Waits) -> None:
    server.faults.script(SEND, *[Status(429, "rateLimitExceeded")] * 5)
    with pytest.raises(Unavailable, match="too much was asked"):
        box.send(LETTER)
    before = len(waits.pauses)
    box.send(LETTER)
    assert len(waits.pauses) == before
    assert len(server.mailbox.outbox) == 1


def test_the_same_letter_is_the_same_one_also_for_another_process(
    server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path
) -> None:
    first = box.send(LETTER)
    again = mailbox(server, waits, tmp_path).send(LETTER)
    assert (again.id, again.already) == (first.id, True)
    assert len(server.mailbox.outbox) == 1


def test_another_process_knows_what_was_sent_before_any_search_shows_it(
    server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path
) -> None:
    first = box.send(LETTER)
    server.faults.script(LIST, *[UNSEEN] * 8)
    again = mailbox(server, waits, tmp_path).send(LETTER)
    assert (again.id, again.already) == (first.id, True)
    assert len(server.mailbox.outbox) == 1


def test_two_processes_that_send_the_same_letter_at_once_send_one(
    server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path
) -> None:
    late = Late()
    server.faults.script(LIST, late)  # the first has looked, and is about to send
    other = mailbox(server, waits, tmp_path)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(box.send, LETTER)
        assert late.done.wait(10)
        second = pool.submit(other.send, LETTER)
        late.release.set()
        assert first.result(20).id == second.result(20).id
    assert len(server.mailbox.outbox) == 1


KILLED = """
import sys
from pathlib import Path
from keryx.workspace.models import Letter, Person
from keryx.workspace.workspace import Workspace
work = Workspace(Path(sys.argv[1]), zone="UTC", api_url=sys.argv[2])
work.mailbox.send(Letter(to=(Person("bob@example.org"),), subject="Four o'clock", text="Could we move it to tomorrow?"))
"""


def test_a_process_that_is_killed_before_the_answer_makes_no_second_letter(tmp_path: Path) -> None:
    late, waits = Late(), Waits()
    with served_google() as server:
        box = mailbox(server, waits, tmp_path)
        server.faults.script(SEND, late)
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path / "google"), server.url])
        try:
            assert late.done.wait(30)
        finally:
            process.kill()
            process.wait(10)
            late.release.set()
        server.faults.script(LIST, UNSEEN, UNSEEN)  # the search does not show it at once
        assert box.send(LETTER).already
        assert len(server.mailbox.outbox) == 1


def test_what_is_written_down_of_a_letter_tells_nothing_of_it_and_goes_after_two_days(
    server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path
) -> None:
    box.send(LETTER)
    folder = tmp_path / "google" / "tried-sent"
    (entry,) = folder.glob("*.json")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert not any(each in entry.name + entry.read_text() for each in ("bob", "clock", "tomorrow", "keryx"))
    old = (NOON - timedelta(days=3)).timestamp()
    os.utime(entry, (old, old))
    mailbox(server, waits, tmp_path).send(Letter(LETTER.to, "Other", LETTER.text))
    assert not entry.exists()


def test_a_journal_that_cannot_be_kept_holds_up_no_letter(
    server: GoogleServer, box: Mailbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "google" / "tried-sent").write_text("no folder")
    box.send(LETTER)
    assert box.send(LETTER).already
    assert "look at the disk" in caplog.text


def test_a_damaged_entry_says_that_it_was_tried(server: GoogleServer, waits: Waits, tmp_path: Path) -> None:
    mailbox(server, waits, tmp_path, Feature.WRITE_MAIL).send(LETTER)
    (entry,) = (tmp_path / "google" / "tried-sent").glob("*.json")
    entry.write_text("{")
    with pytest.raises(MaybeDone, match="look in Sent"):
        mailbox(server, waits, tmp_path, Feature.WRITE_MAIL).send(LETTER)
    assert len(server.mailbox.outbox) == 1


def test_the_owner_may_have_it_sent_again(server: GoogleServer, box: Mailbox) -> None:
    first = box.send(LETTER)
    second = box.send(LETTER, again=True)
    assert second.id != first.id
    assert not second.already
    assert len(server.mailbox.outbox) == 2


@pytest.mark.parametrize(
    "other",
    [
        Letter(LETTER.to, LETTER.subject, "Could we move it to Friday?"),
        Letter(LETTER.to, "Five o'clock", LETTER.text),
        Letter((Person("eve@example.org"),), LETTER.subject, LETTER.text),
    ],
)
def test_another_letter_is_another_one(server: GoogleServer, box: Mailbox, other: Letter) -> None:
    box.send(LETTER)
    assert not box.send(other).already
    assert len(server.mailbox.outbox) == 2


def test_one_that_was_binned_since_was_sent_all_the_same(
    server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path
) -> None:
    box.bin([box.send(LETTER).id])
    assert mailbox(server, waits, tmp_path).send(LETTER).already


def test_a_draft_that_says_the_same_was_not_sent(server: GoogleServer, box: Mailbox) -> None:
    box.draft(LETTER)
    assert not box.send(LETTER).already
    assert len(server.mailbox.outbox) == 1


def test_the_same_words_may_go_out_every_day(server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path) -> None:
    box.send(LETTER)
    waits.moment = NOON + timedelta(hours=13)  # the night after, but longer ago than a try lasts
    assert not box.send(LETTER).already
    waits.moment = NOON + timedelta(days=1)
    assert box.send(LETTER).already  # of last night, which was today already
    waits.moment = NOON + timedelta(days=2)
    assert not mailbox(server, waits, tmp_path).send(LETTER).already
    assert len(server.mailbox.outbox) == 3


@pytest.mark.parametrize("elsewhere", [False, True])
def test_midnight_between_two_tries_makes_no_second_letter(
    server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path, elsewhere: bool
) -> None:
    waits.moment = datetime(2026, 3, 2, 23, 59, 58, tzinfo=UTC)
    first = box.send(LETTER)
    waits.moment = datetime(2026, 3, 3, 0, 0, 3, tzinfo=UTC)
    again = (mailbox(server, waits, tmp_path) if elsewhere else box).send(LETTER)
    assert (again.id, again.already) == (first.id, True)


def test_two_that_send_the_same_letter_at_once_send_one(server: GoogleServer, box: Mailbox) -> None:
    start = threading.Barrier(6)

    def send(_: int) -> bool:
        start.wait(10)
        return box.send(LETTER).already

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(send, range(6))) == [False] + [True] * 5
    assert len(server.mailbox.outbox) == 1


def test_one_that_asks_again_while_the_first_try_still_waits_gets_the_same_letter(
    server: GoogleServer, box: Mailbox
) -> None:
    late = Late()
    server.faults.script(SEND, late)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(box.send, LETTER)
        assert late.done.wait(10)
        again = pool.submit(box.send, LETTER)
        late.release.set()
        assert first.result(20).id == again.result(20).id
        assert (first.result().already, again.result().already) == (False, True)
    assert server.count(SEND) == 1


def test_a_letter_whose_answer_came_too_late_is_found(server: GoogleServer, waits: Waits, tmp_path: Path) -> None:
    late = Late()
    server.faults.script(SEND, late)
    sent = mailbox(server, waits, tmp_path, patience_s=0.6).send(LETTER)
    late.release.set()
    assert [mail.id for mail in server.mailbox.outbox] == [sent.id]


def test_one_who_lets_no_mail_be_read_can_send_but_what_is_unclear_stays_so(
    server: GoogleServer, waits: Waits, tmp_path: Path
) -> None:
    box = mailbox(server, waits, tmp_path, Feature.WRITE_MAIL)
    assert not box.send(LETTER).already
    assert box.send(LETTER).already
    other = Letter(LETTER.to, "Other", LETTER.text)
    server.faults.script(SEND, HangUp(after=True))
    for _ in range(2):
        with pytest.raises(MaybeDone, match="look in Sent before you try again"):
            box.send(other)
    assert len(server.mailbox.outbox) == 2
    assert not box.send(other, again=True).already


# -- drafts ------------------------------------------------------------------------------------------------------------

SEND_DRAFT = "gmail.users.drafts.send"
CREATE_DRAFT = "gmail.users.drafts.create"


def test_a_draft_is_sent_once(server: GoogleServer, box: Mailbox) -> None:
    draft_id = box.draft(LETTER)
    sent = box.send_draft(draft_id)
    assert [mail.id for mail in server.mailbox.outbox] == [sent.id]
    again = box.send_draft(draft_id)
    assert (again.id, again.already) == (sent.id, True)
    assert not server.mailbox.drafts
    assert len(server.mailbox.outbox) == 1


@pytest.mark.parametrize("fault", [HangUp(after=True), Status(500, after=True), Cut(), Garbage()])
def test_a_draft_that_is_gone_after_a_failure_was_sent(server: GoogleServer, box: Mailbox, fault: Any) -> None:
    draft_id = box.draft(LETTER)
    server.faults.script(SEND_DRAFT, fault)
    sent = box.send_draft(draft_id)
    assert [mail.id for mail in server.mailbox.outbox] == [sent.id]
    assert server.count(SEND_DRAFT) == 1


def test_a_draft_that_is_gone_was_sent_even_if_no_search_ever_shows_it(server: GoogleServer, box: Mailbox) -> None:
    draft_id = box.draft(LETTER)
    server.faults.script(SEND_DRAFT, HangUp(after=True))
    server.faults.script(LIST, None, *[UNSEEN] * 8)
    assert box.send_draft(draft_id).thread_id == server.mailbox.outbox[0].thread_id
    assert len(server.mailbox.outbox) == 1


@pytest.mark.parametrize("fault", [HangUp(), Status(503)])
def test_a_draft_that_is_still_there_is_tried_once_more(server: GoogleServer, box: Mailbox, fault: Any) -> None:
    draft_id = box.draft(LETTER)
    server.faults.script(SEND_DRAFT, fault)
    box.send_draft(draft_id)
    assert len(server.mailbox.outbox) == 1
    assert server.count(SEND_DRAFT) == 2


@pytest.mark.parametrize("draft_first", [True, False])
def test_a_letter_and_its_draft_are_one_though_the_search_lags(
    server: GoogleServer, box: Mailbox, waits: Waits, tmp_path: Path, draft_first: bool
) -> None:
    draft_id = box.draft(LETTER)
    other = mailbox(server, waits, tmp_path)
    sent = box.send_draft(draft_id) if draft_first else box.send(LETTER)
    server.faults.script(LIST, UNSEEN)
    again = other.send(LETTER) if draft_first else other.send_draft(draft_id)
    assert (again.id, again.already) == (sent.id, True)
    assert len(server.mailbox.outbox) == 1


def test_a_letter_that_was_sent_as_a_draft_is_not_sent_again(server: GoogleServer, box: Mailbox) -> None:
    sent = box.send_draft(box.draft(LETTER))
    again = box.send(LETTER)
    assert (again.id, again.already) == (sent.id, True)


@pytest.mark.parametrize("fault", [HangUp(after=True), HangUp(), Status(500, after=True), Cut(), Garbage()])
def test_no_fault_makes_two_drafts_of_one(server: GoogleServer, box: Mailbox, fault: Any) -> None:
    server.faults.script(CREATE_DRAFT, fault)
    draft_id = box.draft(LETTER)
    assert [*server.mailbox.drafts] == [draft_id]
