"""Everything that changes, told to one listener as server-sent events until either side goes.

The first event is a `snapshot` of everything, so a reader that was away needs no history: `Last-Event-ID` is accepted
and not needed. Then `task`, `progress`, `news`, `told` and `voice` as they come. The manager may drop old wake-ups
for a slow reader, so the stream also compares with the store now and then and sends a fresh snapshot if they differ.
"""

import asyncio
import itertools
from typing import TYPE_CHECKING, assert_never

from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from keryx.clock import Clock
from keryx.server.wire import ProgressOut, Snapshot, TaskOut, VoiceOut, news_out, progress_out, task_out
from keryx.tasks.events import NewsArrived, NewsTold, TaskChanged, TaskEvent, TaskProgressed

if TYPE_CHECKING:
    from keryx.app import Keryx

HEARTBEAT_S = 15.0
"""A silent connection is given up by proxies, and the page takes twice this for a lost one."""
HEARTBEATS_PER_CHECK = 4
"""Every so many heartbeats the listener's picture is compared with the store."""
SNAPSHOT_TASKS = 100
RETRY_MS = 1000


class Told(BaseModel):
    """News that was heard."""

    news_ids: list[int]


class _StreamOver(Exception):
    """The listener has gone, or the daemon stops."""


class EventStream(Response):
    """A response that lasts: one listener's view of the house."""

    media_type = "text/event-stream"

    def __init__(self, keryx: "Keryx", clock: Clock, stopping: asyncio.Event) -> None:
        self.status_code = 200
        self.background = None
        # X-Accel-Buffering: some proxies would hold small events back.
        self.init_headers({"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        self._keryx = keryx
        self._clock = clock
        self._stopping = stopping
        self._ids = itertools.count(1)
        self._shown: dict[int, TaskOut] = {}
        self._untold: set[int] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        try:
            async with self._keryx.manager.events() as events, asyncio.TaskGroup() as pumps:
                await self._send_snapshot(send)
                pumps.create_task(self._until_gone(receive))
                pumps.create_task(self._until_stopping())
                pumps.create_task(self._voice(send))
                pumps.create_task(self._heartbeat(send))
                async for event in events:
                    await self._send_event(send, event)
                raise _StreamOver
        except* (_StreamOver, OSError):
            pass
        if self._stopping.is_set():
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _until_gone(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        raise _StreamOver

    async def _until_stopping(self) -> None:
        await self._stopping.wait()
        raise _StreamOver

    async def _voice(self, send: Send) -> None:
        told = voice_out(self._keryx)
        while True:
            if (now := voice_out(self._keryx)) == told:
                await self._keryx.loading.changed()
                continue
            await self._send(send, "voice", now)
            told = now

    async def _heartbeat(self, send: Send) -> None:
        for beat in itertools.count(1):
            await self._clock.sleep(HEARTBEAT_S)
            if beat % HEARTBEATS_PER_CHECK:
                await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
            else:
                await self._send_snapshot(send, only_if_changed=True)

    async def _send_snapshot(self, send: Send, *, only_if_changed: bool = False) -> None:
        tasks = [task_out(task) for task in await self._keryx.manager.list(limit=SNAPSHOT_TASKS)]
        untold = [news_out(news) for news in await self._keryx.manager.untold()]
        waiting = {news.id for news in untold}
        same = waiting == self._untold and all(self._shown.get(task.id) == task for task in tasks)
        self._shown, self._untold = {task.id: task for task in tasks}, waiting
        if only_if_changed and same:
            await send({"type": "http.response.body", "body": b": still here\n\n", "more_body": True})
            return
        snapshot = Snapshot(tasks=tasks, untold=untold, voice=voice_out(self._keryx), version=self._keryx.version)
        await self._send(send, "snapshot", snapshot)

    async def _send_event(self, send: Send, event: TaskEvent) -> None:
        match event:
            case TaskChanged(task):
                self._shown[task.id] = task_out(task)
                await self._send(send, "task", self._shown[task.id])
            case TaskProgressed(line):
                progress: ProgressOut = progress_out(line)
                if shown := self._shown.get(line.task_id):
                    self._shown[line.task_id] = shown.model_copy(update={"progress": progress.text})
                await self._send(send, "progress", progress)
            case NewsArrived(news):
                self._untold.add(news.id)
                await self._send(send, "news", news_out(news))
            case NewsTold(news_ids):
                self._untold.difference_update(news_ids)
                await self._send(send, "told", Told(news_ids=list(news_ids)))
            case _:
                assert_never(event)

    async def _send(self, send: Send, name: str, content: BaseModel) -> None:
        text = f"event: {name}\nid: {next(self._ids)}\nretry: {RETRY_MS}\ndata: {content.model_dump_json()}\n\n"
        await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


def voice_out(keryx: "Keryx") -> VoiceOut:
    """Whether Keryx can hear and speak, as of now."""
    loading = keryx.loading
    return VoiceOut(state=loading.state, percent=loading.percent, message=loading.message)
