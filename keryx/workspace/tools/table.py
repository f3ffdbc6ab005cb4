"""Every tool of the workspace server, by its name."""

from keryx.workspace.tools.base import Tool
from keryx.workspace.tools.calendar import CALENDAR_TOOLS
from keryx.workspace.tools.mail import MAIL_TOOLS

__all__ = ["TOOLS", "Tool"]

TOOLS: dict[str, Tool] = {tool.name: tool for tool in (*MAIL_TOOLS, *CALENDAR_TOOLS)}
