"""Which sentences are questions about mail and the calendar, and which are work for an agent although they sound so."""

import dataclasses
from typing import Any

import pytest

from keryx.tasks.models import TaskStatus
from keryx.voice.dialogue.base import DialogueContext, Looked, TaskBrief
from keryx.voice.dialogue.intents import understand

CONTEXT = DialogueContext(projects=["billing", "website", "email-sender"], agents=["claude", "codex"])
LISTED = dataclasses.replace(CONTEXT, looked=Looked("check_mail", {"sender": "Anna", "when": "today"}, listed=3))
ON_TODAY = dataclasses.replace(CONTEXT, looked=Looked("check_calendar", {"when": "today"}))
FREE = dataclasses.replace(CONTEXT, looked=Looked("check_calendar", {"when": "tomorrow", "free_minutes": 60}))

MAIL: list[tuple[str, dict[str, Any]]] = [
    ("any mail from Anna today?", {"sender": "Anna", "when": "today"}),
    ("Keryx, is there any mail from Anna?", {"sender": "Anna"}),
    ("have I got mail?", {"unread_only": True}),
    ("do I have any new email today", {"when": "today"}),
    ("did I get any emails from Bob Miller this morning", {"sender": "Bob Miller", "when": "this morning"}),
    ("check my email, please", {"unread_only": True}),
    ("can you check my e-mail", {"unread_only": True}),
    ("could you check if I have any new messages", {"unread_only": True}),
    (
        "any e mail from the bank about the loan since Monday",
        {"sender": "the bank", "about": "the loan", "when": "since monday"},
    ),
    ("any mails today from Anna about the invoice", {"sender": "Anna", "about": "the invoice", "when": "today"}),
    ("any new emails in the last hour?", {"when": "in the last hour"}),
    ("any mail about the invoice", {"about": "the invoice"}),
    ("how many unread emails do I have", {"unread_only": True}),
    ("has Anna replied yet?", {"sender": "Anna"}),
    ("did Anna write back", {"sender": "Anna"}),
    ("did Bob send me anything yesterday", {"sender": "Bob", "when": "yesterday"}),
    ("has anyone written", {"unread_only": True}),
    ("what did Anna write", {"sender": "Anna", "read": 1}),
    ("what did Anna write about the invoice", {"sender": "Anna", "about": "the invoice", "read": 1}),
    ("what did Anna say", {"sender": "Anna", "read": 1}),
    ("anything from Anna?", {"sender": "Anna"}),
    ("read me my latest mail", {"read": 1}),
    ("read Anna's mail", {"sender": "Anna", "read": 1}),
    ("read me Chris's last email", {"sender": "Chris", "read": 1}),
    ("what does the mail from Anna say", {"sender": "Anna", "read": 1}),
    ("what's in my inbox", {"unread_only": True}),
    ("what emails came in this morning", {"when": "this morning"}),
    ("any male from Anna", {"sender": "Anna"}),
    ("um, any mail from, uh, Anna today?", {"sender": "Anna", "when": "today"}),
    ("I want to know if there is any mail from Anna", {"sender": "Anna"}),
]
CALENDAR: list[tuple[str, dict[str, Any]]] = [
    ("what's on this afternoon?", {"when": "this afternoon"}),
    ("what do I have on Friday", {"when": "friday"}),
    ("what have I got on tomorrow morning", {"when": "tomorrow morning"}),
    ("what's in my calendar today", {"when": "today"}),
    ("what's in the diary for next week", {"when": "next week"}),
    ("what's on my agenda", {}),
    ("what's my schedule for tomorrow", {"when": "tomorrow"}),
    ("check my calendar", {}),
    ("how's my day looking", {"when": "today"}),
    ("what does tomorrow look like", {"when": "tomorrow"}),
    ("what's on at four", {"when": "at four"}),
    ("what's on next Tuesday", {"when": "next tuesday"}),
    ("do I have anything on tomorrow", {"when": "tomorrow"}),
    ("is there anything on friday", {"when": "friday"}),
    ("um, is there anything on tomorrow", {"when": "tomorrow"}),
    ("am I busy tomorrow", {"when": "tomorrow"}),
    ("any meetings tomorrow?", {"when": "tomorrow"}),
    ("what meetings do I have on the 14th", {"when": "the 14th"}),
    ("what's my next appointment", {"next_only": True}),
    ("when's my next meeting with Anna", {"with_whom": "Anna", "next_only": True}),
    ("when am I meeting Anna", {"with_whom": "Anna", "next_only": True}),
    ("what time is the dentist", {"about": "dentist", "next_only": True}),
    ("when is my haircut", {"about": "haircut", "next_only": True}),
    ("am I free at three", {"when": "at three", "free_minutes": 30}),
    ("am I free on Friday for an hour", {"when": "on friday", "free_minutes": 60}),
    ("when am I free tomorrow for an hour?", {"when": "tomorrow", "free_minutes": 60}),
    ("when am I free next week", {"when": "next week", "free_minutes": 30}),
    ("do I have half an hour tomorrow afternoon", {"when": "tomorrow afternoon", "free_minutes": 30}),
    ("is tomorrow afternoon free", {"when": "tomorrow afternoon", "free_minutes": 30}),
    ("find me a free hour tomorrow", {"when": "tomorrow", "free_minutes": 60}),
    ("am I free in an hour", {"when": "in an hour", "free_minutes": 30}),
]
WORK = [
    "fix the mail sender",
    "add a calendar to the website",
    "write a mail parser",
    "what's on the website this afternoon",
    "send Anna a mail",
    "mail Anna the report",
    "reply to Anna",
    "move my four o'clock to tomorrow",
    "book a meeting with Anna tomorrow",
    "cancel my meeting with Anna",
    "any mail that bounces should be retried",
    "check the mail parser in billing",
    "check the emails",
    "check my mail parser",
    "read the error message",
    "did I get mail validation right",
    "any messages in the queue",
    "what does the mail template say",
    "make the mail from the shop nicer",
    "fix the calendar view",
    "is there a bug in the calendar",
    "what's in the calendar module",
    "any calls to the API without a timeout",
    "are there any events in the log",
    "find a free port for the server",
    "is the free tier still available",
    "what time does the backup start",
    "when is the release",
    "what do I have to do to deploy",
    "has the server responded",
    "what did the tests say",
]


