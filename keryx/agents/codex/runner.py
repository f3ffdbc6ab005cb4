"""Codex, behind `codex app-server`: one process and one thread of it for each conversation.

`settings` says what a task's mode means there and what enforces it, `approvals` what Codex is told when
something is denied.
"""

import asyncio
from pathlib import Path

from keryx.agents.codex.adapter import CodexAdapter
from keryx.agents.codex.settings import NO_SANDBOX, environment_for, hold_for, program_for
from keryx.agents.codex.thread import Bounds, CodexThread
from keryx.agents.equipment import Equipment
from keryx.agents.programs import run_program
from keryx.agents.session import AdaptedSession
from keryx.tasks.models import Task

__all__ = ["Bounds", "CodexAgentRunner"]


class CodexAgentRunner:
    """Opens conversations with Codex."""

    def __init__(self, equipment: Equipment, *, name: str = "codex", bounds: Bounds | None = None) -> None:
        self.name = name
        self._equipment = equipment
        self._bounds = bounds or Bounds()
        self._sandboxed: bool | None = None

    async def open(self, task: Task, *, resume: str | None = None) -> AdaptedSession:
        program = program_for(self._equipment)
        directory = (await asyncio.to_thread(self._equipment.workplace, task)).resolve()
        if self._sandboxed is None and task.mode != "full":
            self._sandboxed = await self._sandbox_works(program, directory)
        hold = hold_for(task.mode, sandboxed=self._sandboxed or False)
        adapter = CodexAdapter(CodexThread(program, task, directory, hold, self._equipment, self._bounds))
        if task.mode != "full" and not self._sandboxed:
            adapter.notices.append(NO_SANDBOX)
        try:
            forgotten = await adapter.begin(resume)
        except BaseException:
            await adapter.close()
            raise
        return AdaptedSession(adapter, task, self._equipment, forgotten=forgotten)

    async def _sandbox_works(self, program: str, directory: Path) -> bool:
        argv = [program, "sandbox", "--", "true"]
        environment = environment_for(self._equipment)
        try:
            ended = await run_program(argv, cwd=directory, env=environment, limit_s=self._bounds.probe_s)
        except OSError:
            return False
        return ended.code == 0
