"""The house stands: imports point down, SDKs stay in their adapter, importing does nothing heavy, errors stop at edges.

Every import counts: at the top of a module, inside a function, and under `TYPE_CHECKING`.
"""

import ast
import functools
import itertools
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "keryx"

GROUND = {"errors", "clock", "log", "private", "prompts"}

FLOOR = {
    **dict.fromkeys(GROUND, 0),
    "config": 1,
    "security": 1,
    "kernel": 1,
    "tasks.models": 1,
    "workspace": 1,
    "store": 2,
    "agents": 2,
    "tasks": 3,
    "approvals": 3,
    "voice": 4,
    "memory": 4,
    "notify": 4,
    "agency": 4,
    "app": 5,
    "server": 6,
    "cli": 7,
}

MAY_IMPORT: dict[str, set[str]] = {
    **{room: set() for room in GROUND},
    "config": set(),
    "security": set(),
    "kernel": set(),
    "tasks.models": set(),
    "workspace": {"config"},
    "store": {"tasks.models"},
    "agents": {"tasks.models", "security"},
    "tasks": {"tasks.models", "agents", "store", "security"},
    "approvals": {"tasks.models", "agents", "store", "security"},
    "voice": {"tasks", "tasks.models", "approvals", "security", "store", "workspace"},
    "memory": {"tasks", "tasks.models", "approvals", "security", "store"},
    "notify": {"tasks", "tasks.models", "security", "store", "memory"},
    "agency": {"config", "agents", "approvals", "tasks", "tasks.models", "security", "workspace"},
    "app": {room for room, floor in FLOOR.items() if 0 < floor < 5},
    "server": {"app", "config", "security", "tasks", "tasks.models", "voice"},
    "cli": {"server", "app", "agency", "config", "tasks", "tasks.models", "workspace"},
}
"""Beside themselves and the ground floor."""

ALSO_MAY_IMPORT: dict[str, tuple[set[str], str]] = {
    "keryx.agents.native": ({"kernel"}, "the adapter of the agent that is built in"),
    "keryx.voice.reception": ({"agents"}, "hands the agents' registry on to each call's tools"),
    "keryx.voice.tools": ({"agents"}, "knows which agents there are, so that an unknown one is refused"),
    "keryx.voice.dialogue": ({"agents"}, "says which agent has the work, by the name the registry gives it"),
    "keryx.cli.understand": ({"voice"}, "shows what the dialogue's rules make of a sentence, without a daemon"),
    "keryx.cli.sound": ({"voice"}, "a caller speaks with this machine's own voice"),
    "keryx.cli.serve": ({"security"}, "the log's mask, set before anything is opened"),
    "keryx.cli.archive": ({"security"}, "a stopped daemon's words pass the mask that its API would apply"),
}
"""Single modules, with what is below them, that may more, and why."""

SDK_HOMES: dict[str, tuple[str, ...]] = {
    "acp": ("keryx.agents.acp",),
    "twilio": ("keryx.server.signature",),
    "faster_whisper": ("keryx.voice.hearing",),
    "ctranslate2": ("keryx.voice.hearing",),
    "onnxruntime": ("keryx.voice.hearing",),
    "tokenizers": ("keryx.voice.hearing",),
    "espeakng_loader": ("keryx.voice.speaking",),
    "hibari": ("keryx.voice.speaking",),
    "httpx2": ("keryx.cli.api",),
    "phonenumbers": ("keryx.config.checks",),
    "platformdirs": ("keryx.config.places",),
    "filelock": ("keryx.store", "keryx.workspace.signin.kept", "keryx.workspace.mail.journal"),
    "sqlalchemy": ("keryx.store", "keryx.tasks"),
    "alembic": ("keryx.store",),
    "fastapi": ("keryx.server", "keryx.cli.serve"),
    "starlette": ("keryx.server",),
    "uvicorn": ("keryx.server",),
    "websockets": ("keryx.cli.caller",),
    "typer": ("keryx.cli",),
    "rich": ("keryx.cli",),
    "markdown_it": ("keryx.server",),
    "nh3": ("keryx.server",),
    "num2words": ("keryx.voice",),
    "rapidfuzz": ("keryx.voice",),
    "numpy": ("keryx.voice", "keryx.cli.sound"),
    "mcp": ("keryx.workspace.server",),
    "mcp_types": ("keryx.workspace.server",),
    "googleapiclient": ("keryx.workspace",),
    "google_auth_oauthlib": ("keryx.workspace.signin.signing_in",),
    "google": ("keryx.workspace",),
    "google_auth_httplib2": ("keryx.workspace",),
    "httplib2": ("keryx.workspace",),
    "claude_agent_sdk": ("keryx.agents.claude.adapter", "keryx.agents.claude.launch"),
    "pydantic": (
        *("keryx.config", "keryx.server", "keryx.voice", "keryx.cli.understand", "keryx.cli.serve"),
        "keryx.workspace",
        "keryx.agents.codex.wire",
    ),
}
"""Where each third-party package may be named; one that is not listed may be named nowhere."""

