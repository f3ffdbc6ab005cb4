"""An answer of Google's that was lost: what was asked for is done once, or it is said that nobody can tell."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from keryx.errors import NotFound
from keryx.workspace.agenda.appointments import Appointments, NewEvent
from keryx.workspace.asking.faults import Changed, MaybeDone
from keryx.workspace.calendar import Calendars
from keryx.workspace.models import Person, When
from tests.support.google import Cut, Garbage, GoogleServer, HangUp, Status, served_google
from tests.support.google_account import Waits, asking

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
GET, INSERT, PATCH, DELETE = (f"calendar.events.{name}" for name in ("get", "insert", "patch", "delete"))
DOWN = [Status(503)] * 12
"""For longer than anybody asks."""


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


DENTIST = NewEvent("Dentist", When(at("2026-03-03T15:00"), at("2026-03-03T16:00")))


@pytest.fixture
def server() -> Iterator[GoogleServer]:
    with served_google(clock=Waits(NOW), zone="Europe/Berlin") as server:
        yield server


@pytest.fixture
def appointments(server: GoogleServer, tmp_path: Path) -> Appointments:
    return Calendars(asking(server, Waits(NOW), tmp_path), zone="Europe/Berlin").appointments


@pytest.fixture
def review(server: GoogleServer) -> str:
    """The id of an event with a guest."""
    start, end = at("2026-03-03T10:00"), at("2026-03-03T11:00")
    return server.calendars.add_event("Review", start, end, guests=["bo@example.org"])["id"]


def live(server: GoogleServer) -> list[dict[str, Any]]:
    return [event for event in server.calendars["primary"].events.values() if event["status"] != "cancelled"]


def late(server: GoogleServer, method: str) -> None:
    """The first try breaks off; what it asked for is done all the same, a moment before the second try comes."""
    do = server.methods[method]

    def twice(asked: Any) -> Any:
        server.methods[method] = do
        do(asked)
        return do(asked)

    server.methods[method] = twice
    server.faults.script(method, HangUp())


CHANGES: list[Callable[[Appointments, str], object]] = [
    lambda appointments, review: appointments.change(review, "primary", title="Big review"),
    lambda appointments, review: appointments.move(review, "primary", at("2026-03-04T10:00")),
    lambda appointments, review: appointments.invite(review, "primary", [Person("anna@example.org")]),
]


@pytest.mark.parametrize("fault", [HangUp(after=True), HangUp(), Cut(), Status(500, after=True), Garbage()])
def test_when_it_cannot_be_found_out_what_became_of_it_that_is_said(
    server: GoogleServer, appointments: Appointments, review: str, fault: Any
) -> None:
    for change in CHANGES:
        server.faults.script(PATCH, fault)
        server.faults.script(GET, None, *DOWN)
        with pytest.raises(MaybeDone, match="may or may not have managed to .*; look before you try again"):
            change(appointments, review)
        server.faults.clear()
    server.faults.script(INSERT, fault)
    server.faults.script(GET, None, *DOWN)
    with pytest.raises(MaybeDone, match="managed to make the event"):
        appointments.create(DENTIST, "primary")
    server.faults.clear()
    server.faults.script(DELETE, HangUp() if fault == Cut() else fault)  # of a deletion there is no answer to cut
    server.faults.script(GET, None, *DOWN)
    with pytest.raises(MaybeDone, match="managed to delete the event"):
        appointments.delete(review, "primary")


def test_an_event_whose_first_try_came_late_is_there_once(server: GoogleServer, appointments: Appointments) -> None:
    late(server, INSERT)
    assert not appointments.create(DENTIST, "primary").already
    assert [event["summary"] for event in live(server)] == ["Dentist"]


def test_one_more_whose_first_try_came_late_is_one_more_and_no_two(
    server: GoogleServer, appointments: Appointments
) -> None:
    appointments.create(DENTIST, "primary")
    late(server, INSERT)
    assert not appointments.create(DENTIST, "primary", again=True).already
    assert len(live(server)) == 2


def test_an_event_that_was_deleted_is_made_anew_after_a_lost_answer(
    server: GoogleServer, appointments: Appointments
) -> None:
    appointments.delete(appointments.create(DENTIST, "primary").event.id, "primary")
    server.faults.script(INSERT, HangUp())
    assert not appointments.create(DENTIST, "primary").already
    assert len(live(server)) == 1


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_whose_first_try_came_late_is_told_to_the_guests_once(
    server: GoogleServer, appointments: Appointments, review: str, change: Callable[[Appointments, str], object]
) -> None:
    late(server, PATCH)
    change(appointments, review)
    assert len(server.notices) == 1


def test_a_change_that_came_late_and_cannot_be_looked_at_is_said_to_be_unclear(
    server: GoogleServer, appointments: Appointments, review: str
) -> None:
    late(server, PATCH)
    server.faults.script(GET, None, None, *DOWN)
    with pytest.raises(MaybeDone, match="look before you try again"):
        appointments.change(review, "primary", title="Big review")


def test_a_deletion_whose_first_try_came_late_is_one(
    server: GoogleServer, appointments: Appointments, review: str
) -> None:
    late(server, DELETE)
    assert appointments.delete(review, "primary").title == "Review"
    assert live(server) == []
    assert len(server.notices) == 1


def test_a_change_that_was_lost_is_not_made_over_what_somebody_else_did_meanwhile(
    server: GoogleServer, appointments: Appointments, review: str
) -> None:
    diary = server.calendars["primary"]
    get = server.methods[GET]

    def then_theirs(asked: Any) -> Any:
        server.methods[GET] = looked_up
        return get(asked)

    def looked_up(asked: Any) -> Any:
        found = diary.events[review]
        server.calendars.replace(diary, found, {**found, "summary": "Theirs"})
        return get(asked)

    server.methods[GET] = then_theirs
    server.faults.script(PATCH, HangUp())
    with pytest.raises(Changed, match="look at it again"):
        appointments.change(review, "primary", title="Mine")
    assert [event["summary"] for event in live(server)] == ["Theirs"]


def test_an_event_that_was_deleted_while_an_answer_was_lost_is_said_to_be_gone(
    server: GoogleServer, appointments: Appointments, review: str
) -> None:
    diary = server.calendars["primary"]
    get = server.methods[GET]

    def then_deleted(asked: Any) -> Any:
        found = get(asked)
        server.calendars.cancel(diary, diary.events[review])
        server.methods[GET] = get
        return found

    server.methods[GET] = then_deleted
    server.faults.script(PATCH, HangUp())
    with pytest.raises(NotFound, match="has been deleted"):
        appointments.change(review, "primary", title="Mine")
