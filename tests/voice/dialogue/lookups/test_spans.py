"""Which stretch of time a phrase means, for what came and for what is to come, whatever the clocks do."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.voice.dialogue.lookups.spans import names_time, span_of

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 4, 14, 20, tzinfo=BERLIN)
"""A Wednesday afternoon."""
DAY = "%a %d %b %H:%M"

TO_COME = [
    ("today", "Wed 04 Mar 00:00", "Thu 05 Mar 00:00", "today"),
    ("this afternoon", "Wed 04 Mar 12:00", "Wed 04 Mar 18:00", "this afternoon"),
    ("tonight", "Wed 04 Mar 18:00", "Thu 05 Mar 00:00", "tonight"),
    ("tomorrow morning", "Thu 05 Mar 05:00", "Thu 05 Mar 12:00", "tomorrow morning"),
    ("in the morning", "Thu 05 Mar 05:00", "Thu 05 Mar 12:00", "tomorrow morning"),
    ("in the evening", "Wed 04 Mar 18:00", "Thu 05 Mar 00:00", "this evening"),
    ("the day after tomorrow", "Fri 06 Mar 00:00", "Sat 07 Mar 00:00", "on Friday"),
    ("Friday", "Fri 06 Mar 00:00", "Sat 07 Mar 00:00", "on Friday"),
    ("on Wednesday", "Wed 04 Mar 00:00", "Thu 05 Mar 00:00", "today"),
    ("this Friday", "Fri 06 Mar 00:00", "Sat 07 Mar 00:00", "on Friday"),
    ("next Friday", "Fri 13 Mar 00:00", "Sat 14 Mar 00:00", "on Friday the 13th"),
    ("next Tuesday", "Tue 10 Mar 00:00", "Wed 11 Mar 00:00", "on Tuesday"),
    ("last Monday", "Mon 02 Mar 00:00", "Tue 03 Mar 00:00", "on Monday"),
    ("Friday afternoon", "Fri 06 Mar 12:00", "Fri 06 Mar 18:00", "on Friday afternoon"),
    ("the 14th", "Sat 14 Mar 00:00", "Sun 15 Mar 00:00", "on Saturday the 14th"),
    ("on the third", "Fri 03 Apr 00:00", "Sat 04 Apr 00:00", "on Friday the 3rd of April"),
    ("the 31st", "Tue 31 Mar 00:00", "Wed 01 Apr 00:00", "on Tuesday the 31st"),
    ("the second of May", "Sat 02 May 00:00", "Sun 03 May 00:00", "on Saturday the 2nd of May"),
    ("May the second", "Sat 02 May 00:00", "Sun 03 May 00:00", "on Saturday the 2nd of May"),
    ("February 29", "Tue 29 Feb 00:00", "Wed 01 Mar 00:00", "on Tuesday the 29th of February 2028"),
    ("at four", "Wed 04 Mar 16:00", "Wed 04 Mar 17:00", "at four"),
    ("at eight", "Wed 04 Mar 20:00", "Wed 04 Mar 21:00", "at eight in the evening"),
    ("at nine tomorrow", "Thu 05 Mar 09:00", "Thu 05 Mar 10:00", "at nine tomorrow"),
    ("tomorrow at half past two", "Thu 05 Mar 14:30", "Thu 05 Mar 15:30", "at half past two tomorrow"),
    ("tomorrow evening at seven", "Thu 05 Mar 19:00", "Thu 05 Mar 20:00", "at seven in the evening tomorrow"),
    ("Friday at 3 pm", "Fri 06 Mar 15:00", "Fri 06 Mar 16:00", "at three on Friday"),
    ("at midnight", "Thu 05 Mar 00:00", "Thu 05 Mar 01:00", "at midnight"),
    ("at 15:45", "Wed 04 Mar 15:45", "Wed 04 Mar 16:45", "at quarter to four"),
    ("in an hour", "Wed 04 Mar 15:20", "Wed 04 Mar 16:20", "at three twenty"),
    ("in two days", "Fri 06 Mar 00:00", "Sat 07 Mar 00:00", "on Friday"),
    ("after four", "Wed 04 Mar 16:00", "Thu 05 Mar 00:00", "after four"),
    ("before five", "Wed 04 Mar 14:20", "Wed 04 Mar 17:00", "before five"),
    ("between nine and eleven tomorrow", "Thu 05 Mar 09:00", "Thu 05 Mar 11:00", "between nine and eleven tomorrow"),
    ("from eleven to one tomorrow", "Thu 05 Mar 11:00", "Thu 05 Mar 13:00", "between eleven and one tomorrow"),
    ("after lunch", "Wed 04 Mar 13:00", "Wed 04 Mar 18:00", "after lunch"),
    ("this week", "Mon 02 Mar 00:00", "Mon 09 Mar 00:00", "this week"),
    ("next week", "Mon 09 Mar 00:00", "Mon 16 Mar 00:00", "next week"),
    ("the weekend", "Sat 07 Mar 00:00", "Mon 09 Mar 00:00", "at the weekend"),
    ("next month", "Wed 01 Apr 00:00", "Fri 01 May 00:00", "next month"),
    ("the rest of the day", "Wed 04 Mar 14:20", "Thu 05 Mar 00:00", "for the rest of the day"),
    ("over the next three days", "Wed 04 Mar 14:20", "Sun 08 Mar 00:00", "in the next three days"),
    ("right now", "Wed 04 Mar 14:20", "Wed 04 Mar 15:20", "now"),
    ("2026-03-05", "Thu 05 Mar 00:00", "Fri 06 Mar 00:00", "tomorrow"),
    ("2026-03-05/2026-03-07", "Thu 05 Mar 00:00", "Sun 08 Mar 00:00", "from tomorrow to Saturday"),
    ("2026-03-05T15:00Z", "Thu 05 Mar 16:00", "Thu 05 Mar 17:00", "at four tomorrow"),
    (
        "2026-03-05T15:00/2026-03-05T16:30",
        "Thu 05 Mar 15:00",
        "Thu 05 Mar 16:30",
        "between three and half past four tomorrow",
    ),
]
PAST = [
    ("today", "Wed 04 Mar 00:00", "Thu 05 Mar 00:00", "today"),
    ("this morning", "Wed 04 Mar 00:00", "Wed 04 Mar 12:00", "this morning"),
    ("yesterday evening", "Tue 03 Mar 18:00", "Wed 04 Mar 00:00", "yesterday evening"),
    ("last night", "Tue 03 Mar 18:00", "Wed 04 Mar 05:00", "last night"),
    ("Friday", "Fri 27 Feb 00:00", "Sat 28 Feb 00:00", "on Friday"),
    ("on the third", "Tue 03 Mar 00:00", "Wed 04 Mar 00:00", "yesterday"),
    ("since Monday", "Mon 02 Mar 00:00", "Wed 04 Mar 14:20", "since Monday"),
    ("since Friday morning", "Fri 27 Feb 00:00", "Wed 04 Mar 14:20", "since Friday morning"),
    ("since eight", "Wed 04 Mar 08:00", "Wed 04 Mar 14:20", "since eight"),
    ("since last week", "Mon 23 Feb 00:00", "Wed 04 Mar 14:20", "since last week"),
    ("since lunch", "Wed 04 Mar 13:00", "Wed 04 Mar 14:20", "since lunch"),
    ("in the last hour", "Wed 04 Mar 13:20", "Wed 04 Mar 14:20", "in the last hour"),
    ("in the past two days", "Mon 02 Mar 14:20", "Wed 04 Mar 14:20", "in the past two days"),
    ("the weekend", "Sat 28 Feb 00:00", "Mon 02 Mar 00:00", "at the weekend"),
    ("last month", "Sun 01 Feb 00:00", "Sun 01 Mar 00:00", "last month"),
    ("lately", "Wed 25 Feb 14:20", "Wed 04 Mar 14:20", "lately"),
]


@pytest.mark.parametrize(("when", "start", "end", "said"), TO_COME)
def test_what_is_to_come(when: str, start: str, end: str, said: str) -> None:
    span = span_of(when, NOW, BERLIN, past=False)

    assert span is not None
    assert (f"{span.start:{DAY}}", f"{span.end:{DAY}}", span.said) == (start, end, said)


@pytest.mark.parametrize(("when", "start", "end", "said"), PAST)
def test_what_has_come(when: str, start: str, end: str, said: str) -> None:
    span = span_of(when, NOW, BERLIN, past=True)

    assert span is not None
    assert (f"{span.start:{DAY}}", f"{span.end:{DAY}}", span.said) == (start, end, said)


@pytest.mark.parametrize(
    "when",
    [
        "",
        "the 45th",
        "at 27",
        "the website",
        "monday mornings only",
        "2026-13-40",
        "since 27",
        "in 0 days",
        "2026-03-07/2026-03-05",
    ],
)
def test_what_is_no_time_is_none(when: str) -> None:
    assert span_of(when, NOW, BERLIN, past=False) is None


def test_a_day_is_as_long_as_the_clocks_make_it() -> None:
    for day, hours in ((datetime(2026, 3, 29, 12, tzinfo=UTC), 23), (datetime(2026, 10, 25, 12, tzinfo=UTC), 25)):
        span = span_of("today", day, BERLIN, past=False)
        assert span is not None
        assert span.end.astimezone(UTC) - span.start.astimezone(UTC) == timedelta(hours=hours)


def test_in_an_hour_is_sixty_minutes_away_over_a_clock_change() -> None:
    before = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)  # half past one; at two it is three
    span = span_of("in an hour", before, BERLIN, past=False)

    assert span is not None
    assert (span.said, f"{span.start:%H:%M}") == ("at half past three at night", "03:30")
    assert span.start.astimezone(UTC) - before == timedelta(hours=1)


def test_a_time_that_the_clock_leaps_over_is_what_it_shows_then() -> None:
    span = span_of("at half past two at night", datetime(2026, 3, 29, 0, 0, tzinfo=UTC), BERLIN, past=False)

    assert span is not None
    assert f"{span.start:%H:%M}" == "03:30"


def test_a_day_that_begins_at_one_begins_at_one() -> None:
    beirut = ZoneInfo("Asia/Beirut")  # its clocks go from midnight to one
    span = span_of("tomorrow", datetime(2026, 3, 28, 9, 0, tzinfo=UTC), beirut, past=False)

    assert span is not None
    assert f"{span.start:%d %H:%M}" == "29 01:00"


def test_the_owners_zone_says_which_day_it_is() -> None:
    late = datetime(2026, 3, 4, 23, 30, tzinfo=UTC)  # already Thursday in Berlin
    span = span_of("today", late, BERLIN, past=False)

    assert span is not None
    assert span.start.day == 5


WORDS = (
    "today tomorrow in the last next two three days hour at noon friday after before since march 14th of and".split()
)


@given(st.lists(st.sampled_from(WORDS), max_size=6), st.booleans())
def test_whatever_is_a_time_ends_after_it_begins(words: list[str], past: bool) -> None:
    span = span_of(" ".join(words), NOW, BERLIN, past=past)

    if span is not None:
        assert names_time(" ".join(words))
        assert span.start.astimezone(UTC) < span.end.astimezone(UTC)
        assert span.said


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    span_of(text, NOW, BERLIN, past=False)