BROAD_EXCEPT_HOMES: dict[str, str] = {
    "keryx.cli.main": "the edge of the process",
    "keryx.cli.serve": "kept until the sockets are closed, then raised again",
    "keryx.tasks.engines.local": "the edge of a task",
    "keryx.tasks.turns": "the edge of a task's turn",
    "keryx.agents.base": "a session's run never raises",
    "keryx.agents.demo.runner": "a session's run never raises",
    "keryx.agents.session": "a session's run never raises, whatever its agent or its approver does",
    "keryx.agents.turn": "a session's run never raises, whatever its agent or its approver does",
    "keryx.agents.claude.launch": "claude-agent-sdk raises `Exception` itself when it cannot connect or gets no answer",
    "keryx.agents.codex.jsonrpc": "the edge of one request of the other side, which is told",
    "keryx.agents.codex.approvals": "the edge of whoever decides: what cannot be asked is not allowed",
    "keryx.workspace.server": "the edge of one call of a tool, which says that it failed",
    "keryx.voice.call": "the edge of a call",
    "keryx.voice.engines.listening": "the edge of one stretch: the caller is asked again",
    "keryx.voice.engines.speaking": "the edge of one sentence: it is only shown",
    "keryx.voice.engines.thinking": "the edge of one answer: the caller is told",
    "keryx.voice.tools.toolbox": "the edge of one tool call",
    "keryx.voice.tools.lookup": "what a thread raises is raised again where its answer is waited for",
    "keryx.voice.hearing.weights": "a download fails in too many ways to name; the next source is tried",
    "keryx.voice.loading": "a broken library leaves a daemon that can be typed to",
    "keryx.notify.notifier": "the edge of one announcement",
}
"""Modules with an edge where anything may be caught, and what that edge is."""

BARE_TASK_HOMES: dict[str, str] = {
    "keryx.agents.codex.process": "the reader of a process lives from its start to its stop, over many turns",
    "keryx.agents.acp.process": "what reads an agent's complaints, and its prompts, end with it at the latest",
    "keryx.agents.claude.launch": "a disconnect must go on when whoever waits for it no longer does",
    "keryx.agents.claude.line": "what reads an agent's complaints lives as long as the agent's process",
    "keryx.tasks.engines.local": "the supervisor holds the group; it lives from start to stop",
}
"""Modules that may start a task outside a group, and why."""

LIGHT = [
    "keryx",
    "keryx.errors",
    "keryx.clock",
    "keryx.log",
    "keryx.prompts",
    "keryx.config",
    "keryx.config.places",
    "keryx.config.daemon",
    "keryx.security",
    "keryx.tasks.models",
    "keryx.agents.base",
    "keryx.voice.audio",
    "keryx.voice.transports.base",
    "keryx.voice.hearing.base",
    "keryx.voice.speaking.base",
    "keryx.voice.dialogue.base",
    "keryx.voice.loading",
    "keryx.notify.ports",
    "keryx.workspace.gmail",
    "keryx.cli.main",
    "keryx.cli.api",
    "keryx.cli.tasks",
    "keryx.cli.agents",
    "keryx.cli.auth",
    "keryx.cli.call",
    "keryx.__main__",
]
HEAVY = {
    "googleapiclient",
    "httplib2",
    "numpy",
    "onnxruntime",
    "faster_whisper",
    "ctranslate2",
    "hibari",
    "twilio",
    "phonenumbers",
    "alembic",
    "sqlalchemy",
    "httpx2",
    "fastapi",
    "uvicorn",
    "rich.console",
}


