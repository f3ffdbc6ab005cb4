"""Who may ask what: the page's key as a bearer token, and where the running house is found in a request."""

from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection

from keryx.security.tokens import same_key

if TYPE_CHECKING:
    from keryx.app import Keryx

WRONG_KEY = (
    "This needs the page's key as a bearer token. It is in the address that `keryx serve` prints, after ?key=, "
    "and in the page key file."
)

_bearer = HTTPBearer(auto_error=False, description="The page's key: the part after ?key= in the page's address.")


def house(connection: HTTPConnection) -> "Keryx":
    """The running daemon behind a request or a socket."""
    return connection.app.state.keryx


def require_key(request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]) -> None:
    """Let nobody through without the page's key; compared in constant time."""
    if given is None or not same_key(given.credentials, house(request).page_key):
        raise HTTPException(401, WRONG_KEY, headers={"WWW-Authenticate": "Bearer"})
