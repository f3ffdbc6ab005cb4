"""Agents and models by name, however a recogniser spells them; words that only look like a model are work."""

import pytest

from keryx.agents.registry import CLAUDE, CODEX
from keryx.voice.dialogue.base import DialogueContext
from keryx.voice.dialogue.intents import understand
from keryx.voice.dialogue.models import spoken_model

CONTEXT = DialogueContext(projects=["billing", "website"], agents=["claude", "codex"])


def understood(text: str) -> dict[str, object]:
    got = understand(text, CONTEXT)
    assert got.tool == "dispatch_task", text
    return dict(got.arguments)


@pytest.mark.parametrize(
    ("text", "agent", "model"),
    [
        ("fix the failing invoice test, use opus", "claude", "opus"),
        ("Use oppose and fix the tests", "claude", "opus"),
        ("with Claude Sonnet, tidy the tests", "claude", "sonnet"),
        ("using cloud code with sonnets, tidy the tests", "claude", "sonnet"),
        ("have clawed use hi ku to name the release", "claude", "haiku"),
        ("tidy the tests with claude opus four point five", "claude", "claude-opus-4-5"),
        ("tidy the tests with Opus 4.5, please", "claude", "claude-opus-4-5"),
        ("have codecs look at the parser with g p t five point five", "codex", "gpt-5.5"),
        ("use GPT-6 Luna for this: write tests", "codex", "gpt-6-luna"),
        ("use gpt six point one soul and write tests", "codex", "gpt-6.1-sol"),
        ("use luna for this: write tests", "codex", "luna"),
        ("write the tests using the terra model", "codex", "terra"),
        ("write the tests with codex sol", "codex", "sol"),
        ("fix the login bug with o3 mini", "codex", "o3-mini"),
        ("use chat gpt for this: summarise the code", "codex", None),
        ("have Codex use opus to fix the tests", "codex", "opus"),
        ("have code x fix the tests", "codex", None),
        ("ask open ai codex to fix the tests", "codex", None),
        ("get cloud code to fix the tests", "claude", None),
    ],
)
def test_a_model_is_known_by_its_sound_and_brings_its_agent(text: str, agent: str, model: str | None) -> None:
    got = understood(text)

    assert (got.get("agent"), got.get("model")) == (agent, model)
    assert not {"opus", "sonnet", "haiku", "luna", "gpt"} & set(str(got["description"]).lower().split())


@pytest.mark.parametrize(
    "text",
    [
        "use luna as the font on the website",
        "deploy it with terra",
        "put the server on sol",
        "compress the recordings with opus",
        "write a haiku about the build",
        "we should fix what they oppose",
        "use cloud storage for the images",
        "add an oh three sensor",
    ],
)
def test_a_word_that_only_sounds_like_one_is_work(text: str) -> None:
    got = understood(text)

    assert (got.get("agent"), got.get("model")) == (None, None)


def test_nothing_but_a_model_is_no_work() -> None:
    assert understand("use opus", CONTEXT).intent == "unclear"


@pytest.mark.parametrize("model", [name for backend in (CLAUDE, CODEX) for name in backend.models if name.isalpha()])
def test_every_model_that_has_a_word_can_be_asked_for_by_it(model: str) -> None:
    got = understood(f"use {model} for this: fix the tests")

    assert got["model"] == model
    backend = CLAUDE if got["agent"] == "claude" else CODEX
    assert backend.model(model) in backend.models.values()


def test_an_agent_of_the_owners_own_is_known_by_its_name() -> None:
    got = understand("have the house-bot fix the tests", DialogueContext(agents=["claude", "house-bot"]))
    assert got.arguments.get("agent", "house-bot") == "house-bot"
    assert understand("use house bot to fix the tests", DialogueContext(agents=["house-bot"])).arguments == {
        "agent": "house-bot",
        "description": "fix the tests",
    }


@pytest.mark.parametrize(
    ("model", "spoken"),
    [
        ("opus", "Opus"),
        ("claude-opus-4-5", "Opus 4.5"),
        ("claude-sonnet-4-5-20250929", "Sonnet 4.5"),
        ("gpt-6.1-sol", "GPT 6.1 Sol"),
        ("gpt-5.5", "GPT 5.5"),
    ],
)
def test_a_model_has_a_name_for_the_ear(model: str, spoken: str) -> None:
    assert spoken_model(model) == spoken
