"""The engine of one machine: tasks run in this process, woken in-process, with no polling."""

import asyncio
import logging
from collections.abc import Callable

from keryx.clock import Clock
from keryx.errors import Unavailable
from keryx.tasks.engines.base import Delivery, Signal, TaskRun, TaskWorker
from keryx.tasks.models import Task

CLAIM_RETRY_S = 2.0
"""How long to wait before claiming again when the store could not be written."""
STOP_GRACE_S = 10.0
"""How long `stop` waits for the agents to be gone."""

log = logging.getLogger(__name__)


class LocalEngine:
    """Takes queued tasks in order, each in a task of its own under one group."""

    def __init__(self, clock: Clock, *, stop_grace_s: float = STOP_GRACE_S) -> None:
        self._clock = clock
        self._stop_grace_s = stop_grace_s
        self._runs: dict[int, TaskRun] = {}
        self._wake = asyncio.Event()
        self._supervisor: asyncio.Task[None] | None = None

    async def start(self, worker: TaskWorker, *, slots: int) -> None:
        # The group lives inside this one task, from `start` to `stop`: no single block spans the two.
        self._supervisor = asyncio.create_task(self._supervise(worker, slots), name="task-engine")
        self._wake.set()

    def submit(self) -> None:
        self._wake.set()

    async def signal(self, task_id: int, signal: Signal) -> Delivery:
        run = self._runs.get(task_id)
        return Delivery.WAITING if run is None else await run.signal(signal)

    async def stop(self) -> None:
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is None:
            return
        supervisor.cancel()
        _, late = await asyncio.wait({supervisor}, timeout=self._stop_grace_s)
        if late:
            log.warning("agents did not stop in time", extra={"tasks": sorted(self._runs)})

    async def _supervise(self, worker: TaskWorker, slots: int) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while len(self._runs) < slots and (task := await self._claim(worker)) is not None:
                    self._runs[task.id] = run = worker.begin(task)
                    group.create_task(self._carry_out(task.id, run.run), name=f"task-{task.id}")

    async def _claim(self, worker: TaskWorker) -> Task | None:
        while True:
            try:
                return await worker.claim(self._runs.keys())
            except Unavailable as error:
                log.warning("no task can be claimed for now", extra={"reason": str(error)})
                await self._clock.sleep(CLAIM_RETRY_S)

    async def _carry_out(self, task_id: int, run: Callable) -> None:
        try:
            await run()
        except Exception:  # the edge of one task: it ends, its neighbours go on
            log.exception("a task's run broke off", extra={"task": task_id})
        finally:
            del self._runs[task_id]
            self._wake.set()
