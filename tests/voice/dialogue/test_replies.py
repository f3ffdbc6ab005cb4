"""How tasks, times and lists are said."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from keryx.voice.dialogue.normalise import in_words
from keryx.voice.dialogue.replies import about_words, duration_words, ended, listed, moment_words, task_name


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "less than a minute"),
        (59, "less than a minute"),
        (60, "one minute"),
        (11 * 60 + 59, "eleven minutes"),
        (3600, "an hour"),
        (3600 + 300, "an hour and five minutes"),
        (7200, "two hours"),
        (25 * 3600, "one day and one hour"),
    ],
)
def test_a_duration_is_said_in_the_units_that_matter(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=12), "twelve minutes ago"),
        (timedelta(hours=3), "today at 2:30 PM"),
        (timedelta(hours=20), "yesterday at 9:30 PM"),
        (timedelta(days=3), "on Friday at 5:30 PM"),
        (timedelta(days=30), "on January 31"),
    ],
)
def test_a_moment_is_said_by_the_owners_calendar_not_by_utc(ago: timedelta, words: str) -> None:
    now = datetime(2026, 3, 3, 1, 30, tzinfo=UTC)  # the second of March, 17:30, in Los Angeles

    assert moment_words(now - ago, now, ZoneInfo("America/Los_Angeles")) == words


@pytest.mark.parametrize(
    ("description", "name"),
    [
        ("the parser rewrite", "task four, the parser rewrite,"),
        ("Fix the failing invoice test", "task four, the failing invoice test,"),
        ("Why does the login test fail?", "task four, why does the login test fail,"),
        (
            "rename get user to fetch user everywhere and run the tests",
            "task four, renaming get user to fetch user everywhere,",
        ),
        ("Add `--verbose` to **keryx** serve. It should log.", "task four, adding --verbose to keryx serve,"),
        ("https://example.com/a/very/long/address/that/nobody/wants/to/hear", "task four"),
        ("", "task four"),
        ("delete the old blog", "task four, deleting the old blog,"),
        ("update the onboarding screens of the app for the", "task four, the onboarding screens of the app,"),
    ],
)
def test_a_task_is_called_by_its_number_and_what_it_is_about(description: str, name: str) -> None:
    assert task_name(4, description) == name


def test_what_a_task_is_about_is_short_whatever_it_says() -> None:
    assert len(about_words("word " * 4000).split()) <= 7


def test_lists_numbers_and_sentences_are_said_as_people_say_them() -> None:
    assert listed(["one", "two", "three"]) == "one, two and three"
    assert listed(["one", "two"], "or") == "one or two"
    assert [in_words(number) for number in (0, 12, 42, 100, 123)] == [
        "zero",
        "twelve",
        "forty-two",
        "one hundred",
        "one hundred and twenty-three",
    ]
    assert ended("It works") == "It works."
    assert ended("Shall I?") == "Shall I?"