@dataclass(frozen=True)
class Import:
    """`module` names something of `target`, on `line`."""

    module: str
    target: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def trees() -> dict[str, ast.Module]:
    files = (path for path in sorted(PACKAGE.rglob("*.py")) if "migrations" not in path.parts)
    return {name_of(path): ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in files}


@functools.cache
def imports() -> tuple[Import, ...]:
    return tuple(found for module, tree in trees().items() for found in imports_of(module, tree))


def imports_of(module: str, tree: ast.Module) -> Iterator[Import]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (Import(module, alias.name, node.lineno) for alias in names)
            case ast.ImportFrom(module=target, names=names, level=0) if target:
                # "from keryx import log" and "from keryx.voice import audio" name modules too.
                whole = {f"{target}.{alias.name}" for alias in names} & trees().keys()
                yield from (Import(module, name, node.lineno) for name in whole or {target})
            case ast.ImportFrom(level=level) if level:
                yield Import(module, "a relative import", node.lineno)
            case ast.Call(func=ast.Name(id="__import__") | ast.Attribute(attr="import_module")):
                yield Import(module, "something by name", node.lineno)


def room_of(module: str) -> str | None:
    """`keryx.voice.call` → voice; None for the package itself and its `__main__`, which is the command line's."""
    parts = module.split(".")[1:]
    if not parts:
        return None
    if parts[:2] == ["tasks", "models"]:
        return "tasks.models"
    return "cli" if parts[0] == "__main__" else parts[0]


def inside(module: str, homes: tuple[str, ...] | dict[str, str]) -> bool:
    return any(module == home or module.startswith(f"{home}.") for home in homes)


def own_imports() -> Iterator[tuple[Import, str, str]]:
    """The imports from one room into another, with the two rooms."""
    for found in imports():
        if found.target.split(".")[0] == "keryx":
            here, there = room_of(found.module), room_of(found.target)
            if here and there and here != there:
                yield found, here, there


def also_allowed(module: str) -> set[str]:
    return {room for name, (rooms, _) in ALSO_MAY_IMPORT.items() if inside(module, (name,)) for room in rooms}


def test_every_room_has_a_floor() -> None:
    rooms = {room_of(module) for module in trees()} - {None}
    assert rooms <= FLOOR.keys(), "a new room gets its floor in the table first"
    assert FLOOR.keys() == MAY_IMPORT.keys()


