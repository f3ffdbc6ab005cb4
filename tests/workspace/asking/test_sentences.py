"""How long, and what Google says itself, in words for a screen and for the ear."""

import pytest

from keryx.workspace.asking.sentences import cleaned, how_long, roughly


def test_googles_own_words_are_one_line_of_bounded_length_that_a_terminal_does_not_obey() -> None:
    assert cleaned("Invalid\n  value\x1b[31m \u202eevil\u200b.") == "Invalid value[31m evil"
    assert len(cleaned("x" * 10_000)) == 160
    assert cleaned(None) == ""


@pytest.mark.parametrize(
    ("duration_s", "words"),
    [
        (0, "5 seconds"),
        (12.2, "15 seconds"),
        (51, "a minute"),
        (61, "2 minutes"),
        (7200, "2 hours"),
        (200_000, "3 days"),
    ],
)
def test_a_stretch_of_time_is_rounded_up(duration_s: float, words: str) -> None:
    assert how_long(duration_s) == words


def test_a_stretch_of_time_is_said_without_numbers() -> None:
    said = [roughly(duration_s) for duration_s in (3, 60, 600, 1800, 3600, 20_000, 90_000, 900_000)]
    assert said == [
        *("a few seconds", "a minute", "a few minutes", "half an hour"),
        *("an hour", "a few hours", "a day", "a few days"),
    ]
