"""Which agents there are, and what they are called."""

import pytest

from keryx.agents.base import FakeAgentRunner
from keryx.agents.registry import AgentRegistry, spoken_name
from keryx.errors import ConfigError, NotFound

CLAUDE, CODEX = FakeAgentRunner(name="claude"), FakeAgentRunner(name="codex")


def test_an_agent_is_found_by_name_and_without_one_it_is_the_default():
    registry = AgentRegistry({"codex": CODEX, "claude": CLAUDE}, default="codex")
    assert registry.get("claude") is CLAUDE
    assert registry.get(" Claude ") is CLAUDE
    assert registry.get(None) is CODEX
    assert registry.names() == ("codex", "claude")
    assert registry.default == "codex"


def test_an_unknown_agent_is_refused_and_the_installed_ones_are_named():
    registry = AgentRegistry({"codex": CODEX, "claude": CLAUDE, "fake": FakeAgentRunner()}, default="claude")
    with pytest.raises(NotFound, match="codex") as refused:
        registry.get("cursor")
    assert refused.value.spoken == "I don't have that agent. I have Claude, Codex and the demo agent."


def test_a_default_that_is_not_installed_is_a_wrong_setting():
    with pytest.raises(ConfigError, match='default agent "claude" is not installed; there is codex'):
        AgentRegistry({"codex": CODEX}, default="claude")
    with pytest.raises(ConfigError, match="no agent is installed"):
        AgentRegistry({}, default="claude")


@pytest.mark.parametrize(
    ("name", "spoken"),
    [
        ("claude", "Claude"),
        ("CODEX", "Codex"),
        ("fake", "the demo agent"),
        ("my_own-agent", "My Own Agent"),
    ],
)
def test_an_agent_is_called_as_people_call_it(name: str, spoken: str):
    assert spoken_name(name) == spoken
