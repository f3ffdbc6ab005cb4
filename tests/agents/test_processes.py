"""Agents' processes: started so that they end with the daemon, recorded, and ended with everything they started."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from keryx.agents.process_table import began
from keryx.agents.processes import AgentProcesses, AgentRun, reap, tagged
from keryx.agents.surroundings import small_environment
from tests.support.programs import bystander, carrying, python, running, until

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows a process's environment")

# Prints what it was started with, and where it stands.
SAY_ALL = """
import json, os, sys
print(json.dumps([sys.argv[1:], dict(os.environ), os.getpid(), os.getsid(0)]), flush=True)
"""

LEAVES_CHILDREN = "setsid sleep 999 & sleep 999 & exec sleep 999"

# Ignores SIGTERM, as do the two that it starts, one in a session of its own.
STUBBORN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for own_session in (False, True):
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(999)"], start_new_session=own_session)
time.sleep(999)
"""

# A chain: each starts the next in a session of its own and ends; at most so many links, and a few side branches.
FORKING = """
import os, sys, time
for _ in range(400):
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork() == 0:
        time.sleep(999)
time.sleep(999)
"""


def a_run(owner: Path, task_id: int = 7, **environment: str) -> AgentRun:
    return AgentProcesses(owner).begin(task_id, small_environment(**environment))


def of_run(run: AgentRun) -> set[int]:
    return carrying("KERYX_AGENT_RUN", run.id)


def records(owner: Path) -> list[Path]:
    return sorted((owner / "agent-processes").glob("*.json"))


@linux
def test_without_a_tool_for_it_a_program_is_started_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert a_run(tmp_path).command(["agent", "-x"]) == ["agent", "-x"]
    # One that does not know the option, as busybox's.
    (tmp_path / "setpriv").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "setpriv").chmod(0o700)
    assert a_run(tmp_path).command(["agent", "-x"]) == ["agent", "-x"]


async def test_a_spawned_program_has_its_pipes_its_tags_and_its_record(tmp_path: Path) -> None:
    run = a_run(tmp_path / "house", LOGIN="mine")
    process = await run.spawn([*python(SAY_ALL + "sys.stdin.read()"), "two words"], cwd=tmp_path)
    assert process.stdin
    assert process.stdout
    arguments, environment, pid, leader = json.loads(await process.stdout.readline())
    (record,) = records(tmp_path / "house")
    noted = json.loads(record.read_text())
    assert arguments == ["two words"]
    assert (environment["KERYX_TASK_ID"], environment["LOGIN"]) == ("7", "mine")
    assert pid == leader == process.pid == noted["pid"]
    assert (noted["began"], noted["task"], noted["run"]) == (began(pid), "7", run.id)
    assert record.stat().st_mode & 0o777 == 0o600
    assert record.parent.stat().st_mode & 0o777 == 0o700
    process.stdin.close()
    assert await process.wait() == 0
    assert await run.end() == 0, "it had ended by itself"
    assert records(tmp_path / "house") == []


async def test_a_program_that_cannot_be_started_is_an_error_at_once(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for program in ("no-such-program", "/no/such/program", str(tmp_path / "text"), str(tmp_path)):
        with pytest.raises(FileNotFoundError):
            await a_run(tmp_path).spawn([program], cwd=tmp_path)
    assert records(tmp_path) == []


async def test_a_folder_that_is_gone_is_an_error_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await a_run(tmp_path).spawn(["true"], cwd=tmp_path / "gone")


def test_no_agent_is_started_from_a_thread_whose_end_would_kill_it(tmp_path: Path) -> None:
    raised: list[BaseException] = []

    def elsewhere() -> None:
        try:
            asyncio.run(a_run(tmp_path).spawn(["true"], cwd=tmp_path))
        except AssertionError as error:
            raised.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(raised) == 1


async def test_a_record_that_cannot_be_written_does_not_stop_the_agent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "agent-processes").write_text("in the way")
    run = a_run(tmp_path)
    process = await run.spawn(["sleep", "999"], cwd=tmp_path)
    assert [record.message for record in caplog.records] == ["agent process not recorded"]
    assert await run.end() == 1
    assert await process.wait() < 0
    assert await asyncio.to_thread(reap, tmp_path) == 0


@linux
async def test_the_end_of_a_run_is_the_end_of_everything_it_started_and_of_nothing_else(tmp_path: Path) -> None:
    same_task, stranger = a_run(tmp_path), tagged(small_environment(), tmp_path / "other")
    async with (
        bystander(["sleep", "999"], same_task.environment),
        bystander(["sleep", "999"], stranger),
        bystander(["sleep", "999"], small_environment(KERYX_AGENT_RUN=f"{same_task.id}0")),
    ):
        run = a_run(tmp_path)
        process = await run.spawn(["sh", "-c", LEAVES_CHILDREN], cwd=tmp_path)
        await until(lambda: len(of_run(run)) == 3)
        assert await run.end() == 3
        assert of_run(run) == set()
        assert await process.wait() == -signal.SIGTERM
        assert await run.end() == 0
        assert records(tmp_path) == []


