"""The methods of Calendar v3 that are served, over the calendars."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.support.google import event_lists
from tests.support.google.calendar_shapes import page
from tests.support.google.calendars import Calendars
from tests.support.google.diary import ROLES, Calendar, Event
from tests.support.google.free_busy import free_busy
from tests.support.google.refusals import GoogleError, not_found
from tests.support.google.routing import Asked

MOST_CALENDARS = 250
_NOT_SERVED = ("syncToken", "privateExtendedProperty", "sharedExtendedProperty")


class CalendarMethods:
    """`table`: what answers each method, by its id. `GoogleError` is an answer too."""

    def __init__(self, calendars: Calendars) -> None:
        self._all = calendars
        self.table: dict[str, Callable[[Asked], Any]] = {
            f"calendar.{name}": self._locked(do)
            for name, do in {
                "calendarList.list": self._list_calendars,
                "calendarList.get": self._get_listed,
                "calendars.get": self._get_calendar,
                "settings.get": self._setting,
                "settings.list": self._settings,
                "events.list": lambda asked: event_lists.listed(self._calendar(asked), asked.parameters),
                "events.instances": self._instances,
                "events.get": self._get,
                "events.insert": self._insert,
                "events.patch": self._patch,
                "events.update": self._update,
                "events.move": self._move,
                "events.delete": self._delete,
                "freebusy.query": lambda asked: free_busy(calendars, asked),
            }.items()
        }

    def _locked(self, do: Callable[[Asked], Any]) -> Callable[[Asked], Any]:
        def done(asked: Asked) -> Any:
            with self._all.lock:
                if used := next((name for name in _NOT_SERVED if name in asked.parameters), None):
                    raise AssertionError(f"{used} is not served")
                return do(asked)

        return done

    # -- calendars and settings ----------------------------------------------------------------------------------------

    def _calendar(self, asked: Asked, *, role: str = "freeBusyReader") -> Calendar:
        calendar = self._all[asked.parameters["calendarId"]]
        if ROLES.index(calendar.role) < ROLES.index(role):
            message = f"You need to have {role} access to this calendar."
            raise GoogleError(403, "requiredAccessLevel", message, domain="calendar")
        return calendar

    def _list_calendars(self, asked: Asked) -> dict[str, Any]:
        least = ROLES.index(asked.parameters.get("minAccessRole", ROLES[0]))
        found = [
            calendar
            for calendar in self._all.all.values()
            if calendar.listed
            and ROLES.index(calendar.role) >= least
            and (asked.parameters.get("showHidden") or not calendar.hidden)
        ]
        some, more = page(found, asked.parameters, most=MOST_CALENDARS, usual=100)
        shown = [_listed(calendar) for calendar in some]
        return {"kind": "calendar#calendarList", "etag": '"p33c"', **more, "items": shown}

    def _get_listed(self, asked: Asked) -> dict[str, Any]:
        calendar = self._calendar(asked)
        if not calendar.listed:
            raise not_found()
        return _listed(calendar)

    def _get_calendar(self, asked: Asked) -> dict[str, Any]:
        calendar = self._calendar(asked, role="reader")
        return {
            "kind": "calendar#calendar",
            "etag": '"p33c"',
            "id": calendar.id,
            "summary": calendar.summary,
            "timeZone": calendar.zone,
        }

    def _setting(self, asked: Asked) -> dict[str, Any]:
        name = asked.parameters["setting"]
        if name not in self._all.settings:
            raise not_found()
        return {"kind": "calendar#setting", "etag": '"0"', "id": name, "value": self._all.settings[name]}

    def _settings(self, asked: Asked) -> dict[str, Any]:
        items = [
            {"kind": "calendar#setting", "etag": '"0"', "id": name, "value": value}
            for name, value in self._all.settings.items()
        ]
        return {"kind": "calendar#settings", "etag": '"p33c"', "items": items}

    # -- events --------------------------------------------------------------------------------------------------------

    def _event(self, asked: Asked) -> Event:
        return self._calendar(asked).find(asked.parameters["eventId"])

    def _get(self, asked: Asked) -> Event:
        return event_lists.shown(self._calendar(asked), self._event(asked), asked.parameters)

    def _instances(self, asked: Asked) -> dict[str, Any]:
        return event_lists.instances(self._calendar(asked), self._event(asked), asked.parameters)

    def _insert(self, asked: Asked) -> Event:
        calendar = self._calendar(asked, role="writer")
        event = self._all.insert(calendar, asked.body)
        self._all.notify("insert", None, event, _send_updates(asked))
        return event_lists.shown(calendar, event, asked.parameters)

    def _patch(self, asked: Asked) -> Event:
        return self._changed(asked, lambda old: _merged(old, asked.body or {}))

    def _update(self, asked: Asked) -> Event:
        return self._changed(asked, lambda old: asked.body)

    def _changed(self, asked: Asked, fields: Callable[[Event], Mapping[str, Any]]) -> Event:
        calendar = self._calendar(asked, role="writer")
        old = self._event(asked)
        _check_etag(asked, old)
        new = self._all.replace(calendar, old, fields(old))
        self._all.notify(asked.method.rpartition(".")[2], old, new, _send_updates(asked))
        return event_lists.shown(calendar, new, asked.parameters)

    def _move(self, asked: Asked) -> Event:
        calendar = self._calendar(asked, role="writer")
        to = self._calendar(Asked("", {"calendarId": asked.parameters["destination"]}), role="writer")
        old = self._event(asked)
        new = self._all.move(calendar, old, to)
        self._all.notify("move", old, new, _send_updates(asked))
        return event_lists.shown(to, new, asked.parameters)

    def _delete(self, asked: Asked) -> None:
        calendar = self._calendar(asked, role="writer")
        event = self._event(asked)
        _check_etag(asked, event)
        self._all.cancel(calendar, event)
        self._all.notify("delete", event, event, _send_updates(asked))


def _listed(calendar: Calendar) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "kind": "calendar#calendarListEntry",
        "etag": '"p33c"',
        "id": calendar.id,
        "summary": calendar.summary,
        "timeZone": calendar.zone,
        "colorId": "14",
        "backgroundColor": "#9fe1e7",
        "foregroundColor": "#000000",
        "accessRole": calendar.role,
        "defaultReminders": [],
        "conferenceProperties": {"allowedConferenceSolutionTypes": ["hangoutsMeet"]},
    }
    # Google leaves out what is false.
    return shown | {name: True for name in ("primary", "selected", "hidden") if getattr(calendar, name)}


def _merged(old: Mapping[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    """`old` with what is patched: null takes away, objects are merged, lists are replaced."""
    new = dict(old)
    for key, value in patch.items():
        if value is None:
            new.pop(key, None)
        elif isinstance(value, dict) and isinstance(old.get(key), dict):
            new[key] = _merged(old[key], value)
        else:
            new[key] = value
    return new


def _check_etag(asked: Asked, event: Event) -> None:
    wanted = asked.headers.get("if-match")
    if wanted not in (None, "*", event["etag"]):
        raise GoogleError(412, "conditionNotMet", where=("header", "If-Match"))


def _send_updates(asked: Asked) -> str:
    return asked.parameters.get("sendUpdates") or ("all" if asked.parameters.get("sendNotifications") else "none")
