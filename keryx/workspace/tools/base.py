"""What a tool of the workspace server is, and how its arguments are described and checked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from keryx.errors import Refused
from keryx.workspace.features import Feature

if TYPE_CHECKING:
    from keryx.workspace.workspace import Workspace

MOST_FAULTS = 5


class Arguments(BaseModel):
    """A tool's arguments: nothing unknown, and nothing converted but digits that stand for a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Nothing(Arguments):
    """No arguments."""


Id = Annotated[str, Field(min_length=1, max_length=1_100)]
PageToken = Annotated[
    str, Field(max_length=20_000, description="To get on: what the page before said. Empty: the first.")
]


@dataclass(frozen=True)
class Tool:
    """One tool. The hints are MCP's; what becomes of a call follows from them and the task's mode."""

    name: str
    title: str
    """For a list: "Search mail"."""
    doing: str
    """For a person, while it runs: "Searching the mail"."""
    description: str
    """For a model."""
    arguments: type[Arguments]
    feature: Feature
    """What the owner has to have granted."""
    run: "Callable[[Workspace, Any], str]"
    """Does it, and says in words for a model what came of it. Raises `KeryxError`."""
    read_only: bool = False
    """Changes nothing anywhere."""
    destructive: bool = False
    """Takes away or changes what was there; the others only add."""
    open_world: bool = False
    """Other people see it."""
    idempotent: bool = True
    """The same call again has no further effect."""

    def schema(self) -> dict[str, Any]:
        """Its arguments as a JSON schema, as plain as models and agents like it: no references, choices or titles."""
        return _plain(self.arguments.model_json_schema())

    def parse(self, arguments: Mapping[str, Any] | None) -> Arguments:
        """The checked arguments; `Refused` says in words what is wrong with which."""
        # Some models write null for what they leave out.
        given = {name: value for name, value in (arguments or {}).items() if value is not None}
        try:
            return self.arguments.model_validate(given)
        except ValidationError as error:
            faults = error.errors(include_input=False, include_url=False, include_context=False)[:MOST_FAULTS]
            said = "; ".join(_fault(each["loc"], each["msg"]) for each in faults)
            raise Refused(f"{self.name}: {said}; nothing was done, call it again") from None


def _fault(place: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part)[:60] for part in place) or "arguments"
    return f"{where}: {message[:1].lower()}{message[1:]}"


def _plain(schema: Any) -> Any:
    if isinstance(schema, dict):
        match schema:
            case {"anyOf": [dict(kind), {"type": "null"}], **others}:  # what may be left out, and is null inside
                schema = {**kind, **{key: value for key, value in others.items() if value is not None}}
        return {key: _plain(value) for key, value in schema.items() if not (key == "title" and isinstance(value, str))}
    if isinstance(schema, list):
        return [_plain(value) for value in schema]
    return schema
