"""What holds the real Codex back in each mode: its own sandbox, and what is put to whoever decides."""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keryx.agents.approver import Answer, Ask, Effect
from keryx.agents.base import RunResult
from keryx.agents.codex.approvals import answered
from keryx.agents.codex.jsonrpc import RpcError
from keryx.agents.codex.settings import hold_for, repository_places, thread_settings
from keryx.agents.equipment import Equipment, Login, McpServer
from keryx.agents.processes import AgentProcesses
from keryx.agents.programs import run_program
from keryx.agents.surroundings import small_environment
from tests.agents.codex.bench import WHY_NOT, CodexBench, codex_bench
from tests.support.codex_stand_in import stand_in
from tests.support.model_steps import Call, Run, Step, Write

BOUND_S = 40.0
ALLOWED, DENIED = Answer(True), Answer(False, "no")

real = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[CodexBench]:
    async with codex_bench(tmp_path) as bench:
        yield bench


async def run_once(bench: CodexBench, mode: str, *steps: Step, lines: list[str] | None = None) -> RunResult:
    async def listen(line: str) -> None:
        if lines is not None:
            lines.append(line)

    session = await bench.runner.open(bench.task(mode=mode))
    bench.server.script(*steps)
    async with asyncio.timeout(BOUND_S):
        result = await session.run("do it", on_progress=listen)
    await session.close()
    assert result.ok, result.error
    return result


async def shell(line: str, directory: Path) -> str:
    """What a shell line of ours prints."""
    ended = await run_program(["sh", "-c", line], cwd=directory, env=small_environment(), limit_s=BOUND_S)
    assert ended.code == 0, ended.output
    return ended.output


def outside(command: str) -> Call:
    """The model wants to run it outside the sandbox."""
    return Call(
        "exec_command", {"cmd": command, "sandbox_permissions": "require_escalated", "justification": "must be"}
    )


def asked(bench: CodexBench) -> list[Effect | None]:
    return [ask.effect for ask in bench.approver.asks]


@pytest.fixture
async def sandboxed(bench: CodexBench) -> CodexBench:
    """A bench where Codex's sandbox works, as it does not in many containers."""
    from codex_cli_bin import bundled_codex_path

    probe = [str(bundled_codex_path()), "sandbox", "--", "true"]
    ended = await run_program(probe, cwd=bench.workplace, env=bench.equipment.environment, limit_s=BOUND_S)
    if ended.code != 0:
        pytest.skip("Codex's sandbox does not work here")
    return bench


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder that is neither the task's nor below a scratch directory, where anybody may write."""
    if not Path("/dev/shm").is_dir():
        pytest.skip("no such place on this system")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@real
async def test_auto_is_free_in_its_directory_and_nowhere_else(sandboxed: CodexBench, elsewhere: Path):
    sandboxed.approver.otherwise = DENIED
    await run_once(
        sandboxed,
        "auto",
        Write("in.txt", "x"),
        Run("touch more.txt"),
        Run(f"touch {elsewhere}/there.txt"),
        Run("python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 9), 1)'"),
        Write(f"{elsewhere}/out.txt", "x"),
    )
    assert sorted(path.name for path in sandboxed.workplace.iterdir()) == ["in.txt", "more.txt"]
    assert sandboxed.server.heard("cannot touch") == 1
    assert sandboxed.server.heard("PermissionError") + sandboxed.server.heard("Network is unreachable") >= 1
    assert not (elsewhere / "there.txt").exists()
    assert not (elsewhere / "out.txt").exists()
    assert asked(sandboxed) == [Effect.OUTSIDE]


@real
async def test_auto_can_commit_without_asking_also_from_a_worktree(sandboxed: CodexBench):
    git, place = "git -c user.name=a -c user.email=a@b.c", sandboxed.workplace
    await shell(
        f"{git} init -q main && cd main && {git} commit -q --allow-empty -m first && {git} worktree add -q ../side",
        place,
    )
    sandboxed.equipped(workplace=lambda task: place / "side")
    sandboxed.approver.otherwise = DENIED
    await run_once(sandboxed, "auto", Run(f"{git} commit -q --allow-empty -m second"))
    assert (await shell("git log --format=%s", place / "side")).split() == ["second", "first"]
    assert asked(sandboxed) == []


