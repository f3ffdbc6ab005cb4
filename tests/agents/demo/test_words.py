"""What the demo agent makes of a prompt, and how it puts what it did."""

import pytest

from keryx.agents.demo.projects import MENDS
from keryx.agents.demo.words import Asked, Outcome, noted, understood

LOOK, MEND, MORE, BOTH = Asked(False, False), Asked(True, False), Asked(False, True), Asked(True, True)


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("run the tests", LOOK),
        ("what was the last commit", LOOK),
        ("is the website build okay", LOOK),
        ("", LOOK),
        ("fix the failing invoice test and call me back when it's done", MEND),
        ("please repair the broken build", MEND),
        ("update the lock file", MEND),
        ("make the tests pass", MEND),
        ("make sure the invoice test is fixed", MEND),
        ("fix that too", MEND),
        ("don't fix anything, just run the tests", LOOK),
        ("run the tests without changing anything", LOOK),
        ("rename get user to fetch user everywhere and run the tests", MORE),
        ("also handle leap years", MORE),
        ("make it handle leap years", MORE),
        ("rewrite the parser to be faster", MORE),
        ("fix the invoice test and add a readme", BOTH),
        ("yes please", LOOK),
    ],
)
def test_a_prompt_is_understood_as_far_as_the_demo_agent_can_act_on_it(prompt: str, asked: Asked):
    assert understood(prompt, offered=False) == asked


def test_yes_means_to_mend_only_after_the_fault_was_found():
    assert understood("yes, please", offered=True) == MEND
    assert understood("Go ahead.", offered=True) == MEND
    assert understood("no, leave it", offered=True) == LOOK


@pytest.mark.parametrize(
    ("steered", "words"),
    [
        ("also handle leap years", "handle leap years"),
        ("it must also handle leap years.", "handle leap years"),
        ("Add that it must also handle leap years", "handle leap years"),
        ("Use tabs", "use tabs"),
        ("USB first", "USB first"),
    ],
)
def test_what_was_steered_in_is_acknowledged_and_not_claimed_as_done(steered: str, words: str):
    assert noted(steered) == f"I noted that it must also {words}, and left that for a real agent."


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (Outcome(0, ()), "There are no tests in billing."),
        (Outcome(1, ()), "The one test in billing passes."),
        (Outcome(13, ()), "All 13 tests in billing pass."),
        (Outcome(2, ("test_a",)), "I ran the tests in billing: test a fails, the other one passes."),
        (Outcome(2, ("test_a", "test_b")), "I ran the tests in billing: test a and test b fail."),
        (
            Outcome(5, ("test_invoice_rounding",)),
            "I ran the tests in billing: test invoice rounding fails, the other four pass.",
        ),
    ],
)
def test_failures_come_first_and_numbers_last(outcome: Outcome, told: str):
    assert outcome.told("billing", MENDS["billing"]) == told
