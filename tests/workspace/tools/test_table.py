"""The table of tools: what each is, takes and needs. An agent, its model and the mode of a task all go by it."""

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from keryx.errors import Refused
from keryx.workspace.features import Feature
from keryx.workspace.tools.base import MOST_FAULTS
from keryx.workspace.tools.table import TOOLS

R, W, S, LOOK, ALTER = (
    Feature.READ_MAIL,
    Feature.WRITE_MAIL,
    Feature.SORT_MAIL,
    Feature.READ_CALENDAR,
    Feature.CHANGE_CALENDAR,
)
READS = (True, False, False, True)
ADDS = (False, False, False, True)
TAKES_AWAY = (False, True, False, True)
REACHES_OTHERS = (False, False, True, True)
CHANGES_FOR_OTHERS = (False, True, True, True)

# name: feature, (readOnlyHint, destructiveHint, openWorldHint, idempotentHint), required, optional
TABLE: dict[str, tuple[Feature, tuple[bool, bool, bool, bool], str, str]] = {
    "search_mail": (R, READS, "", "query most page"),
    "read_message": (R, READS, "message_id", "from_character quoted"),
    "read_thread": (R, READS, "thread_id", ""),
    "save_attachment": (R, (False, False, False, False), "message_id number", "name"),
    "draft_mail": (W, ADDS, "to subject text", "cc bcc files"),
    "draft_reply": (W, ADDS, "message_id text", "everyone"),
    "send_mail": (W, REACHES_OTHERS, "to subject text", "cc bcc files again"),
    "reply": (W, REACHES_OTHERS, "message_id text", "everyone again"),
    "send_draft": (W, REACHES_OTHERS, "draft_id to subject", ""),
    "list_labels": (R, READS, "", "named"),
    "label_messages": (S, TAKES_AWAY, "message_ids", "add remove"),
    "archive_messages": (S, TAKES_AWAY, "message_ids", ""),
    "bin_messages": (S, TAKES_AWAY, "message_ids", ""),
    "list_calendars": (LOOK, READS, "", ""),
    "list_events": (LOOK, READS, "start", "end calendars most page"),
    "search_events": (LOOK, READS, "query start", "end calendars most page"),
    "read_event": (LOOK, READS, "event_id", "calendar from_character"),
    "find_free_time": (LOOK, READS, "start minutes", "end calendars people day_starts day_ends weekends"),
    "create_event": (
        *(ALTER, ADDS, "title start"),
        "end where description zone calendar repeat every weekdays times until again",
    ),
    "invite_guests": (ALTER, REACHES_OTHERS, "event_id guests", "calendar all_of_them"),
    "change_event": (ALTER, CHANGES_FOR_OTHERS, "event_id", "title where description calendar all_of_them"),
    "move_event": (ALTER, CHANGES_FOR_OTHERS, "event_id start", "end zone calendar all_of_them"),
    "delete_event": (ALTER, CHANGES_FOR_OTHERS, "event_id", "calendar all_of_them"),
    "answer_invitation": (ALTER, CHANGES_FOR_OTHERS, "event_id response", "comment calendar all_of_them"),
}


def test_there_are_these_tools_and_no_others() -> None:
    assert TOOLS.keys() == TABLE.keys()


@pytest.mark.parametrize("name", TABLE)
def test_a_tool_is_what_it_says_it_is(name: str) -> None:
    feature, hints, required, optional = TABLE[name]
    tool = TOOLS[name]
    assert tool.name == name
    assert tool.feature is feature
    assert (tool.read_only, tool.destructive, tool.open_world, tool.idempotent) == hints
    schema = tool.schema()
    assert set(schema.get("required", ())) == set(required.split())
    assert set(schema["properties"]) == {*required.split(), *optional.split()}


@pytest.mark.parametrize("name", TABLE)
def test_any_agents_model_can_read_what_a_tool_takes(name: str) -> None:
    schema = TOOLS[name].schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    for each in all_in(schema):
        assert not each.keys() & {"$ref", "$defs", "anyOf", "oneOf", "allOf"}, each
        # Gemini's interface takes no empty choice.
        assert "" not in each.get("enum", ())
    for field, described in schema["properties"].items():
        assert isinstance(described["type"], str), field
        assert described["description"].endswith((".", '"')), field
        assert "title" not in described or field == "title"