def test_imports_point_down() -> None:
    wrong = [
        str(found)
        for found, here, there in own_imports()
        if there not in GROUND and there not in MAY_IMPORT[here] and there not in also_allowed(found.module)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_tables_themselves_point_down() -> None:
    single = {(room_of(module) or "", room) for module, (rooms, _) in ALSO_MAY_IMPORT.items() for room in rooms}
    for here, there in itertools.chain(
        single, ((here, there) for here, rooms in MAY_IMPORT.items() for there in rooms)
    ):
        same = {here, there} in ({"workspace", "config"}, {"notify", "memory"})
        assert FLOOR[here] > FLOOR[there] or same, f"{here} → {there}"


def test_rooms_make_no_circle() -> None:
    below: dict[str, set[str]] = {}
    for _, here, there in own_imports():
        below.setdefault(here, set()).add(there)

    def walk(room: str, path: tuple[str, ...]) -> None:
        assert room not in path, f"circle: {' → '.join((*path, room))}"
        for lower in below.get(room, ()):
            walk(lower, (*path, room))

    for room in below:
        walk(room, ())


def test_the_notifier_knows_no_voice() -> None:
    assert not [str(found) for found, here, there in own_imports() if (here, there) == ("notify", "voice")]


def test_imports_are_absolute_and_written_out() -> None:
    hidden = [str(found) for found in imports() if found.target in ("a relative import", "something by name")]
    assert not hidden, "\n".join(hidden)


def test_a_third_party_package_is_named_only_where_it_belongs() -> None:
    wrong = []
    for found in imports():
        package = found.target.split(".")[0]
        if package == "keryx" or package in sys.stdlib_module_names:
            continue
        if not inside(found.module, SDK_HOMES.get(package, ())):
            wrong.append(str(found))
    assert not wrong, "\n".join(wrong)


def test_no_task_is_started_outside_a_group() -> None:
    wrong = [f"{module}:{line}" for module, line in bare_tasks() if module not in BARE_TASK_HOMES]
    assert not wrong, "\n".join(wrong)


def bare_tasks() -> Iterator[tuple[str, int]]:
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and is_bare_task(node.func):
                yield module, node.lineno


def is_bare_task(function: ast.expr) -> bool:
    """`asyncio.create_task`, `ensure_future`, `loop.create_task`; a TaskGroup's own method is fine."""
    match function:
        case ast.Name(id="create_task" | "ensure_future"):
            return True
        case ast.Attribute(attr="ensure_future"):
            return True
        case ast.Attribute(attr="create_task", value=ast.Name(id="asyncio" | "loop")):
            return True
        case ast.Attribute(attr="create_task", value=ast.Call(func=ast.Attribute(attr="get_running_loop"))):
            return True
        case _:
            return False


def test_anything_is_caught_only_at_an_edge() -> None:
    wrong = [f"{module}:{line}" for module, line in broad_excepts() if module not in BROAD_EXCEPT_HOMES]
    assert not wrong, "\n".join(wrong)


def broad_excepts() -> Iterator[tuple[str, int]]:
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and is_broad(node):
                yield module, node.lineno


def is_broad(handler: ast.ExceptHandler) -> bool:
    """Catches everything, and does not end by raising it again."""
    if handler.body and isinstance(handler.body[-1], ast.Raise) and handler.body[-1].exc is None:
        return False
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in ("Exception", "BaseException")) for kind in kinds
    )


def test_the_lists_of_exceptions_hold_nothing_that_is_gone() -> None:
    planned = {"keryx.agents.native"}
    gone = [module for module in ALSO_MAY_IMPORT if module not in trees() and module not in planned]
    gone += BARE_TASK_HOMES.keys() - {module for module, _ in bare_tasks()}
    gone += BROAD_EXCEPT_HOMES.keys() - {module for module, _ in broad_excepts()}
    named = {(found.target.split(".")[0], found.module) for found in imports()}
    for package, homes in SDK_HOMES.items():
        gone += [
            f"{package} in {home}" for home in homes if not any(p == package and inside(m, (home,)) for p, m in named)
        ]
    assert not gone


@pytest.mark.parametrize("module", LIGHT)
def test_importing_a_light_module_loads_nothing_heavy(module: str) -> None:
    script = f"import sys, {module}; print('\\n'.join(sys.modules))"
    outcome = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True)
    assert not HEAVY & set(outcome.stdout.split())
    assert outcome.stderr == ""


@pytest.mark.parametrize(
    "source", ["from .voice import call", "import importlib\nimportlib.import_module('x')", "__import__('x')"]
)
def test_an_import_in_disguise_is_seen(source: str) -> None:
    targets = {found.target for found in imports_of("keryx.x", ast.parse(source))}
    assert targets & {"a relative import", "something by name"}


def test_an_import_inside_a_function_or_for_types_only_is_seen() -> None:
    source = "if TYPE_CHECKING:\n    from keryx.app import Keryx\ndef f():\n    import keryx.cli.main as main\n"
    assert {found.target for found in imports_of("keryx.x", ast.parse(source))} == {"keryx.app", "keryx.cli.main"} or (
        "keryx.app" not in trees()
    )
