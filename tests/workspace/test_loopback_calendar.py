"""The loopback Calendar, through the real client: recurring events over both clock changes, guests, conflicts."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from keryx.clock import VirtualClock
from tests.support.google import Calendars, GoogleServer, Notice, served_google, service

errors = pytest.importorskip("googleapiclient.errors", reason="the google extra is not installed")

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")


@pytest.fixture
def server(clock: VirtualClock) -> Iterator[GoogleServer]:
    with served_google(clock=clock, zone="Europe/Berlin") as server:
        yield server


@pytest.fixture
def calendar(server: GoogleServer) -> Iterator[Any]:
    with service(server, "calendar") as calendar:
        yield calendar


@pytest.fixture
def events(calendar: Any) -> Any:
    return calendar.events()


@pytest.fixture
def diary(server: GoogleServer) -> Calendars:
    return server.calendars


def at(day: int, hour: int, minute: int = 0, *, month: int = 3, zone: ZoneInfo = BERLIN) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=zone)


def timed(start: datetime, end: datetime, zone: str | None = "Europe/Berlin") -> dict[str, Any]:
    return {
        key: {"dateTime": value.isoformat(), **({"timeZone": zone} if zone else {})}
        for key, value in (("start", start), ("end", end))
    }


def refused(request: Any) -> tuple[int, str]:
    """The status and the reason that a request is refused with."""
    with pytest.raises(errors.HttpError) as refusal:
        request.execute()
    return refusal.value.resp.status, refusal.value.error_details[0]["reason"]


def listed(events: Any, start: datetime, end: datetime, calendar: str = "primary", **more: Any) -> list[dict[str, Any]]:
    more = {"singleEvents": True, "orderBy": "startTime", **more}
    request = events.list(calendarId=calendar, timeMin=start.isoformat(), timeMax=end.isoformat(), **more)
    return request.execute()["items"]


def starts(found: list[dict[str, Any]]) -> list[str]:
    return [event["start"].get("dateTime") or event["start"]["date"] for event in found]


# -- calendars and settings --------------------------------------------------------------------------------------------


def test_the_owners_calendars_are_listed_with_what_may_be_done_in_each(calendar: Any, diary: Calendars) -> None:
    diary.add("team@group.calendar.google.com", "Team", role="reader", selected=False, zone="America/New_York")
    diary.add("old@group.calendar.google.com", "Old", hidden=True)
    diary.add("anna@example.com", "Anna", role="freeBusyReader", listed=False)
    entries = calendar.calendarList().list().execute()["items"]
    shown = [(entry["summary"], entry["accessRole"], entry.get("primary"), entry.get("selected")) for entry in entries]
    assert shown == [("ada@example.org", "owner", True, True), ("Team", "reader", None, None)]
    assert len(calendar.calendarList().list(showHidden=True).execute()["items"]) == 3
    assert len(calendar.calendarList().list(minAccessRole="writer").execute()["items"]) == 1
    assert calendar.calendarList().get(calendarId="primary").execute()["timeZone"] == "Europe/Berlin"
    assert calendar.calendars().get(calendarId="primary").execute()["id"] == "ada@example.org"
    assert refused(calendar.calendarList().get(calendarId="anna@example.com")) == (404, "notFound")


def test_calendars_are_paged_through(calendar: Any, diary: Calendars) -> None:
    for number in range(120):
        diary.add(f"c{number}@group.calendar.google.com", f"Number {number}")
    lists, seen = calendar.calendarList(), []
    request = lists.list()
    while request is not None:
        answer = request.execute()
        seen += [entry["id"] for entry in answer["items"]]
        request = lists.list_next(request, answer)
    assert seen == list(diary.all)


def test_the_owners_settings(calendar: Any) -> None:
    assert calendar.settings().get(setting="timezone").execute()["value"] == "Europe/Berlin"
    assert {"timezone", "locale"} <= {item["id"] for item in calendar.settings().list().execute()["items"]}
    assert refused(calendar.settings().get(setting="mood")) == (404, "notFound")


# -- recurring events --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "changed", "offsets", "in_utc"),
    [
        (at(27, 9), at(29, 0), ("+01:00", "+02:00"), ("T080000Z", "T070000Z")),
        (at(23, 9, month=10), at(25, 0, month=10), ("+02:00", "+01:00"), ("T070000Z", "T080000Z")),
    ],
    ids=["in March", "in October"],
)
def test_a_daily_event_stays_at_nine_over_a_clock_change_and_keeps_its_exceptions(
    events: Any, first: datetime, changed: datetime, offsets: tuple[str, str], in_utc: tuple[str, str]
) -> None:
    body = {"summary": "Walk", "recurrence": ["RRULE:FREQ=DAILY;COUNT=6"], **timed(first, first + timedelta(hours=1))}
    master = events.insert(calendarId="primary", body=body).execute()
    found = listed(events, first - timedelta(days=1), first + timedelta(days=9))
    days = [(first + timedelta(days=number)).date() for number in range(6)]
    expected = [offsets[day >= changed.date()] for day in days]
    assert starts(found) == [f"{day}T09:00:00{offset}" for day, offset in zip(days, expected, strict=True)]
    stamps = [f"{day:%Y%m%d}{in_utc[day >= changed.date()]}" for day in days]
    assert [event["id"] for event in found] == [f"{master['id']}_{stamp}" for stamp in stamps]
    assert {event["recurringEventId"] for event in found} == {master["id"]}
    assert all(event["start"]["timeZone"] == "Europe/Berlin" for event in found)

    # One is moved to the evening of another day, one is cancelled, one gets a name of its own.
    evening = datetime.combine(days[5], datetime.min.time(), BERLIN) + timedelta(hours=20)
    events.patch(
        calendarId="primary", eventId=found[2]["id"], body=timed(evening, evening + timedelta(hours=1))
    ).execute()
    events.delete(calendarId="primary", eventId=found[3]["id"]).execute()
    events.patch(calendarId="primary", eventId=found[4]["id"], body={"summary": "Run"}).execute()
    left = listed(events, first - timedelta(days=1), first + timedelta(days=9))
    assert [event["id"] for event in left] == [found[number]["id"] for number in (0, 1, 4, 5, 2)]
    assert [event["summary"] for event in left] == ["Walk", "Walk", "Run", "Walk", "Walk"]
    assert left[-1]["originalStartTime"] == found[2]["start"]
    assert left[-1]["start"]["dateTime"] == evening.isoformat()
    # Where the moved one was, there is nothing; where it went, it is found.
    morning = first + timedelta(days=2)
    assert listed(events, morning, morning + timedelta(hours=1)) == []
    assert [event["id"] for event in listed(events, evening, evening + timedelta(minutes=5))] == [found[2]["id"]]
    all_of_them = events.instances(calendarId="primary", eventId=master["id"], showDeleted=True).execute()["items"]
    assert len(all_of_them) == 6
    (cancelled,) = [event for event in all_of_them if event["status"] == "cancelled"]
    assert cancelled["originalStartTime"] == found[3]["start"]
    assert "start" not in cancelled  # Google promises no more of it
    gone = events.get(calendarId="primary", eventId=found[3]["id"]).execute()
    assert gone["status"] == "cancelled"
    assert refused(events.delete(calendarId="primary", eventId=found[3]["id"])) == (410, "deleted")


def test_an_event_of_another_zone_moves_when_that_zones_clock_does(events: Any, diary: Calendars) -> None:
    # New York changes on 8 March, Berlin on the 29th: between them the call is an hour earlier in Berlin.
    diary.add_event(
        "Call", at(2, 10, zone=NEW_YORK), at(2, 11, zone=NEW_YORK), recurrence=["RRULE:FREQ=WEEKLY;COUNT=6"]
    )
    found = listed(events, at(1, 0), at(20, 0, month=4))
    assert [start[11:16] for start in starts(found)] == ["16:00", "15:00", "15:00", "15:00", "16:00", "16:00"]
    assert {event["start"]["timeZone"] for event in found} == {"America/New_York"}
    there = listed(events, at(1, 0), at(20, 0, month=4), timeZone="America/New_York")
    assert {start[11:16] for start in starts(there)} == {"10:00"}


def test_in_the_night_without_half_past_two_an_event_is_an_hour_later(events: Any, diary: Calendars) -> None:
    diary.add_event("Backup", at(28, 2, 30), at(28, 3), recurrence=["RRULE:FREQ=DAILY;COUNT=3"])
    assert starts(listed(events, at(27, 0), at(31, 0))) == [
        "2026-03-28T02:30:00+01:00",
        "2026-03-29T03:30:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ]


def test_extra_and_left_out_dates_and_an_end_in_utc(events: Any, diary: Calendars) -> None:
    rules = [
        "RRULE:FREQ=WEEKLY;BYDAY=MO,WE;UNTIL=20260401T070000Z",
        "EXDATE;TZID=Europe/Berlin:20260325T090000",
        "RDATE:20260327T140000Z",
    ]
    diary.add_event("Class", at(23, 9), at(23, 10), recurrence=rules)
    assert starts(listed(events, at(1, 0), at(30, 0, month=4))) == [
        "2026-03-23T09:00:00+01:00",
        "2026-03-27T15:00:00+01:00",
        "2026-03-30T09:00:00+02:00",
        "2026-04-01T09:00:00+02:00",
    ]


def test_an_endless_event_is_expanded_only_where_it_is_looked_at(events: Any, diary: Calendars) -> None:
    master = diary.add_event("Stand-up", at(2, 9), at(2, 9, 15), recurrence=["RRULE:FREQ=DAILY"])
    far = datetime(2028, 7, 1, tzinfo=UTC)
    found = listed(events, far, far + timedelta(days=2))
    assert starts(found) == ["2028-07-01T09:00:00+02:00", "2028-07-02T09:00:00+02:00"]
    one = events.get(calendarId="primary", eventId=found[0]["id"]).execute()
    assert one["recurringEventId"] == master["id"]
    assert refused(events.get(calendarId="primary", eventId=f"{master['id']}_20280701T080000Z")) == (404, "notFound")
    instances = events.instances(
        calendarId="primary", eventId=master["id"], originalStart="2026-03-05T09:00:00+01:00"
    ).execute()["items"]
    assert starts(instances) == ["2026-03-05T09:00:00+01:00"]


def test_without_expansion_an_event_stands_for_its_instances_and_the_changed_ones_come_besides(
    events: Any, diary: Calendars
) -> None:
    master = diary.add_event("Stand-up", at(2, 9), at(2, 9, 15), recurrence=["RRULE:FREQ=DAILY;COUNT=3"])
    second = f"{master['id']}_20260303T080000Z"
    events.delete(calendarId="primary", eventId=second).execute()
    found = listed(events, at(1, 0), at(9, 0), singleEvents=False, orderBy="updated")
    assert [(event["id"], event["status"]) for event in found] == [
        (master["id"], "confirmed"),
        (second, "cancelled"),
    ]
    assert found[0]["recurrence"] == ["RRULE:FREQ=DAILY;COUNT=3"]


def test_changing_all_of_them_moves_all_and_drops_the_exceptions_that_fit_no_more(
    events: Any, diary: Calendars
) -> None:
    master = diary.add_event("Stand-up", at(2, 9), at(2, 9, 15), recurrence=["RRULE:FREQ=DAILY;COUNT=3"])
    events.delete(calendarId="primary", eventId=f"{master['id']}_20260303T080000Z").execute()
    later = timed(at(2, 10), at(2, 10, 15))
    changed = events.patch(calendarId="primary", eventId=master["id"], body={"summary": "Later", **later}).execute()
    assert changed["sequence"] == 1
    found = listed(events, at(1, 0), at(9, 0))
    assert [start[8:16] for start in starts(found)] == ["02T10:00", "03T10:00", "04T10:00"]
    assert {event["summary"] for event in found} == {"Later"}
    events.delete(calendarId="primary", eventId=master["id"]).execute()
    assert listed(events, at(1, 0), at(9, 0)) == []
    assert refused(events.delete(calendarId="primary", eventId=master["id"])) == (410, "deleted")


# -- days --------------------------------------------------------------------------------------------------------------


def test_a_whole_day_is_a_day_of_the_calendars_zone(events: Any, diary: Calendars) -> None:
    diary.add("ny@group.calendar.google.com", "New York", zone="America/New_York")
    for name in ("primary", "ny@group.calendar.google.com"):
        diary.add_event("Fair", date(2026, 3, 29), date(2026, 3, 30), calendar=name)
    # The day of the clock change: 23 hours in Berlin, and six hours later in New York.
    late = datetime(2026, 3, 29, 22, 0, tzinfo=UTC)
    hour = timedelta(hours=1)
    assert starts(listed(events, late - hour, late)) == ["2026-03-29"]
    assert listed(events, late, late + hour) == []
    assert starts(listed(events, late, late + hour, "ny@group.calendar.google.com")) == ["2026-03-29"]


def test_whole_days_recur_and_their_instances_are_named_by_the_day(events: Any, diary: Calendars) -> None:
    rules = ["RRULE:FREQ=DAILY;UNTIL=20260331", "EXDATE;VALUE=DATE:20260330"]
    master = diary.add_event("Leave", date(2026, 3, 28), date(2026, 3, 29), recurrence=rules)
    found = listed(events, at(1, 0), at(9, 0, month=4))
    assert starts(found) == ["2026-03-28", "2026-03-29", "2026-03-31"]
    assert found[0]["id"] == f"{master['id']}_20260328"
    assert found[0]["end"] == {"date": "2026-03-29"}


# -- lists -------------------------------------------------------------------------------------------------------------


def test_what_a_stretch_of_time_touches(events: Any, diary: Calendars) -> None:
    for name, start, end in [("before", 8, 9), ("into", 8, 10), ("in", 10, 11), ("out", 11, 13), ("after", 12, 13)]:
        diary.add_event(name, at(2, start), at(2, end))
    diary.add_event("all over", at(1, 0), at(3, 0))
    found = listed(events, at(2, 9), at(2, 12))
    assert [event["summary"] for event in found] == ["all over", "into", "in", "out"]
    unordered = listed(events, at(2, 9), at(2, 12), orderBy=None)
    assert [event["summary"] for event in unordered] == ["into", "in", "out", "all over"]


def test_more_than_a_thousand_events_are_paged_through(events: Any, diary: Calendars) -> None:
    diary.add_event("Tick", at(2, 0), at(2, 0, 10), recurrence=["RRULE:FREQ=MINUTELY;INTERVAL=30;COUNT=1100"])
    seen: list[str] = []
    until = at(1, 0, month=6).isoformat()
    request = events.list(calendarId="primary", singleEvents=True, orderBy="startTime", timeMax=until)
    while request is not None:
        answer = request.execute()
        seen += [event["id"] for event in answer["items"]]
        assert ("nextPageToken" in answer) != ("nextSyncToken" in answer)
        request = events.list_next(request, answer)
    assert len(seen) == len(set(seen)) == 1100
    assert refused(events.list(calendarId="primary", pageToken="x"))[0] == 400


def test_words_are_looked_for_in_what_is_written_and_in_who_comes(events: Any, diary: Calendars) -> None:
    diary.add_event("Lunch", at(2, 12), at(2, 13), guests=[{"email": "anna@example.com", "displayName": "Anna Berg"}])
    diary.add_event("Dentist", at(2, 14), at(2, 15), location="Bergstraße 5", description="bring the card")
    names = {
        query: [event["summary"] for event in listed(events, at(1, 0), at(9, 0), q=query)]
        for query in ("LUNCH", "berg", "anna lunch", "card", "nothing")
    }
    assert names == {
        "LUNCH": ["Lunch"],
        "berg": ["Lunch", "Dentist"],
        "anna lunch": ["Lunch"],
        "card": ["Dentist"],
        "nothing": [],
    }


def test_of_a_calendar_whose_hours_alone_are_shared_nothing_else_is_shown(events: Any, diary: Calendars) -> None:
    diary.add("anna@example.com", "Anna", role="freeBusyReader")
    diary.add_event("Secret", at(2, 9), at(2, 10), calendar="anna@example.com")
    (event,) = listed(events, at(1, 0), at(9, 0), "anna@example.com")
    assert event["visibility"] == "private"
    assert "summary" not in event
    body = {"summary": "x", **timed(at(2, 9), at(2, 10))}
    assert refused(events.insert(calendarId="anna@example.com", body=body)) == (403, "requiredAccessLevel")


def test_many_guests_are_left_out_on_request(events: Any, diary: Calendars) -> None:
    event = diary.add_event(
        "Big", at(2, 9), at(2, 10), guests=[*(f"g{n}@example.com" for n in range(5)), "ada@example.org"]
    )
    shown = events.get(calendarId="primary", eventId=event["id"], maxAttendees=2).execute()
    assert [guest["email"] for guest in shown["attendees"]] == ["ada@example.org"]
    assert shown["attendeesOmitted"] is True


# -- making and changing -----------------------------------------------------------------------------------------------


def test_an_event_is_kept_as_it_was_written_with_what_google_adds(events: Any) -> None:
    body = {"id": "lunch0123", "summary": "Lunch", "location": "Café", **timed(at(2, 12), at(2, 13), zone=None)}
    made = events.insert(calendarId="primary", body=body).execute()
    assert body.items() >= {key: made[key] for key in ("id", "summary", "location")}.items()
    assert made["start"] == {"dateTime": "2026-03-02T12:00:00+01:00"}
    assert made["organizer"] == made["creator"] == {"email": "ada@example.org", "self": True}
    assert (made["status"], made["sequence"], made["iCalUID"]) == ("confirmed", 0, "lunch0123@google.com")
    assert events.get(calendarId="primary", eventId="lunch0123").execute() == made


def test_an_id_is_taken_once_even_after_the_event_is_deleted(events: Any) -> None:
    body = {"id": "lunch0123", **timed(at(2, 12), at(2, 13))}
    events.insert(calendarId="primary", body=body).execute()
    assert refused(events.insert(calendarId="primary", body=body)) == (409, "duplicate")
    events.delete(calendarId="primary", eventId="lunch0123").execute()
    assert refused(events.insert(calendarId="primary", body=body)) == (409, "duplicate")
    assert events.get(calendarId="primary", eventId="lunch0123").execute()["status"] == "cancelled"
    assert refused(events.delete(calendarId="primary", eventId="lunch0123")) == (410, "deleted")
    assert refused(events.get(calendarId="primary", eventId="lunch9999")) == (404, "notFound")
    assert refused(events.get(calendarId="primary", eventId="lunch0123_20260302T110000Z")) == (404, "notFound")
    assert refused(events.get(calendarId="nobody@example.com", eventId="lunch0123")) == (404, "notFound")


NOON = timed(at(2, 12), at(2, 13))


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"id": "Keryx-1", **NOON}, "invalid"),
        ({"id": "kery", **NOON}, "invalid"),
        (timed(at(2, 13), at(2, 12)), "timeRangeEmpty"),
        ({"start": {"date": "2026-03-02"}, "end": {"date": "2026-03-02"}}, "timeRangeEmpty"),
        ({**NOON, "end": {"date": "2026-03-03"}}, "invalid"),
        ({**NOON, "start": {"date": "2026-03-02", "dateTime": "2026-03-02T12:00:00Z"}}, "invalid"),
        ({**NOON, "start": {"timeZone": "Europe/Berlin"}}, "invalid"),
        ({**NOON, "start": {"dateTime": "2026-03-02T12:00:00"}}, "required"),
        ({**NOON, "start": {"dateTime": "2026-03-02T12:00:00", "timeZone": "Mars/North"}}, "invalid"),
        ({**timed(at(2, 12), at(2, 13), None), "recurrence": ["RRULE:FREQ=DAILY"]}, "required"),
        ({**NOON, "recurrence": ["FREQ=DAILY"]}, "invalid"),
        ({**NOON, "recurrence": ["RRULE:FREQ=SOMETIMES"]}, "invalid"),
        ({**NOON, "attendees": [{"email": "anna"}]}, "invalid"),
        ({**NOON, "attendees": [{"email": "a@example.com", "responseStatus": "perhaps"}]}, "invalid"),
        ({**NOON, "transparency": "glass"}, "invalid"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused(events: Any, diary: Calendars, body: dict[str, Any], why: str) -> None:
    assert refused(events.insert(calendarId="primary", body=body)) == (400, why)
    assert diary["primary"].events == {}


def test_a_patch_merges_takes_away_and_replaces_lists(events: Any, diary: Calendars) -> None:
    event = diary.add_event("Lunch", at(2, 12), at(2, 13), location="Café", guests=["a@example.com", "b@example.com"])
    patch = events.patch
    body = {"location": None, "attendees": [{"email": "a@example.com"}], "start": {"dateTime": at(2, 11).isoformat()}}
    changed = patch(calendarId="primary", eventId=event["id"], body=body).execute()
    assert "location" not in changed
    assert [guest["email"] for guest in changed["attendees"]] == ["a@example.com"]
    assert changed["start"] == {"dateTime": "2026-03-02T11:00:00+01:00", "timeZone": "Europe/Berlin"}
    # A moment becomes a day only when the moment is taken away: both at once are refused.
    days = {"start": {"date": "2026-03-02"}, "end": {"date": "2026-03-03"}}
    assert refused(patch(calendarId="primary", eventId=event["id"], body=days))[0] == 400
    days = {key: {**value, "dateTime": None, "timeZone": None} for key, value in days.items()}
    assert patch(calendarId="primary", eventId=event["id"], body=days).execute()["start"] == {"date": "2026-03-02"}


def test_an_update_leaves_only_what_it_says(events: Any, diary: Calendars) -> None:
    event = diary.add_event("Lunch", at(2, 12), at(2, 13), location="Café")
    changed = events.update(calendarId="primary", eventId=event["id"], body={"summary": "Dinner", **NOON}).execute()
    assert "location" not in changed
    assert (changed["summary"], changed["created"], changed["id"]) == ("Dinner", event["created"], event["id"])
    assert refused(events.update(calendarId="primary", eventId=event["id"], body={"summary": "x"})) == (400, "required")


def test_a_change_of_what_has_changed_meanwhile_is_refused(events: Any, diary: Calendars) -> None:
    event = diary.add_event("Lunch", at(2, 12), at(2, 13))

    def with_etag(request: Any, etag: str) -> Any:
        request.headers["If-Match"] = etag
        return request

    patch = events.patch(calendarId="primary", eventId=event["id"], body={"summary": "Dinner"})
    changed = with_etag(patch, event["etag"]).execute()
    assert changed["etag"] != event["etag"]
    again = events.patch(calendarId="primary", eventId=event["id"], body={"summary": "Supper"})
    assert refused(with_etag(again, event["etag"])) == (412, "conditionNotMet")
    delete = events.delete(calendarId="primary", eventId=event["id"])
    assert refused(with_etag(delete, event["etag"])) == (412, "conditionNotMet")
    with_etag(events.delete(calendarId="primary", eventId=event["id"]), changed["etag"]).execute()


def test_an_event_moves_to_another_calendar(events: Any, diary: Calendars) -> None:
    diary.add("team@group.calendar.google.com", "Team")
    event = diary.add_event("Lunch", at(2, 12), at(2, 13), recurrence=["RRULE:FREQ=DAILY;COUNT=2"])
    move = {"calendarId": "primary", "destination": "team@group.calendar.google.com"}
    assert refused(events.move(eventId=f"{event['id']}_20260302T110000Z", **move))[0] == 400
    moved = events.move(eventId=event["id"], **move).execute()
    assert (moved["id"], moved["organizer"]["displayName"]) == (event["id"], "Team")
    assert listed(events, at(1, 0), at(9, 0)) == []
    assert len(listed(events, at(1, 0), at(9, 0), "team@group.calendar.google.com")) == 2


# -- guests ------------------------------------------------------------------------------------------------------------


def test_guests_hear_of_it_only_when_the_request_says_so(events: Any, server: GoogleServer) -> None:
    body = {"summary": "Lunch", "attendees": [{"email": "anna@example.com"}], **NOON}
    made = events.insert(calendarId="primary", body=body).execute()
    assert made["attendees"] == [{"email": "anna@example.com", "responseStatus": "needsAction"}]
    assert server.notices == []
    change = {"attendees": [{"email": "anna@example.com"}, {"email": "bob@example.com"}]}
    events.patch(calendarId="primary", eventId=made["id"], body=change, sendUpdates="all").execute()
    events.delete(calendarId="primary", eventId=made["id"], sendUpdates="all").execute()
    both = ("anna@example.com", "bob@example.com")
    assert server.notices == [Notice(made["id"], "patch", both, "all"), Notice(made["id"], "delete", both, "all")]


def test_an_invitation_is_answered_and_the_organiser_hears_of_it(
    events: Any, server: GoogleServer, diary: Calendars
) -> None:
    event = diary.add_event("Review", at(2, 9), at(2, 10), organizer="anna@example.com", guests=["bob@example.com"])
    shown = events.get(calendarId="primary", eventId=event["id"]).execute()
    assert shown["organizer"] == {"email": "anna@example.com"}
    mine = next(guest for guest in shown["attendees"] if guest.get("self"))
    assert mine == {"email": "ada@example.org", "responseStatus": "needsAction", "self": True}
    guests = [guest | ({"responseStatus": "accepted"} if guest.get("self") else {}) for guest in shown["attendees"]]
    answer = events.patch(calendarId="primary", eventId=event["id"], body={"attendees": guests}, sendUpdates="all")
    assert next(guest for guest in answer.execute()["attendees"] if guest.get("self"))["responseStatus"] == "accepted"
    assert server.notices == [Notice(event["id"], "patch", ("anna@example.com",), "all")]


def test_what_belongs_to_the_organiser_a_guest_does_not_change(events: Any, diary: Calendars) -> None:
    event = diary.add_event("Review", at(2, 9), at(2, 10), organizer="anna@example.com")
    for body in ({"summary": "Party"}, NOON, {"attendees": [{"email": "ada@example.org"}]}):
        request = events.patch(calendarId="primary", eventId=event["id"], body=body)
        assert refused(request) == (403, "forbiddenForNonOrganizer")
    events.patch(calendarId="primary", eventId=event["id"], body={"transparency": "transparent"}).execute()


def test_a_guest_may_send_back_the_whole_event_as_it_was_shown_with_the_answer_in_it(
    events: Any, diary: Calendars
) -> None:
    rules = ["RRULE:FREQ=DAILY;COUNT=3"]
    event = diary.add_event(
        "Call", at(2, 10, zone=NEW_YORK), at(2, 11, zone=NEW_YORK), organizer="anna@example.com", recurrence=rules
    )
    second = f"{event['id']}_20260303T150000Z"
    shown = events.get(calendarId="primary", eventId=second).execute()
    for guest in shown["attendees"]:
        guest["responseStatus"] = "declined" if guest.get("self") else guest["responseStatus"]
    assert events.update(calendarId="primary", eventId=second, body=shown).execute()["sequence"] == 0
    answers = [
        guest["responseStatus"]
        for found in listed(events, at(1, 0), at(9, 0))
        for guest in found["attendees"]
        if guest.get("self")
    ]
    assert answers == ["needsAction", "declined", "needsAction"]


# -- who is busy -------------------------------------------------------------------------------------------------------


def test_who_is_busy_when(calendar: Any, diary: Calendars) -> None:
    diary.add("anna@example.com", "Anna", role="freeBusyReader", listed=False)
    diary.add_event("Away", at(29, 23), at(30, 2), calendar="anna@example.com")
    diary.add_event("Stand-up", at(28, 9), at(28, 10), recurrence=["RRULE:FREQ=DAILY;COUNT=3"])
    diary.add_event("Overlap", at(28, 9, 30), at(28, 11))
    diary.add_event("Free", at(28, 14), at(28, 15), transparency="transparent")
    declined = [{"email": "ada@example.org", "responseStatus": "declined"}]
    diary.add_event("Declined", at(28, 16), at(28, 17), organizer="bob@example.com", guests=declined)
    body = {
        "timeMin": at(28, 0).isoformat(),
        "timeMax": at(30, 0).isoformat(),
        "timeZone": "Europe/Berlin",
        "items": [{"id": "primary"}, {"id": "anna@example.com"}, {"id": "nobody@example.com"}],
    }
    answer = calendar.freebusy().query(body=body).execute()["calendars"]
    assert answer["primary"]["busy"] == [
        {"start": "2026-03-28T09:00:00+01:00", "end": "2026-03-28T11:00:00+01:00"},
        {"start": "2026-03-29T09:00:00+02:00", "end": "2026-03-29T10:00:00+02:00"},
    ]
    assert answer["anna@example.com"]["busy"] == [
        {"start": "2026-03-29T23:00:00+02:00", "end": "2026-03-30T00:00:00+02:00"}
    ]
    assert answer["nobody@example.com"] == {"errors": [{"domain": "global", "reason": "notFound"}], "busy": []}
    query = calendar.freebusy().query
    assert refused(query(body={**body, "timeMax": at(1, 0, month=9).isoformat()})) == (400, "timeRangeTooLong")
    assert refused(query(body={**body, "timeMax": at(27, 0).isoformat()})) == (400, "timeRangeEmpty")
    assert refused(query(body={"items": []})) == (400, "required")
    assert refused(query(body={**body, "timeZone": "Mars/North"})) == (400, "invalidParameter")
