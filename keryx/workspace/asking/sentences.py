"""The sentence for each thing that goes wrong with Google: what did not happen, why, and what to do. Pure."""

import math
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from zoneinfo import ZoneInfo

from keryx.errors import BudgetSpent, ConfigError, KeryxError, Unavailable
from keryx.workspace.auth import LOGIN, NotSignedIn
from keryx.workspace.features import GRANTS, Feature
from keryx.workspace.plain import one_line

CLOCK_OFF_S = 300.0
"""A clock that differs from Google's by more than this is told of."""
_MOST_WORDS = 160


@dataclass(frozen=True)
class Asked:
    """What a request was about, as far as its faults go."""

    doing: str
    """Completes "Google did not …": "search the mail"."""
    api: str = "gmail"
    """Google's name of the interface: "gmail" or "calendar"."""
    feature: Feature | None = None
    """What the owner must have granted for it."""


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


def google_date(headers: Mapping[str, str]) -> datetime | None:
    """When an answer was made, by Google's clock."""
    try:
        date = parsedate_to_datetime(headers.get("date", ""))
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def unavailable(asked: Asked, why: str, spoken: str) -> Unavailable:
    return Unavailable(f"Google did not {asked.doing}: {why}", spoken=f"{spoken} Ask me again in a minute.")


def busy(status: int, asked: Asked) -> Unavailable:
    why = f"it is in trouble itself (HTTP {status}); try again in a few minutes"
    return unavailable(asked, why, "Google is having trouble just now.")


def too_fast(asked: Asked) -> Unavailable:
    why = "too much was asked in a short time; try again in a minute"
    return unavailable(asked, why, "Google wants a short break.")


def nonsense(asked: Asked, status: int | None = None) -> Unavailable:
    seen = f" (HTTP {status})" if status else ""
    why = f"what answered made no sense{seen}; see whether a proxy or a network's sign-in page is in between"
    return unavailable(asked, why, "I got no sense out of Google just now.")


def not_reached(cause: BaseException, asked: Asked) -> KeryxError:
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
    return unavailable(asked, why, spoken)


def token_refused(headers: Mapping[str, str], asked: Asked, now: datetime) -> ConfigError:
    """A token that was made a moment ago is not taken."""
    theirs = google_date(headers)
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


def not_granted(asked: Asked) -> ConfigError:
    grant = GRANTS[asked.feature].words if asked.feature else "do that"
    return ConfigError(
        f"Google did not {asked.doing}: you have not let Keryx {grant}; run {LOGIN} and grant it",
        spoken=f"You haven't let me {grant} yet. Sign in again on your machine and tick that.",
    )


def api_is_off(asked: Asked) -> ConfigError:
    name = "Google Calendar API" if asked.api == "calendar" else "Gmail API"
    service = "calendar-json" if asked.api == "calendar" else "gmail"
    return ConfigError(
        f"Google did not {asked.doing}: the {name} is not switched on in your Google Cloud project; enable it at "
        f"https://console.cloud.google.com/apis/library/{service}.googleapis.com and try again in a few minutes",
        spoken=f"The {name} isn't switched on in your Google Cloud project yet. Enable it in the console.",
    )


def day_is_spent(asked: Asked, now: datetime) -> BudgetSpent:
    """Daily limits start anew at midnight in California."""
    there = now.astimezone(ZoneInfo("America/Los_Angeles"))
    midnight = (there + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    wait_s = (midnight.astimezone(UTC) - now).total_seconds()
    return BudgetSpent(
        f"Google did not {asked.doing}: today's limit of your account or project is used up; "
        f"try again in {how_long(wait_s)}",
        spoken=f"Today's limit at Google is used up. It starts anew in {roughly(wait_s)}.",
    )


def quota_is_spent(asked: Asked) -> BudgetSpent:
    return BudgetSpent(
        f"Google did not {asked.doing}: your account's limit for such things is used up; try again in a few hours",
        spoken="Your limit at Google is used up for now. Ask me again in a few hours.",
    )