@pytest.mark.parametrize(("text", "arguments"), MAIL, ids=lambda value: str(value)[:50])
def test_a_question_about_mail(text: str, arguments: dict[str, Any]) -> None:
    understood = understand(text, CONTEXT)

    assert (understood.tool, understood.arguments) == ("check_mail", arguments)


@pytest.mark.parametrize(("text", "arguments"), CALENDAR, ids=lambda value: str(value)[:50])
def test_a_question_about_the_calendar(text: str, arguments: dict[str, Any]) -> None:
    understood = understand(text, CONTEXT)

    assert (understood.tool, understood.arguments) == ("check_calendar", arguments)


@pytest.mark.parametrize("text", WORK)
def test_what_only_speaks_of_mail_or_a_calendar_is_work(text: str) -> None:
    assert understand(text, CONTEXT).tool == "dispatch_task"


@pytest.mark.parametrize(
    "text",
    ["has Claude replied", "what did Codex say", "any mail from Claude", "has billing answered", "any messages?"],
)
def test_nobody_is_a_sender_who_works_here(text: str) -> None:
    assert understand(text, dataclasses.replace(CONTEXT, pending="answer 4")).arguments.get("sender") is None


def test_a_task_by_that_name_is_asked_first() -> None:
    task = TaskBrief(3, TaskStatus.DONE, None, "the dentist's website for Anna")
    context = dataclasses.replace(CONTEXT, tasks=[task])

    assert understand("what did Anna say", context).tool == "get_task_result"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("read it", {"read": 1}),
        ("read me the second one", {"read": 2}),
        ("the third", {"read": 3}),
        ("read the last one, please", {"read": 3}),
        ("what does the second one say", {"read": 2}),
        ("what does it say", {"read": 1}),
        ("what did she write", {"read": 1}),
        ("read number two", {"read": 2}),
        ("read the one from Bob", {"sender": "Bob", "read": 1}),
        ("read Bob's", {"sender": "Bob", "read": 1}),
        ("and yesterday?", {"sender": "Anna", "when": "yesterday"}),
        ("and from Bob?", {"sender": "Bob", "when": "today"}),
    ],
)
def test_what_was_listed_can_be_read(text: str, arguments: dict[str, Any]) -> None:
    understood = understand(text, LISTED)

    assert (understood.tool, understood.arguments) == ("check_mail", arguments)


