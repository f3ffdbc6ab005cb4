"""How Calendar's requests and answers are written: pages, stretches of time, zones, moments."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from tests.support.google.diary import Calendar
from tests.support.google.recurrence import When, zone_of
from tests.support.google.refusals import invalid


def page(found: list[Any], parameters: Mapping[str, Any], *, most: int, usual: int) -> tuple[list[Any], dict[str, str]]:
    size = min(parameters.get("maxResults", usual), most)
    token = parameters.get("pageToken", "page0")
    if not token.removeprefix("page").isdecimal():
        raise invalid("Invalid page token value.", reason="invalid")
    start = int(token.removeprefix("page"))
    more = {"nextPageToken": f"page{start + size}"} if start + size < len(found) else {}
    return found[start : start + size], more


def stretch(given: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    start, end = (moment(given[name], name) if given.get(name) else None for name in ("timeMin", "timeMax"))
    if start and end and start >= end:
        raise invalid("The specified time range is empty.", reason="timeRangeEmpty", where=("parameter", "timeMax"))
    return start, end


def moment(text: str, name: str) -> datetime:
    moment = datetime.fromisoformat(text.upper())
    if moment.tzinfo is None:
        raise invalid("Bad Request", where=("parameter", name))
    return moment.astimezone(UTC)


def zone_of_reader(parameters: Mapping[str, Any], calendar: Calendar) -> str:
    name = parameters.get("timeZone") or calendar.zone
    zone_named(name)
    return name


def zone_named(name: str) -> ZoneInfo:
    try:
        return zone_of(name)
    except ValueError:
        raise invalid("Invalid time zone.", reason="invalidParameter", where=("parameter", "timeZone")) from None


def in_zone(given: Mapping[str, Any], value: When, zone: Any) -> dict[str, Any]:
    """As it is shown: in the reader's zone, with the event's own beside it."""
    if not isinstance(value, datetime):
        return {"date": value.isoformat()}
    shown = {"dateTime": rfc3339(value, zone)}
    return shown | ({"timeZone": given["timeZone"]} if given.get("timeZone") else {})


def rfc3339(value: datetime, zone: Any) -> str:
    return value.astimezone(zone).isoformat(timespec="seconds").replace("+00:00", "Z")
