"""What can go wrong between Keryx and Google: what it means, and whether to try again. Pure; `sentences` has the words.

Google's error bodies are described at https://developers.google.com/workspace/gmail/api/guides/handle-errors and
https://developers.google.com/workspace/calendar/api/guides/errors; both come in an older shape (`errors[].reason`) and
a newer one (`status`, `details[].reason`).
"""

import json
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from keryx.errors import KeryxError, NotFound, Refused, Unavailable
from keryx.workspace.asking import sentences
from keryx.workspace.asking.sentences import Asked

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
            return Fault(
                sentences.not_reached(cause, asked), passing=not isinstance(cause, ssl.SSLCertVerificationError)
            )
        case Lost(cause=TimeoutError()):
            why = "it did not answer in time; try again in a minute"
            return Fault(
                sentences.unavailable(asked, why, "Google is slow to answer just now."), passing=True, unclear=True
            )
        case Lost():
            why = "the connection broke off; try again, and look at this machine's network if it goes on"
            return Fault(
                sentences.unavailable(asked, why, "The connection to Google broke off."), passing=True, unclear=True
            )
        case _:
            return Fault(sentences.nonsense(asked), passing=True, unclear=True)


def maybe_done(fault: Fault, asked: Asked) -> MaybeDone:
    """What to say when `fault` left it open whether it was done."""
    why = str(fault.error).partition(": ")[2].partition(";")[0]
    return MaybeDone(f"Google may or may not have managed to {asked.doing}: {why}; look before you try again")


def too_long(fault: Fault) -> KeryxError:
    """The fault's error, with how long Google wants to be left alone when that was more than there is patience for."""
    if fault.wait_s is None or not isinstance(fault.error, Unavailable):
        return fault.error
    return Unavailable(
        f"{str(fault.error).partition(';')[0]}; try again in {sentences.how_long(fault.wait_s)}",
        spoken=f"Google wants a break. Ask me again in {sentences.roughly(fault.wait_s)}.",
    )


# -- answers -----------------------------------------------------------------------------------------------------------


def _answered(answer: Answered, asked: Asked, now: datetime) -> Fault:
    status, (words, reasons) = answer.status, _read(answer.body)
    told = words is not None
    wait_s = _wait_s(answer.headers, words or "", now)
    match status:
        case 401:
            return Fault(sentences.token_refused(answer.headers, asked, now))
        case _ if reasons & _DAY_IS_SPENT:
            return Fault(sentences.day_is_spent(asked, now))
        case 403 if reasons & _QUOTA_IS_SPENT:
            return Fault(sentences.quota_is_spent(asked))
        case 429:
            return Fault(sentences.too_fast(asked), passing=True, wait_s=wait_s)
        case 403 if reasons & _TOO_FAST:
            return Fault(sentences.too_fast(asked), passing=True, wait_s=wait_s)
        case 403 if reasons & _SCOPES_LACK:
            return Fault(sentences.not_granted(asked))
        case 403 if reasons & _API_IS_OFF:
            return Fault(sentences.api_is_off(asked))
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
            return Fault(sentences.busy(status, asked), passing=True, unclear=True, wait_s=wait_s)
        case _ if 400 <= status < 500 and told:
            said = sentences.cleaned(words) or f"HTTP {status}"
            return Fault(Refused(f"Google did not {asked.doing}: it says “{said}”", spoken="Google didn't take that."))
        case _:
            return Fault(sentences.nonsense(asked, status), unclear=status >= 500)


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
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, dict):
                yield entry.get("reason")


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
    here = sentences.google_date(headers) or now
    return max(0.0, ((until if until.tzinfo else until.replace(tzinfo=UTC)) - here).total_seconds())
