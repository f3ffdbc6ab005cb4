"""`keryx serve`: the daemon from its first socket to its last word.

In this order, so that `/health` answers within a second: settings, socket, door; then, in a thread, the heavy imports;
then the house. It stops in under five seconds, at once on a second signal.
"""

import asyncio
import contextlib
import errno
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from keryx import log as logs
from keryx.cli.doorstep import Doorstep
from keryx.cli.progress import LoadingLine, say_out
from keryx.cli.version import version
from keryx.config import daemon
from keryx.config.checks import is_loopback
from keryx.config.files import load
from keryx.config.places import Places
from keryx.config.settings import Settings
from keryx.errors import ConfigError
from keryx.server.daemon import DaemonServer

if TYPE_CHECKING:
    from fastapi import FastAPI

    from keryx.app import Keryx

log = logging.getLogger(__name__)

STOP_GRACE_S = 4.0
"""From the first signal to the end, whatever hangs."""
PORTS_TO_TRY = 20
"""How many ports above the one in use are looked at for a free one."""
BACKLOG = 128
OPEN_FILES = 1024
"""Enough for the most connections that are taken, beside everything else that is open."""


def run_daemon(*, demo: bool, host: str | None, port: int | None, debug: bool = False) -> None:
    """Serve until a signal; raises `ConfigError` when it cannot start."""
    os.umask(0o077)  # whatever a library writes is for the owner's eyes only
    _configure_log(debug)
    _allow_open_files()
    settings, places = load(demo=demo)
    settings = _listening_at(settings, host, port)
    try:
        with _listen(settings.server.host, settings.server.port, demo) as listener:
            if not is_loopback(settings.server.host):
                _say(
                    f"listening on {settings.server.host}: other machines can reach this page, and only its key keeps "
                    "them out; put https in front of it beyond your own network",
                )
            stop = _Stop(places)
            asyncio.run(_Daemon(settings, places, demo, listener, stop).run())
    finally:
        daemon.withdraw(places)
        places.discard()


def _configure_log(debug: bool) -> None:
    # A person at a terminal wants the address and the warnings; a service's journal wants what happened.
    level = "DEBUG" if debug else "WARNING" if sys.stderr.isatty() else "INFO"
    logs.configure(level, mask=_mask)
    # Its DEBUG writes down every frame of every socket: sound, keys and words, which no log may hold.
    logging.getLogger("uvicorn").setLevel("INFO" if debug else "WARNING")


def _allow_open_files() -> None:
    """As many open files as `OPEN_FILES`, if the system lets us: sockets count, and macOS gives a process 256."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _mask(line: str) -> str:
    from keryx.security.redact import mask_line

    return mask_line(line)


def _say(line: str) -> None:
    print(f"keryx: {line}", file=sys.stderr, flush=True)


def _listening_at(settings: Settings, host: str | None, port: int | None) -> Settings:
    """The settings with what the command line says of `server` over them, checked like any other value."""
    given = {key: value for key, value in (("host", host), ("port", port)) if value is not None}
    if not given:
        return settings
    from pydantic import ValidationError

    from keryx.config.settings import Server, allowed

    try:
        server = Server.model_validate(settings.server.model_dump() | given)
    except ValidationError as error:
        field = str(error.errors(include_url=False)[0]["loc"][0])
        raise ConfigError(f"--{field} is {given[field]!r}; allowed: {allowed('server', field)}") from None
    return settings.model_copy(update={"server": server})


def _listen(host: str, port: int, demo: bool) -> socket.socket:
    """A socket that listens at once: whoever connects now is answered as soon as the door stands."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise ConfigError(f"there is no host {host!r} to listen on; try --host 127.0.0.1") from None
    try:
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        match error.errno:
            case errno.EADDRINUSE:
                again = f"keryx serve{' --demo' if demo else ''} --port {_free_port(family, host, port)}"
                raise ConfigError(f"port {port} on {host} is in use by another program; try: {again}") from None
            case errno.EACCES:
                raise ConfigError(f"this user may not listen on port {port}; take one from 1024 on") from None
            case _:
                raise ConfigError(f"cannot listen on {host}, port {port}: {os.strerror(error.errno or 0)}") from None


