"""Tools about projects: which there are."""

from collections.abc import Sequence

from keryx.errors import NotFound
from keryx.voice.tools.base import Arguments, Tool, ToolResult

MAX_NAMED = 5
"""A sentence names no more projects than this."""


class Nothing(Arguments):
    """No arguments."""


def project_tools(projects: Sequence[str]) -> list[Tool]:
    """The project tools."""

    async def list_projects(arguments: Nothing, request: str) -> ToolResult:
        return ToolResult(True, {"projects": list(projects)})

    return [Tool("list_projects", "The projects that can be worked in.", Nothing, list_projects)]


def known_project(name: str | None, projects: Sequence[str]) -> str | None:
    """`name` in its configured spelling; None stays None. Raises `NotFound`, which names the ones there are."""
    if name is None:
        return None
    for project in projects:
        if project.casefold() == name.casefold():
            return project
    there_is = ", ".join(projects) or "none"
    spoken = ", ".join(projects[:MAX_NAMED])
    raise NotFound(
        f'no project "{name}"; there is {there_is}',
        spoken=f"I don't know that project. There is {spoken}." if projects else "No projects are set up yet.",
    )
