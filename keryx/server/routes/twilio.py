"""The telephone line: a signed webhook lets a known caller in, a single-use token joins the media stream to it.

The number a call comes from can be faked, so it only decides who may listen; acting takes the PIN.
"""

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl
from xml.etree import ElementTree

from fastapi import APIRouter, HTTPException, Request, Response
from starlette.requests import HTTPConnection
from starlette.websockets import WebSocket

from keryx.config.people import person_for_number
from keryx.errors import ConfigError, Refused, Unavailable
from keryx.security.redact import mask_number
from keryx.server.access import house
from keryx.server.door import BUSY, MAX_CALLS
from keryx.server.signature import SIGNATURE, ProviderSignature
from keryx.server.sockets import AcceptedSocket
from keryx.voice.transports.base import Caller, LineClosed
from keryx.voice.transports.twilio import CLOSE_REFUSED, TwilioTransport

if TYPE_CHECKING:
    from keryx.app import Keryx

log = logging.getLogger(__name__)

VOICE, MEDIA, AFTER, STATUS = "/twilio/voice", "/twilio/media", "/twilio/after", "/twilio/status"
TOKEN = "token"
APOLOGY = "Sorry, the line to Keryx broke. Your tasks are still running. Please call again."
NOT_CONFIGURED = (
    "No telephone line is configured. Set twilio.account_sid, twilio.auth_token, twilio.number, server.public_url, "
    "owner.numbers and owner.pin."
)
BROKEN = ("error", "interrupted", "busy")
"""The reasons a call gives for hanging up that are no goodbye."""
REMEMBERED_CALLS = 256

router = APIRouter(include_in_schema=False)


@router.post(VOICE)
async def voice(request: Request) -> Response:
    """Somebody rings: a known number is joined to a media stream, any other is turned away before it is answered."""
    form = await _signed_form(request)
    keryx = house(request)
    number, call_sid = form.get("From", ""), form.get("CallSid", "")
    person = person_for_number(keryx.settings, number)
    if person is None:
        log.warning("a call from an unknown number was rejected", extra={"caller": mask_number(number)})
        return _twiml(_element("Reject", reason="rejected"))
    if not call_sid:
        raise HTTPException(400, "The request names no call.")
    if len(keryx.live) >= MAX_CALLS:
        log.warning("a call was turned away, as many as can be held are on the line", extra={"calls": MAX_CALLS})
        return _twiml(_element("Say", BUSY), _element("Hangup"))
    try:
        token = keryx.stream_tokens.issue(person.name, call_sid)
    except Refused as refusal:
        log.warning("a call's request was refused", extra={"call_sid": call_sid, "reason": str(refusal)})
        raise HTTPException(403, "This call was already answered.") from refusal
    log.info("a call was let in", extra={"call_sid": call_sid, "caller": mask_number(number)})
    return _twiml(*_connection(_public_url(keryx), token))


@router.post(AFTER)
async def after(request: Request) -> Response:
    """The stream is over and the caller is still there: hang up after a goodbye, apologise when the line broke."""
    form = await _signed_form(request)
    ended = _calls(request).get(form.get("CallSid", ""))
    if ended is not None and ended.hung_up not in (None, *BROKEN):
        return _twiml(_element("Hangup"))
    return _twiml(_element("Say", APOLOGY), _element("Hangup"))


@router.post(STATUS)
async def status(request: Request) -> Response:
    """How a call stands, as the provider sees it; only noted, so that it may come twice, late or never."""
    form = await _signed_form(request)
    log.info("a call's status came", extra={"call_sid": form.get("CallSid"), "status": form.get("CallStatus")})
    return Response(status_code=204)


