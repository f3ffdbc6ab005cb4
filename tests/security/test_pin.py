"""Three tries at a string of digits."""

import pytest

from keryx.clock import VirtualClock
from keryx.security.pin import LONGEST_REST_S, PinGate, PinGuard, PinOutcome


def test_a_pin_keeps_its_leading_zeros() -> None:
    gate = PinGate("001234")
    assert gate.check("1234") is PinOutcome.WRONG
    assert gate.check("001234") is PinOutcome.ACCEPTED


def test_the_third_wrong_try_locks_and_the_right_pin_comes_too_late() -> None:
    gate = PinGate("4711")
    outcomes = [gate.check(tried) for tried in ("1", "", "4712", "4711")]
    assert outcomes == [PinOutcome.WRONG, PinOutcome.WRONG, PinOutcome.LOCKED, PinOutcome.LOCKED]
    assert gate.locked


def test_a_right_try_forgives_the_wrong_ones() -> None:
    gate = PinGate("4711")
    for _ in range(3):
        assert gate.check("0000") is PinOutcome.WRONG
        assert gate.check("4711") is PinOutcome.ACCEPTED


@pytest.mark.parametrize("pin", [None, "", "  "])
def test_without_a_pin_nothing_is_right(pin: str | None) -> None:
    assert PinGate(pin).check("") is PinOutcome.NOT_SET


def test_digits_spaced_out_are_the_same_pin() -> None:
    assert PinGate("00-1234").check("0 0 1 2 3 4") is PinOutcome.ACCEPTED


def test_other_letters_are_just_wrong() -> None:
    assert PinGate("4711").check("٤٧١١\ud800") is PinOutcome.WRONG


def test_a_pin_given_as_a_number_is_refused() -> None:
    with pytest.raises(TypeError, match="text"):
        PinGate(1234)  # pyright: ignore[reportArgumentType] - the mistake under test


def test_the_pin_is_not_in_its_description() -> None:
    assert "4711" not in repr(PinGate("4711"))


async def test_ringing_again_gives_no_fresh_tries(clock: VirtualClock) -> None:
    guard = PinGuard(clock)
    for gate in (PinGate("4711", guard=guard), PinGate("4711", guard=guard)):
        assert gate.check("0000") is PinOutcome.WRONG
    assert PinGate("4711", guard=guard).check("0000") is PinOutcome.RESTING
    assert PinGate("4711", guard=guard).check("4711") is PinOutcome.RESTING
    await clock.advance(60)
    assert PinGate("4711", guard=guard).check("4711") is PinOutcome.ACCEPTED


async def test_each_rest_is_longer_than_the_one_before_and_none_is_for_ever(clock: VirtualClock) -> None:
    guard, rests = PinGuard(clock), []
    for _ in range(60):
        gate = PinGate("4711", guard=guard)
        while not guard.rest_s:
            gate.check("0000")
        rests.append(guard.rest_s)
        await clock.advance(guard.rest_s)
    assert rests[:3] == [60, 240, 960]
    assert rests[-1] == LONGEST_REST_S
    assert rests == sorted(rests)


async def test_the_right_pin_forgives_what_was_wrong_in_earlier_calls(clock: VirtualClock) -> None:
    guard = PinGuard(clock)
    for _ in range(5):
        assert PinGate("4711", guard=guard).check("0000") is PinOutcome.WRONG
        assert PinGate("4711", guard=guard).check("4711") is PinOutcome.ACCEPTED
