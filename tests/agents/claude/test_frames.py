"""Frames into events and ends of turns: what the real program cannot be made to write on demand."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from keryx.agents.claude.frames import (
    TOO_LONG_LINE,
    FrameReader,
    Meter,
    Spent,
    covered,
    outcome_of,
    unasked,
)
from keryx.agents.claude.log import ConversationFile
from keryx.agents.events import Alive, Failure, FileEdit, Notice, SessionId, Text, TokenUsage, ToolCall, ToolEnd

PLACE = Path("/home/owner/shop")
SESSION = "8ca45547-55ac-4b1a-806b-97c6f9219e58"


def events(reader: FrameReader, frame: dict[str, Any]) -> list[Any]:
    return [event for event in reader.events(frame) if event != Alive()]


def said(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "assistant", "message": {"content": list(blocks)}, "parent_tool_use_id": None, **fields}


def use(call_id: str, tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": tool, "input": arguments}


def result_of(call_id: str, kind: str = "", **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, **fields}
    return {"type": "user", "message": {"content": [block]}, "tool_use_result": {"type": kind}}


def ended(**fields: Any) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": False, "result": "", **fields}


def test_an_edit_is_told_of_when_it_was_made_and_not_when_it_failed():
    reader = FrameReader(PLACE)
    path = str(PLACE / "a.py")
    assert events(reader, said(use("1", "Write", file_path=path))) == [ToolCall("1", "Writing a.py")]
    assert events(reader, result_of("1", "create")) == [ToolEnd("1"), FileEdit("a.py", "added")]
    assert events(reader, said(use("2", "Edit", file_path=path))) == [ToolCall("2", "Editing a.py")]
    assert events(reader, result_of("2", is_error=True)) == [ToolEnd("2")]
    assert events(reader, result_of("2")) == [], "a tool ends once"


def test_what_a_helper_says_is_not_the_agents_own_word():
    reader = FrameReader(PLACE)
    inner = said({"type": "text", "text": "inner"}, use("9", "Bash", command="ls"), parent_tool_use_id="1")
    assert events(reader, inner) == [Notice("Running ls")]
    assert events(reader, said({"type": "text", "text": "own"})) == [Text("own")]


def test_a_line_that_was_too_long_ends_whatever_tool_it_may_have_ended():
    reader = FrameReader(PLACE)
    events(reader, said(use("1", "Bash", command="ls")))
    assert events(reader, {"type": TOO_LONG_LINE}) == [ToolEnd("1")]


@pytest.mark.parametrize(
    "frame",
    [
        {},
        {"type": None},
        {"type": "assistant"},
        {"type": "assistant", "message": None},
        {"type": "assistant", "message": {"content": "text"}},
        {"type": "assistant", "message": {"content": [None, 7, {"type": "tool_use"}, {"type": "text", "text": None}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": []}]}},
        {"type": "system", "subtype": "init", "session_id": None},
        {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1e300}},
        {"type": "tomorrows_frame", "anything": {"at": "all"}},
    ],
)
def test_a_frame_that_is_not_understood_is_a_sign_of_life(frame: dict[str, Any]):
    assert list(FrameReader(PLACE).events(frame)) == [Alive()]


def test_its_own_name_for_the_conversation_is_passed_on():
    frame = {"type": "system", "subtype": "init", "session_id": SESSION}
    assert events(FrameReader(PLACE), frame) == [SessionId(SESSION)]


@pytest.mark.parametrize(
    ("frame", "failure", "error"),
    [
        (ended(is_error=True, subtype="error_max_turns", errors=["Reached 5"]), Failure.LIMIT, "Reached 5"),
        (ended(is_error=True, subtype="error_max_budget_usd"), Failure.LIMIT, "error_max_budget_usd"),
        (
            ended(is_error=True, subtype="error_during_execution", terminal_reason="aborted_tools", errors=["x"]),
            Failure.INTERRUPTED,
            "x",
        ),
        (
            ended(is_error=True, result="OAuth token has expired", api_error_status=401),
            Failure.NOT_SIGNED_IN,
            "OAuth token has expired",
        ),
        (ended(is_error=True, result="API Error: fetch failed"), Failure.UNREACHABLE, "API Error: fetch failed"),
        (ended(is_error=True, result="the moon"), Failure.OTHER, "the moon"),
        (ended(is_error=True, result=None), Failure.OTHER, "success"),
        ({"type": "result"}, Failure.OTHER, "no reason given"),
    ],
)
def test_a_failure_keeps_the_words_it_came_with(frame: dict[str, Any], failure: Failure, error: str):
    done = outcome_of(frame, None, None, None)
    assert not done.ok
    assert (done.failure, done.error) == (failure, error)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("words", "resets"),
    [
        ("You've hit your limit · resets 3pm (Europe/Berlin)", "3pm (Europe/Berlin)"),
        ("You've hit your weekly limit · resets Oct 12, 9am", "Oct 12, 9am"),
        ("Claude AI usage limit reached|1796050800", "Monday 4pm"),
        ("Credit balance is too low", "Tuesday 9:30am"),
    ],
)
def test_a_used_up_limit_says_when_it_is_free_again(words: str, resets: str):
    reader = FrameReader(PLACE)
    list(reader.events({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1796113800}}))
    done = outcome_of(ended(is_error=True, result=words, api_error_status=429), None, None, reader.resets_at)
    assert done.failure is Failure.QUOTA
    assert done.resets == resets


def test_a_turn_that_nobody_began_is_known():
    assert unasked(ended(origin={"kind": "task-notification"}))
    assert not unasked(ended(origin={"kind": "user"}))
    assert not unasked(ended())


def test_what_a_result_covers():
    assert covered(ended(user_message_uuids=["a", "b", 7])) == {"a", "b"}
    assert covered(ended()) is None


def counted(cost_usd: float, tokens: int) -> dict[str, Any]:
    models = {"one": {"inputTokens": tokens, "outputTokens": tokens}, "two": {"cacheReadInputTokens": tokens}}
    return ended(total_cost_usd=cost_usd, modelUsage=models)


def test_the_meter_reads_differences_and_begins_anew_after_a_crash():
    meter = Meter(Spent(1.0, TokenUsage(20, 10, 10)))
    assert meter.take(counted(1.5, 30)) == (TokenUsage(40, 20, 20), 0.5)
    assert meter.take(counted(0.25, 5)) == (TokenUsage(10, 5, 5), 0.25), "its process was killed and forgot"
    assert meter.take(ended()) == (None, None)
    assert meter.take(counted(0.5, 6)) == (TokenUsage(2, 1, 1), 0.25)


# The conversation's file


def conversation(tmp_path: Path, *rows: Any) -> ConversationFile:
    folder = tmp_path / "projects" / "-somewhere"
    folder.mkdir(parents=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    (folder / f"{SESSION}.jsonl").write_text("\n".join(lines))
    return ConversationFile({"CLAUDE_CONFIG_DIR": str(tmp_path)}, SESSION)


def test_a_message_is_in_the_conversation_as_a_prompt_or_folded_into_a_turn(tmp_path: Path):
    file = conversation(
        tmp_path,
        {"type": "queue-operation", "operation": "enqueue", "content": "about u3"},
        {"type": "user", "uuid": "u1"},
        {"type": "attachment", "attachment": {"type": "queued_command", "source_uuid": "u2"}},
        {"type": "assistant", "uuid": "u4", "parentUuid": "u1"},
        '{"type": "user", "uuid": "u5", "mess',
    )
    assert file.holding(["u1", "u2", "u3", "u4", "u5"]) == {"u1", "u2"}


def test_a_conversation_without_a_file_holds_nothing(tmp_path: Path):
    for name in (SESSION, "../../../etc/passwd", "*", ""):
        file = ConversationFile({"CLAUDE_CONFIG_DIR": str(tmp_path)}, name)
        assert not file.exists()
        assert file.holding(["u1"]) == frozenset()
        assert file.spent() == Spent()


def test_an_empty_file_is_no_conversation(tmp_path: Path):
    assert not conversation(tmp_path).exists()


def test_the_default_place_is_below_home(tmp_path: Path):
    (tmp_path / ".claude").mkdir()
    conversation(tmp_path / ".claude", {"type": "user", "uuid": "u1"})
    assert ConversationFile({"HOME": str(tmp_path)}, SESSION).exists()
