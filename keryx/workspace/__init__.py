"""The owner's mail and calendar: Gmail and Google Calendar, as functions and as an MCP server of its own process."""
