"""How freely an agent shall work, in the caller's words; of two wishes the more careful one counts."""

import pytest

from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.intents import understand

CONTEXT = DialogueContext(projects=["billing", "website"], agents=["claude", "codex"])


@pytest.mark.parametrize(
    ("text", "mode", "description"),
    [
        ("Have Codex fix the failing test in billing, plan only", "plan", "fix the failing test"),
        ("fix the footer in plan mode", "plan", "fix the footer"),
        ("In plain mode, fix the footer", "plan", "fix the footer"),
        ("speed up the build, just plan it, don't change anything", "plan", "speed up the build"),
        ("find the bug without changing anything", "plan", "find the bug"),
        ("Don't change anything yet: how would you split the parser?", "plan", "how would you split the parser"),
        ("make a plan first and then fix the footer", "plan", "fix the footer"),
        ("just plan the move to Postgres", "plan", "plan the move to Postgres"),
        ("Fix the footer and ask me before you change anything", "ask", "Fix the footer"),
        ("Fix the footer, but check with me before every change.", "ask", "Fix the footer"),
        ("Ask me first. Then rename it.", "ask", "rename it"),
        ("fix the footer in ask mode", "ask", "fix the footer"),
        ("fix the footer in otto mode", "auto", "fix the footer"),
        ("rewrite the parser in full mode", "full", "rewrite the parser"),
        ("Rewrite the parser, fool mode.", "full", "Rewrite the parser"),
        ("upgrade everything, go all the way", "full", "upgrade everything"),
        ("upgrade everything, with full access", "full", "upgrade everything"),
        ("fix it without asking me", "full", "fix it"),
    ],
)
def test_a_mode_is_taken_out_of_the_work(text: str, mode: str, description: str) -> None:
    got = understand(text, CONTEXT)

    assert (got.tool, got.arguments.get("mode")) == ("dispatch_task", mode)
    assert got.arguments["description"].rstrip("?.") == description


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("In full mode, fix the footer, but ask me first", "ask"),
        ("ask me before each change: fix the footer in full mode", "ask"),
        ("fix the footer in auto mode, just plan it", "plan"),
    ],
)
def test_of_two_modes_the_more_careful_one_counts(text: str, mode: str) -> None:
    assert understand(text, CONTEXT).arguments.get("mode") == mode


@pytest.mark.parametrize(
    "text",
    [
        "the progress bar should go all the way",
        "make the customer table read only",
        "sync even when there are no changes",
        "show a dialog that says ask me first",
        "don't change anything in the database but fix the query",
        "add a plan mode to the editor",
        "add a full mode",
        "plan the release party page",
        "add dark mode",
        "create a user with full access",
        "show the page in full screen mode",
    ],
)
def test_words_of_the_work_are_no_mode(text: str) -> None:
    got = understand(text, CONTEXT)

    assert (got.tool, got.arguments.get("mode")) == ("dispatch_task", None)
    assert len(got.arguments["description"].split()) >= len(text.split()) - 1