@router.websocket(MEDIA)
async def media(websocket: WebSocket) -> None:
    """One call's sound, keys and marks, taken from its first message to its end."""
    keryx = house(websocket)
    try:
        signature = _signature(websocket)
    except HTTPException as problem:
        log.warning("a media stream came, but there is no telephone line", extra={"reason": problem.detail})
        await websocket.close(CLOSE_REFUSED)
        return
    if SIGNATURE in websocket.headers and not signature.signs_upgrade(MEDIA, websocket.headers):
        log.warning("a media stream with a wrong signature was refused")
        await websocket.close(CLOSE_REFUSED)  # before accepting: answered with HTTP 403
        return
    try:
        with websocket.app.state.door.held():
            await websocket.accept()
            transport = await TwilioTransport.accept(AcceptedSocket(websocket))
    except (LineClosed, Unavailable) as reason:
        log.info("a media stream ended before it began", extra={"reason": str(reason)})
        if isinstance(reason, Unavailable):
            await websocket.close(CLOSE_REFUSED)
        return
    start = transport.start
    try:
        name = keryx.stream_tokens.redeem(start.parameters.get(TOKEN, ""), request=start.call_sid)
    except Refused as refusal:
        log.warning("a media stream was refused", extra={"call_sid": start.call_sid, "reason": str(refusal)})
        await transport.hang_up("refused")
        return
    _remember(websocket, transport)
    if len(keryx.live) >= MAX_CALLS:
        await transport.hang_up("busy")
        return
    await keryx.take_call(transport, Caller("phone", name, proven=False))


async def _signed_form(request: Request) -> dict[str, str]:
    """The request's fields, once its signature has been found right; otherwise the answer is 403."""
    signature = _signature(request)
    fields = parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True)
    query = request.url.query
    path = request.url.path + (f"?{query}" if query else "")
    if not signature.signs_form(path, fields, request.headers):
        log.warning("a telephone request with a wrong signature was refused", extra={"path": request.url.path})
        raise HTTPException(403, "The signature is wrong. Check twilio.auth_token and server.public_url.")
    return dict(fields)


def _signature(connection: HTTPConnection) -> ProviderSignature:
    """The check for this daemon's line; 404 without a line, 503 without the provider's package."""
    settings = house(connection).settings
    if not (settings.twilio.auth_token and settings.server.public_url):
        raise HTTPException(404, NOT_CONFIGURED)
    try:
        return ProviderSignature(settings.twilio.auth_token, settings.server.public_url)
    except ConfigError as missing:
        raise HTTPException(503, str(missing)) from missing


def _public_url(keryx: "Keryx") -> str:
    return (keryx.settings.server.public_url or "").rstrip("/")


def _connection(public_url: str, token: str) -> tuple[ElementTree.Element, ...]:
    """Join the call to our stream; `action` decides what follows it, so the words after it are for a provider that
    does not know `action`."""
    connect = _element("Connect", action=public_url + AFTER, method="POST")
    stream = ElementTree.SubElement(connect, "Stream", url="wss" + public_url[public_url.index("://") :] + MEDIA)
    # No query string is passed on to a stream's address: what it must know stands in parameters.
    ElementTree.SubElement(stream, "Parameter", name=TOKEN, value=token)
    return connect, _element("Say", APOLOGY), _element("Hangup")


def _element(tag: str, text: str | None = None, **attributes: str) -> ElementTree.Element:
    element = ElementTree.Element(tag, attributes)
    element.text = text
    return element


def _twiml(*verbs: ElementTree.Element) -> Response:
    response = ElementTree.Element("Response")
    response.extend(verbs)
    body = ElementTree.tostring(response, encoding="unicode")
    return Response('<?xml version="1.0" encoding="UTF-8"?>' + body, media_type="text/xml")


def _calls(connection: HTTPConnection) -> "OrderedDict[str, TwilioTransport]":
    """The newest telephone calls, ended or not, by the provider's name for them."""
    state = connection.app.state
    if not hasattr(state, "telephone_calls"):
        state.telephone_calls = OrderedDict()
    return state.telephone_calls


def _remember(connection: HTTPConnection, transport: TwilioTransport) -> None:
    calls = _calls(connection)
    calls[transport.start.call_sid] = transport
    while len(calls) > REMEMBERED_CALLS:
        calls.popitem(last=False)