@pytest.mark.parametrize(
    ("context", "text", "arguments"),
    [
        (ON_TODAY, "and tomorrow?", {"when": "tomorrow"}),
        (ON_TODAY, "what about Friday afternoon", {"when": "friday afternoon"}),
        (FREE, "how about Friday", {"when": "friday", "free_minutes": 60}),
        (FREE, "and for half an hour?", {"when": "tomorrow", "free_minutes": 30}),
    ],
)
def test_another_day_is_asked_after_in_two_words(
    context: DialogueContext, text: str, arguments: dict[str, Any]
) -> None:
    understood = understand(text, context)

    assert (understood.tool, understood.arguments) == ("check_calendar", arguments)


@pytest.mark.parametrize("text", ["read it", "the second one", "and tomorrow?"])
def test_without_a_list_there_is_nothing_to_read(text: str) -> None:
    assert understand(text, CONTEXT).tool not in ("check_mail", "check_calendar")


@pytest.mark.parametrize("text", ["the others", "yes, read me the rest", "tell me the others", "all of them"])
def test_the_others_are_a_yes_when_they_were_offered(text: str) -> None:
    assert understand(text, dataclasses.replace(LISTED, pending="more")).intent == "confirm"


def test_while_the_others_are_offered_one_can_be_read_instead() -> None:
    asked = understand("read the first one", dataclasses.replace(LISTED, pending="more"))

    assert (asked.tool, asked.arguments) == ("check_mail", {"read": 1})


def test_say_that_again_stays_what_it_is() -> None:
    assert understand("say that again", LISTED).intent == "repeat"
    assert understand("read that again", LISTED).intent == "repeat"


@pytest.mark.parametrize(
    ("text", "before", "when"),
    [
        ("and after lunch?", "tomorrow", "tomorrow after lunch"),
        ("and in the morning?", "on friday", "on friday in the morning"),
        ("and at three?", "tomorrow morning", "tomorrow at three"),
        ("and on Friday?", "tomorrow afternoon", "friday"),
        ("and tomorrow?", "today", "tomorrow"),
    ],
)
def test_a_part_of_the_day_is_one_of_the_day_that_was_asked_about(text: str, before: str, when: str) -> None:
    looked = Looked("check_calendar", {"when": before, "free_minutes": 60})
    understood = understand(text, dataclasses.replace(CONTEXT, looked=looked))
    assert understood.arguments == {"when": when, "free_minutes": 60}


@pytest.mark.parametrize(
    ("text", "comes_to"),
    [
        ("any mail from Horatio?", "check_mail"),
        ("when is the dentist appointment?", "check_calendar"),
        ("cancel my four o'clock", "dispatch_task"),
        ("yes please", "confirm"),
        ("what else", "confirm"),
        ("no thanks", "deny"),
        ("later", "deny"),
    ],
)
def test_in_place_of_an_answer_to_an_offer_anything_may_be_asked(text: str, comes_to: str) -> None:
    understood = understand(text, dataclasses.replace(CONTEXT, pending="more", question="Want the others?"))
    assert (understood.tool or understood.intent) == comes_to
