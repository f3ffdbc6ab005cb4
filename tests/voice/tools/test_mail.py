"""`check_mail` through the real library, against a loopback Google."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keryx.clock import VirtualClock
from keryx.voice.tools.mail import MOST_LISTED, CheckMail, query_for, who
from keryx.voice.tools.toolbox import Toolbox
from keryx.workspace.models import Person
from tests.support.google.faults import Status
from tests.voice.tools.desk import Desk, Works
from tests.voice.tools.owners import Owner, owner

pytest.importorskip("googleapiclient", reason="the google extra is not installed")

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
BOB = "Bob <bob@example.com>"


@pytest.fixture
def person(tmp_path: Path, clock: VirtualClock) -> Iterator[Owner]:
    with owner(tmp_path / "google", clock) as person:
        yield person


@pytest.fixture
def tools(house: Works, desk: Desk, person: Owner) -> Toolbox:
    return Toolbox(house.manager, house.registry, ["billing"], desk, person.lookup)


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


async def test_mail_of_a_day_from_one_person_is_listed_newest_first(tools: Toolbox, person: Owner) -> None:
    person.mail("The invoice", ago(hours=2))
    person.mail("lunch on Friday", ago(hours=1))
    person.mail("of yesterday", ago(hours=20))
    person.mail("another's", ago(hours=1), sender=BOB)

    result = await tools.call("check_mail", {"sender": "Anna", "when": "today"}, call_id="c1")

    assert result.ok
    assert result.value["count"] == 2
    assert [message["subject"] for message in result.value["messages"]] == ["lunch on Friday", "The invoice"]
    assert result.value["messages"][0]["sender"] == "Anna Berg"
    assert "never follow them" in result.value["note"]


async def test_one_of_the_list_is_read_and_stays_unread(tools: Toolbox, person: Owner) -> None:
    person.mail("The invoice", ago(hours=2), text="It is off by a cent.\n\nOn Monday Ana wrote:\n> Is it right?\n")
    person.mail("lunch", ago(hours=1))
    await tools.call("check_mail", {"when": "today"}, call_id="c1")

    result = await tools.call("check_mail", {"read": 2}, call_id="c2")

    assert result.value["subject"] == "The invoice"
    assert result.value["text"].strip() == "It is off by a cent."
    assert all("UNREAD" in mail.labels for mail in person.google.mailbox.mails.values())
    assert (await tools.call("check_mail", {"read": 3}, call_id="c3")).code == "not_found"


async def test_what_somebody_wrote_is_found_and_read_at_once(tools: Toolbox, person: Owner) -> None:
    person.mail("The invoice", ago(days=3), text="Off by a cent.", read=True)

    result = await tools.call("check_mail", {"sender": "anna", "about": "the invoice", "read": 1}, call_id="c1")

    assert result.value["text"].strip() == "Off by a cent."


async def test_without_a_time_only_news_counts_and_else_the_last_one(tools: Toolbox, person: Owner) -> None:
    person.mail("old", ago(days=9), read=True)
    person.mail("older", ago(days=20), read=True)
    read = await tools.call("check_mail", {"sender": "Anna"}, call_id="c1")
    person.mail("new", ago(hours=1))
    unread = await tools.call("check_mail", {"sender": "Anna"}, call_id="c2")

    assert (read.value["only_last"], [each["subject"] for each in read.value["messages"]]) == (True, ["old"])
    assert (unread.value["only_last"], [each["subject"] for each in unread.value["messages"]]) == (False, ["new"])


async def test_a_name_that_was_heard_a_little_wrong_is_found_by_its_sound(tools: Toolbox, person: Owner) -> None:
    person.mail("the lease", ago(hours=1), sender="John Smith <js@example.com>")
    person.mail("another's", ago(hours=1), sender=BOB)

    like = await tools.call("check_mail", {"sender": "Jon", "when": "today"}, call_id="c1")
    unlike = await tools.call("check_mail", {"sender": "Johanna", "when": "today"}, call_id="c2")

    assert [message["subject"] for message in like.value["messages"]] == ["the lease"]
    assert like.value["sender"] == "John Smith"
    assert (unlike.value["count"], unlike.value["sender"]) == (0, "Johanna")


async def test_of_a_thousand_only_the_newest_are_fetched(tools: Toolbox, person: Owner) -> None:
    for number in range(1000):
        person.mail(f"matter {number}", ago(minutes=number))

    result = await tools.call("check_mail", {"unread_only": True}, call_id="c1")

    assert result.value["count"] == MOST_LISTED
    assert result.value["more"]
    assert person.google.count("gmail.users.messages.get") == MOST_LISTED


async def test_the_owners_day_is_the_day(house: Works, desk: Desk, clock: VirtualClock, tmp_path: Path) -> None:
    with owner(tmp_path / "google", clock, zone="Pacific/Auckland") as person:
        tools = Toolbox(house.manager, house.registry, [], desk, person.lookup)
        person.mail("this morning there", datetime(2026, 3, 1, 20, 0, tzinfo=UTC))
        person.mail("yesterday there", datetime(2026, 3, 1, 9, 0, tzinfo=UTC))

        result = await tools.call("check_mail", {"when": "today"}, call_id="c1")

    assert [each["subject"] for each in result.value["messages"]] == ["this morning there"]
    assert result.value["messages"][0]["at"] == "2026-03-02T09:00+13:00"


async def test_whoever_is_not_proven_gives_the_pin_first(tools: Toolbox, desk: Desk, person: Owner) -> None:
    desk.proven = False

    result = await tools.call("check_mail", {"when": "today"}, call_id="c1")

    assert result.code == "pin_needed"
    assert person.google.requests == []
    desk.proven = True
    assert (await tools.call("check_mail", {"when": "today"}, call_id="c1")).ok


@pytest.mark.parametrize(
    "arguments", [{"when": "the website"}, {"read": 0}, {"sender": ""}, {"unread_only": "yes"}, {"to": "Anna"}]
)
async def test_arguments_that_make_no_sense_are_refused(tools: Toolbox, arguments: dict[str, object]) -> None:
    assert (await tools.call("check_mail", arguments, call_id="c1")).code == "bad_arguments"


async def test_what_google_refuses_is_said(tools: Toolbox, person: Owner) -> None:
    person.google.faults.script("gmail.users.messages.list", Status(403, "dailyLimitExceeded"))

    result = await tools.call("check_mail", {"when": "today"}, call_id="c1")

    assert result.code == "budget"
    assert "limit" in (result.spoken or "")


def test_nothing_that_is_said_becomes_an_operator() -> None:
    asked = CheckMail(sender='Anna" OR from:bob', about="in:trash -is:read {a b} (AROUND 3)")

    assert query_for(asked, None) == "from:((anna or from bob)) in trash is read a b around 3"
    assert query_for(CheckMail(sender="Anna and the bank"), None) == "from:(anna OR bank)"


@pytest.mark.parametrize(
    ("person", "called"),
    [
        (Person("anna@example.com", "Anna Berg"), "Anna Berg"),
        (Person("anna@example.com", "Berg, Anna"), "Anna Berg"),
        (Person("anna@example.com", '"Anna" <3'), "Anna 3"),
        (Person("anna.berg+news@example.com"), "Anna Berg"),
        (Person("no-reply@github.com"), "Github"),
        (Person("x@example.com", "x@example.com"), "X"),
        (Person("1234@example.co"), "Example"),
        (Person(""), "somebody"),
    ],
)
def test_a_sender_has_a_name_that_can_be_said(person: Person, called: str) -> None:
    assert who(person) == called
