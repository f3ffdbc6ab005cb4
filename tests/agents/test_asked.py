"""The request is found again in whatever is put around it."""

import pytest

from keryx import prompts
from keryx.agents.asked import what_was_asked

SUFFIX = prompts.text("subagent_suffix.md")


@pytest.mark.parametrize("around", ["task_recap.md", "task_resumed.md", None])
def test_only_the_request_is_left(around: str | None):
    request = "fix the invoice test\n\nand handle leap years"
    prompt = request
    if around:
        given = {"earlier": "1. rewrite it all", "summary": "Done.", "request": request}
        template = prompts.text(around)
        prompt = prompts.render(template, **{name: given[name] for name in prompts.placeholders(template)})
    assert what_was_asked(f"{prompt.strip()}\n\n{SUFFIX.strip()}\n") == request


def test_the_suffix_itself_shows_a_summary_that_can_be_spoken_as_it_stands():
    from keryx.agents.base import extract_spoken_summary

    shown = next(line for line in SUFFIX.splitlines() if line.startswith("SPOKEN_SUMMARY:"))
    assert extract_spoken_summary(shown) == shown.removeprefix("SPOKEN_SUMMARY: ")
    assert prompts.placeholders(SUFFIX) == frozenset()
