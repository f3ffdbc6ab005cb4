"""What can go wrong between Keryx and Google, and the one sentence for each: what happened, and what to do. Pure.

Google's error bodies are described at https://developers.google.com/workspace/gmail/api/guides/handle-errors and
https://developers.google.com/workspace/calendar/api/guides/errors; both come in an older shape (`errors[].reason`) and
a newer one (`status`, `details[].reason`).
"""

import json
import math
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any
from zoneinfo import ZoneInfo

from keryx.errors import BudgetSpent, ConfigError, KeryxError, NotFound, Refused, Unavailable
from keryx.workspace.auth import LOGIN, NotSignedIn
from keryx.workspace.features import GRANTS, Feature
from keryx.workspace.plain import one_line

CLOCK_OFF_S = 300.0
"""A clock that differs from Google's by more than this is told of."""
_MOST_WORDS = 160

_SCOPES_LACK = {"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}
_API_IS_OFF = {"accessNotConfigured", "SERVICE_DISABLED"}
_TOO_FAST = {"rateLimitExceeded", "userRateLimitExceeded", "RATE_LIMIT_EXCEEDED", "RESOURCE_EXHAUSTED"}
_DAY_IS_SPENT = {"dailyLimitExceeded", "dailyLimitExceededUnreg"}
_QUOTA_IS_SPENT = {"quotaExceeded", "limitExceeded", "variableTermLimitExceeded"}


class MaybeDone(Unavailable):
    """Something that must not be done twice was asked for, and whether it was done cannot be found out."""

    default_spoken = "I can't tell whether Google did that. Have a look before we try it again."


class AlreadyThere(Refused):
    """HTTP 409: what was to be made exists."""

    default_spoken = "That's there already."


class Gone(NotFound):
    """HTTP 410: it was there and has been deleted."""

    default_spoken = "That has been deleted."


class Changed(Refused):
    """HTTP 412: somebody changed it since it was read."""

    default_spoken = "That was changed in the meantime. Let me look again before I do anything."


class NotReached(Exception):
    """No connection came about: nothing of a request arrived."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(type(cause).__name__)
        self.cause = cause


class Lost(Exception):
    """A connection ended, or nothing came over it in time: the request may have arrived."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(type(cause).__name__)
        self.cause = cause


class Answered(Exception):
    """Google, or something before it, answered with another status than 2xx."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        super().__init__(f"HTTP {status}")
        self.status, self.headers, self.body = status, headers, body


@dataclass(frozen=True)
class Asked:
    """What a request was about, as far as its faults go."""

    doing: str
    """Completes "Google did not …": "search the mail"."""
    api: str = "gmail"
    """Google's name of the interface: "gmail" or "calendar"."""
    feature: Feature | None = None
    """What the owner must have granted for it."""


@dataclass(frozen=True)
class Fault:
    """What became of one try."""

    error: KeryxError
    passing: bool = False
    """The same request may work in a moment."""
    unclear: bool = False
    """What was asked for may have been done all the same."""
    wait_s: float | None = None
    """How long Google wants to be left alone, when it says so."""


def fault_of(trouble: Exception, asked: Asked, now: datetime) -> Fault:
    """What `trouble` means for whoever asked. Whatever is no known trouble is an answer that made no sense."""
    match trouble:
        case Answered():
            return _answered(trouble, asked, now)
        case NotReached(cause=cause):
            return Fault(_not_reached(cause, asked), passing=not isinstance(cause, ssl.SSLCertVerificationError))
        case Lost(cause=TimeoutError()):
            why = "it did not answer in time; try again in a minute"
            return Fault(_unavailable(asked, why, "Google is slow to answer just now."), passing=True, unclear=True)
        case Lost():
            why = "the connection broke off; try again, and look at this machine's network if it goes on"
            return Fault(_unavailable(asked, why, "The connection to Google broke off."), passing=True, unclear=True)
        case _:
            return Fault(_nonsense(asked), passing=True, unclear=True)


def maybe_done(fault: Fault, asked: Asked) -> MaybeDone:
    """What to say when `fault` left it open whether it was done."""
    why = str(fault.error).partition(": ")[2].partition(";")[0]
    return MaybeDone(f"Google may or may not have managed to {asked.doing}: {why}; look before you try again")


def too_long(fault: Fault) -> KeryxError:
    """The fault's error, with how long Google wants to be left alone when that was more than there is patience for."""
    if fault.wait_s is None or not isinstance(fault.error, Unavailable):
        return fault.error
    return Unavailable(
        f"{str(fault.error).partition(';')[0]}; try again in {how_long(fault.wait_s)}",
        spoken=f"Google wants a break. Ask me again in {roughly(fault.wait_s)}.",
    )


def how_long(duration_s: float) -> str:
    """Seconds as a person reads them, after "in", rounded up: "50 seconds", "20 minutes", "3 hours"."""
    minutes = math.ceil(duration_s / 60)
    hours = math.ceil(duration_s / 3600)
    if duration_s <= 50:
        return f"{max(5, math.ceil(duration_s / 5) * 5)} seconds"
    if minutes < 90:
        return "a minute" if minutes == 1 else f"{minutes} minutes"
    return f"{hours} hours" if hours < 48 else f"{math.ceil(hours / 24)} days"


def roughly(duration_s: float) -> str:
    """Seconds as they are said, after "in": "a few minutes"."""
    for most_s, words in ((20, "a few seconds"), (90, "a minute"), (1200, "a few minutes"), (2700, "half an hour")):
        if duration_s <= most_s:
            return words
    for most_s, words in ((5400, "an hour"), (36_000, "a few hours"), (129_600, "a day")):
        if duration_s <= most_s:
            return words
    return "a few days"


def cleaned(text: object) -> str:
    """Google's own words as part of one line: without what a terminal obeys, cut to what can be read."""
    return one_line(text if isinstance(text, str) else "", _MOST_WORDS).rstrip(". ")


# -- answers -----------------------------------------------------------------------------------------------------------


def _answered(answer: Answered, asked: Asked, now: datetime) -> Fault:
    status, (words, reasons) = answer.status, _read(answer.body)
    told = words is not None
    wait_s = _wait_s(answer.headers, words or "", now)
    match status:
        case 401:
            return Fault(_token_refused(answer.headers, asked, now))
        case _ if reasons & _DAY_IS_SPENT:
            return Fault(_day_is_spent(asked, now))
        case 403 if reasons & _QUOTA_IS_SPENT:
            return Fault(_quota_is_spent(asked))
        case 429:
            return Fault(_too_fast(asked), passing=True, wait_s=wait_s)
        case 403 if reasons & _TOO_FAST:
            return Fault(_too_fast(asked), passing=True, wait_s=wait_s)
        case 403 if reasons & _SCOPES_LACK:
            return Fault(_not_granted(asked))
        case 403 if reasons & _API_IS_OFF:
            return Fault(_api_is_off(asked))
        case 403 if "domainPolicy" in reasons:
            why = "the administrator of your Google account does not allow it; ask them to let Keryx in"
            return Fault(Refused(f"Google did not {asked.doing}: {why}", spoken="Your administrator doesn't allow it."))
        case 404 | 400 if told and (status == 404 or words == "Invalid id value"):
            why = "there is no such thing in your account, or not any more; look again"
            return Fault(NotFound(f"Google did not {asked.doing}: {why}", spoken="I can't find that any more."))
        case 409 if told:
            return Fault(AlreadyThere(f"Google did not {asked.doing}: it is there already"))
        case 410 if told:
            return Fault(Gone(f"Google did not {asked.doing}: it has been deleted"))
        case 412:
            return Fault(Changed(f"Google did not {asked.doing}: it was changed in the meantime; look again"))
        case 413:
            return Fault(Refused(f"Google did not {asked.doing}: it is too large", spoken="That's too large."))
        case 408 | 500 | 502 | 503 | 504 | 507 | 529:
            return Fault(_busy(status, asked), passing=True, unclear=True, wait_s=wait_s)
        case _ if 400 <= status < 500 and told:
            said = cleaned(words) or f"HTTP {status}"
            return Fault(Refused(f"Google did not {asked.doing}: it says “{said}”", spoken="Google didn't take that."))
        case _:
            return Fault(_nonsense(asked, status), unclear=status >= 500)


def _read(body: bytes) -> tuple[str | None, set[str]]:
    """Google's message and its words for why, in both shapes; no message when it is no answer of Google's."""
    try:
        answer: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None, set()
    if isinstance(answer, list) and answer:  # some of Google's servers wrap it
        answer = answer[0]
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        return None, set()
    reasons = {reason for reason in _reasons(error) if isinstance(reason, str)}
    message = error.get("message")
    return message if isinstance(message, str) else "", reasons


def _reasons(error: Mapping[str, Any]) -> Iterator[Any]:
    yield error.get("status")
    for name in ("errors", "details"):
        listed = error.get(name)
        yield from (
            (entry.get("reason") for entry in listed if isinstance(entry, dict)) if isinstance(listed, list) else ()
        )


def _wait_s(headers: Mapping[str, str], words: str, now: datetime) -> float | None:
    """From `Retry-After`, in seconds or as a date (RFC 9110, 10.2.3); Gmail writes it into its message instead."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    until: datetime | None = None
    if value:
        try:
            until = parsedate_to_datetime(value)
        except ValueError:
            until = None
    elif found := re.search(r"Retry after (\d{4}-\d\d-\d\dT[\d:.]+)Z", words):
        try:
            until = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
        except ValueError:
            until = None
    if until is None:
        return None
    # What is a date to Google is told by Google's clock, when it shows.
    here = _date(headers) or now
    return max(0.0, ((until if until.tzinfo else until.replace(tzinfo=UTC)) - here).total_seconds())


def _date(headers: Mapping[str, str]) -> datetime | None:
    try:
        date = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


# -- sentences ---------------------------------------------------------------------------------------------------------


def _unavailable(asked: Asked, why: str, spoken: str) -> Unavailable:
    return Unavailable(f"Google did not {asked.doing}: {why}", spoken=f"{spoken} Ask me again in a minute.")


def _busy(status: int, asked: Asked) -> Unavailable:
    why = f"it is in trouble itself (HTTP {status}); try again in a few minutes"
    return _unavailable(asked, why, "Google is having trouble just now.")


def _too_fast(asked: Asked) -> Unavailable:
    why = "too much was asked in a short time; try again in a minute"
    return _unavailable(asked, why, "Google wants a short break.")


def _nonsense(asked: Asked, status: int | None = None) -> Unavailable:
    seen = f" (HTTP {status})" if status else ""
    why = f"what answered made no sense{seen}; see whether a proxy or a network's sign-in page is in between"
    return _unavailable(asked, why, "I got no sense out of Google just now.")


def _not_reached(cause: BaseException, asked: Asked) -> KeryxError:
    match cause:
        case ssl.SSLCertVerificationError(verify_message=str(said)):
            hint = "set this machine's clock" if "expired" in said or "not yet valid" in said else "see what is between"
            return ConfigError(
                f"Google did not {asked.doing}: its certificate is not trusted here ({cleaned(said)}); {hint}",
                spoken="Your machine doesn't trust the connection to Google. Check its clock and its network.",
            )
        case socket.gaierror():
            why = "its address is not found; see whether this machine is online"
        case TimeoutError():
            why = "no connection came about in time; see whether this machine is online"
        case _:
            why = f"no connection came about ({type(cause).__name__}); see whether this machine is online"
    spoken = "I can't reach Google just now. Make sure your machine is online."
    return _unavailable(asked, why, spoken)


def _token_refused(headers: Mapping[str, str], asked: Asked, now: datetime) -> ConfigError:
    """A token that was made a moment ago is not taken."""
    theirs = _date(headers)
    off_s = (now - theirs).total_seconds() if theirs else 0.0
    what = f"Google did not {asked.doing}: it does not take a token that it has just made"
    if abs(off_s) > CLOCK_OFF_S:
        side = "ahead" if off_s > 0 else "behind"
        return ConfigError(
            f"{what}: this machine's clock is {how_long(abs(off_s))} {side}; set it and try again",
            spoken=f"Your machine's clock is {roughly(abs(off_s))} {side}, so Google turns it away. Set the clock.",
        )
    return NotSignedIn(
        f"{what}; check this machine's clock, then run {LOGIN}",
        spoken="Google turns your sign-in away. Check the clock of your machine, then sign in again.",
    )


def _not_granted(asked: Asked) -> ConfigError:
    grant = GRANTS[asked.feature].words if asked.feature else "do that"
    return ConfigError(
        f"Google did not {asked.doing}: you have not let Keryx {grant}; run {LOGIN} and grant it",
        spoken=f"You haven't let me {grant} yet. Sign in again on your machine and tick that.",
    )


def _api_is_off(asked: Asked) -> ConfigError:
    name = "Google Calendar API" if asked.api == "calendar" else "Gmail API"
    service = "calendar-json" if asked.api == "calendar" else "gmail"
    return ConfigError(
        f"Google did not {asked.doing}: the {name} is not switched on in your Google Cloud project; enable it at "
        f"https://console.cloud.google.com/apis/library/{service}.googleapis.com and try again in a few minutes",
        spoken=f"The {name} isn't switched on in your Google Cloud project yet. Enable it in the console.",
    )


def _day_is_spent(asked: Asked, now: datetime) -> BudgetSpent:
    """Daily limits start anew at midnight in California."""
    there = now.astimezone(ZoneInfo("America/Los_Angeles"))
    midnight = (there + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    wait_s = (midnight.astimezone(UTC) - now).total_seconds()
    return BudgetSpent(
        f"Google did not {asked.doing}: today's limit of your account or project is used up; "
        f"try again in {how_long(wait_s)}",
        spoken=f"Today's limit at Google is used up. It starts anew in {roughly(wait_s)}.",
    )


def _quota_is_spent(asked: Asked) -> BudgetSpent:
    return BudgetSpent(
        f"Google did not {asked.doing}: your account's limit for such things is used up; try again in a few hours",
        spoken="Your limit at Google is used up for now. Ask me again in a few hours.",
    )
