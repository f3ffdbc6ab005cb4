"""Every setting: what it means, its unit, its default, and what is allowed. Pure: files.py says where they come from.

Each section of `config.toml` is a model of its own. Plain pydantic: the values arrive already layered (environment
over secrets over config), because a wrong one must be traced back to the line it was read from. No secret stands in a
repr.
"""

import ipaddress
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

SECRET_FIELDS = frozenset({"owner.pin", "twilio.auth_token"})
"""Fields whose value is never shown, in no message."""
PRIVATE_FIELDS = SECRET_FIELDS | {"owner.numbers", "twilio.number"}
"""Those and the telephone numbers, which may be shown masked only."""


def system_timezone(environ: Mapping[str, str] = os.environ, etc: Path = Path("/etc")) -> str:
    """The machine's IANA zone: `TZ`, else what `/etc/localtime` points to, else `/etc/timezone`, else UTC."""
    candidates = [environ.get("TZ", "").lstrip(":")]
    localtime = etc / "localtime"
    if localtime.is_symlink():
        candidates.append(str(localtime.resolve()).partition("zoneinfo/")[2])
    try:
        candidates.append((etc / "timezone").read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError):
        pass
    return next((name for name in candidates if name and _is_zone(name)), "UTC")


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        # OSError: a name that is a folder of the zone database, such as "Europe".
        return False
    return True


def _text(value: Any) -> Any:
    """A string without the spaces around it."""
    return value.strip() if isinstance(value, str) else value


def _unset(value: Any) -> Any:
    """For fields that may be None: "" means not set."""
    return None if _text(value) == "" else _text(value)


def _several(value: Any) -> Any:
    """ "a, b" and ["a", "b"] mean the same."""
    if isinstance(value, str):
        return tuple(part for part in (part.strip() for part in value.split(",")) if part)
    return value


def _whole(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("not a number")
    return _text(value)


def _pin(value: Any) -> Any:
    if isinstance(value, int):
        # TOML and JSON drop or refuse leading zeros of a number: 001234 would be another PIN or none.
        raise ValueError('a number loses its leading zeros; quote it: pin = "…"')
    pin = _unset(value)
    if pin is not None and not (isinstance(pin, str) and re.fullmatch(r"[0-9]{4,12}", pin)):
        raise ValueError("not 4 to 12 digits")
    return pin


def e164(number: str) -> str:
    """`number` as "+" and digits; raises `ValueError` when no such number can exist."""
    # Imported only when a number is set: it loads every country's numbering plan.
    import phonenumbers

    try:
        parsed = phonenumbers.parse(number)
    except phonenumbers.NumberParseException as error:
        raise ValueError("not an E.164 number") from error
    if not phonenumbers.is_possible_number(parsed):
        raise ValueError("no such number can exist")
    return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)


