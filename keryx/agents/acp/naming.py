"""Which of the house's tools an ACP agent means: agents name the tools of MCP servers each in its own way. Pure.

A wrong match could free what nobody looked at, so all has to fit: a title that is nothing but the names of the server
and the tool, in a usual spelling, a kind that says nothing else, and arguments that the tool has. The server's name is
one that nobody could have guessed, which keeps a project's own servers out. Anything else is a tool nobody knows.
"""

from collections.abc import Mapping
from typing import Any

from keryx.agents.equipment import KnownTool, McpServers

SPELLINGS = (
    *("mcp__{server}__{tool}", "{server}__{tool}", "{server}_{tool}", "{server}/{tool}", "{server}.{tool}"),
    *("Tool: {server}/{tool}", "{tool} ({server} MCP Server)"),
)
"""How agents write the tool of a server as a call's title."""


def tool_meant(
    title: str, kind: str | None, arguments: Mapping[str, Any], servers: McpServers, *, spelling: str | None = None
) -> tuple[KnownTool, Mapping[str, Any]] | None:
    """The tool that a call is of, and what it is called with; None: not surely one that the house knows.

    `spelling`: the agent is known to title every call by its tool's name, so written, and to leave its arguments out
    when it asks; then the title alone is enough, and the arguments may be empty.
    """
    if kind not in (None, "other"):
        return None
    match arguments:
        case {"server": str(_), "tool": str(_), "arguments": Mapping() as inner} if len(arguments) == 3:
            arguments = inner
    for name, server in servers.items():
        for tool, known in server.tools.items():
            if title in {each.format(server=name, tool=tool) for each in ((spelling,) if spelling else SPELLINGS)}:
                fits = known.fits(arguments) if arguments else spelling is not None
                return (known, arguments) if fits else None
    return None
