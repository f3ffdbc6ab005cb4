"""Every setting: what it means, its unit, its default, and what is allowed. Pure: files.py says where they come from.

Each section of `config.toml` is a model of its own. Plain pydantic: the values arrive already layered (environment
over secrets over config), because a wrong one must be traced back to the line it was read from. No secret stands in a
repr.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from keryx.config import checks
from keryx.config.checks import Real, Text, Whole

SECRET_FIELDS = frozenset({"owner.pin", "twilio.auth_token", "claude.api_key", "claude.auth_token", "codex.api_key"})
"""Fields whose value is never shown, in no message."""
PRIVATE_FIELDS = SECRET_FIELDS | {"owner.numbers", "twilio.number"}
"""Those and the telephone numbers, which may be shown masked only."""


Optional = BeforeValidator(checks.unset)
Several = BeforeValidator(checks.several)


class Section(BaseModel):
    """What every section shares: no unknown keys, no changes after loading, no values in pydantic's own errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, validate_default=True)


class Owner(Section):
    """Whose daemon this is."""

    name: Annotated[Text, Field(max_length=80)] = Field(default="", description="at most 80 characters, or empty")
    """What Keryx calls you; empty: it does not use a name."""

    numbers: Annotated[tuple[str, ...], Several, AfterValidator(checks.numbers)] = Field(
        default=(), repr=False, description='telephone numbers as "+15551234567", several separated by commas'
    )
    """The telephone numbers you ring from, E.164. Anybody else is turned away."""

    pin: Annotated[str | None, BeforeValidator(checks.pin)] = Field(
        default=None, repr=False, description='4 to 12 digits in quotes, as "001234"'
    )
    """What a telephone caller says or keys in before anything may be done; kept in secrets.toml."""

    timezone: Annotated[Text, AfterValidator(checks.zone)] = Field(
        default_factory=checks.system_timezone, description='an IANA time zone, as "Europe/Berlin"'
    )
    """Where "today" and "tomorrow" are meant. Default: this machine's zone."""


class Server(Section):
    """Where the daemon listens."""

    host: Annotated[Text, AfterValidator(checks.host)] = Field(
        default="127.0.0.1", description="an IP address or host name of this machine"
    )
    """The address to listen on; the default is reachable from this machine only."""

    port: Annotated[Whole, Field(ge=0, le=65535)] = Field(
        default=8080, description="a whole number from 0 (any free port) to 65535"
    )
    """The TCP port to listen on; 0 takes any free one."""

    public_url: Annotated[Annotated[Text, AfterValidator(checks.origin)] | None, Optional] = Field(
        default=None, description='an https origin, as "https://keryx.example.org" (http: this machine only)'
    )
    """How the world reaches this daemon, through a tunnel or proxy; the telephone line needs it."""


class Twilio(Section):
    """The telephone line; all three, or none."""

    account_sid: Annotated[Annotated[Text, Field(pattern=r"^AC[0-9A-Za-z]+$")] | None, Optional] = Field(
        default=None, description="the account's SID from Twilio's console, beginning with \"AC\""
    )
    """Which account the line belongs to."""

    auth_token: Annotated[Text | None, Optional] = Field(
        default=None, repr=False, description="the account's auth token from Twilio's console"
    )
    """What Twilio signs its requests with; kept in secrets.toml."""

    number: Annotated[Annotated[Text, AfterValidator(checks.e164)] | None, Optional] = Field(
        default=None, repr=False, description='one telephone number as "+15551234567"'
    )
    """The number that is rung, E.164."""


class Projects(Section):
    """What may be worked on, by the names people say."""

    root: Annotated[Annotated[Path, AfterValidator(checks.folder)] | None, Optional] = Field(
        default=None, description="an existing folder, as an absolute path or one beginning with ~"
    )
    """The folder whose child folders are the projects."""

    names: Annotated[tuple[Annotated[str, AfterValidator(checks.project)], ...], Several] = Field(
        default=(), description="names of folders under projects.root, several separated by commas"
    )
    """Which of them count, as folder names; empty: every one that does not begin with a dot."""

    def listed(self) -> tuple[str, ...]:
        """The projects' names as of now, in order; a folder made after the start is found at the next call."""
        if self.names or self.root is None:
            return self.names
        try:
            return tuple(sorted(child.name for child in self.root.iterdir() if _is_project(child)))
        except OSError:
            return ()


