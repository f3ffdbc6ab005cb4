"""Whose model a name is, and a sentence when it is another agent's."""

import pytest

from keryx.agents.model_owner import check_owner, model_owner
from keryx.agents.registry import CLAUDE, CODEX
from keryx.errors import NotFound


@pytest.mark.parametrize(
    ("said", "owner"),
    [
        *((name, backend.name) for backend in (CLAUDE, CODEX) for name in backend.models),
        ("Opus", "claude"),
        ("claude-opus-4-5-20251101", "claude"),
        ("opus[1m]", "claude"),
        ("GPT-5-codex", "codex"),
        ("o3-mini", "codex"),
        ("qwen3-coder", None),
        ("anthropic/claude-opus-4-5", None),
        ("", None),
    ],
)
def test_a_name_tells_whose_model_it_is(said: str, owner: str | None) -> None:
    assert model_owner(said) == owner


@pytest.mark.parametrize(
    ("agent", "model"),
    [("claude", "opus"), ("codex", "gpt-5.5"), ("codex", None), ("opencode", "opus"), ("claude", "mystery-1")],
)
def test_what_may_be_its_own_is_left_to_the_agent(agent: str, model: str | None) -> None:
    check_owner(agent, model)


def test_another_agents_model_is_refused_with_the_ones_there_are() -> None:
    with pytest.raises(NotFound) as refused:
        check_owner("codex", "claude-opus-4-5")

    assert str(refused.value).startswith('"claude-opus-4-5" is a model of claude, not of codex; codex has ')
    assert "gpt-5.5" in str(refused.value)
    assert refused.value.spoken.startswith("That's a model of Claude, not of Codex, which has ")
    assert not set("[]{}_\"'") & set(refused.value.spoken.replace("That's", "That is"))
