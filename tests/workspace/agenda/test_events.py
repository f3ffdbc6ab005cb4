"""Google's events as the rest of the house sees them, whatever somebody else has written into them."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.workspace.agenda.events import MOST_DESCRIPTION_CHARS, event_of, time_fields, when_of
from keryx.workspace.agenda.times import later
from keryx.workspace.models import Page, When
from keryx.workspace.tools import calendar_shown

BERLIN, KOLKATA, LORD_HOWE = (ZoneInfo(name) for name in ("Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe"))
TIMED = {
    "start": {"dateTime": "2026-03-02T15:00:00+01:00", "timeZone": "Asia/Kolkata"},
    "end": {"dateTime": "2026-03-02T16:00:00+01:00", "timeZone": "Asia/Kolkata"},
}


def when(**resource: Any) -> When:
    return when_of(resource, BERLIN)


def test_a_moment_is_in_the_events_own_zone() -> None:
    found = when(**TIMED)
    assert (f"{found.start}", f"{found.end}", found.zone) == (
        "2026-03-02 19:30:00+05:30",
        "2026-03-02 20:30:00+05:30",
        "Asia/Kolkata",
    )


def test_a_zone_that_only_google_knows_is_none_and_the_moment_stays() -> None:
    found = when(start={"dateTime": "2026-03-02T15:00:00-08:00", "timeZone": "Mars/Olympus"})
    assert (f"{found.start}", found.zone) == ("2026-03-03 00:00:00+01:00", None)


def test_a_moment_without_an_offset_is_meant_in_its_zone() -> None:
    found = when(start={"dateTime": "2026-03-29T02:30:00", "timeZone": "Europe/Berlin"})
    assert f"{found.start}" == "2026-03-29 03:30:00+02:00"  # there is no half past two that night
    assert f"{when(start={'dateTime': '2026-03-02T09:00:00'}).start}" == "2026-03-02 09:00:00+01:00"


@pytest.mark.parametrize(
    ("start", "end", "days"),
    [
        ("2026-03-02", "2026-03-03", (date(2026, 3, 2), date(2026, 3, 3))),
        ("2026-03-02", None, (date(2026, 3, 2), date(2026, 3, 3))),
        ("2026-03-02", "2026-02-01", (date(2026, 3, 2), date(2026, 3, 3))),
    ],
)
def test_an_all_day_event_lasts_a_day_at_least(start: str, end: str | None, days: tuple[date, date]) -> None:
    found = when(start={"date": start}, end={"date": end})
    assert (found.start, found.end, found.zone, found.all_day) == (*days, None, True)


def test_an_occurrence_that_was_cancelled_is_where_it_would_have_been() -> None:
    found = when(status="cancelled", originalStartTime={"dateTime": "2026-03-02T09:00:00+01:00"})
    assert f"{found.start}" == f"{found.end}" == "2026-03-02 09:00:00+01:00"


FIRST, LAST = "0001-01-01T00:00:00", "9999-12-31T23:59:59"


@pytest.mark.parametrize("zone", [BERLIN, KOLKATA, LORD_HOWE, ZoneInfo("America/New_York")])
@pytest.mark.parametrize("offset", ["Z", "+14:00", "-12:00", ""])
@pytest.mark.parametrize("moment", [FIRST, LAST])
def test_an_event_at_either_end_of_time_can_be_shown(zone: ZoneInfo, offset: str, moment: str) -> None:
    for resource in (
        {"start": {"dateTime": moment + offset}, "end": {"dateTime": LAST + offset}},
        {"start": {"date": moment[:10]}, "end": {"date": LAST[:10]}},
        {"start": {"date": moment[:10]}},
    ):
        found = event_of({"id": "e1", **resource}, "primary", zone)
        assert "e1" in calendar_shown.event(found, zone)
        assert "e1" in calendar_shown.events(Page([found]), zone, tool="list_events")
        assert "e1" in calendar_shown.done("Moved", found, zone)


texts = st.one_of(st.none(), st.text(max_size=20), st.integers(), st.just(FIRST), st.just("2026-03-02"))
times = st.one_of(
    st.none(), st.fixed_dictionaries({}, optional={key: texts for key in ("date", "dateTime", "timeZone")})
)
guests = st.fixed_dictionaries({}, optional={key: texts for key in ("email", "displayName", "responseStatus", "self")})


@given(
    st.fixed_dictionaries(
        {"id": st.just("e1")},
        optional={
            **{key: texts for key in ("summary", "location", "description", "iCalUID", "transparency", "etag")},
            **{key: times for key in ("start", "end", "originalStartTime")},
            "attendees": st.one_of(st.none(), texts, st.lists(st.one_of(texts, guests), max_size=3)),
            "organizer": st.one_of(st.none(), guests),
            "recurrence": st.one_of(st.none(), st.lists(texts, max_size=3)),
        },
    )
)
@settings(max_examples=200, deadline=None)
def test_whatever_an_event_is_made_of_it_is_shown_with_other_peoples_words_marked(resource: dict[str, Any]) -> None:
    found = event_of(resource, "primary", BERLIN)
    shown = calendar_shown.event(found, BERLIN)
    ours = ("Lines that begin", "event e1,", "It ", "You ", "(")
    for line in shown.split("\n"):
        assert (
            not line or line.startswith((">", *ours)) or line[:3] in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
        )
    assert isinstance(found.when.start, datetime) == isinstance(found.when.end, datetime)


def test_an_event_without_words_says_what_it_is() -> None:
    assert event_of({"id": "e1", **TIMED}, "primary", BERLIN).title == "(no title)"
    assert event_of({"id": "e1", "visibility": "private", **TIMED}, "primary", BERLIN).title == "Busy"
    assert event_of({"id": "e1", "eventType": "outOfOffice", **TIMED}, "primary", BERLIN).title == "Out of office"


def test_a_description_is_text_however_it_was_written() -> None:
    def said(description: str) -> str:
        return event_of({"id": "e1", "description": description, **TIMED}, "primary", BERLIN).description

    assert said("Bring <b>coffee</b>.<br>And <a href='https://x.example/'>this</a><script>evil()</script>").startswith(
        "Bring coffee.\nAnd this"
    )
    assert "evil" not in said("<script>evil()</script></p>")
    assert said("if a < b and c > d:\n  go") == "if a < b and c > d:\n  go"
    assert len(said("x" * (MOST_DESCRIPTION_CHARS + 10))) <= MOST_DESCRIPTION_CHARS
    assert said("a\u200bb\u202ec\x00") == "abc"


def test_guests_are_people_with_answers_and_no_rooms() -> None:
    found = event_of(
        {
            "id": "e1",
            **TIMED,
            "attendees": [
                {"email": "ada@example.org", "self": True, "responseStatus": "declined"},
                {"email": "bo@example.org", "displayName": "Bo\nLind", "organizer": True, "responseStatus": "odd"},
                {"email": "room4@resource.calendar.google.com", "resource": True},
            ],
        },
        "primary",
        BERLIN,
    )
    assert found.mine == "declined"
    assert [(guest.person.name, guest.response, guest.me, guest.organiser) for guest in found.guests] == [
        ("", "declined", True, False),
        ("Bo Lind", "needsAction", False, True),
    ]


def test_times_go_back_as_google_takes_them_and_take_away_the_other_kind() -> None:
    start = datetime(2026, 3, 2, 9, 0, 0, 5, tzinfo=BERLIN)
    assert time_fields(When(start, start + timedelta(hours=1), "Europe/Berlin")) == {
        "start": {"date": None, "dateTime": "2026-03-02T09:00:00+01:00", "timeZone": "Europe/Berlin"},
        "end": {"date": None, "dateTime": "2026-03-02T10:00:00+01:00", "timeZone": "Europe/Berlin"},
    }
    assert time_fields(When(date(2026, 3, 2), date(2026, 3, 4)))["end"] == {
        "date": "2026-03-04",
        "dateTime": None,
        "timeZone": None,
    }


@given(st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)), st.sampled_from([BERLIN, KOLKATA, LORD_HOWE]))
@settings(max_examples=100)
def test_a_time_that_is_written_and_read_again_is_the_same(moment: datetime, zone: ZoneInfo) -> None:
    start = moment.replace(microsecond=0, tzinfo=UTC).astimezone(zone)
    there = time_fields(When(start, start, zone.key))
    back = when_of({key: {name: value for name, value in each.items() if value} for key, each in there.items()}, BERLIN)
    assert isinstance(back.start, datetime)
    assert not later(back.start, start)
    assert not later(start, back.start)
    assert back.zone == zone.key
