"""`keryx workspace-mcp`: the owner's mail and calendar for an MCP client that they start themselves."""

import logging
import sys
from pathlib import Path

from keryx.config.files import load
from keryx.errors import ConfigError


def serve_tools(files: str | None, *, debug: bool) -> None:
    """Serve until the client is gone; `ConfigError` when it cannot begin."""
    settings, places = load()
    folder = Path(files or ".").expanduser().absolute()
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder; name one that exists with --files")
    from keryx.workspace.server import serve

    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG if debug else logging.WARNING)
    serve(places.google_dir, zone=settings.owner.timezone, api_url=settings.google.api_url, files=folder)
