"""Times of day as they are heard, and as they are told."""

import re
from datetime import date, datetime

import pytest

from keryx.voice.dialogue.lookups.clock_said import (
    CLOCK,
    LENGTH,
    Clock,
    clock_in,
    day_words,
    length_words,
    minutes_in,
    time_words,
)

HEARD = [
    ("three", Clock(3, sure=False)),
    ("9", Clock(9, sure=False)),
    ("three o clock", Clock(3, sure=False)),
    ("three thirty", Clock(3, 30, sure=False)),
    ("nine oh five", Clock(9, 5, sure=False)),
    ("half past nine", Clock(9, 30, sure=False)),
    ("half three", Clock(3, 30, sure=False)),
    ("quarter to four", Clock(3, 45, sure=False)),
    ("a quarter past one", Clock(1, 15, sure=False)),
    ("ten to five", Clock(4, 50, sure=False)),
    ("twenty past six pm", Clock(18, 20)),
    ("3pm", Clock(15)),
    ("3 30 p m", Clock(15, 30)),
    ("twelve am", Clock(0)),
    ("seven in the evening", Clock(19)),
    ("one at night", Clock(1)),
    ("eleven at night", Clock(23)),
    ("14 30", Clock(14, 30)),
    ("noon", Clock(12)),
    ("midnight", Clock(24)),
]
TOLD = [
    ((9, 0), "nine"),
    ((9, 10), "nine ten"),
    ((9, 5), "nine oh five"),
    ((14, 15), "quarter past two"),
    ((15, 30), "half past three"),
    ((11, 45), "quarter to twelve"),
    ((12, 0), "noon"),
    ((12, 20), "twelve twenty"),
    ((0, 0), "midnight"),
    ((18, 30), "half past six"),
    ((19, 0), "seven in the evening"),
    ((22, 0), "ten at night"),
    ((6, 0), "six in the morning"),
    ((2, 30), "half past two at night"),
]


@pytest.mark.parametrize(("said", "clock"), HEARD)
def test_a_time_of_day_is_understood(said: str, clock: Clock) -> None:
    assert re.fullmatch(CLOCK, said)
    assert clock_in(said) == clock


@pytest.mark.parametrize("said", ["25", "27 00", "three of them", "thirteen pm", "half"])
def test_what_is_no_time_of_day_is_none(said: str) -> None:
    assert clock_in(said) is None


@pytest.mark.parametrize(("at", "words"), TOLD)
def test_a_time_is_told_as_people_say_it(at: tuple[int, int], words: str) -> None:
    assert time_words(datetime(2026, 3, 4, *at)) == words


def test_a_day_is_called_by_what_is_near() -> None:
    today = date(2026, 3, 4)
    days = [date(2026, 3, 3), today, date(2026, 3, 5), date(2026, 3, 9), date(2026, 3, 11), date(2026, 4, 1)]

    assert [day_words(day, today) for day in days] == [
        "yesterday",
        "today",
        "tomorrow",
        "on Monday",
        "on Wednesday the 11th",
        "on Wednesday the 1st of April",
    ]
    assert day_words(date(2027, 3, 4), today) == "on Thursday the 4th of March 2027"


@pytest.mark.parametrize(
    ("said", "minutes"),
    [
        ("an hour", 60),
        ("half an hour", 30),
        ("an hour and a half", 90),
        ("two hours", 120),
        ("a couple of hours", 120),
        ("forty five minutes", 45),
        ("20 minutes", 20),
        ("a quarter of an hour", 15),
    ],
)
def test_a_length_is_understood(said: str, minutes: int) -> None:
    assert re.fullmatch(LENGTH, said)
    assert minutes_in(said) == minutes


def test_a_length_is_told_as_people_say_it() -> None:
    assert [length_words(minutes) for minutes in (30, 45, 60, 90, 120)] == [
        "half an hour",
        "forty-five minutes",
        "an hour",
        "ninety minutes",
        "two hours",
    ]
