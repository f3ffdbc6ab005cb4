"""Who may act."""

from keryx.security.trust import Trust, may_act


def test_a_known_number_alone_may_listen_and_not_act() -> None:
    assert not may_act(Trust.LISTENER)
    assert may_act(Trust.PROVEN)
