"""Google is asked over the real client: what goes wrong is tried again when that may help, and told in a sentence."""

import contextlib
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from keryx.errors import BudgetSpent, ConfigError, KeryxError, NotFound, Refused, Unavailable
from keryx.workspace.asking.faults import Fault, MaybeDone
from keryx.workspace.auth import NotSignedIn
from keryx.workspace.features import Feature
from keryx.workspace.google import Google, next_pause_s
from tests.support.google.faults import ANY, BATCH, Cut, Garbage, HangUp, Late, Status
from tests.support.google.server import GoogleServer, served_google
from tests.support.google_account import Waits, asking

LIST = "gmail.users.labels.list"
GET = "gmail.users.messages.get"
SEND = "gmail.users.messages.send"


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    with served_google() as server:
        yield server


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
def google(server: GoogleServer, waits: Waits, tmp_path: Path) -> Google:
    return asking(server, waits, tmp_path)


def labels(google: Google) -> Any:
    return google.ask(google.gmail().users().labels().list(userId="me"), doing="list the labels")


def send(google: Google, *, once: bool = True) -> Any:
    body = {"raw": "VG86IGJvYkBleGFtcGxlLm9yZw0KU3ViamVjdDogSGkNCg0KSGkuDQo="}  # to bob@example.org
    request = google.gmail().users().messages().send(userId="me", body=body)
    return google.ask(request, doing="send the letter", once=once)


