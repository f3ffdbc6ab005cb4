"""Which ways a task may go."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keryx.tasks.models import LEGAL_TRANSITIONS, IllegalTransition, TaskStatus, check_transition, is_question

LEGAL = {
    ("queued", "running"),
    ("queued", "cancelled"),
    ("queued", "failed"),
    ("running", "done"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("running", "queued"),
    ("done", "queued"),
    ("failed", "queued"),
    ("cancelled", "queued"),
}


@pytest.mark.parametrize(("before", "after"), list(itertools.product(TaskStatus, TaskStatus)))
def test_only_these_ways_are_open(before: TaskStatus, after: TaskStatus) -> None:
    if (str(before), str(after)) in LEGAL:
        check_transition(before, after)
    else:
        with pytest.raises(IllegalTransition, match=f"a {before} task cannot become {after}"):
            check_transition(before, after)


@given(st.lists(st.sampled_from(TaskStatus)))
def test_an_ended_task_goes_nowhere_but_back_into_the_line(wishes: list[TaskStatus]) -> None:
    status = TaskStatus.QUEUED
    for wish in wishes:
        if wish in LEGAL_TRANSITIONS[status]:
            assert not status.ended or wish is TaskStatus.QUEUED
            assert not wish.ended or status in (TaskStatus.QUEUED, TaskStatus.RUNNING)
            status = wish


@pytest.mark.parametrize(
    ("summary", "asks"), [("Which branch?", True), ("Which? \n", True), ("Done.", False), ("", False)]
)
def test_a_summary_asks_when_it_ends_asking(summary: str, asks: bool) -> None:
    assert is_question(summary) is asks
