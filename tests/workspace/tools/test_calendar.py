"""The calendar's tools as a model calls them, one after another, with what it read before."""

import contextlib
import re
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keryx.errors import Refused
from keryx.workspace.features import Feature
from keryx.workspace.tools.table import TOOLS
from keryx.workspace.workspace import Workspace
from tests.support.google import GoogleServer, served_google
from tests.support.google.oauth import signed_in
from tests.support.google_account import Waits

pytest.importorskip("googleapiclient", reason="the google extra is not installed")

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)  # a Monday, nine in Berlin
Call = Callable[..., str]


def at(text: str, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    with served_google(clock=Waits(NOW), zone="Europe/Berlin") as server:
        yield server


@pytest.fixture
def call(server: GoogleServer, tmp_path: Path) -> Call:
    """Calls a tool by its name, its arguments checked as a model's are."""
    waits = Waits(NOW)
    signed_in(tmp_path / "google", server, tuple(Feature), clock=waits)
    workspace = Workspace(tmp_path / "google", zone="Europe/Berlin", api_url=server.url, clock=waits)

    def called(tool: str, **arguments: Any) -> str:
        return TOOLS[tool].run(workspace, TOOLS[tool].parse(arguments))

    return called


def ids(text: str) -> list[str]:
    return re.findall(r"event (\w+)", text)


def test_my_four_o_clock_is_moved_to_tomorrow(server: GoogleServer, call: Call) -> None:
    server.calendars.add_event(
        "Budget", at("2026-03-02T16:00"), at("2026-03-02T16:45"), zone="Europe/Berlin", guests=["bo@example.org"]
    )
    server.calendars.add_event("Tea", at("2026-03-02T17:00"), at("2026-03-02T17:30"))
    listed = call("list_events", start="2026-03-02T16:00")
    assert "16:00-16:45, event" in listed
    moved = call("move_event", event_id=ids(listed)[0], start="2026-03-03T16:00")
    assert moved == f"Moved: event {ids(listed)[0]}, Tue 2026-03-03 16:00-16:45. Its guest is told.\n> Budget"
    assert call("list_events", start="2026-03-02", end="2026-03-02").count("event ") == 1
    assert [notice.to for notice in server.notices] == [("bo@example.org",)]


def test_an_hour_for_two_is_found_taken_and_one_of_them_invited(server: GoogleServer, call: Call) -> None:
    server.calendars.add("bo@example.org", "Bo", role="freeBusyReader", listed=False)
    server.calendars.add_event(
        "X", at("2026-03-03T09:00"), at("2026-03-03T16:30"), calendar="bo@example.org", zone="Europe/Berlin"
    )
    free = call("find_free_time", start="2026-03-03", minutes=60, people=["Bo Lind <bo@example.org>"])
    assert free.endswith("Tue 2026-03-03 16:30 to 18:00")
    made = call("create_event", title="Review", start="2026-03-03T16:30")
    assert made.startswith("Made: event ")
    assert made.endswith("Tue 2026-03-03 16:30-17:30.\n> Review")
    assert not server.notices
    invited = call("invite_guests", event_id=ids(made)[0], guests=["Bo Lind <bo@example.org>"])
    assert "Its guest is told." in invited
    again = call("create_event", title="Review", start="2026-03-03T16:30")
    assert again.startswith(f"It was there already, and nothing was added: event {ids(made)[0]}")


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"start": "2026-03-03T19:00", "end": "2026-03-03T22:00"}, "Tue 2026-03-03 19:00 to 22:00"),
        ({"start": "2026-03-03"}, "Tue 2026-03-03 09:00 to 18:00"),
        ({"start": "2026-03-07"}, "Sat 2026-03-07 09:00 to 18:00"),
        ({"start": "2026-03-03", "day_starts": "19:00"}, "Tue 2026-03-03 19:00 to Wed 2026-03-04 00:00"),
        ({"start": "2026-03-03", "day_ends": "08:00"}, "Tue 2026-03-03 00:00 to 08:00"),
        ({"start": "2026-03-03", "day_starts": "12:00", "day_ends": "14:00"}, "Tue 2026-03-03 12:00 to 14:00"),
        (
            {"start": "2026-03-03T12:00", "end": "2026-03-04T12:00", "day_starts": "22:00", "day_ends": "06:00"},
            "Tue 2026-03-03 22:00 to Wed 2026-03-04 06:00",
        ),
        ({"start": "2026-03-01"}, "There are no 60 minutes free then."),
    ],
)
def test_free_time_is_looked_for_where_it_was_asked_for(call: Call, arguments: dict[str, str], found: str) -> None:
    assert call("find_free_time", minutes=60, **arguments).splitlines()[-1] == found


