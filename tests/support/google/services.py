"""The real client library's services, for a test that talks to the loopback Google by itself."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from tests.support.google.routing import DOCUMENTS
from tests.support.google.server import GoogleServer


@contextlib.contextmanager
def service(server: GoogleServer, api: str, token: str | None = None) -> Iterator[Any]:
    """The service "gmail" or "calendar" at `server`, batches and uploads too; closed at the end of the block.

    `token`: one that may do everything, unless given.
    """
    from googleapiclient.discovery import build_from_document
    from googleapiclient.discovery_cache import get_static_doc

    from google.oauth2.credentials import Credentials

    # Not by `api_endpoint`, which batches and uploads do not follow.
    document = json.loads(get_static_doc(api, DOCUMENTS[api]) or "{}") | {"rootUrl": f"{server.url}/"}
    built = build_from_document(document, credentials=Credentials(token or server.token()))
    with contextlib.closing(built):
        yield built
