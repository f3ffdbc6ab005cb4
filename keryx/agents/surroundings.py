"""What of the owner's environment an agent gets to see: everything it needs to feel at home, and no secret."""

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

__all__ = [
    "bundled_program",
    "find_program",
    "inherited_environment",
    "is_credential",
    "small_environment",
    "usual_places",
]

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")

_CREDENTIAL = re.compile(
    # A word of the name that ends like this: OPENAI_API_KEY, PGPASSWORD, AWS_ACCESS_KEY_ID, GITHUB_TOKEN.
    r"(KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASSCODE|CREDENTIALS?|COOKIES?)(_|$)"
    # A whole word: MYSQL_PWD and npm_config__auth, but neither PWD nor SSH_AUTH_SOCK, neither SSH_ASKPASS nor PATH.
    r"|(^|_)(PASS|PAT|PIN|DSN|JWT)(_|$)|_(PWD|AUTH|HEADERS)$"
)
_WITH_PASSWORD = re.compile(r"://[^/\s@]*:[^/\s@]+@")
_PROXY = re.compile(r"(^|_)PROXY$")

_BENDING = re.compile(
    # Ours, and what bends Python: the daemon's own interpreter and packages are not the agent's.
    r"KERYX_|PYTHON|__PYVENV_LAUNCHER__$|VIRTUAL_ENV(_PROMPT)?$"
    # What says that one already runs inside an agent: it would think so itself.
    r"|CLAUDECODE$|CLAUDE_CODE_(ENTRYPOINT|SSE_PORT)$|CODEX_(SANDBOX|THREAD_ID)"
    # What git tells its hooks: every git below would work on that repository (git rev-parse --local-env-vars).
    r"|GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|PREFIX|NAMESPACE)$"
    # What the service manager tells the daemon, and the shell itself.
    r"|NOTIFY_SOCKET$|LISTEN_|WATCHDOG_|JOURNAL_STREAM$|INVOCATION_ID$|MAINPID$|PWD$|OLDPWD$|SHLVL$|_$"
)

_PLACES = (
    *(".local/bin", "bin", ".claude/local", ".npm-global/bin", ".bun/bin", ".volta/bin", ".deno/bin", ".cargo/bin"),
    *(".opencode/bin", ".local/share/pnpm", "Library/pnpm", ".local/share/mise/shims", ".asdf/shims", "go/bin"),
)
_NODES = (".nvm/versions/node/*/bin", ".local/share/fnm/node-versions/*/installation/bin")
_SYSTEM = (
    *("/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin", "/usr/local/bin", "/usr/local/sbin"),
    *("/usr/bin", "/usr/sbin", "/bin", "/sbin", "/snap/bin"),
)


def small_environment(**extra: str) -> dict[str, str]:
    """The few variables a program needs of ours, and `extra`; no keys, and nothing that bends git or Python."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | extra


def is_credential(name: str, value: str = "") -> bool:
    """Whether a variable looks like a secret: by its name, or by an address with a password in its value.

    A proxy's address passes: without it nothing can be reached, and the owner has given it for that. So does a number
    of tokens, which is a limit. Pure.
    """
    name = name.upper()
    if name.endswith("TOKENS") and value.isdecimal():
        return False
    return bool(_CREDENTIAL.search(name) or (_WITH_PASSWORD.search(value) and not _PROXY.search(name)))


def inherited_environment(
    environ: Mapping[str, str],
    pass_on: Collection[str] = (),
    *,
    home: Path | None = None,
    places: Collection[str] | None = None,
    without: Collection[str] | None = None,
) -> dict[str, str]:
    """The owner's surroundings for an agent, out of the daemon's own `environ`.

    All but credentials and what would bend the agent's Python, git or shell; what `pass_on` names is kept in any case.
    A daemon started with an empty environment has agents that find their home, their programs and their letters all the
    same. `home` is the owner's; `places` is what PATH is completed with (None: `usual_places`); `without` is what PATH
    must not hold (None: the folder of the daemon's own interpreter, when that is a virtual environment). With all
    three given, pure.
    """
    home = home or Path(environ.get("HOME") or Path.home())
    if places is None:
        places = usual_places(home)
    if without is None:
        without = [str(Path(sys.prefix) / "bin")] if sys.prefix != sys.base_prefix else []
    if "VIRTUAL_ENV" in environ and "VIRTUAL_ENV" not in pass_on:
        without = {*without, f"{environ['VIRTUAL_ENV'].rstrip('/')}/bin"}
    kept = {
        name: value
        for name, value in environ.items()
        if name in pass_on or not (_BENDING.match(name) or is_credential(name, value))
    }
    if not any(kept.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG")):
        kept["LANG"] = "C.UTF-8"
    # A relative entry would be looked for in whatever project the agent stands in.
    entries = [entry for entry in environ.get("PATH", "").split(os.pathsep) if entry.startswith("/")]
    path = dict.fromkeys(entry for entry in (*entries, *places) if entry.rstrip("/") not in without)
    return kept | {"HOME": str(home), "PATH": os.pathsep.join(path)}


def bundled_program(module: str, inside: str) -> str | None:
    """The program that the package of `module` brings along, at `inside` in its folder; imports nothing."""
    spec = importlib.util.find_spec(module)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((path for folder in folders if os.access(path := os.path.join(folder, inside), os.X_OK)), None)


def usual_places(home: Path) -> list[str]:
    """Where agents' programs are usually installed, whether or not there is anything yet; the newest Node first."""
    return [*(str(home / place) for place in _PLACES), *_nodes(home), *_SYSTEM]


def find_program(name: str, environment: Mapping[str, str]) -> str | None:
    """The executable called `name` on the PATH of `environment`, or at `name` when that is a whole path; else None."""
    if "/" not in name:
        return shutil.which(name, path=environment.get("PATH", os.defpath))
    home = environment.get("HOME")
    path = Path(home, name[2:]) if home and name.startswith("~/") else Path(name)
    return shutil.which(str(path)) if path.is_absolute() else None


def _nodes(home: Path) -> Iterator[str]:
    for pattern in _NODES:
        yield from map(str, sorted(home.glob(pattern), key=lambda each: _version(each.relative_to(home)), reverse=True))


def _version(folder: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", str(folder))]
