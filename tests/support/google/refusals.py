"""How Google says no: one exception, and the body that it becomes."""

import json
from collections.abc import Mapping
from typing import Any

from tests.support.google.oauth import Answer

_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ALREADY_EXISTS",
    412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_WORDS = {
    "quotaExceeded": "Quota exceeded.",
    "rateLimitExceeded": "Rate Limit Exceeded",
    "userRateLimitExceeded": "User Rate Limit Exceeded",
    "dailyLimitExceeded": "Daily Limit Exceeded",
    "backendError": "Backend Error",
    "notFound": "Not Found",
    "forbidden": "Forbidden",
    "authError": "Invalid Credentials",
    "insufficientPermissions": "Insufficient Permission",
    "conditionNotMet": "Precondition Failed",
    "deleted": "Resource has been deleted",
    "duplicate": "The requested identifier already exists.",
}
_USAGE = {"quotaExceeded", "rateLimitExceeded", "userRateLimitExceeded", "dailyLimitExceeded", "accessNotConfigured"}


class GoogleError(Exception):
    """An answer that is an error. `where`: the header or parameter at fault, (kind, name)."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str = "",
        *,
        domain: str = "",
        where: tuple[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        details: tuple[Mapping[str, Any], ...] = (),
    ) -> None:
        super().__init__(message or _WORDS.get(reason, reason))
        self.code = code
        self.reason = reason
        self.domain = domain or ("usageLimits" if reason in _USAGE else "global")
        self.where = where
        self.headers = dict(headers or {})
        self.details = details

    def answer(self) -> Answer:
        headers = {"Content-Type": "application/json; charset=UTF-8", **self.headers}
        return Answer(self.code, json.dumps(self.body(), indent=1).encode(), headers)

    def body(self) -> dict[str, Any]:
        entry = {"message": str(self), "domain": self.domain, "reason": self.reason}
        if self.where:
            entry |= {"locationType": self.where[0], "location": self.where[1]}
        error: dict[str, Any] = {"code": self.code, "message": str(self), "errors": [entry]}
        if self.code in _STATUS:
            error["status"] = _STATUS[self.code]
        if self.details:
            error["details"] = list(self.details)
        return {"error": error}


def invalid(message: str, *, reason: str = "badRequest", where: tuple[str, str] | None = None) -> GoogleError:
    return GoogleError(400, reason, message, where=where)


def not_found(message: str = "Not Found") -> GoogleError:
    return GoogleError(404, "notFound", message)


def unknown_token(given: bool) -> GoogleError:
    """401; `given`: there was a token, but it is none that works."""
    headers = {"WWW-Authenticate": 'Bearer realm="https://accounts.google.com/"'}
    if not given:
        message = "Request is missing required authentication credential. Expected OAuth 2 access token."
        return GoogleError(401, "required", message, where=("header", "Authorization"), headers=headers)
    headers["WWW-Authenticate"] += ', error="invalid_token"'
    message = "Request had invalid authentication credentials. Expected OAuth 2 access token."
    return GoogleError(401, "authError", message, where=("header", "Authorization"), headers=headers)


def scope_missing(service: str, method: str, scopes: frozenset[str]) -> GoogleError:
    needed = " ".join(sorted(scopes))
    challenge = f'Bearer realm="https://accounts.google.com/", error="insufficient_scope", scope="{needed}"'
    details = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
        "domain": "googleapis.com",
        "metadata": {"service": service, "method": method},
    }
    return GoogleError(
        403,
        "insufficientPermissions",
        "Request had insufficient authentication scopes.",
        headers={"WWW-Authenticate": challenge},
        details=(details,),
    )


def not_enabled(api: str) -> GoogleError:
    """The owner's project lacks the interface."""
    message = (
        f"{api.title()} API has not been used in project 1234567890 before or it is disabled. Enable it by visiting "
        f"https://console.developers.google.com/apis/api/{api}.googleapis.com/overview?project=1234567890 then retry."
    )
    details = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "SERVICE_DISABLED",
        "domain": "googleapis.com",
        "metadata": {"service": f"{api}.googleapis.com"},
    }
    return GoogleError(403, "accessNotConfigured", message, details=(details,))
