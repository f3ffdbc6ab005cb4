"""The telephone's keys: a PIN digit by digit, one and two for yes and no, zero for help. Pure."""

from dataclasses import dataclass, field

MOST_DIGITS = 16


@dataclass
class Keypad:
    """Collects digits until hash. `pin_digits`: submit without hash once so many are there; None: unknown."""

    pin_digits: int | None = None
    _digits: list[str] = field(default_factory=list)

    @property
    def collecting(self) -> bool:
        return bool(self._digits)

    def press(self, key: str) -> str | None:
        """Take a key; the digits once they are complete, else None. Star begins again."""
        if key == "*":
            self._digits.clear()
        elif key == "#":
            return self.take()
        elif len(self._digits) < MOST_DIGITS:
            self._digits.append(key)
            if self.pin_digits is not None and len(self._digits) >= self.pin_digits:
                return self.take()
        return None

    def take(self) -> str | None:
        """The digits collected so far, which are then forgotten; None when there are none."""
        digits = "".join(self._digits)
        self._digits.clear()
        return digits or None
