"""A plan is let go by plain words and by nothing else; a no anywhere lets nothing go."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.tasks.models import TaskStatus
from keryx.voice.dialogue import smalltalk
from keryx.voice.dialogue.base import DialogueContext, TaskBrief
from keryx.voice.dialogue.going_ahead import mode_wanted, offers_to_carry_out
from keryx.voice.dialogue.intents import understand

PLAN = TaskBrief(4, TaskStatus.DONE, "billing", "move to Postgres", "plan")
TOLD = DialogueContext(projects=["billing"], agents=["claude", "codex"], tasks=[PLAN], focus=4)
OFFERED = dataclasses.replace(
    TOLD,
    pending="answer 4",
    question="Task four needs an answer. Codex asks: It takes three steps. Shall I carry it out?",
)
ASKED = dataclasses.replace(OFFERED, question="Codex asks: Shall it cover the website too?")

PLAIN = [
    "go ahead",
    "Yes, do it.",
    "carry it out please",
    "sounds good, go ahead with the plan",
    "okay, implement it",
    "please carry out the plan",
    "go ahead with task four",
    "tell it to go ahead",
    "do it, but only the first step",
    "great, proceed",
]


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("context", [OFFERED, ASKED, TOLD], ids=["offered", "asked", "told"])
def test_plain_words_let_a_plan_be_carried_out(text: str, context: DialogueContext) -> None:
    got = understand(text, context)

    assert (got.tool, got.arguments.get("task_id"), got.arguments.get("mode")) == ("send_followup", 4, "auto")


@pytest.mark.parametrize("text", ["yes", "yes please", "okay", "sure"])
def test_a_mere_yes_counts_where_that_was_the_question(text: str) -> None:
    assert understand(text, OFFERED).arguments.get("mode") == "auto"
    assert understand(text, ASKED).arguments.get("mode") is None
    assert understand(text, TOLD).tool is None


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "no, don't do it",
        "not yet",
        "yes but use MySQL",
        "what about MySQL?",
        "wait, do it tomorrow",
        "no, don't do it in full mode",
    ],
)
@pytest.mark.parametrize("context", [OFFERED, ASKED, TOLD], ids=["offered", "asked", "told"])
def test_anything_else_does_not(text: str, context: DialogueContext) -> None:
    assert understand(text, context).arguments.get("mode") is None


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("okay, do it in full mode", "full"),
        ("go ahead, but ask me before you change anything", "ask"),
        ("carry it out in auto mode", "auto"),
    ],
)
@pytest.mark.parametrize("context", [OFFERED, TOLD], ids=["offered", "told"])
def test_a_mode_that_is_named_is_the_one(text: str, mode: str, context: DialogueContext) -> None:
    got = understand(text, context)

    assert (got.tool, got.arguments.get("mode")) == ("send_followup", mode)


def test_a_task_with_freedom_of_its_own_keeps_it() -> None:
    other = dataclasses.replace(OFFERED, tasks=[dataclasses.replace(PLAN, mode="full")])
    assert understand("go ahead", other).arguments == {"task_id": 4, "text": "go ahead"}
    assert understand("go ahead", dataclasses.replace(other, pending=None, question="")).intent == "confirm"


def test_a_plan_that_is_still_being_made_is_not_let_go_by_an_idle_word() -> None:
    at_work = dataclasses.replace(TOLD, tasks=[dataclasses.replace(PLAN, status=TaskStatus.RUNNING)])
    assert understand("go ahead", at_work).intent == "confirm"
    assert understand("tell it to just do it", at_work).tool == "send_followup"


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("tell it to ask me before it changes anything", "ask"),
        ("switch task four to full mode", "full"),
        ("tell it to make the field read only", None),
        ("tell it to add a full mode", None),
        ("tell it that the bar should go all the way", None),
    ],
)
def test_a_follow_up_may_change_the_mode_of_any_task(text: str, mode: str | None) -> None:
    running = dataclasses.replace(TOLD, tasks=[dataclasses.replace(PLAN, status=TaskStatus.RUNNING, mode="auto")])
    got = understand(text, running)

    assert (got.tool, got.arguments.get("mode")) == ("send_followup", mode)


@pytest.mark.parametrize(
    ("question", "offers"),
    [
        ("Three steps. Shall I carry it out?", True),
        ("Should I go ahead with that?", True),
        ("It would change two modules. Do you want me to make those changes?", True),
        ("I would carry it out in two steps. Postgres or MySQL?", False),
        ("I would carry it out in two steps.", False),
        ("", False),
    ],
)
def test_only_the_last_sentence_makes_it_an_offer(question: str, offers: bool) -> None:
    assert offers_to_carry_out(question) is offers


WORDS = "yes no go ahead do it don't carry out the plan wait please stop okay but not full mode".split()


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join))
def test_a_no_anywhere_lets_nothing_go(text: str) -> None:
    mode = mode_wanted(text, OFFERED, 4)
    if smalltalk.says_no(text.replace("'", "").split()):
        assert mode is None
    assert mode != "full" or "full mode" in text


def test_a_task_that_asks_for_everything_is_let_go_by_plain_words_and_not_by_a_mere_yes() -> None:
    asking = dataclasses.replace(PLAN, mode="ask")
    context = dataclasses.replace(OFFERED, tasks=[asking], question="Claude asks: May I write the notes?")
    assert mode_wanted("yes, go ahead", context, 4) == "auto"
    assert mode_wanted("yes", context, 4) is None
    assert mode_wanted("no, don't do it", context, 4) is None
