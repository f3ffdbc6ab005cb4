"""`python -m keryx.workspace`: the MCP server, as agents are handed it. It loads nothing that it does not need."""

import argparse
import logging
import sys
from pathlib import Path

from keryx.errors import KeryxError


def main() -> int:
    """Serve on the standard streams until they are closed."""
    parser = argparse.ArgumentParser(
        prog="python -m keryx.workspace", description="Mail and calendar as an MCP server."
    )
    parser.add_argument("--folder", type=Path, required=True, help="where the sign-in at Google is kept")
    parser.add_argument("--zone", required=True, help="the owner's IANA time zone")
    parser.add_argument("--files", type=Path, help="the only folder that files are saved to and attached from")
    parser.add_argument("--api-url", help="another address of Google's interfaces")
    parser.add_argument("--debug", action="store_true", help="log what breaks, to standard error")
    given = parser.parse_args()
    logging.basicConfig(stream=sys.stderr, level=logging.DEBUG if given.debug else logging.WARNING)
    from keryx.workspace.server import serve

    try:
        serve(given.folder, zone=given.zone, api_url=given.api_url, files=given.files)
    except KeryxError as error:
        print(f"keryx: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
