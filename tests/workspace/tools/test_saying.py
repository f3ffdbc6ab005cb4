"""What an owner hears before they allow a tool: one breath, and nothing of weight out of earshot."""

import math
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from keryx.workspace.tools.saying import MOST_CHARS, asked
from keryx.workspace.tools.table import TOOLS

SAID = [
    (
        "send_mail",
        {"to": ["Anna Berg <anna@x.org>"], "subject": "Invoice 12"},
        "send a mail to Anna Berg, anna@x.org, subject: Invoice 12",
    ),
    ("send_mail", {"to": ["a@x.org", "b@x.org"], "cc": ["c@x.org"]}, "send a mail to a@x.org, b@x.org and c@x.org"),
    (
        "send_mail",
        {"to": ["a@x.org"] * 2, "bcc": [f"b{n}@x.org" for n in range(5)]},
        "send a mail secretly to b0@x.org, b1@x.org, b2@x.org and 2 more, and to a@x.org and a@x.org",
    ),
    ("send_mail", {"to": ["a@x.org"], "files": ["x"]}, "send a mail to a@x.org, with a file"),
    ("draft_mail", {"to": ["a@x.org"], "files": ["x", "y"]}, "draft a mail to a@x.org, with 2 files"),
    ("send_mail", {"subject": "Hello"}, "send a mail to somebody, subject: Hello"),
    ("reply", {"message_id": "1", "text": "Gladly.\n\nAda"}, "answer a mail, to whoever wrote it, saying: Gladly. Ada"),
    ("reply", {"text": "No.", "everyone": True}, "answer a mail, to everybody who got it, saying: No."),
    ("draft_reply", {}, "draft an answer to a mail, to whoever wrote it"),
    (
        "send_draft",
        {"draft_id": "r7", "to": ["anna@example.org"], "subject": "Hi"},
        "send a draft to anna@example.org, subject: Hi",
    ),
    (
        "label_messages",
        {"message_ids": ["1", "2"], "add": ["work"], "remove": ["unread"]},
        "put the label work on and take the label unread off 2 messages",
    ),
    ("label_messages", {"message_ids": ["1"], "add": list("abcde")}, "put the labels a, b, c and 2 more on a message"),
    ("archive_messages", {"message_ids": ["1", "2", "3"]}, "archive 3 messages"),
    ("bin_messages", {"message_ids": ["1"]}, "put a message into the bin"),
    ("bin_messages", {}, "put some messages into the bin"),
    (
        "create_event",
        {"title": "Dentist", "start": "2026-12-04T15:30"},
        "put the event Dentist into your calendar, Friday, 4 December at 15:30",
    ),
    (
        "create_event",
        {"title": "Standup", "start": "2026-12-07", "repeat": "weekly"},
        "put the event Standup into your calendar, Monday, 7 December, weekly",
    ),
    ("invite_guests", {"event_id": "1", "guests": ["Bo <bo@x.org>"]}, "invite Bo, bo@x.org to an event"),
    ("change_event", {"event_id": "1", "title": "Review"}, "change an event's title, to: Review; its guests see that"),
    (
        "change_event",
        {"event_id": "1", "title": None, "where": ""},
        "change an event's place, to nothing; its guests see that",
    ),
    (
        "move_event",
        {"event_id": "1", "start": "2026-12-04T16:00"},
        "move an event to Friday, 4 December at 16:00, which its guests see",
    ),
    (
        "move_event",
        {"start": "2026-12-04T16:00+09:00", "all_of_them": True},
        "move an event to Friday, 4 December at 16:00 UTC+09:00, every time it recurs, which its guests see",
    ),
    (
        "move_event",
        {"start": "2026-12-04T16:00", "zone": "America/New_York"},
        "move an event to Friday, 4 December at 16:00 in America/New York, which its guests see",
    ),
    ("move_event", {"start": "soon"}, "move an event to soon, which its guests see"),
    ("delete_event", {"event_id": "1"}, "delete an event, and tell its guests"),
    (
        "delete_event",
        {"event_id": "1", "all_of_them": True},
        "delete an event, every time it recurs, and tell its guests",
    ),
    ("answer_invitation", {"response": "declined", "comment": "I am away"}, "decline an invitation, saying: I am away"),
    ("answer_invitation", {"response": "tentative"}, "answer maybe to an invitation"),
    ("search_mail", {"query": "from:anna"}, "search your mail for from:anna"),
    ("paint_house", {}, "use paint house on your mail and calendar"),
]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"), SAID, ids=[f"{n}-{tool}" for n, (tool, _, _) in enumerate(SAID)]
)
def test_the_owner_hears_what_would_be_done(tool: str, arguments: dict[str, Any], said: str) -> None:
    assert asked(tool, arguments) == said


