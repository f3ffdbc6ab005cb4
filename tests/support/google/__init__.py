"""Google on loopback: Gmail, Calendar and the sign-in, for the real client library to talk to."""

from tests.support.google.calendars import Calendars
from tests.support.google.diary import Calendar, Notice
from tests.support.google.faults import ANY, BATCH, Cut, Garbage, HangUp, Late, Status
from tests.support.google.mailbox import Mail, Mailbox
from tests.support.google.multipart import Incoming
from tests.support.google.routing import Asked
from tests.support.google.server import GoogleServer, served_google
from tests.support.google.services import service

__all__ = [
    "ANY",
    "BATCH",
    "Asked",
    "Calendar",
    "Calendars",
    "Cut",
    "Garbage",
    "GoogleServer",
    "HangUp",
    "Incoming",
    "Late",
    "Mail",
    "Mailbox",
    "Notice",
    "Status",
    "served_google",
    "service",
]