@pytest.mark.parametrize(
    ("fault", "kind", "words", "tries"),
    [
        (Status(400, "invalidArgument", "Bad\x1b[31m thing."), Refused, "it says “Bad[31m thing”", 1),
        (Status(403, "dailyLimitExceeded"), BudgetSpent, "today's limit of your account or project is used up", 1),
        (Status(403, "quotaExceeded"), BudgetSpent, "try again in a few hours", 1),
        (Status(403, "rateLimitExceeded"), Unavailable, "too much was asked in a short time", 5),
        (Status(403, "userRateLimitExceeded"), Unavailable, "too much was asked in a short time", 5),
        (Status(403, "domainPolicy"), Refused, "ask them to let Keryx in", 1),
        (Status(404, "notFound"), NotFound, "look again", 1),
        (Status(409, "duplicate"), Refused, "it is there already", 1),
        (Status(410, "deleted"), NotFound, "it has been deleted", 1),
        (Status(412, "conditionNotMet"), Refused, "changed in the meantime; look again", 1),
        (Status(429, "rateLimitExceeded"), Unavailable, "try again in a minute", 5),
        (Status(500), Unavailable, "in trouble itself (HTTP 500)", 5),
        (Status(502), Unavailable, "in trouble itself (HTTP 502)", 5),
        (Status(503), Unavailable, "in trouble itself (HTTP 503)", 5),
        (Status(504), Unavailable, "in trouble itself (HTTP 504)", 5),
        (HangUp(), Unavailable, "the connection broke off", 5),
        (Cut(), Unavailable, "the connection broke off", 5),
        (Garbage(), Unavailable, "what answered made no sense; see whether a proxy", 5),
        (Garbage(b"[1, 2]", content_type="application/json"), Unavailable, "made no sense", 5),
        (Garbage(b"\xff\xfe{"), Unavailable, "made no sense", 5),
        (Garbage(b"<html>No.</html>", status=403), Unavailable, "made no sense (HTTP 403)", 1),
        (Garbage(b'{"error": "a word"}', status=403), Unavailable, "made no sense (HTTP 403)", 1),
        (Garbage(b"", status=302), Unavailable, "a network's sign-in page", 1),
    ],
)
def test_each_fault_is_a_sentence_after_as_many_tries_as_may_help(
    server: GoogleServer, google: Google, waits: Waits, fault: Any, kind: type[KeryxError], words: str, tries: int
) -> None:
    server.faults.script(LIST, *[fault] * 9)
    with pytest.raises(kind) as caught:
        labels(google)
    assert str(caught.value).startswith("Google did not list the labels: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert server.count(LIST) == tries
    assert len(waits.pauses) == tries - 1
    assert sum(waits.pauses) < 40


@pytest.mark.parametrize(
    "fault", [Status(429), Status(403, "rateLimitExceeded"), Status(503), HangUp(), Cut(), Garbage()]
)
def test_what_passes_is_not_noticed(server: GoogleServer, google: Google, fault: Any) -> None:
    server.faults.script(LIST, fault, fault)
    assert labels(google)["labels"]
    assert server.count(LIST) == 3


@pytest.mark.parametrize(
    ("fault", "kind", "sent"),
    [
        (Status(429, "rateLimitExceeded"), None, 1),  # refused before anything was done
        (Status(403, "userRateLimitExceeded"), None, 1),
        (Status(400, "invalidArgument"), Refused, 0),
        (Status(500, after=True), MaybeDone, 1),
        (Status(503), MaybeDone, 0),
        (HangUp(after=True), MaybeDone, 1),
        (HangUp(), MaybeDone, 0),
        (Cut(), MaybeDone, 1),
        (Garbage(), MaybeDone, 1),
        (Garbage(b"[]", content_type="application/json"), MaybeDone, 1),
    ],
)
def test_what_must_not_be_done_twice_is_not_asked_twice_once_it_may_have_arrived(
    server: GoogleServer, google: Google, fault: Any, kind: type[KeryxError] | None, sent: int
) -> None:
    server.faults.script(SEND, fault)
    with pytest.raises(kind) if kind else contextlib.nullcontext():
        send(google)
    assert len(server.mailbox.outbox) == sent
    assert server.count(SEND) == (1 if kind else 2)


def test_a_connection_that_ends_makes_the_client_send_nothing_a_second_time(
    server: GoogleServer, google: Google
) -> None:
    labels(google)  # a connection that is in use already is where httplib2 repeats a request
    server.faults.script(SEND, *[HangUp(after=True)] * 5)
    with pytest.raises(MaybeDone, match="may or may not have managed to send the letter: the connection broke off"):
        send(google)
    assert server.count(SEND) == 1


def test_no_answer_in_time_is_told_within_the_patience(server: GoogleServer, waits: Waits, tmp_path: Path) -> None:
    google = asking(server, waits, tmp_path, patience_s=0.6)
    late = Late()
    server.faults.script(LIST, late)
    with pytest.raises(Unavailable, match="did not answer in time"):
        labels(google)
    assert server.count(LIST) == 1
    late.release.set()


def test_as_long_as_google_asks_for_is_waited_when_there_is_patience(
    server: GoogleServer, google: Google, waits: Waits
) -> None:
    server.faults.script(LIST, Status(429, "rateLimitExceeded", headers={"Retry-After": "7"}))
    labels(google)
    assert 7 <= waits.pauses[0] <= 7.2


def test_a_wait_beyond_the_patience_is_said_at_once(server: GoogleServer, google: Google, waits: Waits) -> None:
    server.faults.script(LIST, Status(503, headers={"Retry-After": "600"}))
    with pytest.raises(Unavailable, match="try again in 10 minutes") as caught:
        labels(google)
    assert waits.pauses == []
    assert "a few minutes" in caught.value.spoken


def test_somebody_on_the_telephone_is_not_kept_waiting(server: GoogleServer, waits: Waits, tmp_path: Path) -> None:
    google = asking(server, waits, tmp_path, patience_s=3.0)
    server.faults.script(LIST, *[Status(503)] * 9)
    with pytest.raises(Unavailable):
        labels(google)
    assert 1 < server.count(LIST) <= 5
    assert sum(waits.pauses) < 3


@pytest.mark.parametrize("tries", [1, 2, 3, 4])
def test_each_pause_is_longer_than_the_one_before_and_by_chance(tries: int) -> None:
    fault = Fault(Unavailable("x"), passing=True)
    shortest, longest = (next_pause_s(tries, fault, 60, luck) for luck in (0, 1))
    assert shortest == pytest.approx(0.2 * 2 ** (tries - 1))
    assert longest == pytest.approx(0.4 * 2 ** (tries - 1))


@pytest.mark.parametrize(
    ("tries", "passing", "left_s"), [(5, True, 60.0), (1, False, 60.0), (1, True, 0.3), (4, True, 1.0)]
)
def test_there_is_no_next_try_without_hope_or_patience(tries: int, passing: bool, left_s: float) -> None:
    assert next_pause_s(tries, Fault(Unavailable("x"), passing=passing), left_s, 0.5) is None


def test_a_token_that_has_ended_is_renewed_unnoticed(server: GoogleServer, google: Google) -> None:
    labels(google)
    server.tokens.clear()
    assert labels(google)["labels"]
    assert send(google)["id"]


def test_a_letter_is_sent_once_though_its_token_had_ended(server: GoogleServer, google: Google) -> None:
    server.tokens.clear()
    send(google)
    assert len(server.mailbox.outbox) == 1


def test_a_sign_in_that_was_revoked_says_how_to_sign_in(server: GoogleServer, google: Google) -> None:
    server.oauth.grants.clear()
    server.tokens.clear()
    with pytest.raises(NotSignedIn, match="run keryx auth login google"):
        labels(google)


def test_a_new_token_that_is_refused_leads_to_the_clock(server: GoogleServer, google: Google) -> None:
    server.faults.script(LIST, *[Status(401, "authError")] * 5)
    with pytest.raises(NotSignedIn, match="check this machine's clock, then run keryx auth login google"):
        labels(google)
    assert server.count(LIST) == 2


def test_a_clock_that_is_wrong_is_named_with_how_much(server: GoogleServer, google: Google) -> None:
    server.date_off_s = 7_200.0
    server.faults.script(LIST, *[Status(401, "authError")] * 2)
    with pytest.raises(ConfigError, match="this machine's clock is 2 hours behind; set it and try again"):
        labels(google)


@pytest.mark.parametrize(
    ("granted", "ask", "missing"),
    [
        (Feature.READ_CALENDAR, lambda gmail, _: gmail.users().messages().list(userId="me"), "read your mail"),
        (Feature.READ_MAIL, lambda gmail, _: gmail.users().drafts().create(userId="me", body={}), "write drafts, and"),
        (
            Feature.WRITE_MAIL,
            lambda gmail, _: gmail.users().messages().batchModify(userId="me", body={"ids": ["1"]}),
            "label, archive and bin mail",
        ),
        (Feature.READ_MAIL, lambda _, calendar: calendar.events().list(calendarId="primary"), "read your calendars"),
        (Feature.READ_MAIL, lambda _, calendar: calendar.freebusy().query(body={}), "read your calendars"),
        (
            Feature.READ_CALENDAR,
            lambda _, calendar: calendar.events().insert(calendarId="primary", body={}),
            "make, change and answer events in your calendars",
        ),
    ],
)
def test_what_was_not_granted_is_named(
    server: GoogleServer, waits: Waits, tmp_path: Path, granted: Feature, ask: Any, missing: str
) -> None:
    google = asking(server, waits, tmp_path, granted)
    with pytest.raises(ConfigError, match=f"you have not let Keryx {missing}.*; run keryx auth login google") as caught:
        google.ask(ask(google.gmail(), google.calendar()), doing="do that")
    assert missing in caught.value.spoken


@pytest.mark.parametrize(("api", "name"), [("gmail", "Gmail API"), ("calendar", "Google Calendar API")])
def test_an_interface_that_is_not_switched_on_is_named_with_where_to_switch_it_on(
    server: GoogleServer, google: Google, api: str, name: str
) -> None:
    server.disabled.add(api)
    request = {
        "gmail": lambda: google.gmail().users().labels().list(userId="me"),
        "calendar": lambda: google.calendar().calendarList().list(),
    }[api]()
    with pytest.raises(ConfigError, match=f"the {name} is not switched on .*https://console.cloud.google.com/apis/"):
        google.ask(request, doing="do that")


def test_a_google_that_is_out_of_reach_is_a_sentence(waits: Waits, tmp_path: Path) -> None:
    with served_google() as server:
        google = asking(server, waits, tmp_path)
    with pytest.raises(Unavailable, match="see whether this machine is online") as caught:
        labels(google)
    assert len(waits.pauses) == 4
    assert "online" in caught.value.spoken
    with pytest.raises(Unavailable) as caught:
        send(google)
    assert not isinstance(caught.value, MaybeDone)


def test_nobody_signed_in_is_a_sentence(waits: Waits, server: GoogleServer, tmp_path: Path) -> None:
    google = asking(server, waits, tmp_path)
    google.account.log_out()
    with pytest.raises(NotSignedIn, match="not signed in at Google; run keryx auth login google"):
        labels(google)


def test_a_question_that_is_too_long_for_an_address_is_asked_all_the_same(server: GoogleServer, google: Google) -> None:
    mail = server.mailbox.write(subject="found")
    server.faults.script("gmail.users.messages.list", Status(503))
    query = f"{{subject:found {' '.join(f'subject:x{number}' for number in range(400))}}}"
    found = google.ask(google.gmail().users().messages().list(userId="me", q=query), doing="search the mail")
    assert [message["id"] for message in found["messages"]] == [mail.id]


# -- many at once ------------------------------------------------------------------------------------------------------


def gets(google: Google, ids: list[str]) -> list[Any]:
    messages = google.gmail().users().messages()
    return [messages.get(userId="me", id=mail_id, format="minimal") for mail_id in ids]


def test_many_are_asked_together_and_come_in_their_order(server: GoogleServer, google: Google) -> None:
    ids = [server.mailbox.write(subject=f"{number} – ü").id for number in range(120)]
    answers = google.ask_all(gets(google, ids[::-1]), doing="read the messages")
    assert [answer["id"] for answer in answers] == ids[::-1]
    assert server.batches == 3
    assert google.ask_all([], doing="read nothing") == []


def test_one_that_is_gone_spoils_nothing(server: GoogleServer, google: Google) -> None:
    ids = [server.mailbox.write().id for _ in range(3)]
    del server.mailbox.mails[ids[1]]
    first, second, third = google.ask_all(gets(google, ids), doing="read the messages")
    assert (first["id"], third["id"]) == (ids[0], ids[2])
    assert isinstance(second, NotFound)


@pytest.mark.parametrize("fault", [Status(429, "rateLimitExceeded"), Status(503), Status(403, "userRateLimitExceeded")])
def test_only_those_that_google_had_no_time_for_are_asked_again(
    server: GoogleServer, google: Google, fault: Status
) -> None:
    ids = [server.mailbox.write().id for _ in range(5)]
    server.faults.script(GET, None, fault, None, fault)
    answers = google.ask_all(gets(google, ids), doing="read the messages")
    assert [answer["id"] for answer in answers] == ids
    assert [asked.parameters["id"] for asked in server.asked(GET)] == [*ids, ids[1], ids[3]]


@pytest.mark.parametrize(
    "fault", [HangUp(), Cut(200), Status(503), Garbage(), Garbage(b"x", content_type="multipart/mixed")]
)
def test_a_batch_that_fails_whole_is_asked_again(server: GoogleServer, google: Google, fault: Any) -> None:
    ids = [server.mailbox.write().id for _ in range(3)]
    server.faults.script(BATCH, fault)
    assert [answer["id"] for answer in google.ask_all(gets(google, ids), doing="read the messages")] == ids
    assert server.batches == 2


def test_a_batch_that_goes_on_failing_is_a_sentence(server: GoogleServer, google: Google) -> None:
    ids = [server.mailbox.write().id for _ in range(3)]
    server.faults.script(ANY, *[Status(429, "rateLimitExceeded")] * 50)
    with pytest.raises(Unavailable, match="Google did not read the messages: too much was asked"):
        google.ask_all(gets(google, ids), doing="read the messages")


def test_a_batch_of_what_was_not_granted_names_it(server: GoogleServer, waits: Waits, tmp_path: Path) -> None:
    google = asking(server, waits, tmp_path, Feature.READ_CALENDAR)
    with pytest.raises(ConfigError, match="you have not let Keryx read your mail"):
        google.ask_all(gets(google, ["1a", "1b"]), doing="read the messages")


def test_a_batch_with_a_token_that_has_ended_is_answered(server: GoogleServer, google: Google) -> None:
    ids = [server.mailbox.write().id for _ in range(3)]
    server.tokens.clear()
    assert [answer["id"] for answer in google.ask_all(gets(google, ids), doing="read the messages")] == ids


def test_many_threads_ask_at_once(server: GoogleServer, google: Google) -> None:
    ids = [server.mailbox.write().id for _ in range(4)]
    start = threading.Barrier(8)

    def ask(_: int) -> list[str]:
        start.wait(10)
        return [answer["id"] for _ in range(5) for answer in google.ask_all(gets(google, ids), doing="read")]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [ids * 5] * 8


def test_neither_mail_nor_a_token_is_logged(
    server: GoogleServer, google: Google, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    mail = server.mailbox.write("TOPSECRET body", subject="TOPSECRET subject")
    server.faults.script(GET, Garbage(b"TOPSECRET garbage", status=403), Status(403, "x", "TOPSECRET message"))
    for _ in range(2):
        with pytest.raises(KeryxError):
            google.ask(gets(google, [mail.id])[0], doing="read the message")
    request = google.gmail().users().messages().list(userId="me", q="TOPSECRET query")
    google.ask(request, doing="search the mail")
    google.ask_all(gets(google, [mail.id, mail.id]), doing="read the messages")
    logged = "\n".join(record.getMessage() for record in caplog.records)
    assert "TOPSECRET" not in logged
    assert not any(token in logged for token in server.tokens)
