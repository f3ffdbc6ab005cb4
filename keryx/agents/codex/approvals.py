"""What Codex wants to be allowed or to know, as an `Ask`, and what it is told.

When something is denied, Codex's model sees that "the user rejected" it, and goes on; the protocol has no room for a
reason. The reason goes to it where there is room: as the answer to a question.
"""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from keryx.agents.adapter import AskOwner
from keryx.agents.approver import Answer, Ask, Effect
from keryx.agents.codex.items import unwrapped
from keryx.agents.codex.jsonrpc import METHOD_NOT_FOUND, Params, RpcError
from keryx.agents.codex.settings import Hold
from keryx.agents.codex.wire import FileUpdate, Permissions, Request, parsed
from keryx.agents.effects import effect_of_command, effect_of_path, spoken_command, worst
from keryx.agents.equipment import McpServers, known_tool
from keryx.agents.titles import short_path

log = logging.getLogger(__name__)


async def answered(
    method: str,
    params: Params,
    ask: AskOwner,
    *,
    inside: Path,
    hold: Hold,
    changes: Mapping[str, Sequence[FileUpdate]],
    servers: McpServers,
) -> Any:
    """The result of a call of the app-server's; raises `RpcError` for one that is not known here.

    `ask` puts things to whoever decides; whatever else goes wrong is a denial.
    """
    request = parsed(Request, params)
    match method:
        case "item/commandExecution/requestApproval":
            return {"decision": await _decision(ask, request and command_ask(request, inside, hold))}
        case "item/fileChange/requestApproval":
            wanted = request and change_ask(request, changes.get(request.item_id, ()), inside)
            return {"decision": await _decision(ask, wanted)}
        case "item/permissions/requestApproval":
            granted = request and (await _asked(ask, permissions_ask(request, inside))).allowed
            return {"permissions": request.permissions if request and granted else {}, "scope": "turn"}
        case "item/tool/requestUserInput":
            return {"answers": await _answers(ask, request) if request else {}}
        case "mcpServer/elicitation/request":
            return await _elicited(ask, request, servers)
        case "applyPatchApproval" | "execCommandApproval":  # of older versions
            return {"decision": "denied"}
    log.info("request of an unknown kind", extra={"method": method})
    raise RpcError(METHOD_NOT_FOUND, f"{method} is not supported")


def command_ask(request: Request, inside: Path, hold: Hold) -> Ask:
    """What is to be asked before a command may run."""
    if request.network_approval_context is not None:
        host = request.network_approval_context.host
        return Ask(f"connect to {host}", Effect.NETWORK, detail=unwrapped(request.command or ""))
    command = unwrapped(request.command or "")
    effect = effect_of_command(command, inside)
    text = spoken_command(command, inside)
    if hold.wary and effect is Effect.RUN:
        # Its words do not show what it does, and no sandbox holds it once it is allowed.
        effect = Effect.UNKNOWN if hold.policy == "untrusted" else Effect.OUTSIDE
        text += " without its sandbox"
    if request.additional_permissions is not None:
        effect = worst((effect, _more(request.additional_permissions, inside)))
    return Ask(text, effect, detail=_with_reason(command, request.reason))


def change_ask(request: Request, changes: Sequence[FileUpdate], inside: Path) -> Ask:
    """What is to be asked before files may be changed; without knowing which, it counts as outside."""
    effects = [effect_of_path(change.path, inside) for change in changes]
    if request.grant_root is not None:
        effects.append(effect_of_path(request.grant_root, inside))
    effect = worst(effects) if effects else Effect.OUTSIDE
    names = [short_path(change.path, inside) for change in changes]
    listed = " and ".join(Path(name).name for name in names[:2]) or "files"
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    where = " outside its directory" if effect is Effect.OUTSIDE else ""
    detail = "\n".join(f"{change.path}\n{change.diff}" for change in changes)
    return Ask(f"change {listed}{more}{where}", effect, detail=_with_reason(detail, request.reason))


def permissions_ask(request: Request, inside: Path) -> Ask:
    """What is to be asked before the rest of the turn may do more than before."""
    wanted = parsed(Permissions, request.permissions) or Permissions()
    network, writes = _wants_network(wanted), _writes(wanted)
    texts = ["use the network"] * network + ["write outside its directory"] * bool(writes)
    return Ask(
        " and ".join(texts) or "have more permissions",
        worst((_more(wanted, inside), Effect.NETWORK if network else Effect.OUTSIDE)),
        detail=_with_reason("\n".join(writes), request.reason),
    )


def _more(permissions: Permissions, inside: Path) -> Effect:
    effects = [effect_of_path(path, inside) for path in _writes(permissions)]
    if _wants_network(permissions):
        effects.append(Effect.NETWORK)
    return worst(effects)


def _wants_network(permissions: Permissions) -> bool:
    return permissions.network is not None and bool(permissions.network.enabled)


def _writes(permissions: Permissions) -> list[str]:
    return (permissions.file_system and permissions.file_system.write) or []


async def _decision(ask: AskOwner, wanted: Ask | None) -> str:
    # "accept" is for this once: what is allowed for the session would be asked about no more.
    return "accept" if wanted is not None and (await _asked(ask, wanted)).allowed else "decline"


async def _answers(ask: AskOwner, request: Request) -> dict[str, Any]:
    """The answers to all questions, one after the other, by their ids."""
    answers = {}
    for question in request.questions:
        choices = tuple(option.label for option in question.options or ())
        answer = await _asked(ask, Ask(question.question, choices=choices))
        answers[question.id] = {"answers": [answer.text] if answer.text else []}
    return answers


async def _elicited(ask: AskOwner, request: Request | None, servers: McpServers) -> dict[str, Any]:
    """A tool of an MCP server wants to run, or its server wants something of its own, which is denied."""
    if request is None or (request.meta or {}).get("codex_approval_kind") != "mcp_tool_call":
        return {"action": "decline"}
    allowed = (await _asked(ask, tool_ask(request, servers))).allowed
    return {"action": "accept", "content": {}} if allowed else {"action": "decline"}


def tool_ask(request: Request, servers: McpServers) -> Ask:
    """What is to be asked before a tool of an MCP server may run."""
    meta = request.meta or {}
    name, parameters = _quoted(request.message), meta.get("tool_params")
    known = known_tool(servers, request.server_name, name)
    if known is not None:
        return known.judge(parameters if isinstance(parameters, Mapping) else {})
    tool = str(meta.get("tool_title") or name or "a tool")
    return Ask(f"use {tool} from {request.server_name}", Effect.UNKNOWN, detail=f"{tool} {parameters or ''}".strip())


async def _asked(ask: AskOwner, wanted: Ask) -> Answer:
    try:
        return await ask(wanted)
    except Exception:  # the edge of whoever decides: what cannot be asked is not allowed
        log.exception("could not be asked")
        return Answer(False)


def _quoted(message: str) -> str:
    """What stands in the last quotation marks: `Allow the kx MCP server to run tool "echo"?`."""
    parts = message.rsplit('"', 2)
    return parts[1] if len(parts) == 3 else ""


def _with_reason(detail: str, reason: str | None) -> str:
    return f"{detail}\n\nCodex says why: {reason}" if reason else detail