def test_every_other_monday_is_made_one_of_them_moved_and_then_all(server: GoogleServer, call: Call) -> None:
    made = call(
        "create_event",
        title="Class",
        start="2026-03-02T18:00",
        end="2026-03-02T19:30",
        repeat="weekly",
        every=2,
        weekdays=["monday"],
        until="2026-04-13",
    )
    assert "That is the series" in made
    listed = call("list_events", start="2026-03-01", end="2026-05-01")
    days = re.findall(r"^Monday (\S+)$", listed, re.MULTILINE)
    assert days == ["2026-03-02", "2026-03-16", "2026-03-30", "2026-04-13"]
    with pytest.raises(Refused, match="whole series"):
        call("delete_event", event_id=ids(made)[0])
    call("move_event", event_id=ids(listed)[1], start="2026-03-17T18:00")
    moved = call("move_event", event_id=ids(listed)[2], start="2026-03-31T20:00", all_of_them=True)
    assert "Look at those that had been moved or deleted by themselves." in moved
    listed = call("list_events", start="2026-03-01", end="2026-05-01")
    # The last one too, though its rule ended on the Monday; in winter and in summer at eight.
    assert re.findall(r"^Tuesday (\S+)$", listed, re.MULTILINE) == [
        "2026-03-03",
        "2026-03-17",
        "2026-03-31",
        "2026-04-14",
    ]
    assert listed.count("20:00-21:30") == 4


def test_an_event_in_its_own_zone_is_said_in_both(call: Call) -> None:
    made = call("create_event", title="Call", start="2026-03-20T10:00", zone="America/New_York")
    assert "Fri 2026-03-20 15:00-16:00 (10:00 in America/New_York)" in made
    moved = call("move_event", event_id=ids(made)[0], start="2026-04-03T16:00")
    assert "Fri 2026-04-03 16:00-17:00 (10:00 in America/New_York)" in moved


def test_an_all_day_event_is_its_days_last_one_included(server: GoogleServer, call: Call) -> None:
    made = call("create_event", title="Trip", start="2026-03-27", end="2026-03-30")
    assert "Fri 2026-03-27 all day, until Mon 2026-03-30" in made
    [event] = server.calendars["primary"].events.values()
    assert (event["start"], event["end"]) == ({"date": "2026-03-27"}, {"date": "2026-03-31"})
    moved = call("move_event", event_id=ids(made)[0], start="2026-10-23")
    assert "Fri 2026-10-23 all day, until Mon 2026-10-26" in moved
    assert "Sun 2026-10-25 09:00-10:00" in call("move_event", event_id=ids(made)[0], start="2026-10-25T09:00")


