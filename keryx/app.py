"""The composition root: the only file that names every concrete class, and where the circle closes."""

import asyncio
import contextlib
import importlib.metadata
import logging
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from keryx import prompts
from keryx.agency.agency import Agency
from keryx.agency.workspace import workspace_servers
from keryx.agents.approver import NobodyToAsk
from keryx.agents.base import AgentRunner
from keryx.agents.demo.runner import DemoAgentRunner, prepare_demo_projects
from keryx.agents.equipment import no_servers
from keryx.agents.processes import reap
from keryx.agents.registry import AgentRegistry
from keryx.agents.workplace import Workplaces
from keryx.clock import Clock, SystemClock
from keryx.config.people import owner
from keryx.config.places import Places
from keryx.config.settings import Settings
from keryx.errors import ConfigError
from keryx.notify.notifier import Notifier
from keryx.security.tokens import StreamTokens, page_key
from keryx.store.db import Database, DataLock
from keryx.tasks.manager import Limits, TaskManager
from keryx.tasks.store import TaskStore
from keryx.voice.engines.manner import NewsDesk
from keryx.voice.live import LiveCalls
from keryx.voice.loading import SpeechLoading
from keryx.voice.reception import Host, Reception
from keryx.voice.tools.lookup import ANSWER_WITHIN_S, Lookup
from keryx.voice.transports.base import Caller, MediaTransport
from keryx.workspace.workspace import Workspace

log = logging.getLogger(__name__)

DEMO_AGENT = "fake"


@dataclass(frozen=True)
class Keryx:
    """An open house: what the server and the command line may ask of the running daemon."""

    settings: Settings
    places: Places
    manager: TaskManager
    notifier: Notifier
    live: LiveCalls
    loading: SpeechLoading
    stream_tokens: StreamTokens
    page_key: str
    reception: Reception
    lookup: Lookup
    projects: Callable[[], Sequence[str]]
    """The projects' names as of now."""
    version: str

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, settings: Settings, places: Places, *, demo: bool = False, clock: Clock | None = None
    ) -> "AsyncIterator[Keryx]":
        """Hold the house open for the length of a block; a cancellation closes it in order.

        Raises `ConfigError` when it cannot open: another daemon has the data, a folder cannot be used, the default
        agent is not there. Speech is still loading when the block begins; tasks left by the last daemon already run.
        """
        clock = clock or SystemClock()
        places.prepare()
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(DataLock(places.lock_file))
            await _end_what_was_left(places)
            registry, projects = await _agents(settings, places, demo, clock)
            database = await Database.open(places.database)
            stack.push_async_callback(database.close)
            limits = Limits(settings.tasks.max_concurrent, settings.tasks.daily_cap, settings.owner.timezone)
            store = TaskStore(database, clock)
            manager = TaskManager(
                store,
                registry,
                clock=clock,
                limits=limits,
                reports=places.reports_dir,
                owner=owner(settings).name,
            )
            await manager.start()
            stack.push_async_callback(manager.stop)
            loading = SpeechLoading(
                places.cache_dir, weights=settings.voice.weights, may_download=settings.voice.download
            )
            stack.callback(loading.close)
            live = LiveCalls(clock=clock)
            notifier = Notifier(manager, live, clock=clock)
            live.on_heard = notifier.heard
            workspace = Workspace(
                places.google_dir,
                zone=settings.owner.timezone,
                api_url=settings.google.api_url,
                patience_s=ANSWER_WITHIN_S,
                clock=clock,
            )
            lookup = Lookup(workspace, clock=clock)
            house = cls(
                settings=settings,
                places=places,
                manager=manager,
                notifier=notifier,
                live=live,
                loading=loading,
                stream_tokens=StreamTokens(clock, answered=places.data_dir / "answered-calls"),
                page_key=page_key(places.page_key_file),
                reception=Reception(
                    manager, registry, loading, live, NewsDesk(notifier.briefing, live.heard), clock=clock
                ),
                lookup=lookup,
                projects=projects,
                version=importlib.metadata.version("keryx"),
            )
            async with _beside(_warm(loading, registry, lookup), notifier.run()):
                try:
                    yield house
                finally:
                    await live.hang_up_all(prompts.table("phrases.toml")["stopping"][0])

    async def take_call(self, transport: MediaTransport, caller: Caller) -> None:
        """Hold one call from its greeting to its end; raises nothing but `CancelledError`."""
        person = owner(self.settings)
        host = Host(name=person.name, pin=person.pin, timezone=person.timezone, lookup=self.lookup)
        await self.reception.take(transport, caller, host, self.projects)


async def _warm(loading: SpeechLoading, registry: AgentRegistry, lookup: Lookup) -> None:
    """Load what is slow to load, speech first: the first call comes before the first task."""
    await loading.load()
    await asyncio.to_thread(lookup.warm)
    await asyncio.to_thread(registry.warm)


async def _end_what_was_left(places: Places) -> None:
    """End the agents, the demo's too, of a daemon that was itself killed; before any is started."""
    for owns in (places.data_dir, _demo_folder(places)):
        if left := await asyncio.to_thread(reap, owns):
            log.warning("programs of an agent whose daemon was killed were ended", extra={"programs": left})


def _demo_folder(places: Places) -> Path:
    return places.data_dir / "demo-projects"


async def _agents(
    settings: Settings, places: Places, demo: bool, clock: Clock
) -> tuple[AgentRegistry, Callable[[], Sequence[str]]]:
    """The agents that can be asked, and the projects there are at the moment one asks; raises `ConfigError`."""
    agency = Agency(settings)
    # In a demo nothing may happen to anybody's account by accident: real agents work when they are named, and only
    # those that could begin at once are there to be named.
    standings = [each for each in await asyncio.to_thread(agency.standings) if (each.ready if demo else each.installed)]
    runners: dict[str, AgentRunner] = {}
    root, projects = settings.projects.root, settings.projects.listed
    if demo or settings.agents.default == DEMO_AGENT:
        default, folder = DEMO_AGENT, _demo_folder(places)
        try:
            made = await asyncio.to_thread(prepare_demo_projects, folder)
        except (OSError, subprocess.SubprocessError) as error:
            raise ConfigError(
                f"the demo's projects cannot be made in {folder}; free some space, or set KERYX_HOME to another folder"
            ) from error
        if not projects():
            root, projects = folder, partial(tuple, made)
        runners[DEMO_AGENT] = DemoAgentRunner(folder)
    else:
        default = agency.default(standings)
    ours = no_servers
    if not demo:
        key = await asyncio.to_thread(page_key, places.page_key_file)
        ours = workspace_servers(places.google_dir, settings, agency.environment, secret=key)
    workplaces = Workplaces(root, projects, places.data_dir)
    common = await asyncio.to_thread(agency.equipment, workplaces, places.data_dir, clock, NobodyToAsk(), ours)
    runners |= {each.backend.name: agency.runner(each, common) for each in standings}
    return AgentRegistry(runners, default, [each.backend for each in standings]), projects


@contextlib.asynccontextmanager
async def _beside(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run coroutines beside a block: the block's end cancels them, and the first that breaks ends the block."""
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(each) for each in work]
        try:
            yield
        finally:
            for task in running:
                task.cancel()