@real
@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("pip install tomli", Effect.PACKAGES),
        ("git push origin main", Effect.PUSH),
        ("curl https://example.org", Effect.NETWORK),
        ("touch in.txt", Effect.CHANGE),
        ("cat in.txt", Effect.READ),
        # Its words do not show what it does, and nothing would hold it.
        ("python3 build.py", Effect.OUTSIDE),
    ],
)
async def test_leaving_the_sandbox_is_asked_by_what_it_is_for(sandboxed: CodexBench, command: str, effect: Effect):
    sandboxed.approver.otherwise = DENIED
    await run_once(sandboxed, "auto", outside(command))
    assert asked(sandboxed) == [effect]
    assert command in sandboxed.approver.asks[0].detail
    assert "must be" in sandboxed.approver.asks[0].detail


@real
async def test_what_is_allowed_is_done_and_what_is_denied_is_not_and_the_turn_goes_on(
    bench: CodexBench, elsewhere: Path
):
    first, second = elsewhere / "first.txt", elsewhere / "second.txt"
    bench.approver.answers.extend([ALLOWED, DENIED])
    await run_once(bench, "auto", Write(str(first), "x"), Write(str(second), "x"))
    assert asked(bench) == [Effect.OUTSIDE, Effect.OUTSIDE]
    assert "first.txt" in bench.approver.asks[0].text
    assert str(elsewhere) not in bench.approver.asks[0].text
    assert (first.exists(), second.exists()) == (True, False)
    assert bench.server.heard("rejected by user") == 1


@real
async def test_plan_changes_nothing(bench: CodexBench):
    bench.approver.otherwise = DENIED
    (bench.workplace / "there.txt").write_text("known words")
    await run_once(bench, "plan", Run("cat there.txt"), Run("touch made.txt"), Write("written.txt", "x"))
    assert [path.name for path in bench.workplace.iterdir()] == ["there.txt"]
    assert Effect.CHANGE in asked(bench)


@real
async def test_ask_asks_for_every_effect(bench: CodexBench):
    bench.approver.answers.extend([ALLOWED, ALLOWED, DENIED, DENIED])
    await run_once(bench, "ask", Run("touch a.txt"), Write("b.txt", "x"), Run("touch c.txt"), Write("d.txt", "x"))
    assert asked(bench) == [Effect.CHANGE] * 4
    assert sorted(path.name for path in bench.workplace.iterdir()) == ["a.txt", "b.txt"]


@real
async def test_full_asks_for_nothing_but_what_codex_itself_finds_dangerous(bench: CodexBench, tmp_path: Path):
    (tmp_path / "old").mkdir()
    await run_once(bench, "full", Run(f"touch '{tmp_path}/free.txt'"), Write(f"{tmp_path}/more.txt", "x"))
    assert asked(bench) == []
    await run_once(bench, "full", Run(f"rm -rf '{tmp_path}/old'"))
    assert not (tmp_path / "old").exists()
    assert len(bench.approver.asks) == 1


@real
@pytest.mark.parametrize("mode", ["plan", "ask", "auto"])
async def test_without_a_sandbox_everything_is_put_to_somebody_and_the_owner_is_told(
    bench: CodexBench, tmp_path: Path, mode: str
):
    bench.equipped(program=str(stand_in(tmp_path, no_sandbox=True)))
    bench.approver.otherwise = DENIED
    lines: list[str] = []
    (bench.workplace / "there.txt").write_text("x")
    await run_once(bench, mode, Run("cat there.txt"), Run('python3 -c \'open("made", "w")\''), lines=lines)
    assert lines[0].startswith("Codex's own sandbox doesn't work")
    assert asked(bench) == [Effect.READ, Effect.RUN if mode == "ask" else Effect.UNKNOWN]
    assert [path.name for path in bench.workplace.iterdir()] == ["there.txt"]


MCP = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            info = {"name": "greeter", "version": "1"}
            version = message["params"]["protocolVersion"]
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list":
            schema = {"type": "object", "properties": {"name": {"type": "string"}}}
            result = {"tools": [{"name": "greet", "description": "greets", "inputSchema": schema}]}
        case "tools/call":
            result = {"content": [{"type": "text", "text": "good day " + message["params"]["arguments"]["name"]}]}
        case _:
            result = {}
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@real
@pytest.mark.parametrize(
    ("mode", "answer", "heard"),
    [("auto", ALLOWED, "good day Ada"), ("auto", DENIED, "rejected"), ("full", DENIED, "good day Ada")],
    ids=["allowed", "denied", "full"],
)
async def test_a_tool_of_the_owners_servers_is_asked_about(bench: CodexBench, mode: str, answer: Answer, heard: str):
    server = McpServer(command=(sys.executable, "-c", MCP))
    bench.handed(greeter=server)
    bench.approver.otherwise = answer
    await run_once(bench, mode, Call("mcp__greeter__greet", {"name": "Ada"}))
    assert bench.server.heard(heard) == 1
    assert asked(bench) == ([] if mode == "full" else [Effect.UNKNOWN])
    if bench.approver.asks:
        assert bench.approver.asks[0].text == "use greet from greeter"
        assert "Ada" in bench.approver.asks[0].detail