@linux
async def test_what_ignores_being_asked_is_killed_while_the_daemon_goes_on(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    process = await run.spawn(python(STUBBORN), cwd=tmp_path)
    await until(lambda: len(of_run(run)) == 3)
    async with asyncio.TaskGroup() as group:
        ending = [group.create_task(run.end()) for _ in range(2)]
        turns = 0
        while not all(each.done() for each in ending):
            await asyncio.wait(ending, timeout=0.01)
            turns += 1
    assert turns > 10, "the loop was held"
    assert max(each.result() for each in ending) == 3
    assert of_run(run) == set()
    assert await process.wait() == -signal.SIGKILL


@linux
async def test_it_is_asked_before_it_is_killed(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    script = "trap 'echo bye > said; exit' TERM; touch ready; while :; do sleep 0.05; done"
    await run.spawn(["sh", "-c", script], cwd=tmp_path)
    await until((tmp_path / "ready").exists)
    await run.end()
    assert (tmp_path / "said").read_text() == "bye\n"


@linux
async def test_a_child_that_threw_its_environment_away_is_ended_with_its_parent(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    await run.spawn(["sh", "-c", "env -i setsid sh -c 'echo $$ > child; exec sleep 999' & sleep 999"], cwd=tmp_path)
    await until(lambda: (tmp_path / "child").exists() and (tmp_path / "child").read_text())
    child = int((tmp_path / "child").read_text())
    await until(lambda: running(child) and child not in of_run(run))
    await run.end()
    assert not running(child)


@linux
async def test_processes_that_fork_while_they_are_swept_are_ended_too(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    await run.spawn(python(FORKING), cwd=tmp_path)
    await until(lambda: len(of_run(run)) > 20)
    assert await run.end() > 20
    assert of_run(run) == set()


@linux
async def test_a_cancelled_end_still_ends_it(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    await run.spawn(python(STUBBORN), cwd=tmp_path)
    await until(lambda: len(of_run(run)) == 3)
    async with asyncio.TaskGroup() as group:
        ending = group.create_task(run.end())
        await asyncio.wait([ending], timeout=0.01)
        ending.cancel()
    assert ending.cancelled()
    await until(lambda: not of_run(run))


@linux
async def test_an_agent_of_an_agent_carries_the_tags_of_its_own_daemon_only(tmp_path: Path) -> None:
    outer = a_run(tmp_path / "outer", task_id=1)
    inner = AgentProcesses(tmp_path / "inner").begin(2, outer.environment)
    assert inner.environment["KERYX_AGENT_OF"] == str(tmp_path / "inner")
    assert inner.environment["KERYX_TASK_ID"] == "2"
    assert inner.environment["KERYX_AGENT_RUN"] == inner.id != outer.id


@linux
async def test_what_a_killed_daemon_left_is_ended_and_nothing_of_another_daemons(tmp_path: Path) -> None:
    async with bystander(["sleep", "999"], tagged(small_environment(), tmp_path / "other")):
        run = a_run(tmp_path)
        process = await run.spawn(["sh", "-c", LEAVES_CHILDREN], cwd=tmp_path)
        await until(lambda: len(of_run(run)) == 3)
        assert await asyncio.to_thread(reap, tmp_path) == 3
        assert of_run(run) == set()
        assert await process.wait() == -signal.SIGKILL
        assert records(tmp_path) == []
        assert await asyncio.to_thread(reap, tmp_path) == 0


@linux
async def test_a_recorded_process_is_ended_with_its_group_though_it_shows_no_tag(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", "sleep 999 & exec sleep 999", env={}, start_new_session=True
    )
    run.note(process.pid)
    assert len(records(tmp_path)) == 1
    await asyncio.to_thread(reap, tmp_path)
    assert await process.wait() == -signal.SIGKILL


# Goes on starting processes in its group, none with a tag, while it is killed; at most so many.
BREEDING = "import os, time\nfor _ in range(300):\n    os.fork() or (time.sleep(999), os._exit(0))\ntime.sleep(999)"


@linux
async def test_a_recorded_process_that_forks_while_it_is_killed_leaves_no_untagged_child(tmp_path: Path) -> None:
    for number in range(10):
        run = a_run(tmp_path)
        own = {"BRED": f"{tmp_path}/{number}"}
        process = await asyncio.create_subprocess_exec(*python(BREEDING), env=own, start_new_session=True)
        run.note(process.pid)
        await until(lambda own=own: len(carrying("BRED", own["BRED"])) > 5)
        await run.end()
        assert carrying("BRED", own["BRED"]) == set()
        await process.wait()


@linux
async def test_a_record_whose_number_is_somebody_elses_by_now_hits_nobody(tmp_path: Path) -> None:
    async with bystander(["sleep", "999"], small_environment()) as stranger:
        folder = tmp_path / "agent-processes"
        folder.mkdir()
        start = began(stranger.pid)
        assert start
        boot, ticks = start.split("/")
        for number, forged in enumerate((f"{boot}/{int(ticks) - 1}", f"another-boot/{ticks}", "", 7)):
            record = {"pid": stranger.pid, "began": forged, "task": "1", "run": "x"}
            (folder / f"{number}.json").write_text(json.dumps(record))
        (folder / "torn.json").write_text('{"pid": 1')
        (folder / "deep.json").write_text("[" * 200_000)
        (folder / "init.json").write_text(json.dumps({"pid": 1, "began": began(1)}))
        assert await asyncio.to_thread(reap, tmp_path) == 0
        assert records(tmp_path) == []


# A daemon that an agent of the very same daemon started: what it comes from carries its tag, and so does it.
STARTED_BY_ITS_OWN_AGENT = """
import subprocess, sys
from pathlib import Path
from keryx.agents.processes import reap
sibling = subprocess.Popen(["sleep", "999"])
print(reap(Path(sys.argv[1])), sibling.wait(), flush=True)
"""


@linux
async def test_a_daemon_that_its_own_agent_started_ends_neither_itself_nor_what_it_comes_from(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        *("sh", "-c", '"$@"; echo alive', "sh", *python(STARTED_BY_ITS_OWN_AGENT, str(tmp_path))),
        env=tagged(small_environment(), tmp_path),
        cwd=Path(__file__).parents[2],
        stdout=PIPE,
    )
    out, _ = await process.communicate()
    assert out.decode().split() == ["1", str(-signal.SIGKILL), "alive"]


def can_unshare() -> bool:
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.run([unshare, "--mount", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not can_unshare(), reason="may not make a mount namespace")
async def test_a_daemon_with_the_same_folder_name_in_another_container_keeps_its_agents(tmp_path: Path) -> None:
    environment = tagged(small_environment(), tmp_path)
    script = 'mount -t tmpfs none "$0" && exec sleep 999'
    async with bystander(["unshare", "--mount", "sh", "-c", script, str(tmp_path)], environment) as contained:
        inside = Path(f"/proc/{contained.pid}/root{tmp_path}")
        await until(lambda: not os.path.samestat(inside.stat(), tmp_path.stat()))
        assert await asyncio.to_thread(reap, tmp_path) == 0


# A daemon that starts an agent, says so, and waits to be killed.
DAEMON = """
import asyncio, sys
from pathlib import Path
from keryx.agents.processes import AgentProcesses
from keryx.agents.surroundings import small_environment

async def main():
    run = AgentProcesses(Path(sys.argv[1])).begin(7, small_environment())
    process = await run.spawn(["sleep", "999"], cwd=Path(sys.argv[1]))
    print(process.pid, flush=True)
    await asyncio.sleep(999)

asyncio.run(main())
"""


@pytest.mark.skipif(not shutil.which("setpriv"), reason="there is no setpriv")
async def test_an_agent_dies_the_moment_its_daemon_is_killed(tmp_path: Path) -> None:
    daemon = await asyncio.create_subprocess_exec(
        *python(DAEMON, str(tmp_path)), cwd=Path(__file__).parents[2], stdout=PIPE
    )
    assert daemon.stdout
    agent = int(await daemon.stdout.readline())
    await until(lambda: Path(f"/proc/{agent}/comm").read_text() == "sleep\n")
    assert running(agent)
    daemon.kill()
    await daemon.communicate()
    await until(lambda: not running(agent))


@pytest.mark.skipif(not shutil.which("setpriv"), reason="there is no setpriv")
async def test_an_agent_whose_daemon_died_before_it_could_be_told_does_not_start(tmp_path: Path) -> None:
    argv = a_run(tmp_path).command(["touch", str(tmp_path / "started")])
    # Another process than the one that made the command is its parent, as init is when the daemon is gone.
    process = await asyncio.create_subprocess_exec("sh", "-c", '"$@"; echo $?', "sh", *argv, stdout=PIPE)
    out, _ = await process.communicate()
    assert out == b"143\n"
    assert not (tmp_path / "started").exists()