def _is_project(folder: Path) -> bool:
    return folder.is_dir() and not folder.name.startswith(".")


class Agents(Section):
    """Who does the work."""

    default: Annotated[Annotated[Text, Field(pattern=checks.AGENT_NAME)] | None, Optional] = Field(
        default=None, description='an agent\'s name in lower case, as "claude" or "codex"'
    )
    """The agent a task goes to when the caller names none; None: the first that is installed and signed in."""

    idle_minutes: Annotated[Real, Field(ge=1, le=1440)] = Field(default=10, description="a number from 1 to 1440")
    """How long nothing may come from an agent that runs no tool before it is stopped."""

    deadline_hours: Annotated[Real, Field(ge=0.1, le=168)] = Field(default=6, description="a number from 0.1 to 168")
    """How long one turn of an agent may take, waiting for answers not counted."""

    pass_environment: Annotated[tuple[Annotated[str, AfterValidator(checks.variable)], ...], Several] = Field(
        default=(), description='names of environment variables, several separated by commas, as "GH_TOKEN"'
    )
    """Variables that agents inherit from the daemon although they look like secrets."""


_Model = Annotated[Annotated[Text, Field(max_length=100)] | None, Optional]
_Program = Annotated[Annotated[Text, AfterValidator(checks.program)] | None, Optional]
_Secret = Annotated[Annotated[Text, AfterValidator(checks.secret)] | None, Optional]

_PROGRAM_ALLOWED = "a program's absolute path, one beginning with ~, or a name on PATH"


class Claude(Section):
    """Claude Code. Without a key or token it works with the login that is stored on this machine."""

    model: _Model = Field(default=None, description='a model\'s name, as "opus" or "sonnet"')
    """The model when a task names none; None: Claude Code's own default."""

    program: _Program = Field(default=None, description=_PROGRAM_ALLOWED)
    """Another `claude` than the one that comes with the package."""

    api_key: _Secret = Field(default=None, repr=False, description="an API key from Anthropic's console, in one word")
    """Pays by use; kept in secrets.toml."""

    auth_token: _Secret = Field(
        default=None, repr=False, description="the token that `claude setup-token` prints, in one word"
    )
    """Works on a subscription without a browser; kept in secrets.toml."""


class Codex(Section):
    """Codex. Without a key it works with the login that is stored on this machine."""

    model: _Model = Field(default=None, description='a model\'s name, as "gpt-5.5"')
    """The model when a task names none; None: Codex's own default."""

    program: _Program = Field(default=None, description=_PROGRAM_ALLOWED)
    """Another `codex` than the one that comes with the package."""

    api_key: _Secret = Field(default=None, repr=False, description="an API key from OpenAI's platform, in one word")
    """Pays by use; kept in secrets.toml. The voice's key is never used for it."""


class Google(Section):
    """The owner's mail and calendar, once `keryx auth login google` has been gone through."""

    for_agents: bool = Field(default=True, description="true or false")
    """Whether agents are handed the tools for mail and calendar; the voice answers from them in any case."""

    api_url: Annotated[Annotated[Text, AfterValidator(checks.origin)] | None, Optional] = Field(
        default=None, description='an https origin, as "https://google.example.org" (http: this machine only)'
    )
    """Another server that speaks Google's interfaces, such as a gateway; None: Google's own."""


class Tasks(Section):
    """How much at once, and how much in a day."""

    max_concurrent: Annotated[Whole, Field(ge=1, le=64)] = Field(default=2, description="a whole number from 1 to 64")
    """How many tasks run at the same time; the others wait their turn."""

    daily_cap: Annotated[Annotated[Whole, Field(ge=1, le=100_000)] | None, Optional] = Field(
        default=None, description="a whole number from 1 to 100000; leave it out for no limit"
    )
    """How many tasks may be started in one of the owner's days; None: no limit."""