@real
@pytest.mark.parametrize(
    "meddling",
    [
        '[mcp_servers.greeter.tools.greet]\napproval_mode = "approve"\n',
        "[mcp_servers.greeter]\nenabled = false\n",
        '[mcp_servers.greeter]\nurl = "http://127.0.0.1:9/mcp"\n',
    ],
    ids=["frees it", "switches it off", "turns it round"],
)
async def test_a_project_has_no_say_about_the_owners_servers(bench: CodexBench, meddling: str):
    bench.handed(greeter=McpServer(command=(sys.executable, "-c", MCP)))
    (bench.workplace / ".codex").mkdir()
    (bench.workplace / ".codex/config.toml").write_text(meddling)
    await run_once(bench, "auto", Call("mcp__greeter__greet", {"name": "Ada"}))
    assert asked(bench) == [Effect.UNKNOWN]
    assert bench.server.heard("good day Ada") == 1


def equipped(tmp_path: Path, **changes: Any) -> Equipment:
    """Equipment for nobody, in an empty home."""
    surroundings = {"HOME": str(tmp_path)}
    processes = AgentProcesses(tmp_path / "data")
    equipment = Equipment(lambda task: tmp_path, processes, Login(None), environment=surroundings)
    return replace(equipment, **changes)


def test_a_server_with_an_address_and_one_with_a_command_are_set_up(tmp_path: Path):
    servers = {
        "far": McpServer(url="https://example.org/mcp", call_s=20),
        "near": McpServer(("serve", "-x"), None, {"K": "v"}),
    }
    settings = thread_settings(hold_for("auto", sandboxed=True), Path("/srv"), None, equipped(tmp_path), servers)
    near = settings["config"]["mcp_servers"]["near"]
    assert settings["config"]["mcp_servers"] == {
        "far": {"url": "https://example.org/mcp", "default_tools_approval_mode": "prompt", "tool_timeout_sec": 20},
        "near": near,
    }
    assert near["command"] == "serve"
    assert near["args"] == ["-x"]
    assert near["env"] == {"K": "v"}
    assert near["default_tools_approval_mode"] == "prompt"
    assert "tool_timeout_sec" not in near
    assert set(near["env_vars"]) == {"KERYX_AGENT_OF", "KERYX_TASK_ID", "KERYX_AGENT_RUN"}


@real
async def test_the_owners_settings_of_codex_are_not_written_to(bench: CodexBench):
    before = (bench.home / "config.toml").read_text()
    await run_once(bench, "auto", Run("true"))
    assert (bench.home / "config.toml").read_text() == before


@real
async def test_a_project_that_the_owner_distrusts_stays_distrusted(bench: CodexBench):
    (bench.workplace / ".codex").mkdir()
    (bench.workplace / ".codex/config.toml").write_text('model = "gpt-5.4"\n')
    await run_once(bench, "auto", Run("true"))
    assert bench.server.requests[-1]["model"] == "gpt-5.4", "a project that is trusted may choose its model"
    with (bench.home / "config.toml").open("a") as config:
        config.write(f'\n[projects."{bench.workplace}"]\ntrust_level = "untrusted"\n')
    await run_once(bench, "auto", Run("true"))
    assert bench.server.requests[-1]["model"] != "gpt-5.4"


@pytest.mark.parametrize(
    ("written", "trusted"),
    [(None, True), ("", True), ('[projects."/srv"]\ntrust_level = "untrusted"', False), ("not toml", False)],
    ids=["no file", "nothing", "distrusted above", "unreadable"],
)
def test_what_the_owner_says_of_a_directory_holds_for_what_is_in_it(tmp_path: Path, written: str | None, trusted: bool):
    if written is not None:
        (tmp_path / ".codex").mkdir()
        (tmp_path / ".codex/config.toml").write_text(written)
    settings = thread_settings(hold_for("auto", sandboxed=True), Path("/srv/parser"), None, equipped(tmp_path), {})
    assert ("projects" in settings["config"]) is trusted


