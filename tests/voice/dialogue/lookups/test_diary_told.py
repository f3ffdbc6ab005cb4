"""How the calendar is told: the count first, whole days before hours, free time by where it begins and ends."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from keryx.voice.dialogue.lines import Line
from keryx.voice.dialogue.lookups.diary_told import DiaryTold
from keryx.voice.dialogue.replies import Phrases

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 4, 14, 20, tzinfo=ZONE)


def at(day: int, clock: str) -> str:
    return f"2026-03-{day:02d}T{clock}+01:00"


def event(title: str, start: str, end: str = "", *, day: int = 4, where: str = "") -> dict[str, Any]:
    end = end or f"{int(start[:2]) + 1:02d}{start[2:]}"
    times = {"start": at(day, start), "end": at(day, end)}
    return {"title": title, "all_day": False, "where": where, "with": []} | times


def whole_day(title: str, first: str = "2026-03-04", end: str = "2026-03-05") -> dict[str, Any]:
    return {"title": title, "all_day": True, "start": first, "end": end, "where": "", "with": []}


def found(
    *events: dict[str, Any], when: str | None = "this afternoon", one_day: bool = True, kind: str = "events"
) -> dict[str, Any]:
    return {"kind": kind, "when": when, "one_day": one_day, "more": False, "count": len(events), "events": list(events)}


def free(
    *slots: tuple[str, str], when: str = "tomorrow", end: str = "", one_day: bool = True, all_of_it: bool = False
) -> dict[str, Any]:
    return {
        "kind": "free",
        "when": when,
        "to": end or at(6, "00:00"),
        "all_of_it": all_of_it,
        "minutes": 60,
        "one_day": one_day,
        "slots": [{"start": begins, "end": ends} for begins, ends in slots],
    }


def told(answer: dict[str, Any], asked: dict[str, Any] | None = None) -> list[Line]:
    return DiaryTold(Phrases()).lines(asked or {}, answer, NOW)


def said(answer: dict[str, Any], asked: dict[str, Any] | None = None) -> str:
    return " ".join(line.text for line in told(answer, asked))


def test_three_things_with_the_whole_day_first() -> None:
    answer = found(event("the standup", "15:00"), event("dentist", "16:30"), whole_day("Anna's birthday"))

    assert said(answer) == (
        "Three things this afternoon: Anna's birthday, all day, the standup at three and dentist at half past four."
    )


def test_what_is_on_already_is_told_by_its_end() -> None:
    assert said(found(event("the standup", "14:00"))) == "One thing this afternoon: the standup, until three."


def test_of_a_stretch_that_has_begun_nothing_more_is_left() -> None:
    assert said(found(when="today")) == "Nothing more today."
    assert said(found(when="tomorrow")) == "Nothing tomorrow."


def test_of_many_the_first_three_are_told_and_the_others_offered() -> None:
    lines = told(found(*(event(f"meeting {hour}", f"{hour}:00") for hour in range(15, 20))))

    assert lines[0].text.startswith("Five things this afternoon. First meeting 15 at three, ")
    question = lines[1].asks
    assert question is not None
    assert "eeting 18 at six and meeting 19 at seven in the evening" in question.more[0].text


def test_over_several_days_each_has_its_day() -> None:
    answer = found(event("standup", "09:00", day=5), event("trip", "10:00", day=9), when="this week", one_day=False)

    assert said(answer) == "Two things this week: standup tomorrow at nine and trip on Monday at ten."


def test_the_next_one_with_its_place() -> None:
    answer = found(event("Review", "09:30", day=5, where="Room Blue, 2nd floor"), kind="next", when=None)

    assert said(answer, {"next_only": True}) == "Next is Review tomorrow at half past nine, Room Blue."
    assert said(answer, {"next_only": True, "about": "review"}) == "Review tomorrow at half past nine, Room Blue."


def test_a_video_link_is_no_place_to_say() -> None:
    answer = found(event("Review", "09:30", day=5, where="https://meet.example.com/x-y-z"), kind="next", when=None)

    assert said(answer) == "Next is Review tomorrow at half past nine."


def test_there_is_no_next_one() -> None:
    answer = found(kind="next", when="in the next three months")

    assert said(answer, {"with_whom": "Anna", "next_only": True}) == "Nothing with Anna in the next three months."


@pytest.mark.parametrize(
    ("events", "answer"),
    [
        ((), "You're free at three."),
        ((event("the standup", "14:30", "15:30"),), "Not at three: there's the standup, until half past three."),
        ((event("the standup", "15:30", "16:00"),), "You're free at three, until the standup at half past three."),
        ((whole_day("Holiday"),), "At three there's Holiday, all day."),
    ],
)
def test_whether_one_is_free_at_three(events: tuple[dict[str, Any], ...], answer: str) -> None:
    assert said(found(*events, when="at three", kind="moment") | {"at": at(4, "15:00")}) == answer


def test_free_time_is_told_by_where_it_begins_and_ends() -> None:
    answer = free((at(5, "09:00"), at(5, "10:30")), (at(5, "15:00"), at(5, "18:00")))

    assert said(answer) == "Tomorrow you're free from nine to half past ten and after three."


def test_a_whole_free_afternoon() -> None:
    answer = free((at(4, "14:20"), at(4, "18:00")), when="this afternoon", all_of_it=True)

    assert said(answer) == "You're free this afternoon."


def test_free_from_now_until_the_next_thing() -> None:
    answer = free((at(4, "14:30"), at(4, "16:00")), when="today", end=at(5, "00:00"))

    assert said(answer) == "Today you're free until four."


def test_no_gap_is_long_enough() -> None:
    assert said(free()) == "There's no free hour tomorrow."


def test_over_several_days_the_first_three_are_named() -> None:
    answer = free(
        *((at(day, "09:00"), at(day, "10:00")) for day in (5, 6, 7, 9)),
        when="next week",
        one_day=False,
        end=at(16, "00:00"),
    )

    assert said(answer) == (
        "You're free tomorrow from nine to ten; on Friday from nine to ten; on Saturday from nine to ten. "
        "And later on too."
    )
