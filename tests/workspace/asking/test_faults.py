"""Whatever Google answers, or does not, is one sentence that says what to do, and one that can be said aloud."""

import json
import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from keryx.errors import BudgetSpent, ConfigError, KeryxError, NotFound, Refused, Unavailable
from keryx.workspace.asking.faults import (
    AlreadyThere,
    Answered,
    Changed,
    Fault,
    Gone,
    Lost,
    NotReached,
    fault_of,
    maybe_done,
    too_long,
)
from keryx.workspace.asking.sentences import Asked
from keryx.workspace.auth import NotSignedIn
from keryx.workspace.features import Feature

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SEARCHING = Asked("search the mail", "gmail", Feature.READ_MAIL)


def answered(status: int, reason: str = "", message: str = "Nope.", **headers: str) -> Answered:
    """An error in the older shape; `reason` as Google names it."""
    error = {"code": status, "message": message, "errors": [{"domain": "global", "reason": reason}]}
    return raw(status, json.dumps({"error": error}).encode(), **headers)


def newer(status: int, word: str, reason: str = "", message: str = "Nope.") -> Answered:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    error = {"code": status, "message": message, "status": word, "details": details}
    return raw(status, json.dumps({"error": error}).encode())


def raw(status: int, body: bytes, **headers: str) -> Answered:
    return Answered(status, {name.replace("_", "-"): value for name, value in headers.items()}, body)


def certificate(said: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, said)
    error.verify_message = said
    return error


