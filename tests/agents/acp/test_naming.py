"""Which calls of an agent are surely of a tool that the house knows; every doubt makes it a tool nobody knows."""

import json
from pathlib import Path
from typing import Any

import pytest
from acp.schema import ToolCallStart

from keryx.agents.acp.known import KNOWN_AGENTS
from keryx.agents.acp.tools import Surroundings, ToolState
from keryx.agents.approver import Ask, Effect
from keryx.agents.equipment import KnownTool, McpServer

PLACE = Path("/srv/project")
SERVER = "mail_and_calendar_7f3a91"
FIND = KnownTool(
    "Searching the mail",
    lambda arguments: Ask(f"search the mail for {arguments.get('query')}", Effect.READ),
    frozenset({"query", "most"}),
    frozenset({"query"}),
)
SERVERS = {SERVER: McpServer(("serve",), tools={"search_mail": FIND}), "notes": McpServer(("notes",))}


def call(tool_title: str | None = None, **fields: Any) -> ToolState:
    state = ToolState(Surroundings(PLACE, SERVERS, tool_title))
    state.merge(ToolCallStart.model_validate({"toolCallId": "c1", "sessionUpdate": "tool_call", "title": "", **fields}))
    return state


QUERY = {"query": "from:anna"}


@pytest.mark.parametrize(
    "title",
    [
        f"mcp__{SERVER}__search_mail",
        f"{SERVER}__search_mail",
        f"{SERVER}_search_mail",
        f"{SERVER}/search_mail",
        f"search_mail ({SERVER} MCP Server)",
    ],
)
def test_a_tool_is_known_in_every_usual_spelling(title: str):
    state = call(title=title, kind="other", rawInput=QUERY)
    assert state.ask() == Ask("search the mail for from:anna", Effect.READ)
    assert state.activity() == "Searching the mail"


def test_arguments_in_their_own_envelope_are_found():
    raw = {"server": SERVER, "tool": "search_mail", "arguments": QUERY}
    assert call(title=f"Tool: {SERVER}/search_mail", rawInput=raw).ask().text == "search the mail for from:anna"


@pytest.mark.parametrize(
    "fields",
    [
        # The words of a command, of an edit, of a page to fetch.
        {"title": f"{SERVER}_search_mail", "kind": "execute", "rawInput": {"command": "rm -rf ~"}},
        {"title": f"{SERVER}_search_mail", "kind": "other", "rawInput": {"command": "rm -rf ~"}},
        {"title": f"{SERVER}_search_mail", "kind": "edit", "locations": [{"path": "/etc/passwd"}]},
        {"title": f"{SERVER}_search_mail", "kind": "other", "locations": [{"path": "/etc/passwd"}], "rawInput": QUERY},
        {"title": f"{SERVER}_search_mail", "kind": "fetch", "rawInput": QUERY},
        # Not the tool alone, not this tool, not our server.
        {"title": f"{SERVER}_search_mail and more", "kind": "other", "rawInput": QUERY},
        {"title": f"see {SERVER}_search_mail", "kind": "other", "rawInput": QUERY},
        {"title": f"{SERVER}_send_mail", "kind": "other", "rawInput": QUERY},
        {"title": "mail_and_calendar_search_mail", "kind": "other", "rawInput": QUERY},
        {"title": "notes_search_mail", "kind": "other", "rawInput": QUERY},
        {"title": "search_mail", "kind": "other", "rawInput": QUERY},
        # Arguments that it does not have, lacks, or that nobody told of.
        {"title": f"{SERVER}_search_mail", "kind": "other", "rawInput": {**QUERY, "prompt": "do all"}},
        {"title": f"{SERVER}_search_mail", "kind": "other", "rawInput": {"most": 3}},
        {"title": f"{SERVER}_search_mail", "kind": "other", "rawInput": {}},
        {"title": f"{SERVER}_search_mail", "kind": "other"},
    ],
    ids=str,
)
def test_what_is_not_surely_ours_is_not_freed(fields: dict[str, Any]):
    assert call(**fields).ask().effect is not Effect.READ


def test_an_agent_that_titles_every_call_by_its_tool_may_leave_the_arguments_out():
    spelling = KNOWN_AGENTS["opencode"].tool_title
    assert call(spelling, title=f"{SERVER}_search_mail", kind="other", rawInput={}).ask().effect is Effect.READ
    assert call(spelling, title=f"{SERVER}_search_mail", kind="other", rawInput=QUERY).ask().effect is Effect.READ
    assert call(spelling, title=f"mcp__{SERVER}__search_mail", kind="other").ask().effect is Effect.UNKNOWN
    assert call(spelling, title=f"{SERVER}_search_mail", kind="execute").ask().effect is Effect.UNKNOWN


@pytest.mark.parametrize(
    ("owners", "rules"),
    [
        (None, {"edit": "ask", "bash": "ask", "webfetch": "ask", "external_directory": "ask", "notes_*": "ask"}),
        ('{"bash":"allow"}', {"bash": "allow", "notes_*": "ask"}),
        ('{"notes_*":"allow","*":"ask"}', {"notes_*": "allow", "*": "ask"}),
        ('"allow"', {"*": "allow", "notes_*": "ask"}),
        (
            "not json",
            {"edit": "ask", "bash": "ask", "webfetch": "ask", "external_directory": "ask", "notes_*": "ask"},
        ),
    ],
    ids=["none", "some", "about this server", "one for all", "torn"],
)
def test_opencode_is_told_to_ask_about_every_server_that_the_owners_rules_do_not_name(
    owners: str | None, rules: dict[str, str]
):
    environment = {} if owners is None else {"OPENCODE_PERMISSION": owners}
    told = json.loads(KNOWN_AGENTS["opencode"].asking(environment, ["notes"])["OPENCODE_PERMISSION"])
    assert list(told.items()) == list(rules.items())
    assert KNOWN_AGENTS["goose"].asking(environment, ["notes"]) == {}
