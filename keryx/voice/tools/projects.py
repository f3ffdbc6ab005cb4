"""Tools about projects: which there are."""

from collections.abc import Sequence

from keryx.tasks.projects import known_project
from keryx.voice.tools.base import Arguments, Tool, ToolResult

__all__ = ["known_project", "project_tools"]


class Nothing(Arguments):
    """No arguments."""


def project_tools(projects: Sequence[str]) -> list[Tool]:
    """The project tools."""

    async def list_projects(arguments: Nothing, request: str) -> ToolResult:
        return ToolResult(True, {"projects": list(projects)})

    return [Tool("list_projects", "The projects that can be worked in.", Nothing, list_projects)]
