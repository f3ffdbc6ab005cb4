"""The report file: whole or not at all, private, and honest about what is unknown."""

from dataclasses import replace

import pytest

from keryx.clock import VirtualClock
from keryx.tasks.models import ProgressLine, Task, TaskStatus
from keryx.tasks.reports import REPORTED_LINES, render_report
from keryx.tasks.rows import Message, MessageState, Turn

NOW = VirtualClock().now()
TASK = Task(4, "Fix the invoice test", TaskStatus.DONE, "claude", NOW, project="billing")
TURN = Turn(1, NOW, True, "All **done**.", "Done.", None, None, 1200, 30, 200, 0.0421)


def said(number: int, text: str, state: MessageState = MessageState.TAKEN) -> Message:
    return Message(number, 4, text, state, took_up=False, settled=True)


def test_it_holds_the_request_what_was_added_and_what_came_of_it() -> None:
    added = [said(1, TASK.description), said(2, "Leap years too"), said(3, "Hurry", MessageState.UNCERTAIN)]
    lines = [ProgressLine(4, 1, "Reading", NOW)]
    failed = replace(TURN, number=2, ok=False, final_text="", error="The tests failed.", input_tokens=None)
    report = render_report(TASK, added, lines, [TURN, failed])
    for part in (
        "# Task 4",
        "- Project: billing",
        "- Agent: claude",
        "## Request\n\nFix the invoice test",
        "Leap years too",
        "Hurry (it may not have reached the agent)",
        "- 09:00:00 Reading",
        "## Result of turn 1\n\nAll **done**.",
        "## Result of turn 2\n\nIt failed: The tests failed.",
        "- Input tokens: at least 1,200 (of which cached: 400)",
        "- Output tokens: 60",
        "- Cost in US dollars: 0.0842",
    ):
        assert part in report


def test_what_is_unknown_is_called_unknown() -> None:
    nothing = replace(TURN, input_tokens=None, output_tokens=None, cached_input_tokens=None, cost_usd=None)
    assert render_report(TASK, [], [], [nothing]).count("unknown") == 4


def test_an_agent_without_last_words_is_reported_by_its_summary() -> None:
    assert "## Result\n\nDone.\n" in render_report(TASK, [], [], [replace(TURN, final_text=" ")])


@pytest.mark.parametrize(
    ("reason", "line"), [("", "asks for a restart.\n"), ("new hooks", "asks for a restart. new hooks")]
)
def test_a_restart_that_was_asked_for_is_in_it(reason: str, line: str) -> None:
    assert line in render_report(TASK, [], [], [replace(TURN, restart_reason=reason)])


def test_of_very_many_lines_the_last_are_kept_and_that_is_said() -> None:
    lines = [ProgressLine(4, number, f"line {number}.", NOW) for number in range(REPORTED_LINES + 9)]
    report = render_report(TASK, [], lines, [TURN])
    assert f"The last {REPORTED_LINES} of {REPORTED_LINES + 9} lines." in report
    assert "line 8." not in report
    assert "line 9." in report


def test_secrets_in_what_was_asked_are_left_out() -> None:
    task = replace(TASK, description="Use token=ghp_abcdefghijklmnopqrstuvwxyz012345")
    report = render_report(task, [said(1, ""), said(2, "and AKIAABCDEFGHIJKLMNOP")], [], [TURN])
    assert "ghp_" not in report
    assert "AKIA" not in report
