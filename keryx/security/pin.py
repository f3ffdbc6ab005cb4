"""The PIN: a string of digits, compared in constant time, three tries a call."""

import hmac
from enum import Enum, auto


class PinOutcome(Enum):
    """What came of one try."""

    ACCEPTED = auto()
    WRONG = auto()
    LOCKED = auto()
    """Too many wrong tries: nothing is accepted any more, the right PIN included."""
    NOT_SET = auto()
    """The person has no PIN, so none can be right."""


class PinGate:
    """One call's tries at one person's PIN.

    A PIN is text, never a number: `001234` and `1234` are two PINs. Finding the digits in spoken words is the
    dialogue's work; blanks and dashes between digits are ignored here.
    """

    def __init__(self, pin: str | None, max_tries: int = 3) -> None:
        if pin is not None and not isinstance(pin, str):
            raise TypeError("a PIN is text, so that its leading zeros stay")
        self._pin = _digits(pin) if pin else None
        self._max_tries = max_tries
        self._wrong = 0

    @property
    def locked(self) -> bool:
        return self._wrong >= self._max_tries

    def check(self, candidate: str) -> PinOutcome:
        """Try `candidate`; the last allowed wrong try already answers `LOCKED`, a right one forgives earlier ones."""
        if not self._pin:
            return PinOutcome.NOT_SET
        right = hmac.compare_digest(_digits(candidate), self._pin)
        if self.locked:
            return PinOutcome.LOCKED
        if right:
            self._wrong = 0
            return PinOutcome.ACCEPTED
        self._wrong += 1
        return PinOutcome.LOCKED if self.locked else PinOutcome.WRONG

    def __repr__(self) -> str:
        return f"PinGate(set={self._pin is not None}, wrong={self._wrong})"


def _digits(pin: str) -> bytes:
    return "".join(pin.replace("-", " ").split()).encode("utf-8", "surrogatepass")
