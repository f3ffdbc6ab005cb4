"""How one agent stands on this machine: installed, signed in, where its program is, and what to do when not."""

import asyncio
import importlib.metadata
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from keryx.agents.equipment import Login
from keryx.agents.programs import run_program
from keryx.agents.registry import Backend
from keryx.agents.surroundings import bundled_program, find_program

VERSION_LIMIT_S = 0.4
"""How long a program may take to say its version; after that it is unknown."""

_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


@dataclass(frozen=True)
class Standing:
    """What can be seen of an agent without starting it."""

    backend: Backend
    login: Login
    installed: bool
    """The extra that brings it is there."""
    program: str | None
    """The whole path of its program; None when there is none."""
    model: str | None
    """The model when a task names none; None: the agent's own default."""
    own_program: str | None = None
    """The program the owner named in the settings."""

    @property
    def signed_in(self) -> bool | None:
        """None: it keeps its login to itself."""
        return None if self.login.how is None and not self.backend.credentials.tiers else self.login.how is not None

    @property
    def ready(self) -> bool:
        """A task given to it can begin, as far as one can see."""
        return self.advice is None

    @property
    def missing(self) -> str | None:
        """What to do before it can be started at all, as one line; None when there is nothing to do."""
        name = self.backend.name
        if not self.installed:
            return f"run {self.backend.install}"
        if self.program is None:
            where = f"{name}.program" if self.backend.credentials.tiers else f"[acp] {name}"
            return f"there is no program {self.own_program or self.backend.program}; install it, or mend {where}"
        return None

    @property
    def advice(self) -> str | None:
        """What to do before it can work, as one line; None when there is nothing to do."""
        if self.missing is not None or self.signed_in is not False:
            return self.missing
        # The program that a package brings along is on nobody's PATH.
        program = self.program if self.backend.bundled and self.own_program is None else self.backend.program
        return "not signed in: " + self.backend.sign_in.replace("{program}", program or self.backend.program)


def stand(
    backend: Backend, login: Login, environment: Mapping[str, str], *, program: str | None, model: str | None
) -> Standing:
    """How `backend` stands in `environment`; `program` and `model` are what the owner set. Starts nothing."""
    installed = importlib.util.find_spec(backend.module) is not None
    bundled = bundled_program(*backend.bundled) if backend.bundled and not program else None
    found = bundled or find_program(program or backend.program, environment)
    return Standing(backend, login, installed, found, model, own_program=program)


async def version(standing: Standing, environment: Mapping[str, str]) -> str | None:
    """The agent's version: its package's, or what a program of the owner's says of itself in time; None: unknown."""
    backend = standing.backend
    if standing.own_program is None and backend.bundled:
        try:
            return importlib.metadata.version(backend.package)
        except importlib.metadata.PackageNotFoundError:
            pass
    if standing.program is None:
        return None
    try:
        ended = await run_program(
            [standing.program, "--version"], cwd=Path("/"), env=environment, limit_s=VERSION_LIMIT_S
        )
    except OSError:
        return None
    found = _VERSION.search(ended.output) if ended.code == 0 else None
    return found[0] if found else None


async def versions(standings: list[Standing], environment: Mapping[str, str]) -> list[str | None]:
    """The version of each, all asked at once."""
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(version(standing, environment)) for standing in standings]
    return [each.result() for each in asked]
