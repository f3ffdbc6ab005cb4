"""What the rules make of a sentence: every written request, what bad input gets, and how quick it is."""

import dataclasses
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.tasks.models import TaskStatus
from keryx.voice.dialogue.base import DialogueContext, TaskBrief
from keryx.voice.dialogue.intents import understand
from tests.bench.routing import Request, measure, requests

GOAL = 0.95
MOST_MS = 5.0
REQUESTS = list(requests())

CONTEXT = DialogueContext(
    projects=["billing", "website"],
    agents=["claude", "codex"],
    tasks=[
        TaskBrief(4, TaskStatus.RUNNING, "website", "the parser rewrite"),
        TaskBrief(6, TaskStatus.RUNNING, "billing", "fix the failing invoice test"),
    ],
    focus=6,
)
SURE = dataclasses.replace(CONTEXT, pending="cancel 4")


def test_the_written_requests_are_routed_right() -> None:
    figures = measure()

    assert figures.total >= 160
    assert figures.tuned >= GOAL
    assert figures.held >= GOAL
    assert figures.false_cancels == 0


@pytest.mark.parametrize(
    "request_", [row for row in REQUESTS if row.route != "cancel_task"], ids=lambda row: row.text[:50]
)
def test_no_cancel_comes_of_a_sentence_that_is_not_one(request_: Request) -> None:
    assert understand(request_.text, request_.context).tool != "cancel_task"


@pytest.mark.parametrize(
    "row", [row for row in REQUESTS if row.route in ("deny", "unclear")], ids=lambda row: row.text[:50]
)
def test_nothing_but_a_yes_is_a_yes(row: Request) -> None:
    assert understand(row.text, row.context).intent != "confirm"


def test_a_sentence_is_understood_in_a_few_milliseconds() -> None:
    for row in REQUESTS:
        understand(row.text, row.context)
    began = time.process_time()
    for row in REQUESTS:
        understand(row.text, row.context)
    assert (time.process_time() - began) * 1000 / len(REQUESTS) < MOST_MS


@pytest.mark.parametrize(
    "unit",
    [
        "word ",
        "in billing ",
        "cancel task four and ",
        "please ",
        "tell it to ",
        "yes no ",
        "call me when ",
        "slash ",
        "((",
        "é",
        "a",
    ],
)
@pytest.mark.parametrize("context", [CONTEXT, SURE], ids=["free", "asked"])
def test_twenty_thousand_characters_are_understood_in_no_time(unit: str, context: DialogueContext) -> None:
    text = (unit * 20_000)[:20_000]
    began = time.process_time()

    understood = understand(text, context)

    assert (understood.tool, understood.intent) != ("cancel_task", None)
    assert understood.intent != "confirm"
    assert time.process_time() - began < 1.0


@given(st.text(max_size=200), st.sampled_from([CONTEXT, SURE, DialogueContext(), DialogueContext(pending="pin")]))
def test_whatever_is_said_comes_to_a_tool_or_an_intent(text: str, context: DialogueContext) -> None:
    understood = understand(text, context)

    assert (understood.tool is None) != (understood.intent is None)
    assert 0 < understood.confidence <= 1


WORDS = "yes no cancel stop don't wait okay task four it please the parser one rewrite keep running sure and".split()


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
def test_a_no_anywhere_is_never_a_yes(words: list[str]) -> None:
    refusals = {"no", "don't", "wait", "stop", "keep"}
    if understand(" ".join(words), SURE).intent == "confirm":
        assert refusals.isdisjoint(words)


def test_understanding_changes_nothing() -> None:
    before = dataclasses.astuple(CONTEXT)

    first = understand("cancel the parser one", CONTEXT)

    assert understand("cancel the parser one", CONTEXT) == first
    assert dataclasses.astuple(CONTEXT) == before


def test_a_misheard_project_counts_only_in_a_projects_place() -> None:
    assert understand("in the building project fix the tests", CONTEXT).arguments["project"] == "billing"
    assert "project" not in understand("fix the building of the docs", CONTEXT).arguments
    assert understand("use cloud storage for the images", CONTEXT).arguments.get("agent") is None


def test_what_is_missing_is_named_for_the_question_back() -> None:
    two = DialogueContext(projects=["shop-backend", "shop-frontend"])

    assert understand("in the shop project, fix the search", two).which_projects == ("shop-backend", "shop-frontend")
    assert understand("in the kitchen project, fix the tap", CONTEXT).unknown_project == "kitchen"
    assert understand("cancel one of them", dataclasses.replace(CONTEXT, focus=None)).which_tasks == (4, 6)
    assert understand("how's the bathroom coming along", CONTEXT).unknown_task == "the bathroom"
