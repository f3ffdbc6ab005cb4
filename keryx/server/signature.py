"""Whether a request really comes from the telephone provider: its signature over the address it was told to call.

The address is the configured public one. What a proxy writes into forwarded headers is anybody's word, and what this
process listens on is not what was signed.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import FormData

from keryx.errors import ConfigError

SIGNATURE = "x-twilio-signature"
ALGORITHM = "x-twilio-webhooks-signature-settings"
HOW_TO_INSTALL = "The telephone line needs the provider's own package: run pip install 'keryx[phone]' and start again."


class ProviderSignature:
    """Checks Twilio's signatures with Twilio's own validator. Raises `ConfigError` when that is not installed."""

    def __init__(self, auth_token: str, public_url: str) -> None:
        try:
            from twilio.request_validator import RequestValidator, get_signature_algorithm
        except ImportError as error:
            raise ConfigError(HOW_TO_INSTALL) from error
        self._validator = RequestValidator(auth_token)
        self._algorithm_of = get_signature_algorithm
        self._origin = public_url.rstrip("/")

    def signs_form(self, path: str, form: list[tuple[str, str]], headers: Mapping[str, str]) -> bool:
        """Whether a POST of `form` to `path` (with its query, if any) carries the right signature."""
        return self._signs(self._origin + path, FormData([*form]), headers)

    def signs_upgrade(self, path: str, headers: Mapping[str, str]) -> bool:
        """Whether a WebSocket's opening request does; it is signed as its `wss` address without parameters."""
        origin = urlsplit(self._origin)
        host = origin.hostname or ""
        hosts = {origin.netloc} if origin.port else {host, f"{host}:443"}
        addresses = [f"wss://{host}{path}{slash}" for host in hosts for slash in ("", "/")]
        return any(self._signs(address, {}, headers) for address in addresses)

    def _signs(self, address: str, form: Mapping[str, object], headers: Mapping[str, str]) -> bool:
        given = headers.get(SIGNATURE, "")
        # The validator tries the address with and without its port: both are signed in practice.
        return bool(given) and self._validator.validate(
            address, form, given, self._algorithm_of(headers.get(ALGORITHM))
        )
