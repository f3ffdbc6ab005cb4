"""What an ACP agent's tool call would change, and what it is called."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("acp", reason="the ACP library is not installed: pip install 'keryx[acp]'")

from acp.schema import NewSessionResponse, PermissionOption, ToolCallUpdate, Usage

from keryx.agents.acp.events import usage_of
from keryx.agents.acp.known import KNOWN_AGENTS, known_by
from keryx.agents.acp.settings import Choice, choice_of, mode_for, model_for
from keryx.agents.acp.tools import MAX_DETAIL_CHARS, MAX_EAR_CHARS, Surroundings, ToolState, option_for
from keryx.agents.approver import Effect
from keryx.agents.events import TokenUsage

PLACE = Path("/srv/projects/billing")


def tool(**call: Any) -> ToolState:
    """A tool call, by the names of the protocol."""
    state = ToolState(Surroundings(PLACE))
    state.merge(ToolCallUpdate.model_validate({"toolCallId": "c", **call}))
    return state


def at(*paths: str) -> list[dict[str, str]]:
    return [{"path": path} for path in paths]


INSIDE, OUTSIDE = f"{PLACE}/src/ledger.py", "/etc/hosts"
DIFF = {"type": "diff", "path": INSIDE, "oldText": None, "newText": "x"}


@pytest.mark.parametrize(
    ("call", "effect", "text"),
    [
        ({"kind": "read", "locations": at(OUTSIDE)}, Effect.READ, "read hosts"),
        ({"kind": "read", "locations": at("/home/owner/.ssh/id_rsa")}, Effect.OUTSIDE, None),
        ({"kind": "edit", "locations": at(f"{PLACE}/.claude/settings.local.json")}, Effect.OUTSIDE, None),
        ({"kind": "search", "title": "grep"}, Effect.READ, "use a tool: grep"),
        ({"kind": "think"}, Effect.READ, "use a tool that it does not name"),
        (
            {"kind": "fetch", "rawInput": {"url": "https://docs.example/a/b?c=d"}},
            Effect.NETWORK,
            "fetch something from docs.example",
        ),
        ({"kind": "edit", "locations": at(INSIDE)}, Effect.CHANGE, "change ledger.py"),
        ({"kind": "edit", "locations": at("src/ledger.py")}, Effect.CHANGE, "change ledger.py"),
        ({"kind": "edit", "locations": at(INSIDE, OUTSIDE)}, Effect.OUTSIDE, None),
        ({"kind": "edit", "locations": at(f"{PLACE}/../other/a")}, Effect.OUTSIDE, "change a outside the project"),
        ({"kind": "edit"}, Effect.UNKNOWN, None),
        ({"kind": "edit", "rawInput": {"filePath": OUTSIDE}}, Effect.OUTSIDE, None),
        ({"kind": "edit", "rawInput": {"changes": {OUTSIDE: {}, INSIDE: {}}}}, Effect.OUTSIDE, None),
        # An editor's tool that calls what it does its "command".
        ({"kind": "edit", "rawInput": {"command": "create", "path": OUTSIDE}}, Effect.OUTSIDE, None),
        ({"kind": "delete", "locations": at(INSIDE)}, Effect.CHANGE, "delete ledger.py"),
        ({"kind": "move", "rawInput": {"old_path": INSIDE, "new_path": OUTSIDE}}, Effect.OUTSIDE, None),
        ({"kind": "other", "content": [DIFF]}, Effect.CHANGE, "change ledger.py"),
        ({"kind": "execute", "rawInput": {"command": "pytest -q"}}, Effect.RUN, "run the tests with pytest"),
        ({"kind": "execute", "rawInput": {"command": ["bash", "-lc", "git push"]}}, Effect.PUSH, None),
        ({"kind": "execute", "rawInput": {"cmd": ["git", "push", "origin"]}}, Effect.PUSH, None),
        ({"rawInput": {"command": "git push"}}, Effect.PUSH, None),
        # Named only in the title: what it runs is not known.
        ({"kind": "execute", "title": "ls"}, Effect.UNKNOWN, "use a tool: ls"),
        ({"kind": "switch_mode", "title": "Start coding"}, Effect.UNKNOWN, None),
        ({"kind": "other", "title": "`deploy` it"}, Effect.UNKNOWN, "use a tool: deploy it"),
        ({"kind": None}, Effect.UNKNOWN, None),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else None,
)
def test_a_permission_is_asked_for_what_it_would_change(call: dict[str, Any], effect: Effect, text: str | None):
    ask = tool(**call).ask()
    assert ask.effect is effect
    assert text is None or ask.text == text


def test_what_is_asked_is_short_for_the_ear_and_whole_for_the_screen():
    whole = "python -c " + "x" * 9_000
    ask = tool(kind="execute", rawInput={"command": whole}).ask()
    assert ask.detail == whole
    assert len(ask.text) <= MAX_EAR_CHARS
    endless = tool(kind="other", title="y" * 10**6, rawInput={"data": "z" * 10**6}).ask()
    assert len(endless.text) <= MAX_EAR_CHARS
    assert len(endless.detail) <= MAX_DETAIL_CHARS


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"kind": "execute", "title": "`ls`", "rawInput": {"command": "ls -la"}}, "Running ls -la"),
        ({"kind": "edit", "locations": at(INSIDE)}, "Editing src/ledger.py"),
        ({"kind": "read", "locations": at(OUTSIDE)}, "Reading /etc/hosts"),
        ({"kind": "search", "title": "grep", "rawInput": {"pattern": "TODO"}}, "Searching for TODO"),
        ({"kind": "fetch", "rawInput": {"url": "https://a.example/"}}, "Fetching https://a.example/"),
        ({"kind": "other", "title": "Asking  the `oracle`"}, "Asking the oracle"),
        ({}, "Using a tool"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_tool_is_told_of_by_what_it_does(call: dict[str, Any], told: str):
    assert tool(**call).activity() == told


@pytest.mark.parametrize(
    ("allowed", "kinds", "chosen"),
    [
        (True, ["reject_once", "allow_always", "allow_once"], "allow_once"),
        (True, ["allow_always", "reject_once"], None),
        (False, ["allow_once", "reject_always", "reject_once"], "reject_once"),
        (False, ["allow_once", "reject_always"], "reject_always"),
        (False, ["allow_once"], None),
        (True, [], None),
    ],
    ids=str,
)
def test_an_option_is_chosen_by_its_kind(allowed: bool, kinds: list[str], chosen: str | None):
    options = [PermissionOption.model_validate({"optionId": kind, "name": "OK", "kind": kind}) for kind in kinds]
    assert option_for(allowed, options) == chosen


OPENCODE = {"build": "build", "plan": "plan"}
CLAUDE = {"default": "Always Ask", "acceptEdits": "Accept Edits", "plan": "Plan Mode", "bypassPermissions": "Bypass"}
CODEX = {"read-only": "Read Only", "auto": "Default", "full-access": "Full Access"}
GOOSE = {"auto": "auto", "approve": "approve", "smart_approve": "smart_approve", "chat": "chat"}
COPILOT = {f"https://agentclientprotocol.com/protocol/session-modes#{mode}": mode for mode in ("agent", "plan")}


@pytest.mark.parametrize(
    ("theirs", "plan", "ask", "full"),
    [
        (OPENCODE, "plan", "build", None),
        (CLAUDE, "plan", "default", "bypassPermissions"),
        (CODEX, "read-only", "auto", "full-access"),
        # Its own "auto" asks for nothing at all.
        (GOOSE, None, "approve", None),
        (COPILOT, [*COPILOT][1], [*COPILOT][0], None),
        ({}, None, None, None),
    ],
    ids=["opencode", "claude", "codex", "goose", "copilot", "none"],
)
def test_modes_are_matched_only_where_their_names_are_plain(theirs: dict[str, str], plan: str, ask: str, full: str):
    choice = Choice(None, "", theirs)
    assert [mode_for(mode, choice) for mode in ("plan", "ask", "auto", "full", "?")] == [plan, ask, ask, full, None]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("anthropic/opus-5", "anthropic/opus-5"),
        ("opus", "anthropic/opus-5"),
        ("Opus 5", "anthropic/opus-5"),
        ("the big one", "acme/xl"),
        ("mini", "acme/mini"),
        ("acme", None),
        ("haiku", None),
        ("", None),
    ],
)
def test_a_model_is_the_only_one_that_fits(asked: str, found: str | None):
    models = {"anthropic/opus-5": "Opus", "acme/mini": "Mini", "acme/mini-fast": "Mini Fast", "acme/xl": "The Big One"}
    assert model_for(asked, Choice("model", "acme/mini", models)) == found


def test_grouped_options_are_options_too():
    grouped = [{"group": "g", "name": "G", "options": [{"value": "a/b", "name": "B"}]}]
    option = {"id": "m", "name": "M", "category": "model", "type": "select", "currentValue": "a/b", "options": grouped}
    opened = NewSessionResponse.model_validate({"sessionId": "s", "configOptions": [option]})
    assert choice_of("model", opened) == Choice("m", "a/b", {"a/b": "B"})
    assert choice_of("mode", opened) is None


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ({"totalTokens": 107, "inputTokens": 60, "outputTokens": 7, "cachedReadTokens": 40}, TokenUsage(100, 7, 40)),
        ({"totalTokens": 107, "inputTokens": 100, "outputTokens": 7, "cachedReadTokens": 40}, TokenUsage(100, 7, 40)),
        ({"totalTokens": 112, "inputTokens": 100, "outputTokens": 7, "thoughtTokens": 5}, TokenUsage(100, 7, 0)),
        ({"totalTokens": 0, "inputTokens": 0, "outputTokens": 0}, None),
    ],
    ids=["apart", "within", "thoughts", "nothing"],
)
def test_cached_tokens_are_input_however_they_are_counted(said: dict[str, int], meant: TokenUsage | None):
    assert usage_of(Usage.model_validate(said)) == meant


def test_a_known_agent_is_known_by_its_program_whatever_it_is_called():
    assert known_by(("/opt/bin/opencode", "acp")) is KNOWN_AGENTS["opencode"]
    assert known_by(("acme",)) is None
    assert known_by(()) is None
