"""Projects by the names people give them. Pure."""

from collections.abc import Sequence

from keryx.agents.workplace import unknown_project


def known_project(name: str | None, projects: Sequence[str]) -> str | None:
    """`name` in its configured spelling; None or blank is None. Raises `NotFound`, which names the ones there are."""
    wanted = " ".join((name or "").split()).casefold()
    if not wanted:
        return None
    for project in projects:
        if project.casefold() == wanted:
            return project
    raise unknown_project(name or "", projects)
