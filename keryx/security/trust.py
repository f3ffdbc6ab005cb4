"""How far a caller is trusted: a telephone number can be faked, so it lets one hear, not act."""

from enum import Enum, auto


class Trust(Enum):
    """What has been proven of a caller so far."""

    LISTENER = auto()
    """A known number and nothing more: may hear news and ask how things stand."""
    PROVEN = auto()
    """Gave the PIN, or holds the page's key: may start, change and cancel work."""


def may_act(trust: Trust) -> bool:
    """Whether this caller may change anything."""
    return trust is Trust.PROVEN