class Voice(Section):
    """How a call is held."""

    engine: Literal["cascade"] = Field(default="cascade", description='"cascade"')
    """`cascade`: hear, think and speak with parts on this machine."""

    weights: Annotated[Annotated[Path, AfterValidator(checks.folder)] | None, Optional] = Field(
        default=None, description="an existing folder, as an absolute path or one beginning with ~"
    )
    """A folder with the recogniser's weights, tried before the installed packages."""

    download: bool = Field(default=False, description="true or false")
    """Whether the weights may be fetched from the public model hub when no other source has them."""


_AcpName = Annotated[str, AfterValidator(checks.acp_name)]
_AcpCommand = Annotated[str, AfterValidator(checks.acp_command)]
_McpName = Annotated[str, Field(pattern=checks.AGENT_NAME)]
_McpServer = Annotated[str, AfterValidator(checks.mcp_server)]


class Settings(Section):
    """Everything the owner can set, checked."""

    owner: Owner = Field(default_factory=Owner)
    server: Server = Field(default_factory=Server)
    twilio: Twilio = Field(default_factory=Twilio)
    projects: Projects = Field(default_factory=Projects)
    agents: Agents = Field(default_factory=Agents)
    claude: Claude = Field(default_factory=Claude)
    codex: Codex = Field(default_factory=Codex)
    acp: Mapping[_AcpName, _AcpCommand] = Field(
        default_factory=lambda: MappingProxyType({}),
        description='NAME = "the command that starts it", as opencode = "opencode acp"; the name in lower case',
    )
    """Agents that speak the Agent Client Protocol: what each is called, and the command line that starts it."""

    mcp: Mapping[_McpName, _McpServer] = Field(
        default_factory=lambda: MappingProxyType({}),
        repr=False,
        description='NAME = "the command that starts it" or "https://…"; the name in lower case',
    )
    """Servers of tools that every agent is handed: an address, or a command line with `VARIABLE=value` before it."""

    google: Google = Field(default_factory=Google)
    tasks: Tasks = Field(default_factory=Tasks)
    voice: Voice = Field(default_factory=Voice)

    @property
    def telephone(self) -> bool:
        """Whether a telephone line is configured; a loaded one is complete."""
        return any((self.twilio.account_sid, self.twilio.auth_token, self.twilio.number))

    @model_validator(mode="after")
    def _whole_line(self) -> "Settings":
        if self.telephone and (missing := self._missing_for_telephone()):
            raise ValueError(f"a telephone line is configured, but these are missing: {', '.join(missing)}")
        return self

    def _missing_for_telephone(self) -> list[str]:
        needed = {
            "twilio.account_sid": self.twilio.account_sid,
            "twilio.auth_token": self.twilio.auth_token,
            "twilio.number": self.twilio.number,
            "server.public_url": self.server.public_url,
            "owner.numbers": self.owner.numbers,
            "owner.pin": self.owner.pin,
        }
        return [name for name, value in needed.items() if not value]


SECTIONS: dict[str, type[Section]] = {
    name: field.annotation
    for name, field in Settings.model_fields.items()
    if isinstance(field.annotation, type) and issubclass(field.annotation, Section)
}
"""Each section with fields of ours, and its model, in the order of the documentation."""
TABLES = frozenset(Settings.model_fields.keys() - SECTIONS.keys())
"""The sections whose fields the owner names. A value there may hold a key and is never shown."""


def knows(section: str, field: str) -> bool:
    """Whether `section.field` is a setting there is, or one that the owner may name."""
    return section in TABLES or (section in SECTIONS and field in SECTIONS[section].model_fields)


def is_private(section: str, field: str) -> bool:
    """Whether the value of `section.field` may not be shown."""
    return section in TABLES or f"{section}.{field}" in PRIVATE_FIELDS


def allowed(section: str, field: str) -> str:
    """In words, what `section.field` may hold."""
    described = Settings.model_fields[section] if section in TABLES else SECTIONS[section].model_fields[field]
    return described.description or "see the documentation"