def _free_port(family: int, host: str, taken: int) -> int:
    """A port near `taken` that is free now, else any."""
    for port in (*range(taken + 1, min(taken + PORTS_TO_TRY, 65535) + 1), 0):
        with contextlib.suppress(OSError), socket.create_server((host, port), family=family) as probe:
            return probe.getsockname()[1]
    return 0


def page_origin(settings: Settings, listener: socket.socket) -> str:
    """How a browser on this machine reaches the daemon."""
    host = settings.server.host
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{shown}]' if ':' in shown else shown}:{listener.getsockname()[1]}"


class _Stop:
    """Signals: the first stops in order, the second at once; a thread sees that the order does not take for ever."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.asked = asyncio.Event()
        """Set by the first signal."""

    def listen(self) -> None:
        """From now on signals come here; called in the loop."""
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, self._signalled)

    def _signalled(self) -> None:
        if self.asked.is_set():
            self.leave()
        self.asked.set()
        # A daemon thread, since what may hang is the loop or the interpreter's own wait for its threads.
        watchdog = threading.Timer(STOP_GRACE_S, self.leave)
        watchdog.daemon = True
        watchdog.start()

    def leave(self) -> None:
        """End the process now, with nothing of this run left behind."""
        daemon.withdraw(self._places)
        self._places.discard()
        logging.shutdown()
        say_out(sys.stdout, "")
        os._exit(0)  # every task stands in the store; the next start takes it up


class _Server(DaemonServer):
    """The web server, with the process's signals left to `_Stop`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


class _Daemon:
    """One run of the daemon."""

    def __init__(self, settings: Settings, places: Places, demo: bool, listener: socket.socket, stop: _Stop) -> None:
        self._settings = settings
        self._places = places
        self._demo = demo
        self._listener = listener
        self._stop = stop

    async def run(self) -> None:
        door = Doorstep(version())
        server = _Server(
            # The server asks of its application only what the doorstep has too: to be called, and `state.stopping`.
            cast("FastAPI", door),
            host=self._settings.server.host,
            port=self._settings.server.port,
        )
        self._stop.listen()
        failure: Exception | None = None
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[self._listener]))
            try:
                await self._keep_house(door)
            except Exception as error:  # raised again below, once the server has closed its sockets
                failure = error
            finally:
                door.shut()
                server.stop()
        if failure is not None:
            raise failure
        # Everything is closed. A thread that still loads a model would hold the interpreter's own end up for seconds.
        self._stop.leave()

    async def _keep_house(self, door: Doorstep) -> None:
        with _often_switched():
            keryx_class, create_app = await asyncio.to_thread(_import_house)
        if self._stop.asked.is_set():
            return
        async with keryx_class.open(self._settings, self._places, demo=self._demo) as keryx:
            house = create_app(keryx)
            house.state.stopping = door.state.stopping
            pointer = daemon.DaemonPointer(page_origin(self._settings, self._listener), keryx.page_key)
            daemon.announce(self._places, pointer)
            door.open(house)
            say_out(sys.stdout, f"Keryx is on {pointer.page}\n")
            async with asyncio.TaskGroup() as group:
                progress = group.create_task(_show_loading(keryx))
                await self._stop.asked.wait()
                progress.cancel()
            # Streams end and nobody new comes in; then the house closes, with its calls' farewells, while the sockets
            # are still open. Only after that does the server close what is left.
            door.state.stopping.set()
            door.shut()


@contextlib.contextmanager
def _often_switched() -> Iterator[None]:
    """Let the loop have its turn every millisecond: imports are pure work, and `/health` is asked in the middle."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.001)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def _import_house() -> "tuple[type[Keryx], Callable[[Keryx], Any]]":
    from keryx.app import Keryx
    from keryx.server.http import create_app

    return Keryx, create_app


async def _show_loading(keryx: "Keryx") -> None:
    line = LoadingLine(sys.stdout)
    while keryx.loading.state == "loading":
        line.show(keryx.loading.percent, keryx.loading.message)
        await keryx.loading.changed()
    line.done(keryx.loading.message)