FAULTS: dict[str, tuple[Exception, type[KeryxError], str, str]] = {
    # what came, the kind of error, words in its line, and: "again" (may help), "unclear" (may have been done), "no"
    "a token just made is not taken": (answered(401, "authError"), NotSignedIn, "check this machine's clock", "no"),
    "too fast": (answered(429, "rateLimitExceeded"), Unavailable, "try again in a minute", "again"),
    "too fast, older": (answered(403, "userRateLimitExceeded"), Unavailable, "try again in a minute", "again"),
    "too fast, newer": (newer(429, "RESOURCE_EXHAUSTED"), Unavailable, "try again in a minute", "again"),
    "too fast, newer 403": (newer(403, "X", "RATE_LIMIT_EXCEEDED"), Unavailable, "try again in a minute", "again"),
    "the day is spent": (answered(403, "dailyLimitExceeded"), BudgetSpent, "try again in 23 hours", "no"),
    "the day is spent, 429": (answered(429, "dailyLimitExceeded"), BudgetSpent, "try again in 23 hours", "no"),
    "a quota is spent": (answered(403, "quotaExceeded"), BudgetSpent, "in a few hours", "no"),
    "not granted": (answered(403, "insufficientPermissions"), ConfigError, "keryx auth login google", "no"),
    "not granted, newer": (
        newer(403, "PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
        ConfigError,
        "you have not let Keryx read your mail",
        "no",
    ),
    "not switched on": (answered(403, "accessNotConfigured"), ConfigError, "library/gmail.googleapis.com", "no"),
    "not switched on, newer": (newer(403, "X", "SERVICE_DISABLED"), ConfigError, "enable it at https://", "no"),
    "the administrator": (answered(403, "domainPolicy"), Refused, "administrator", "no"),
    "forbidden": (answered(403, "forbidden", "You are no writer."), Refused, "“You are no writer”", "no"),
    "not there": (answered(404, "notFound"), NotFound, "look again", "no"),
    "there already": (answered(409, "duplicate"), AlreadyThere, "there already", "no"),
    "deleted": (answered(410, "deleted"), Gone, "has been deleted", "no"),
    "changed": (answered(412, "conditionNotMet"), Changed, "changed in the meantime; look again", "no"),
    "too large": (answered(413, "uploadTooLarge"), Refused, "too large", "no"),
    "makes no sense": (answered(400, "invalidArgument", "Invalid\npageToken\x1b[2J"), Refused, "Invalid page", "no"),
    "trouble": (answered(500, "backendError"), Unavailable, "(HTTP 500); try again", "unclear"),
    "bad gateway": (raw(502, b"<html>Bad Gateway</html>"), Unavailable, "HTTP 502", "unclear"),
    "unavailable": (answered(503, "backendError"), Unavailable, "HTTP 503", "unclear"),
    "gateway timeout": (raw(504, b""), Unavailable, "HTTP 504", "unclear"),
    "a sign-in page": (raw(302, b"", location="http://hotel.example"), Unavailable, "sign-in page", "no"),
    "a proxy's 404": (raw(404, b"<html>no such page</html>"), Unavailable, "proxy", "no"),
    "a proxy's 403": (raw(403, b"\xff\xfe"), Unavailable, "proxy", "no"),
    "no address": (NotReached(socket.gaierror(-2, "unknown")), Unavailable, "machine is online", "again"),
    "refused": (NotReached(ConnectionRefusedError()), Unavailable, "machine is online", "again"),
    "no connection in time": (NotReached(TimeoutError()), Unavailable, "machine is online", "again"),
    "a certificate of tomorrow": (
        NotReached(certificate("certificate is not yet valid")),
        ConfigError,
        "set this machine's clock",
        "no",
    ),
    "a certificate of nobody": (
        NotReached(certificate("self-signed certificate")),
        ConfigError,
        "see what is between",
        "no",
    ),
    "a broken handshake": (NotReached(ssl.SSLEOFError()), Unavailable, "machine is online", "again"),
    "no answer": (Lost(TimeoutError()), Unavailable, "did not answer in time", "unclear"),
    "a reset": (Lost(ConnectionResetError()), Unavailable, "broke off", "unclear"),
    "garbage": (json.JSONDecodeError("x", "secret", 0), Unavailable, "made no sense", "unclear"),
    "garbage in a batch": (KeyError("1"), Unavailable, "made no sense", "unclear"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_its_sentence_and_its_way_on(name: str) -> None:
    trouble, kind, words, way = FAULTS[name]
    fault = fault_of(trouble, SEARCHING, NOW)
    line = str(fault.error)
    assert type(fault.error) is kind
    assert line.startswith("Google did not search the mail: ")
    assert words in line
    assert (fault.passing, fault.unclear) == {"again": (True, False), "unclear": (True, True), "no": (False, False)}[
        way
    ]
    assert line.isprintable()
    assert "secret" not in line


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_can_be_said_aloud(name: str) -> None:
    spoken = fault_of(FAULTS[name][0], SEARCHING, NOW).error.spoken
    assert spoken.endswith(".")
    assert spoken[0].isupper()
    assert not any(character.isdigit() for character in spoken)
    assert not set("{}<>/_@“\n") & set(spoken)


ODD_BODIES: list[Any] = [
    None,
    [],
    [[]],
    [{"error": {"message": "wrapped", "errors": [{"reason": "userRateLimitExceeded"}]}}],
    {"error": "a word"},
    {"error": {"message": 5, "errors": "x", "details": {"reason": "y"}}},
    {"error": {"errors": [None, 3, {"reason": ["z"]}], "status": {}}},
]


@pytest.mark.parametrize("body", ODD_BODIES)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 418, 429, 500])
def test_no_body_however_odd_is_more_than_a_sentence(status: int, body: Any) -> None:
    fault = fault_of(raw(status, json.dumps(body).encode()), SEARCHING, NOW)
    assert str(fault.error).startswith("Google did not search the mail: ")


def test_a_body_nested_without_end_is_more_nonsense() -> None:
    fault = fault_of(raw(403, b"[" * 100_000), SEARCHING, NOW)
    assert "made no sense" in str(fault.error)


@pytest.mark.parametrize(
    ("answer", "wait_s"),
    [
        (answered(429, "rateLimitExceeded", retry_after="7"), 7.0),
        (answered(503, "backendError", retry_after="0"), 0.0),
        (
            answered(429, "rateLimitExceeded", retry_after=format_datetime(NOW + timedelta(seconds=90), usegmt=True)),
            90.0,
        ),
        # By Google's clock, not by this machine's, which may be wrong.
        (
            answered(
                429,
                "rateLimitExceeded",
                retry_after=format_datetime(NOW + timedelta(hours=5), usegmt=True),
                date=format_datetime(NOW + timedelta(hours=5, seconds=-30), usegmt=True),
            ),
            30.0,
        ),
        (answered(429, "rateLimitExceeded", "User-rate limit exceeded.  Retry after 2026-03-02T09:15:00.000Z"), 900.0),
        (answered(429, "rateLimitExceeded", retry_after="soon"), None),
        (answered(429, "rateLimitExceeded", retry_after="-5"), None),
        (answered(429, "rateLimitExceeded"), None),
    ],
)
def test_how_long_google_wants_to_be_left_alone_is_read_wherever_it_says_so(answer: Answered, wait_s: float) -> None:
    assert fault_of(answer, SEARCHING, NOW).wait_s == wait_s


def test_a_wait_that_is_too_long_is_said_instead_of_waited() -> None:
    error = too_long(fault_of(answered(429, "rateLimitExceeded", retry_after="1260"), SEARCHING, NOW))
    assert str(error) == ("Google did not search the mail: too much was asked in a short time; try again in 21 minutes")
    assert error.spoken == "Google wants a break. Ask me again in half an hour."


@pytest.mark.parametrize(
    ("off", "words"), [(timedelta(hours=3), "3 hours behind"), (-timedelta(days=3), "3 days ahead")]
)
def test_a_clock_that_is_wrong_is_named_as_what_is_wrong(off: timedelta, words: str) -> None:
    answer = answered(401, "authError", date=format_datetime(NOW + off, usegmt=True))
    error = fault_of(answer, SEARCHING, NOW).error
    assert isinstance(error, ConfigError)
    assert f"this machine's clock is {words}; set it" in str(error)
    assert "clock" in error.spoken


def test_the_calendars_own_interface_is_named_when_it_is_switched_off() -> None:
    error = fault_of(answered(403, "accessNotConfigured"), Asked("list the events", "calendar"), NOW).error
    assert "Google Calendar API" in str(error)
    assert "calendar-json.googleapis.com" in str(error)


def test_what_may_have_been_done_says_so_and_where_to_look() -> None:
    sending = Asked("send the letter")
    error = maybe_done(fault_of(Lost(TimeoutError()), sending, NOW), sending)
    assert str(error) == (
        "Google may or may not have managed to send the letter: it did not answer in time; look before you try again"
    )


def test_a_fault_that_is_no_waiting_matter_stays_as_it_is() -> None:
    error = Refused("no")
    assert too_long(Fault(error, wait_s=50)) is error