def test_what_the_owners_own_settings_say_of_a_server_is_theirs_to_say(tmp_path: Path):
    near, project = {"near": McpServer(("serve",))}, tmp_path / "project"
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/config.toml").write_text('[mcp_servers.near]\ncommand = "serve"\n')
    hold, level = hold_for("auto", sandboxed=True), {"trust_level": "trusted"}
    settings = thread_settings(hold, project, None, equipped(tmp_path), near)
    assert settings["config"]["projects"] == {str(project): level}
    (project / ".codex").mkdir(parents=True)
    (project / ".codex/config.toml").write_text('[mcp_servers.far]\ncommand = "serve"\n')
    settings = thread_settings(hold, project, None, equipped(tmp_path), near)
    assert settings["config"]["projects"] == {str(project): level}
    (project / ".codex/config.toml").write_text("not toml")
    settings = thread_settings(hold, project, None, equipped(tmp_path), near)
    assert settings["config"]["projects"] == {str(project): {"trust_level": "untrusted"}}


def test_no_mode_but_full_is_free_where_there_is_no_sandbox():
    for mode in ("plan", "ask", "auto", "a mode of tomorrow"):
        assert hold_for(mode, sandboxed=False).policy == "untrusted"
    assert hold_for("a mode of tomorrow", sandboxed=True) == hold_for("ask", sandboxed=True)


def test_a_directory_without_a_repository_or_with_a_torn_one_has_no_further_places(tmp_path: Path):
    assert repository_places(tmp_path) == [] or tmp_path not in repository_places(tmp_path)[0].parents
    (tmp_path / ".git").write_bytes(b"\xff\xfe nothing of the kind")
    assert repository_places(tmp_path) == []


# What the app-server may ask that the real one cannot be made to here.


async def put(method: str, params: dict, *, ask_fails: bool = False, allowed: bool = True, mode: str = "auto"):
    """What is answered, and what was asked."""
    asks: list[Ask] = []

    async def ask(wanted: Ask) -> Answer:
        asks.append(wanted)
        if ask_fails:
            raise RuntimeError("the store is full")
        return Answer(allowed)

    hold = hold_for(mode, sandboxed=True)
    return await answered(method, params, ask, inside=Path("/srv/project"), hold=hold, changes={}, servers={}), asks


COMMAND, CHANGE = "item/commandExecution/requestApproval", "item/fileChange/requestApproval"
PERMISSIONS, ELICITATION = "item/permissions/requestApproval", "mcpServer/elicitation/request"


@pytest.mark.parametrize("method", [COMMAND, CHANGE])
async def test_when_asking_fails_it_is_denied(method: str):
    assert (await put(method, {"itemId": "1", "command": "ls"}, ask_fails=True))[0] == {"decision": "decline"}


@pytest.mark.parametrize("method", [COMMAND, CHANGE])
async def test_a_request_that_cannot_be_read_is_denied_unasked(method: str):
    assert await put(method, {"itemId": ["?"]}) == ({"decision": "decline"}, [])


async def test_a_change_of_files_nobody_was_told_of_counts_as_outside():
    _, (ask,) = await put(CHANGE, {"itemId": "unheard of"})
    assert ask.effect is Effect.OUTSIDE


async def test_a_command_that_wants_more_counts_as_what_it_wants():
    more = {"network": {"enabled": True}, "fileSystem": None}
    _, (ask,) = await put(COMMAND, {"command": "ls", "additionalPermissions": more})
    assert ask.effect is Effect.NETWORK
    more = {"network": None, "fileSystem": {"write": ["/etc"]}}
    _, (ask,) = await put(COMMAND, {"command": "ls", "additionalPermissions": more})
    assert ask.effect is Effect.OUTSIDE


async def test_a_connection_is_asked_about_by_its_host():
    network = {"host": "example.org", "protocol": "https"}
    answer, (ask,) = await put(COMMAND, {"command": "x", "networkApprovalContext": network}, allowed=False)
    assert (answer, ask.text, ask.effect) == ({"decision": "decline"}, "connect to example.org", Effect.NETWORK)


@pytest.mark.parametrize("allowed", [True, False])
async def test_more_permissions_are_granted_as_asked_for_or_not_at_all(allowed: bool):
    wanted = {"network": {"enabled": True}, "fileSystem": None}
    answer, (ask,) = await put(PERMISSIONS, {"itemId": "1", "permissions": wanted}, allowed=allowed)
    assert answer == {"permissions": wanted if allowed else {}, "scope": "turn"}
    assert (ask.text, ask.effect) == ("use the network", Effect.NETWORK)


async def test_what_a_server_of_tools_wants_for_itself_is_denied():
    assert (await put(ELICITATION, {"serverName": "x", "message": "Your password?"}))[0] == {"action": "decline"}


@pytest.mark.parametrize("method", ["item/tool/call", "attestation/generate", "something/of/tomorrow"])
async def test_a_request_of_an_unknown_kind_is_answered_with_an_error(method: str):
    with pytest.raises(RpcError, match="not supported"):
        await put(method, {})
