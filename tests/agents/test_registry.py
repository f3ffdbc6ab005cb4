"""Which agents there are, and what they are called."""

import tomllib
from pathlib import Path

import pytest

from keryx.agents.base import FakeAgentRunner
from keryx.agents.registry import CLAUDE as CLAUDE_CODE
from keryx.agents.registry import CODEX as CODEX_CLI
from keryx.agents.registry import AgentRegistry, Backend, acp_backend, spoken_name
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


@pytest.fixture
def registry() -> AgentRegistry:
    backends = (CLAUDE_CODE, CODEX_CLI, acp_backend("opencode", ("/opt/bin/opencode", "acp")))
    runners = {backend.name: FakeAgentRunner(name=backend.name) for backend in backends}
    return AgentRegistry({**runners, "fake": FakeAgentRunner()}, "claude", backends)


def test_an_agent_is_found_by_everything_people_call_it(registry: AgentRegistry):
    assert registry.name("Claude  Code") == "claude"
    assert registry.get("openai codex").name == "codex"
    assert registry.spoken_names() == {
        "claude": ("Claude", "claude code", "anthropic"),
        "codex": ("Codex", "openai codex"),
        "fake": ("the demo agent",),
        "opencode": ("Opencode",),
    }


@pytest.mark.parametrize(
    ("agent", "said", "model"),
    [
        (None, None, None),
        (None, "Opus", "opus"),
        ("claude", "claude opus", "opus"),
        ("claude", "the sonnet", "sonnet"),
        ("claude", "claude-opus-4-6[1m]", "claude-opus-4-6[1m]"),
        ("claude code", "eu.anthropic.claude-v1:0", "eu.anthropic.claude-v1:0"),
        ("codex", "GPT 5.5", "gpt-5.5"),
        ("codex", "gpt 6.1 sol", "gpt-6.1-sol"),
        ("codex", "sol", "gpt-6.1-sol"),
        ("codex", "GPT 5 codex", "gpt-5-codex"),
        ("codex", "gpt7", "gpt-7"),
        ("claude", "opus 4.6", "claude-opus-4-6"),
        ("claude", "Claude Haiku 5", "claude-haiku-5"),
        ("codex", "gpt-9-nova", "gpt-9-nova"),
        ("opencode", "anthropic/claude-sonnet", "anthropic/claude-sonnet"),
        ("opencode", "the sonnet", "the sonnet"),
        ("fake", "the big one", "the big one"),
    ],
)
def test_a_model_is_found_by_what_people_call_it(
    registry: AgentRegistry, agent: str | None, said: str | None, model: str | None
):
    assert registry.model(agent, said) == model


def test_a_word_that_is_no_model_is_refused_and_the_known_ones_are_named(registry: AgentRegistry):
    with pytest.raises(
        NotFound, match='claude has no model "the big one"; it knows opus, sonnet, haiku, fable'
    ) as refused:
        registry.model("claude", "the big one")
    assert refused.value.spoken == "Claude has no model of that name. It knows opus, sonnet, haiku and fable."
    with pytest.raises(NotFound, match='no agent "cursor"'):
        registry.model("cursor", "opus")


def test_only_a_program_known_for_it_takes_a_second_prompt():
    assert acp_backend("oc", ("/opt/bin/opencode", "acp")).follow_ups
    assert not acp_backend("opencode", ("goose", "acp")).follow_ups


@pytest.mark.parametrize("backend", [CLAUDE_CODE, CODEX_CLI])
def test_every_extra_and_package_the_table_names_is_there(backend: Backend):
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extra = project["optional-dependencies"][backend.extra]
    assert any(requirement.startswith(backend.package) for requirement in extra)
