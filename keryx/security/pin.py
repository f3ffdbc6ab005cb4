"""The PIN: a string of digits, compared in constant time, three tries a call, and no fresh ones for ringing again."""

import hmac
from enum import Enum, auto

from keryx.clock import Clock

MAX_TRIES = 3
FIRST_REST_S = 60.0
REST_GROWTH = 4
LONGEST_REST_S = 4 * 3600.0
"""With it a caller who never stops has 18 tries a day; one who knows the PIN is kept out no longer than this."""


class PinOutcome(Enum):
    """What came of one try."""

    ACCEPTED = auto()
    WRONG = auto()
    LOCKED = auto()
    """Too many wrong tries: nothing is accepted any more, the right PIN included."""
    RESTING = auto()
    """Too many wrong tries over several calls: nothing is accepted for a while, from the try that was one too many."""
    NOT_SET = auto()
    """The person has no PIN, so none can be right."""


class PinGuard:
    """Wrong tries at one person's PIN over all their telephone calls.

    A caller's number can be faked, so ringing again must give no fresh tries: after every third wrong one, in
    whichever calls they came, no PIN is looked at for a while, four times as long each time. The right PIN forgives
    them all. Kept in memory: a restart, which nobody can cause over the telephone, forgets them too.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wrong = 0
        self._rests_until_s = 0.0

    @property
    def rest_s(self) -> float:
        """How long no PIN is looked at from now on; 0 when one may be tried."""
        return max(0.0, self._rests_until_s - self._clock.monotonic())

    def was_wrong(self) -> None:
        """Count a wrong try."""
        self._wrong += 1
        rests, tries_since = divmod(self._wrong, MAX_TRIES)
        if not tries_since:
            # The exponent is bounded too: no float holds the four hundredth power.
            rest_s = min(FIRST_REST_S * REST_GROWTH ** min(rests - 1, 20), LONGEST_REST_S)
            self._rests_until_s = self._clock.monotonic() + rest_s

    def was_right(self) -> None:
        """Forgive what was wrong before."""
        self._wrong = 0


class PinGate:
    """One call's tries at one person's PIN; `guard` counts them over all calls.

    A PIN is text, never a number: `001234` and `1234` are two PINs. Finding the digits in spoken words is the
    dialogue's work; blanks and dashes between digits are ignored here.
    """

    def __init__(self, pin: str | None, max_tries: int = MAX_TRIES, *, guard: PinGuard | None = None) -> None:
        if pin is not None and not isinstance(pin, str):
            raise TypeError("a PIN is text, so that its leading zeros stay")
        self._pin = _digits(pin) if pin else None
        self._max_tries = max_tries
        self._guard = guard
        self._wrong = 0

    @property
    def locked(self) -> bool:
        return self._wrong >= self._max_tries

    @property
    def rest_s(self) -> float:
        """How long no PIN is looked at, because of other calls too; 0 when one may be tried."""
        return self._guard.rest_s if self._guard else 0.0

    def check(self, candidate: str) -> PinOutcome:
        """Try `candidate`; the last allowed wrong try already answers `LOCKED`, a right one forgives earlier ones."""
        if not self._pin:
            return PinOutcome.NOT_SET
        right = hmac.compare_digest(_digits(candidate), self._pin)
        if self.locked:
            return PinOutcome.LOCKED
        if self.rest_s:
            return PinOutcome.RESTING
        if right:
            self._wrong = 0
            if self._guard:
                self._guard.was_right()
            return PinOutcome.ACCEPTED
        self._wrong += 1
        if self._guard:
            self._guard.was_wrong()
        if self.locked:
            return PinOutcome.LOCKED
        return PinOutcome.RESTING if self.rest_s else PinOutcome.WRONG

    def __repr__(self) -> str:
        return f"PinGate(set={self._pin is not None}, wrong={self._wrong})"


def _digits(pin: str) -> bytes:
    return "".join(pin.replace("-", " ").split()).encode("utf-8", "surrogatepass")
