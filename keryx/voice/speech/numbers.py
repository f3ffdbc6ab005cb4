"""Numbers, dates and times as they are said."""

import functools
import re
from typing import Any

_MONTHS = "January February March April May June July August September October November December".split()
_DIGITS = "zero one two three four five six seven eight nine".split()
_LONGEST_SAID = 12
"""Digits; a longer number is an id, not an amount, and is said digit by digit."""


@functools.cache
def _num2words() -> Any:
    from num2words import num2words  # heavy: loads every language

    return num2words


@functools.lru_cache(maxsize=4096)
def cardinal(digits: str) -> str:
    """`1984` → "one thousand nine hundred and eighty four"; zeros in front and very long ones digit by digit."""
    digits = _ascii(digits)
    if len(digits) > _LONGEST_SAID or (len(digits) > 1 and digits[0] == "0"):
        return spelled(digits)
    return _plain(_num2words()(int(digits)))


@functools.lru_cache(maxsize=1024)
def ordinal(digits: str) -> str:
    digits = _ascii(digits)
    return _plain(_num2words()(int(digits[:_LONGEST_SAID]), to="ordinal"))


def spelled(digits: str) -> str:
    """Digit by digit."""
    return " ".join(_DIGITS[int(digit)] for digit in digits if digit.isdecimal())


def decimal(number: str) -> str:
    """`1,984.50` → "one thousand … point five zero"; any text with digits, at most one point."""
    whole, point, fraction = number.replace(",", "").partition(".")
    said = cardinal(whole) if whole else "zero"
    return f"{said} point {spelled(fraction)}" if point and fraction else said


def year(digits: str) -> str:
    """`2026` → "twenty twenty six", `1905` → "nineteen oh five", `2000` → "two thousand"."""
    return _plain(_num2words()(int(digits), to="year")) if len(digits) == 4 else cardinal(digits)


def dotted(version: str) -> str:
    """`3.12.1` → "three point twelve point one"."""
    return " point ".join(cardinal(part) for part in version.split(".") if part)


def clock(hour: str, minute: str, second: str | None = None) -> str:
    """`14:05` → "fourteen oh five"; `09:00` → "nine o'clock"."""
    h, m = int(hour), int(minute)
    said = cardinal(str(h))
    if m == 0:
        said = "midnight" if h in (0, 24) and second is None else f"{said} o'clock"
    elif m < 10:
        said = f"{said} oh {cardinal(str(m))}"
    else:
        said = f"{said} {cardinal(str(m))}"
    return f"{said} and {counted(str(int(second)), 'second', 'seconds')}" if second and int(second) else said


def date(year_digits: str, month: str, day: str) -> str | None:
    """`2026`, `03`, `01` → "the first of March twenty twenty six"; None when it is no date."""
    if not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"the {ordinal(day.lstrip('0'))} of {_MONTHS[int(month) - 1]} {year(year_digits)}"


def counted(number: str, one: str, many: str) -> str:
    """A number with the right form of what is counted."""
    return f"{decimal(number)} {one if number == '1' else many}"


def _ascii(digits: str) -> str:
    return "".join(str(int(digit)) for digit in digits if digit.isdecimal()) or "0"


def _plain(words: str) -> str:
    return re.sub(r"\s+", " ", words.replace(",", "").replace("-", " "))
