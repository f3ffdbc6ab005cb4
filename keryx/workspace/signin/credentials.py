"""The credentials that Google's own libraries are handed. Imports them, so it is imported only when they are needed."""

from datetime import UTC
from typing import TYPE_CHECKING, Any

from google.auth.credentials import TokenState
from google.oauth2.credentials import Credentials

if TYPE_CHECKING:
    from keryx.workspace.auth import GoogleAccount
    from keryx.workspace.signin.kept import Kept


class KeptCredentials(Credentials):
    """Follows what is kept of the sign-in, and refreshes by way of it.

    Whether a token still works is judged by when it came and how long it lasts, never by a stored end alone: a clock
    that was set leads to one refresh, not to a token that is believed for years.
    """

    def __init__(self, account: "GoogleAccount") -> None:
        super().__init__(token=None)
        self._account = account
        self._stamp: tuple[int, int] | None = None
        self._follow()

    def before_request(self, request: Any, method: str, url: str, headers: Any) -> None:
        self._follow()
        super().before_request(request, method, url, headers)

    def refresh(self, request: Any) -> None:
        """Ask by our own way; `request`, the caller's, has neither our bounds nor our errors."""
        self._take(self._account.refreshed(instead_of=self.token))

    @property
    def expired(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride] - the base is read as "never"
        return not self._kept.fresh(self._account.clock.now())

    @property
    def valid(self) -> bool:
        return self.token is not None and not self.expired

    @property
    def token_state(self) -> TokenState:
        return TokenState.FRESH if self.valid else TokenState.INVALID

    def _follow(self) -> None:
        """Take what another process has written since; `NotSignedIn` once there is nothing any more."""
        stamp = self._account.folder.stamp()
        if stamp is None or stamp != self._stamp:
            self._take(self._account.kept())
            self._stamp = stamp

    def _take(self, kept: "Kept") -> None:
        self._kept = kept
        self.token = kept.access_token
        self.expiry = kept.until.astimezone(UTC).replace(tzinfo=None)
        self._scopes = list(kept.scopes)