def all_in(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from all_in(each)


@pytest.mark.parametrize("name", TABLE)
def test_a_default_is_one_that_may_be_given(name: str) -> None:
    schema = TOOLS[name].schema()
    defaults = {field: each["default"] for field, each in schema["properties"].items() if "default" in each}
    partial = {**schema, "required": []}
    jsonschema.validate(defaults, partial)


def test_all_descriptions_together_are_short_enough_to_be_read_with_every_request() -> None:
    assert sum(len(json.dumps(tool.schema()) + tool.description) for tool in TOOLS.values()) < 20_000
    for tool in TOOLS.values():
        assert 10 < len(tool.description) < 200
        assert tool.title[0].isupper()


def test_a_model_is_told_what_it_must_know() -> None:
    query = TOOLS["search_mail"].schema()["properties"]["query"]["description"]
    assert "from:anna newer_than:7d" in query
    assert "person's zone" in TOOLS["create_event"].schema()["properties"]["start"]["description"]
    for name in ("draft_mail", "draft_reply"):
        assert "unless" in TOOLS[name].description
    for name in ("send_mail", "reply", "send_draft", "invite_guests"):
        assert re.search("only when (the person|they) said", TOOLS[name].description, re.IGNORECASE), name


# -- what a model writes -----------------------------------------------------------------------------------------------


LETTER = {"to": ["anna@example.org"], "subject": "Hello", "text": "Hello."}


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("search_mail", {"query": "x", "most": 0}, "most: input should be greater than or equal to 1"),
        ("search_mail", {"query": ["x"]}, "query: input should be a valid string"),
        ("search_mail", {"querry": "x"}, "querry: extra inputs are not permitted"),
        ("read_message", {}, "message_id: field required"),
        ("send_mail", {**LETTER, "to": []}, "to: list should have at least 1 item"),
        ("send_mail", {**LETTER, "to": "anna@example.org"}, "to: input should be a valid list"),
        ("send_mail", {**LETTER, "cc": ["bo@example.org", 7]}, "cc.1: input should be a valid string"),
        ("send_mail", {**LETTER, "text": "  \n "}, "text: string should have at least 1 character"),
        ("find_free_time", {"start": "2026-12-01", "minutes": 60, "day_starts": "nine"}, "day_starts: string should"),
        ("create_event", {"title": "x", "start": "2026-12-01", "repeat": "hourly"}, "repeat: input should be 'once',"),
    ],
)
def test_what_makes_no_sense_is_said_in_words(name: str, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused) as refused:
        TOOLS[name].parse(arguments)
    said = str(refused.value)
    assert said.startswith(f"{name}: {words}"), said
    assert said.endswith("; nothing was done, call it again")
    assert "pydantic" not in said


def test_very_much_nonsense_is_answered_briefly() -> None:
    with pytest.raises(Refused) as refused:
        TOOLS["search_mail"].parse({f"{number}" * 500: "x" * 10_000 for number in range(1, 40)})
    assert str(refused.value).count("not permitted") == MOST_FAULTS
    assert len(str(refused.value)) < 700


@pytest.mark.parametrize("arguments", [None, {}, {"query": None, "page": None}], ids=str)
def test_what_is_left_out_or_null_is_as_if_it_were_not_there(arguments: dict[str, Any] | None) -> None:
    parsed = TOOLS["search_mail"].parse(arguments)
    assert parsed.model_dump() == {"query": "", "most": 20, "page": ""}


def test_a_number_that_is_written_as_text_is_a_number() -> None:
    assert TOOLS["search_mail"].parse({"most": "7"}).model_dump()["most"] == 7


def test_what_is_not_named_of_an_event_stays_and_what_is_empty_is_taken_away() -> None:
    parsed = TOOLS["change_event"].parse({"event_id": "e1", "title": None, "where": ""})
    assert parsed.model_dump(include={"title", "where", "description"}) == {
        "title": None,
        "where": "",
        "description": None,
    }
