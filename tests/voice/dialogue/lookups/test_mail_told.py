"""How mail is told: the count first, then who and what, the rest offered; one message with whose words they are."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from keryx.voice.dialogue.lines import Line
from keryx.voice.dialogue.lookups.mail_told import MailTold, moment_said
from keryx.voice.dialogue.replies import Phrases

ZONE = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 4, 14, 20, tzinfo=ZONE)


def message(
    subject: str, at: str = "09:10", sender: str = "Anna", *, day: int = 4, unread: bool = True
) -> dict[str, Any]:
    return {"sender": sender, "subject": subject, "at": f"2026-03-{day:02d}T{at}+01:00", "unread": unread}


def found(
    *messages: dict[str, Any], when: str | None = None, more: bool = False, only_last: bool = False
) -> dict[str, Any]:
    return {"count": len(messages), "more": more, "only_last": only_last, "when": when, "messages": list(messages)}


def told(asked: dict[str, Any], answer: dict[str, Any]) -> list[Line]:
    return MailTold(Phrases()).lines(asked, {"sender": asked.get("sender")} | answer, NOW)


def said(asked: dict[str, Any], answer: dict[str, Any]) -> str:
    return " ".join(line.text for line in told(asked, answer))


def test_two_from_one_person() -> None:
    answer = found(message("Re: The invoice"), message("lunch on Friday", "12:00"), when="today")

    assert said({"sender": "Anna", "when": "today"}, answer) == (
        "Two from Anna today. The invoice, at nine ten, and lunch on Friday, at noon."
    )


def test_one_of_many_people() -> None:
    assert (
        said({"when": "today"}, found(message("The invoice"), when="today"))
        == "One mail today: Anna about The invoice."
    )


def test_nothing_is_said_as_that() -> None:
    assert said({"sender": "anna", "when": "today"}, found(when="today")) == "Nothing from Anna today."
    assert said({"sender": "the bank", "about": "the loan"}, found()) == "Nothing from the bank about the loan."
    assert said({"unread_only": True}, found()) == "No new mail."


def test_without_news_the_last_one_is_named() -> None:
    answer = found(message("The invoice", day=2, unread=False), only_last=True)

    assert said({"sender": "Anna"}, answer) == "Nothing new from Anna. The last one was The invoice, on Monday."


def test_of_many_the_newest_three_are_told_and_the_others_offered_in_turn() -> None:
    answer = found(*(message(f"matter {number}", sender=f"Bob {number}") for number in "ABCDEFG"), more=True)

    lines = told({"unread_only": True}, answer)

    assert lines[0].text.startswith("More than seven unread mails. The newest: Bob A about matter A; ")
    assert "matter D" not in lines[0].text
    question = lines[-1].asks
    assert question is not None
    assert question.pending == "more"
    assert "matter F" in question.more[0].text
    last = question.more[-1].asks
    assert last is not None
    assert [line.text for line in last.more] == ["Then Bob G about matter G."]


def test_a_message_without_a_subject_still_says_from_whom() -> None:
    assert said({}, found(message("Re: "))) == "One mail: Anna, without a subject."


def test_a_message_is_read_as_its_senders_words() -> None:
    answer = message("Re: lunch", "12:00") | {
        "text": "Can we move it?\n\nBest,\nAnna",
        "cut": False,
        "attachments": ["a.pdf"],
    }

    assert said({"read": 1}, answer) == (
        "Anna wrote at noon about lunch. Anna says: Can we move it? One file came with it."
    )


def test_a_long_message_is_offered_in_parts() -> None:
    text = " ".join(f"This is the sentence number {number} of a long mail." for number in range(8))
    lines = told({"read": 1}, message("news") | {"text": text, "cut": True, "attachments": []})

    assert "number 2" in lines[0].text
    assert "number 3" not in lines[0].text
    question = lines[1].asks
    assert question is not None
    assert "number 3" in question.more[0].text
    assert question.more[-1].text.startswith("It goes on")


def test_a_message_without_text_says_so() -> None:
    answer = message("photos") | {"text": "", "cut": False, "attachments": ["a.jpg", "b.jpg"]}

    assert (
        said({"read": 1}, answer)
        == "Anna wrote at nine ten about photos. There's no text in it. Two files came with it."
    )


def test_when_it_came_is_said_by_the_owners_clock() -> None:
    assert moment_said("2026-03-04T08:10+00:00", NOW) == "at nine ten"
    assert moment_said("2026-03-03T23:30+00:00", NOW) == "at half past twelve at night"
    assert moment_said("2026-03-03T11:00+00:00", NOW) == "yesterday at noon"
    assert moment_said("2026-02-20T11:00+00:00", NOW) == "on Friday the 20th of February"
