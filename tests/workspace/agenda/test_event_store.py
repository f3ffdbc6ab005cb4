"""What is written to the calendar is written once, also when answers are lost one after another."""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from keryx.errors import KeryxError, NotFound, Refused
from keryx.workspace.agenda.appointments import Appointments, NewEvent
from keryx.workspace.agenda.event_store import EventStore, holds
from keryx.workspace.asking.faults import Changed, Gone, MaybeDone
from keryx.workspace.models import Person, When
from tests.support.google import Cut, Garbage, GoogleServer, HangUp, Status, served_google
from tests.support.google_account import Waits, asking

pytest.importorskip("googleapiclient", reason="the google extra is not installed")

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
GET, INSERT, PATCH, DELETE = (f"calendar.events.{name}" for name in ("get", "insert", "patch", "delete"))
ANNA = Person("anna@example.org", "Anna Berg")
DEAD = (HangUp(),) * 20
"""So often that nobody gets through."""


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN)


DENTIST = NewEvent("Dentist", When(at("2026-03-03T15:00"), at("2026-03-03T16:00")))


@pytest.fixture
def waits() -> Waits:
    return Waits(NOW)


@pytest.fixture
def server(waits: Waits) -> Iterator[GoogleServer]:
    with served_google(clock=waits, zone="Europe/Berlin") as server:
        yield server


@pytest.fixture
def store(server: GoogleServer, waits: Waits, tmp_path: Path) -> EventStore:
    return EventStore(asking(server, waits, tmp_path))


@pytest.fixture
def appointments(server: GoogleServer, waits: Waits, tmp_path: Path) -> Appointments:
    return Appointments(asking(server, waits, tmp_path), BERLIN)


@pytest.fixture
def review(server: GoogleServer) -> dict[str, Any]:
    return server.calendars.add_event(
        "Review", at("2026-03-03T10:00"), at("2026-03-03T11:00"), guests=["bo@example.org"]
    )


def meanwhile(server: GoogleServer, method: str, number: int, do: Callable[[Any], object]) -> None:
    """Just before Google carries out `method` for the `number`th time, something else happens."""
    real, count = server.methods[method], itertools.count(1)

    def raced(asked: Any) -> Any:
        if next(count) == number:
            do(asked)
        return real(asked)

    server.methods[method] = raced


def live(server: GoogleServer) -> list[dict[str, Any]]:
    return [event for event in server.calendars["primary"].events.values() if event["status"] != "cancelled"]


# -- nothing twice -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [HangUp(after=True), Status(503, after=True), Cut(), HangUp(), Garbage()])
@pytest.mark.parametrize("second", [None, HangUp(after=True), Status(500), Garbage(status=502)])
def test_one_more_is_one_more_whatever_is_lost(
    server: GoogleServer, appointments: Appointments, first: Any, second: Any
) -> None:
    appointments.create(DENTIST, "primary")
    server.faults.script(INSERT, first, second)
    with contextlib.suppress(MaybeDone):
        assert not appointments.create(DENTIST, "primary", again=True).already
        assert len(live(server)) == 2
    assert len(live(server)) <= 2


def test_one_more_that_never_arrived_is_not_taken_for_the_one_before(
    server: GoogleServer, appointments: Appointments
) -> None:
    first = appointments.create(DENTIST, "primary").event
    server.faults.script(INSERT, HangUp())
    assert appointments.create(DENTIST, "primary", again=True).event.id != first.id
    assert len(live(server)) == 2


def test_an_event_that_was_moved_or_renamed_since_is_another_one(
    server: GoogleServer, appointments: Appointments
) -> None:
    first = appointments.create(DENTIST, "primary").event
    appointments.move(first.id, "primary", at("2026-03-05T15:00"))
    second = appointments.create(DENTIST, "primary")
    assert not second.already
    appointments.change(second.event.id, "primary", title="Hygienist")
    assert not appointments.create(DENTIST, "primary").already
    assert len(live(server)) == 3
    assert appointments.create(DENTIST, "primary").already


def test_somebody_who_makes_and_deletes_the_same_event_all_day_is_stopped(
    server: GoogleServer, appointments: Appointments
) -> None:
    for _ in range(20):
        appointments.delete(appointments.create(DENTIST, "primary").event.id, "primary")
    with pytest.raises(Refused, match="too often today"):
        appointments.create(DENTIST, "primary")


def test_a_change_that_is_so_already_is_not_told_again(
    server: GoogleServer, appointments: Appointments, review: dict[str, Any]
) -> None:
    for _ in range(2):
        appointments.move(review["id"], "primary", at("2026-03-04T10:00"))
        appointments.change(review["id"], "primary", title="Big review", where="")
    assert len(server.notices) == 2
    assert server.count(PATCH) == 2


