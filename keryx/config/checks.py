"""What a setting's value may look like: one function per kind, each raising `ValueError` with half a sentence."""

import ipaddress
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BeforeValidator

AGENT_NAME = r"^[a-z][a-z0-9_-]{0,39}$"
OUR_AGENTS = frozenset({"claude", "codex", "fake", "native"})
"""Names that no agent of the owner's own may have."""
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
"""How a word of a command line begins that sets a variable for it."""


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


def text(value: Any) -> Any:
    """A string without the spaces around it."""
    return value.strip() if isinstance(value, str) else value


def unset(value: Any) -> Any:
    """For fields that may be None: "" means not set."""
    return None if text(value) == "" else text(value)


def several(value: Any) -> Any:
    """ "a, b" and ["a", "b"] mean the same."""
    if isinstance(value, str):
        return tuple(part for part in (part.strip() for part in value.split(",")) if part)
    return value


def whole(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("not a number")
    return text(value)


def pin(value: Any) -> Any:
    if isinstance(value, int):
        # TOML and JSON drop or refuse leading zeros of a number: 001234 would be another PIN or none.
        raise ValueError('a number loses its leading zeros; quote it: pin = "…"')
    pin = unset(value)
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


def numbers(values: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for place, value in enumerate(values, start=1):
        try:
            found[e164(value)] = None
        except ValueError as error:
            raise ValueError(f"number {place} of {len(values)}: {error}") from None
    return tuple(found)


def zone(name: str) -> str:
    if not _is_zone(name):
        raise ValueError("no such time zone")
    return name


def host(host: str) -> str:
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


def origin(url: str) -> str:
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


def folder(path: Path) -> Path:
    folder = path.expanduser()
    if not folder.is_absolute():
        raise ValueError("not an absolute path")
    if not folder.is_dir():
        raise ValueError("no such folder")
    return folder


def project(name: str) -> str:
    if not re.fullmatch(r"\w[\w .+-]*", name):
        raise ValueError(f"{name!r} is not a plain folder name")
    return name


def variable(name: str) -> str:
    """The name of an environment variable that may be passed on."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError("not the name of a variable")
    if name.upper().startswith("KERYX_"):
        raise ValueError("Keryx's own variables are not passed on")
    return name


def secret(value: str) -> str:
    """A key or a token: one printable word."""
    if not re.fullmatch(r"[!-~]+", value):
        raise ValueError("not one word of plain characters")
    return value


def program(value: str) -> str:
    """A program as a bare name or as an absolute path."""
    path = os.path.expanduser(value)
    if os.sep in path and not os.path.isabs(path):
        raise ValueError("not an absolute path")
    return path


def command_line(line: str) -> list[str]:
    """The words of a command line, as a shell would split it; at least one."""
    words = shlex.split(line)
    if not words:
        raise ValueError("empty")
    return words


def acp_name(name: str) -> str:
    """What an agent of the owner's own may be called."""
    if not re.fullmatch(AGENT_NAME, name):
        raise ValueError(f"{name!r} is no name for an agent")
    if name in OUR_AGENTS:
        raise ValueError(f"{name} is already an agent of its own")
    return name


def acp_command(line: str) -> str:
    """The command line that starts an agent."""
    command_line(line)
    return line


def mcp_server(line: str) -> str:
    """A command line, or the address of a server: https, or http on this machine; no password in it."""
    if "://" not in (line.split() or [""])[0]:
        if all(re.match(ASSIGNMENT, word) for word in command_line(line)):
            raise ValueError("variables and no command")
        return line.strip()
    url = line.strip()
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ValueError("a user name or password in it")
    if not parts.hostname or parts.scheme not in ("https", "http") or re.search(r"\s", url):
        raise ValueError("not an https address")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("plain http to another machine")
    return url


Text = Annotated[str, BeforeValidator(text)]
Whole = Annotated[int, BeforeValidator(whole)]
Real = Annotated[float, BeforeValidator(whole)]
