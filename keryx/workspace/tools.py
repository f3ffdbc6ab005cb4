"""Every tool of the workspace server, by its name."""

from keryx.workspace.calendar_tools import CALENDAR_TOOLS
from keryx.workspace.mail_tools import MAIL_TOOLS
from keryx.workspace.tool import Tool

__all__ = ["TOOLS", "Tool"]

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*MAIL_TOOLS, *CALENDAR_TOOLS)}