def test_an_answer_that_was_given_is_not_given_again(server: GoogleServer, appointments: Appointments) -> None:
    event = server.calendars.add_event(
        "Review", at("2026-03-03T10:00"), at("2026-03-03T11:00"), organizer="bo@example.org"
    )
    for _ in range(2):
        appointments.answer(event["id"], "primary", "accepted")
    assert len(server.notices) == 1
    appointments.answer(event["id"], "primary", "accepted", comment="Gladly")
    appointments.answer(event["id"], "primary", "accepted", comment="Gladly")
    assert len(server.notices) == 2


# -- what cannot be found out ------------------------------------------------------------------------------------------

CHANGES: dict[str, tuple[str, Callable[[Appointments, str], object]]] = {
    "make the event": (INSERT, lambda appointments, _: appointments.create(DENTIST, "primary")),
    "move the event": (PATCH, lambda appointments, id: appointments.move(id, "primary", at("2026-03-04T10:00"))),
    "invite the guests": (PATCH, lambda appointments, id: appointments.invite(id, "primary", [ANNA])),
    "delete the event": (DELETE, lambda appointments, id: appointments.delete(id, "primary")),
}


@pytest.mark.parametrize("doing", CHANGES)
@pytest.mark.parametrize("fault", [HangUp(), HangUp(after=True)])
def test_when_it_cannot_be_seen_whether_it_was_done_that_is_what_is_said(
    server: GoogleServer, appointments: Appointments, review: dict[str, Any], doing: str, fault: HangUp
) -> None:
    method, change = CHANGES[doing]
    server.faults.script(method, fault)
    server.faults.script(GET, None, *DEAD)
    with pytest.raises(MaybeDone, match=f"Google may or may not have managed to {doing}: .*look before you try again"):
        change(appointments, review["id"])
    server.faults.clear()
    # Asked for once more, it is done; and it is done once.
    with contextlib.suppress(Gone):
        change(appointments, review["id"])
    assert len(server.notices) == (0 if doing == "make the event" else 1)
    assert len(live(server)) == {"make the event": 2, "delete the event": 0}.get(doing, 1)


def test_a_deletion_does_not_take_away_what_was_changed_meanwhile(
    server: GoogleServer, appointments: Appointments, review: dict[str, Any]
) -> None:
    calendar = server.calendars["primary"]
    theirs = {**review, "summary": "Theirs"}
    meanwhile(server, DELETE, 1, lambda _: server.calendars.replace(calendar, review, theirs))
    with pytest.raises(Changed, match="look again"):
        appointments.delete(review["id"], "primary")
    assert live(server)[0]["summary"] == "Theirs"


# -- faults as sentences -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason", "says"),
    [
        (403, "forbiddenForNonOrganizer", "Google did not change the event: it says"),
        (403, "quotaExceeded", "quota|too much|used up|limit"),
        (404, "notFound", "there is no such thing in your account"),
        (410, "deleted", "it has been deleted"),
        (412, "conditionNotMet", "it was changed in the meantime; look again"),
        (400, "invalid", "Google did not change the event: it says"),
    ],
)
def test_what_google_refuses_is_one_sentence_and_not_tried_again(
    server: GoogleServer, appointments: Appointments, review: dict[str, Any], status: int, reason: str, says: str
) -> None:
    server.faults.script(PATCH, Status(status, reason, f"Because of {reason}."))
    with pytest.raises(KeryxError, match=says) as refused:
        appointments.change(review["id"], "primary", title="Mine")
    assert "\n" not in str(refused.value)
    assert refused.value.spoken.endswith((".", "?"))
    assert server.count(PATCH) == 1


def test_an_event_by_no_id_at_all_is_not_even_asked_for(server: GoogleServer, store: EventStore) -> None:
    for event_id in ("", "a/../b", "x" * 2_000, "a b", "\ud800", "a?b", "ev%2e"):
        with pytest.raises(NotFound, match="use an id that a list of events gave"):
            store.read(event_id, "primary")
    assert server.count(GET) == 0


def test_what_an_event_holds_is_told_from_what_it_does_not() -> None:
    event = {
        "summary": "Review",
        "start": {"dateTime": "2026-03-03T10:00:00+01:00", "timeZone": "Europe/Berlin"},
        "attendees": [{"email": "Bo@example.org", "responseStatus": "accepted"}],
    }
    assert holds(event, {"summary": "Review", "location": ""})
    assert holds(event, {"start": {"date": None, "dateTime": "2026-03-03T09:00:00+00:00"}})
    assert holds(event, {"attendees": [{"email": "bo@example.org"}]})
    for other in (
        {"location": "Here"},
        {"start": {"date": None, "dateTime": "2026-03-03T10:00:00+00:00"}},
        {"start": {"date": None, "dateTime": "2026-03-03T10:00:00+01:00", "timeZone": "Asia/Tokyo"}},
        {"start": {"date": "2026-03-03", "dateTime": None}},
        {"attendees": [{"email": "bo@example.org", "responseStatus": "declined"}]},
        {"attendees": [{"email": "anna@example.org"}]},
        {"recurrence": ["RRULE:FREQ=DAILY"]},
    ):
        assert not holds(event, other)
