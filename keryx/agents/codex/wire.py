"""What is read of the messages of `codex app-server`: parsed once, leniently, with what nobody here needs left out.

The field names are the protocol's own, in camel case on the wire. The tests hold these models against the published
types of the `openai-codex` package, which are not used here since loading them takes most of a second.
"""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

__all__ = [
    "AsyncQuestion",
    "CommandAction",
    "FileUpdate",
    "Item",
    "Notification",
    "Permissions",
    "Request",
    "ServerStatus",
    "Thread",
    "Turn",
    "TurnError",
    "parsed",
]


class _Wire(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, extra="ignore", frozen=True)


class AsyncQuestion(_Wire):
    """A question the agent does not wait for."""

    title: str
    options: list[str] | None = None


class CommandAction(_Wire):
    """What Codex makes of a part of a command: `read`, `listFiles`, `search` or `unknown`."""

    type: str
    name: str | None = None
    query: str | None = None


class FileUpdate(_Wire):
    """One file of a change; `kind` is `{"type": "add" | "delete" | "update"}`."""

    path: str
    kind: dict[str, Any] = Field(default_factory=dict)
    diff: str = ""


class Item(_Wire):
    """One thing in a turn, of any kind; the fields of the other kinds are empty."""

    type: str
    id: str = ""
    status: str | None = None
    text: str = ""
    phase: str | None = None
    questions: list[AsyncQuestion] | None = None
    client_id: str | None = None
    command: str = ""
    command_actions: list[CommandAction] = Field(default_factory=list)
    changes: list[FileUpdate] = Field(default_factory=list)
    server: str = ""
    tool: str = ""
    query: str = ""


class TurnError(_Wire):
    """Why a turn failed, or why something is tried again."""

    message: str = ""
    codex_error_info: str | dict[str, Any] | None = None
    additional_details: str | None = None


class Turn(_Wire):
    """`status`: inProgress, completed, interrupted or failed."""

    id: str
    status: str = "inProgress"
    error: TurnError | None = None
    items: list[Item] = Field(default_factory=list)


class Thread(_Wire):
    """One conversation."""

    id: str
    turns: list[Turn] = Field(default_factory=list)


class _Tokens(_Wire):
    input_tokens: int = 0
    cached_input_tokens: int = 0
    output_tokens: int = 0


class _Usage(_Wire):
    total: _Tokens
    last: _Tokens


class _Status(_Wire):
    type: str


class Notification(_Wire):
    """Any notification about a thread; the fields of the other kinds are empty."""

    thread_id: str | None = None
    turn_id: str | None = None
    item: Item | None = None
    turn: Turn | None = None
    status: _Status | None = None
    token_usage: _Usage | None = None
    error: TurnError | None = None
    will_retry: bool = False
    request_id: str | int | None = None


class ServerStatus(_Wire):
    """How a server of tools is coming up: starting, ready, failed or cancelled."""

    name: str
    status: str


class _FileSystem(_Wire):
    write: list[str] | None = None


class _Network(_Wire):
    enabled: bool | None = None


class Permissions(_Wire):
    """What a command, or the rest of the turn, is to be allowed beside what it may already."""

    network: _Network | None = None
    file_system: _FileSystem | None = None


class _Host(_Wire):
    host: str


class _Option(_Wire):
    label: str


class _Question(_Wire):
    id: str
    question: str
    options: list[_Option] | None = None


class Request(_Wire):
    """Any call of the app-server's; the fields of the other kinds are empty."""

    item_id: str = ""
    command: str | None = None
    reason: str | None = None
    grant_root: str | None = None
    network_approval_context: _Host | None = None
    additional_permissions: Permissions | None = None
    permissions: dict[str, Any] = Field(default_factory=dict)
    questions: list[_Question] = Field(default_factory=list)
    server_name: str = ""
    message: str = ""
    meta: dict[str, Any] | None = Field(default=None, alias="_meta")


_Model = TypeVar("_Model", bound=_Wire)


def parsed(model: type[_Model], message: object) -> _Model | None:
    """`message` as `model`; None when it does not look like one."""
    try:
        return model.model_validate(message)
    except ValidationError:
        return None