def _numbers(values: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for place, value in enumerate(values, start=1):
        try:
            found[e164(value)] = None
        except ValueError as error:
            raise ValueError(f"number {place} of {len(values)}: {error}") from None
    return tuple(found)


def _zone(name: str) -> str:
    if not _is_zone(name):
        raise ValueError("no such time zone")
    return name


def _host(host: str) -> str:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        if not re.fullmatch(r"(?!-)[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*", host) or re.fullmatch(r"[\d.]+", host):
            raise ValueError("not an address or a host name") from None
    return host.strip("[]")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach `host`."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("not an address") from None
    if parts.username or parts.password:
        raise ValueError("a user name or password in it")
    if (
        not host
        or parts.scheme not in ("https", "http")
        or parts.path not in ("", "/")
        or parts.query
        or parts.fragment
    ):
        raise ValueError("not an origin")
    if parts.scheme == "http" and not is_loopback(host):
        raise ValueError("plain http to another machine")
    name = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{name}" + ("" if port in (None, 443 if parts.scheme == "https" else 80) else f":{port}")


def _folder(path: Path) -> Path:
    folder = path.expanduser()
    if not folder.is_absolute():
        raise ValueError("not an absolute path")
    if not folder.is_dir():
        raise ValueError("no such folder")
    return folder


def _project(name: str) -> str:
    if not re.fullmatch(r"\w[\w .+-]*", name):
        raise ValueError(f"{name!r} is not a plain folder name")
    return name


Text = Annotated[str, BeforeValidator(_text)]
Whole = Annotated[int, BeforeValidator(_whole)]


class Section(BaseModel):
    """What every section shares: no unknown keys, no changes after loading, no values in pydantic's own errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, validate_default=True)


class Owner(Section):
    """Whose daemon this is."""

    name: Annotated[Text, Field(max_length=80)] = Field(default="", description="at most 80 characters, or empty")
    """What Keryx calls you; empty: it does not use a name."""

    numbers: Annotated[tuple[str, ...], BeforeValidator(_several), AfterValidator(_numbers)] = Field(
        default=(), repr=False, description='telephone numbers as "+15551234567", several separated by commas'
    )
    """The telephone numbers you ring from, E.164. Anybody else is turned away."""

    pin: Annotated[str | None, BeforeValidator(_pin)] = Field(
        default=None, repr=False, description='4 to 12 digits in quotes, as "001234"'
    )
    """What a telephone caller says or keys in before anything may be done; kept in secrets.toml."""

    timezone: Annotated[Text, AfterValidator(_zone)] = Field(
        default_factory=system_timezone, description='an IANA time zone, as "Europe/Berlin"'
    )
    """Where "today" and "tomorrow" are meant. Default: this machine's zone."""


class Server(Section):
    """Where the daemon listens."""

    host: Annotated[Text, AfterValidator(_host)] = Field(
        default="127.0.0.1", description="an IP address or host name of this machine"
    )
    """The address to listen on; the default is reachable from this machine only."""

    port: Annotated[Whole, Field(ge=0, le=65535)] = Field(
        default=8080, description="a whole number from 0 (any free port) to 65535"
    )
    """The TCP port to listen on; 0 takes any free one."""

    public_url: Annotated[Annotated[Text, AfterValidator(_origin)] | None, BeforeValidator(_unset)] = Field(
        default=None, description='an https origin, as "https://keryx.example.org" (http: this machine only)'
    )
    """How the world reaches this daemon, through a tunnel or proxy; the telephone line needs it."""


class Twilio(Section):
    """The telephone line; all three, or none."""

    account_sid: Annotated[Annotated[Text, Field(pattern=r"^AC[0-9A-Za-z]+$")] | None, BeforeValidator(_unset)] = Field(
        default=None, description="the account's SID from Twilio's console, beginning with \"AC\""
    )
    """Which account the line belongs to."""

    auth_token: Annotated[Text | None, BeforeValidator(_unset)] = Field(
        default=None, repr=False, description="the account's auth token from Twilio's console"
    )
    """What Twilio signs its requests with; kept in secrets.toml."""

    number: Annotated[Annotated[Text, AfterValidator(e164)] | None, BeforeValidator(_unset)] = Field(
        default=None, repr=False, description='one telephone number as "+15551234567"'
    )
    """The number that is rung, E.164."""


class Projects(Section):
    """What may be worked on, by the names people say."""

    root: Annotated[Annotated[Path, AfterValidator(_folder)] | None, BeforeValidator(_unset)] = Field(
        default=None, description="an existing folder, as an absolute path or one beginning with ~"
    )
    """The folder whose child folders are the projects."""

    names: Annotated[tuple[Annotated[str, AfterValidator(_project)], ...], BeforeValidator(_several)] = Field(
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

    default: Annotated[Text, Field(pattern=r"^[a-z][a-z0-9_-]*$")] = Field(
        default="claude", description='an agent\'s name in lower case, as "claude" or "codex"'
    )
    """The agent a task goes to when the caller names none."""


class Tasks(Section):
    """How much at once, and how much in a day."""

    max_concurrent: Annotated[Whole, Field(ge=1, le=64)] = Field(default=2, description="a whole number from 1 to 64")
    """How many tasks run at the same time; the others wait their turn."""

    daily_cap: Annotated[Annotated[Whole, Field(ge=1, le=100_000)] | None, BeforeValidator(_unset)] = Field(
        default=None, description="a whole number from 1 to 100000; leave it out for no limit"
    )
    """How many tasks may be started in one of the owner's days; None: no limit."""


class Voice(Section):
    """How a call is held."""

    engine: Literal["cascade"] = Field(default="cascade", description='"cascade"')
    """`cascade`: hear, think and speak with parts on this machine."""

    weights: Annotated[Annotated[Path, AfterValidator(_folder)] | None, BeforeValidator(_unset)] = Field(
        default=None, description="an existing folder, as an absolute path or one beginning with ~"
    )
    """A folder with the recogniser's weights, tried before the installed packages."""

    download: bool = Field(default=False, description="true or false")
    """Whether the weights may be fetched from the public model hub when no other source has them."""


class Settings(Section):
    """Everything the owner can set, checked."""

    owner: Owner = Field(default_factory=Owner)
    server: Server = Field(default_factory=Server)
    twilio: Twilio = Field(default_factory=Twilio)
    projects: Projects = Field(default_factory=Projects)
    agents: Agents = Field(default_factory=Agents)
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
"""Each section's name and model, in the order of the documentation."""


def allowed(section: str, field: str) -> str:
    """In words, what `section.field` may hold."""
    return SECTIONS[section].model_fields[field].description or "see the documentation"