def test_every_tool_has_words_of_its_own() -> None:
    said = {name: asked(name, {}) for name in TOOLS}
    assert len(set(said.values())) == len(TOOLS)
    assert not [words for words in said.values() if words.startswith("use ")]


# -- nobody talks past the owner ---------------------------------------------------------------------------------------


BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
EVIL = "eve@evil.example"


@pytest.mark.parametrize(
    "written",
    [
        f'"anna@x.org, Anna Berg of the accounting department at Example Corporation in Berlin, Germany" <{EVIL}>',
        f"anna@x.org{' ' * 300}<{EVIL}>",
        f'"Anna <anna@x.org>" <{EVIL}>',
        f"=?utf-8?b?{'QQ' * 60}?= <{EVIL}>",
        f"Anna \u202e\u200b<{EVIL}>",
        f"{EVIL} (Anna Berg, anna@x.org)",
    ],
)
def test_a_name_hides_no_address(written: str) -> None:
    assert EVIL in asked("send_mail", {"to": [written], "subject": "s" * 500, "text": "t"})


def test_of_a_long_address_the_end_is_heard_which_says_whose_it_is() -> None:
    said = asked("send_mail", {"to": [f"anna@example.org.{'a.' * 60}evil.example"]})
    assert said.endswith(".evil.example")
    assert "anna@example…" in said


@pytest.mark.parametrize("where", ["to", "cc", "bcc"])
def test_long_names_push_nobody_out_of_earshot_uncounted(where: str) -> None:
    many = [f"{'N' * 70} <{'a' * 40}{number}@example.org>" for number in range(9)]
    said = asked("send_mail", {where: many, "files": ["a", "b"], "subject": "s" * 300})
    assert " and 8 more, with 2 files, subject: " in said


def test_a_long_title_does_not_hide_that_all_of_a_series_is_meant() -> None:
    long = {"title": "t" * 900, "where": "w" * 900, "description": "d" * 900, "all_of_them": True}
    assert asked("change_event", long).endswith("every time it recurs; its guests see that")


@pytest.mark.parametrize("yes", [True, "true", "yes", "on", 1, "1", "Y"])
def test_whatever_the_tool_takes_for_yes_is_heard_as_yes(yes: Any) -> None:
    answer = {"message_id": "m1", "text": "No.", "everyone": yes}
    assert TOOLS["reply"].parse(answer).model_dump()["everyone"] is True
    assert asked("reply", answer) == "answer a mail, to everybody who got it, saying: No."
    assert "every time it recurs" in asked("delete_event", {"event_id": "e1", "all_of_them": yes})


# -- whatever a model writes -------------------------------------------------------------------------------------------

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None, categories=None), max_size=300)
    | st.sampled_from(["Anna <a@x.org>", "2026-12-04", "2026-12-04T16:00", "accepted", "9999-12-31T23:59+00:00"])
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)
fields = st.sampled_from(
    [field for tool in TOOLS.values() for field in tool.arguments.model_fields] + ["zone", "repeat", "nonsense"]
)
huge = {"to": ["x" * 10_000_000], "subject": "s\n" * 1_000_000, "message_ids": ["i"] * 100_000, "text": 10**5_000}


@given(tool=st.sampled_from([*TOOLS, "unknown"]) | scalars, arguments=st.dictionaries(fields, values) | values)
@example(tool="send_mail", arguments=huge)
@example(tool="label_messages", arguments={**huge, "add": [10**5_000, math.nan, ["x"]], "remove": [{}]})
@example(tool=None, arguments=None)
def test_whatever_it_is_given_it_says_one_line(tool: Any, arguments: Any) -> None:
    said = asked(tool, arguments)
    assert 0 < len(said) <= MOST_CHARS
    assert not [letter for letter in said if unicodedata.category(letter) in ("Cc", "Zl", "Zp") or letter in BIDI]
