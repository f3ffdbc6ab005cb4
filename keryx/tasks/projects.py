"""Projects by the names people give them. Pure."""

from collections.abc import Sequence

from keryx.errors import NotFound

MAX_NAMED = 5
"""A sentence names no more projects than this."""


def known_project(name: str | None, projects: Sequence[str]) -> str | None:
    """`name` in its configured spelling; None or blank is None. Raises `NotFound`, which names the ones there are."""
    wanted = " ".join((name or "").split()).casefold()
    if not wanted:
        return None
    for project in projects:
        if project.casefold() == wanted:
            return project
    there_is = ", ".join(projects) or "none"
    spoken = ", ".join(projects[:MAX_NAMED])
    raise NotFound(
        f'no project "{name}"; there is {there_is}',
        spoken=f"I don't know that project. There is {spoken}." if projects else "No projects are set up yet.",
    )