def test_an_invitation_is_read_and_answered(server: GoogleServer, call: Call) -> None:
    server.calendars.add_event(
        "Review",
        at("2026-03-03T10:00"),
        at("2026-03-03T11:00"),
        organizer="bo@example.org",
        description="Say <b>yes</b>",
    )
    [event] = ids(call("search_events", query="review", start="2026-03-02", end="2026-03-08"))
    read = call("read_event", event_id=event)
    assert "You have not answered." in read
    assert "> Say yes" in read
    answered = call("answer_invitation", event_id=event, response="tentative", comment="Late train")
    assert "Answered, tentative" in answered
    assert "Whoever invited is told." in answered
    assert "you answered maybe" in call("list_events", start="2026-03-03")


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("list_events", {"start": "tomorrow"}, "neither a day nor a time"),
        ("list_events", {"start": "9999-12-31"}, "too far away"),
        ("list_events", {"start": "2026-03-02", "page": "WzEsMl0"}, "no page of this list"),
        ("list_events", {"start": "2026-03-02", "calendars": ["Nowhere"]}, "no calendar"),
        ("create_event", {"title": "X", "start": "2026-03-02", "end": "2026-03-01"}, "before it begins"),
        ("create_event", {"title": "X", "start": "2026-03-02T10:00", "end": "2026-03-02"}, "both as times"),
        ("create_event", {"title": "X", "start": "2026-03-02T10:00", "zone": "Mars"}, "no time zone"),
        ("create_event", {"title": " ", "start": "2026-03-02"}, "title"),
        (
            "create_event",
            {"title": "X", "start": "2026-03-02", "repeat": "weekly", "weekdays": ["tuesday"]},
            "is a Monday",
        ),
        ("find_free_time", {"start": "2026-03-02", "minutes": 30, "day_starts": "25:00"}, "no time of day"),
        ("find_free_time", {"start": "2026-03-02", "minutes": 30, "people": ["Bo"]}, "not one address"),
        ("move_event", {"event_id": "../x", "start": "2026-03-02"}, "use an id that a list of events gave"),
        ("invite_guests", {"event_id": "abcde", "guests": ["team: a@example.org, b@example.org;"]}, "not one address"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence_and_nothing_is_made(
    server: GoogleServer, call: Call, tool: str, arguments: dict[str, Any], why: str
) -> None:
    with pytest.raises(Refused, match=why) as refused:
        call(tool, **arguments)
    assert "\n" not in str(refused.value)
    assert not server.calendars["primary"].events


hostile = st.one_of(
    st.text(max_size=25),
    st.sampled_from(
        ["0001-01-01", "9999-12-31T23:59", "2026-03-29T02:30", "2026-03-02", "", "2200-12-31", "1900-01-01"]
    ),
)


@given(data=st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_model_writes_for_a_time_nothing_but_a_refusal_comes_of_it(data: st.DataObject, call: Call) -> None:
    tool = data.draw(st.sampled_from(["list_events", "find_free_time", "create_event"]))
    arguments = {"start": data.draw(hostile), "end": data.draw(hostile)}
    more: dict[str, dict[str, Any]] = {
        "find_free_time": {"minutes": 30},
        "create_event": {"title": "X", "zone": data.draw(hostile), "repeat": "daily", "until": data.draw(hostile)},
    }
    with contextlib.suppress(Refused):
        assert call(tool, **arguments, **more.get(tool, {}))


def test_a_day_of_a_colleagues_calendar_elsewhere_is_that_day(server: GoogleServer, call: Call) -> None:
    server.calendars.add("ny@example.org", "New York office", zone="America/New_York", role="reader")
    server.calendars.add_event("Closed", date(2026, 3, 3), date(2026, 3, 4), calendar="ny@example.org")
    start = at("2026-03-03T18:00", NEW_YORK)  # past midnight in Berlin
    server.calendars.add_event("Dinner", start, start + timedelta(hours=2), calendar="ny@example.org")
    listed = call("list_events", start="2026-03-03", end="2026-03-04")
    assert listed.index("Tuesday 2026-03-03") < listed.index("> Closed") < listed.index("Wednesday 2026-03-04")
    assert listed.index("Wednesday 2026-03-04") < listed.index("00:00-02:00") < listed.index("> Dinner")
    assert listed.count("> Closed") == 1
