"""What the owner may let Keryx do with their Google account, in words, and the least scopes that each needs."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_SCOPE = "https://www.googleapis.com/auth/"


class Feature(StrEnum):
    """One thing that is asked for at the sign-in; each can be left out."""

    READ_MAIL = "read-mail"
    WRITE_MAIL = "write-mail"
    SORT_MAIL = "sort-mail"
    READ_CALENDAR = "read-calendar"
    CHANGE_CALENDAR = "change-calendar"


@dataclass(frozen=True)
class Grant:
    """What a feature is, for a person, and what Google is asked for."""

    words: str
    """After "Keryx may": "read your mail"."""
    scopes: tuple[str, ...]
    """Whole scope addresses, as Google's discovery documents name them."""


GRANTS: dict[Feature, Grant] = {
    Feature.READ_MAIL: Grant("read your mail", (f"{_SCOPE}gmail.readonly",)),
    Feature.WRITE_MAIL: Grant("write drafts, and send mail when you allow it", (f"{_SCOPE}gmail.compose",)),
    # Google has no narrower scope that labels a message: gmail.labels only makes and removes labels themselves.
    Feature.SORT_MAIL: Grant("label, archive and bin mail", (f"{_SCOPE}gmail.modify",)),
    Feature.READ_CALENDAR: Grant(
        "read your calendars",
        (f"{_SCOPE}calendar.events.readonly", f"{_SCOPE}calendar.calendarlist.readonly", f"{_SCOPE}calendar.freebusy"),
    ),
    Feature.CHANGE_CALENDAR: Grant("make, change and answer events in your calendars", (f"{_SCOPE}calendar.events",)),
}

_CONTAINED: dict[str, frozenset[str]] = {
    f"{_SCOPE}gmail.modify": frozenset({f"{_SCOPE}gmail.readonly", f"{_SCOPE}gmail.compose"}),
    f"{_SCOPE}calendar.events": frozenset({f"{_SCOPE}calendar.events.readonly"}),
}
"""What a scope lets one do besides, so that the smaller one need not be asked for."""


def scopes_of(features: Iterable[Feature]) -> tuple[str, ...]:
    """The least scopes with which all `features` work, in a fixed order."""
    wanted = dict.fromkeys(scope for feature in Feature if feature in set(features) for scope in GRANTS[feature].scopes)
    contained = {less for scope in wanted for less in _CONTAINED.get(scope, ())}
    return tuple(scope for scope in wanted if scope not in contained)


def features_of(scopes: Iterable[str]) -> frozenset[Feature]:
    """The features that work with what was granted; the owner may have unticked some at Google."""
    granted = set(scopes)
    granted |= {less for scope in granted for less in _CONTAINED.get(scope, ())}
    return frozenset(feature for feature, grant in GRANTS.items() if granted.issuperset(grant.scopes))
