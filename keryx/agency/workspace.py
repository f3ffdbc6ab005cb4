"""The server of the owner's mail and calendar, as every task's agent is handed it.

Its tools are judged by what they are, in the table of `keryx.workspace.tools.table`: what a server or an agent says
of a tool decides nothing. Therefore its name is one that nobody else can have given a server: a project brings
settings of its own for the agents that work in it, and in those a name that is known would stand for another program,
or be free of every question. It says what the server is for all the same, because some agents show their model no
more than names.
"""

import functools
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keryx.agents.approver import Ask, Effect
from keryx.agents.equipment import KnownTool, McpServer, McpServers, no_servers
from keryx.config.settings import Settings

if TYPE_CHECKING:
    from keryx.workspace.tools.base import Tool

CALL_S = 180.0
"""How long one of its tools may run; a large attachment over a slow line takes longest."""
OWN = "workspace"
"""The name in `[mcp]` by which an owner puts another server in its place."""

_PASSED_ON = frozenset(
    {
        *("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "SYSTEMROOT"),
        *("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTPLIB2_CA_CERTS"),
    }
)
"""What it needs of the surroundings, in capitals. Some agents hand their servers next to nothing by themselves."""


def workspace_servers(
    folder: Path, settings: Settings, environment: Mapping[str, str], *, secret: str
) -> Callable[[Path], McpServers]:
    """What `Equipment.mcp_servers` asks: the server while the owner is signed in at Google, else none.

    `folder` is where the sign-in is kept, `environment` what agents inherit; `secret` makes its name one that nobody
    can guess, and the same one as long as it is the same.
    """
    if not settings.google.for_agents or OWN in settings.mcp or not sys.executable:
        return no_servers
    zone, api_url = settings.owner.timezone, settings.google.api_url
    name = f"mail_and_calendar_{hashlib.blake2s(secret.encode(), digest_size=3).hexdigest()}"
    passed_on = {each: value for each, value in environment.items() if each.upper() in _PASSED_ON}

    def servers(place: Path) -> McpServers:
        if not _can_start(folder):
            return {}
        command = (
            # The interpreter by its whole path, since the agent's PATH does not hold it, and for its own packages
            # alone: the task's directory is not among them.
            *(sys.executable, "-E", "-P", "-m", "keryx.workspace"),
            *("--folder", str(folder), "--zone", zone, "--files", str(place)),
            *(("--api-url", api_url) if api_url else ()),
        )
        return {name: McpServer(command, environment=passed_on, tools=known_tools(), call_s=CALL_S)}

    return servers


def _can_start(folder: Path) -> bool:
    from keryx.workspace.auth import GoogleAccount, installed

    return GoogleAccount(folder).signed_in and installed() and importlib.util.find_spec("mcp") is not None


@functools.cache
def known_tools() -> Mapping[str, KnownTool]:
    """Its tools by their names."""
    from keryx.workspace.tools.table import TOOLS

    return {name: _known(name, tool) for name, tool in TOOLS.items()}


def _known(name: str, tool: "Tool") -> KnownTool:
    schema = tool.schema()
    return KnownTool(
        doing=tool.doing,
        judge=functools.partial(_judged, name, effect_of(tool)),
        takes=frozenset(schema.get("properties", ())),
        needs=frozenset(schema.get("required", ())),
    )


def effect_of(tool: "Tool") -> Effect:
    """What calling a tool changes, by its hints: a message to others outweighs everything, and taking away, making."""
    if tool.read_only:
        return Effect.READ
    if tool.open_world:
        return Effect.SEND
    return Effect.OUTSIDE if tool.destructive else Effect.CHANGE


def _judged(name: str, effect: Effect, arguments: Mapping[str, Any]) -> Ask:
    from keryx.workspace.tools.saying import asked

    return Ask(asked(name, arguments), effect, detail=shown(arguments))


def shown(arguments: Mapping[str, Any]) -> str:
    """The whole arguments for a screen: a letter's text as it is written, below its name."""
    return "\n".join(_line(name, value) for name, value in arguments.items() if value not in (None, "", [], ()))


def _line(name: str, value: Any) -> str:
    label = name.replace("_", " ")
    if isinstance(value, list | tuple):
        value = ", ".join(str(each) for each in value)
    return f"{label}:\n{value}" if "\n" in str(value) else f"{label}: {value}"
