"""The telephone's gate, on a really started server: who is let in, how often, and what is said when the line breaks."""

import asyncio
import contextlib
import logging
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import pytest
from twilio.twiml.voice_response import Connect, Stream, VoiceResponse
from websockets.exceptions import ConnectionClosed, InvalidStatus

from keryx.clock import VirtualClock
from keryx.config.settings import Settings
from keryx.security.tokens import StreamTokens
from keryx.server.door import BUSY, MAX_CALLS
from keryx.server.routes import twilio
from keryx.voice.transports.base import LineClosed, MediaTransport, Played
from tests.server.house import House, open_house, serving
from tests.support.twilio_line import Account, Answer, TwilioLine, dial, post, sid

OWNER = "+15551234567"
ACCOUNT = Account("0123456789abcdef0123456789abcdef", "https://keryx.example.org")
FORWARDED = {
    "X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example:8443", "X-Forwarded-Port": "81",
    "X-Forwarded-For": "203.0.113.9", "Forwarded": "host=evil.example;proto=http", "X-Original-URL": "/elsewhere",
}  # fmt: skip
SETTINGS = {
    "owner": {"name": "Anna", "numbers": OWNER, "pin": "001234"},
    "server": {"public_url": ACCOUNT.public_url},
    "twilio": {"account_sid": ACCOUNT.account_sid, "auth_token": ACCOUNT.auth_token, "number": ACCOUNT.number},
}


@pytest.fixture
async def house(tmp_path: Path, clock: VirtualClock) -> AsyncIterator[House]:
    async with open_house(tmp_path) as house:
        house.settings = Settings.model_validate(SETTINGS)
        house.stream_tokens = StreamTokens(clock)
        yield house


@pytest.fixture
async def url(house: House, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    async with asyncio.timeout(30), serving(house) as url:
        yield url


async def ring(
    url: str,
    caller: str = OWNER,
    call_sid: str = "CA1",
    *,
    signed_for: str | None = None,
    path: str = "/twilio/voice",
    **headers: str,
) -> Answer:
    """Send a rightly signed request about a call."""
    form = ACCOUNT.webhook(caller, call_sid)
    return await post(url, path, form, ACCOUNT.sign(path, form, origin=signed_for), headers)


async def test_a_known_caller_is_joined_to_a_media_stream(url: str):
    answer = await ring(url)
    assert answer.status == 200
    expected = VoiceResponse()
    connect = Connect(action="https://keryx.example.org/twilio/after", method="POST")
    stream = Stream(url="wss://keryx.example.org/twilio/media")
    stream.parameter(name="token", value=answer.parameters["token"])
    connect.append(stream)
    expected.append(connect)
    expected.say(twilio.APOLOGY)
    expected.hangup()
    assert ElementTree.canonicalize(answer.body) == ElementTree.canonicalize(str(expected))
    assert len("token" + answer.parameters["token"]) < 500


@pytest.mark.parametrize("signed_for", ["https://keryx.example.org", "https://keryx.example.org:443"])
async def test_a_signature_for_the_public_address_passes_whatever_a_proxy_wrote(url: str, signed_for: str):
    assert (await ring(url, signed_for=signed_for, **FORWARDED)).status == 200


@pytest.mark.parametrize(
    "signed_for", ["http://evil.example:8443", "http://keryx.example.org", "https://keryx.example.org:8443"]
)
async def test_a_signature_for_any_other_address_is_forged(url: str, signed_for: str):
    assert (await ring(url, signed_for=signed_for, **FORWARDED)).status == 403


@pytest.mark.parametrize("path", ["/twilio/voice", "/twilio/after", "/twilio/status"])
async def test_without_the_right_signature_nothing_is_answered(url: str, path: str):
    form = ACCOUNT.webhook(OWNER, "CA1")
    another = ACCOUNT.sign(path, {**form, "From": "+15550009999"})
    for signature in ("", "wrong", another, "=" * 4000):
        answer = await post(url, path, form, signature)
        assert answer.status == 403
        assert "token" not in answer.body.replace("auth_token", "")


async def test_a_stranger_is_rejected_at_once_and_the_log_says_so_with_the_number_masked(url: str, caplog):
    with caplog.at_level(logging.INFO):
        answer = await ring(url, caller="+15559876543")
    assert answer.status == 200
    expected = VoiceResponse()
    expected.reject(reason="rejected")
    assert ElementTree.canonicalize(answer.body) == ElementTree.canonicalize(str(expected))
    [record] = [record for record in caplog.records if "unknown number" in record.message]
    assert vars(record)["caller"] == "+1555***6543"


@pytest.mark.parametrize("caller", ["", "anonymous", "+266696687", "sip:anna@example.com"])
async def test_a_withheld_number_is_a_strangers(url: str, caller: str):
    assert "<Reject" in (await ring(url, caller=caller)).body


async def test_the_same_request_twice_gets_the_same_answer_and_no_second_token(url: str, house: House):
    first, again = await ring(url), await ring(url)
    assert (first.status, first.body) == (again.status, again.body)
    assert house.stream_tokens.redeem(first.parameters["token"]) == "Anna"


async def test_a_call_too_many_hears_that_the_lines_are_busy(url: str, house: House):
    house.live.extend(cast(Any, [None]) * MAX_CALLS)
    answer = await ring(url)
    assert BUSY in answer.body
    assert "Stream" not in answer.body


async def test_a_replay_long_after_the_call_mints_no_token(url: str, clock: VirtualClock):
    await ring(url)
    await clock.advance(61)
    answer = await ring(url)
    assert answer.status == 403
    assert "Stream" not in answer.body


async def test_a_call_without_a_name_is_a_bad_request(url: str):
    assert (await ring(url, call_sid="")).status == 400


async def test_without_a_telephone_line_the_answer_says_what_to_set(tmp_path: Path):
    async with open_house(tmp_path) as house, serving(house) as url:
        answer = await ring(url)
        assert answer.status == 404
        assert "twilio.auth_token" in answer.body
        with pytest.raises(InvalidStatus):
            async with TwilioLine.open(url.replace("http", "ws") + "/twilio/media", {}):
                pass


async def test_without_the_providers_package_the_answer_says_how_to_install_it(
    url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "twilio.request_validator", None)
    form = ACCOUNT.webhook(OWNER, "CA1")
    answer = await post(url, "/twilio/voice", form, "any")
    assert answer.status == 503
    assert "keryx[phone]" in answer.body


async def test_a_status_may_come_twice(url: str):
    for _ in range(2):
        assert (await ring(url, path="/twilio/status")).status == 204


# -- the media stream


def media_url(url: str) -> str:
    return url.replace("http", "ws") + "/twilio/media"


async def test_a_call_from_ringing_to_goodbye(url: str, house: House):
    async def answer(transport: MediaTransport) -> None:
        await transport.play(b"\1" * 1600)
        await transport.mark("greeted")
        while await transport.receive() != Played("greeted"):
            pass

    house.answer = answer
    call_sid = sid("CA")
    async with dial(url, ACCOUNT, OWNER, call_sid=call_sid) as line:
        await line.ended.wait()
        assert bytes(line.heard) == b"\1" * 1600
        assert line.marks == ["greeted"]
    [caller] = house.callers
    assert (caller.kind, caller.name, caller.proven) == ("phone", "Anna", False)
    after = await ring(url, call_sid=call_sid, path="/twilio/after")
    assert [verb.tag for verb in after.twiml] == ["Hangup"]


async def test_a_line_that_broke_gets_an_apology(url: str, house: House):
    call_sid = sid("CA")
    async with dial(url, ACCOUNT, OWNER, call_sid=call_sid) as line:
        await line.socket.close()
    for known in (call_sid, "CA-of-a-stream-that-never-opened"):
        after = await ring(url, call_sid=known, path="/twilio/after")
        assert [verb.tag for verb in after.twiml] == ["Say", "Hangup"]


@pytest.mark.parametrize("parameters", [{}, {"token": ""}, {"token": "forged"}])
async def test_a_forged_token_opens_no_call(url: str, house: House, parameters: dict[str, str]):
    async with TwilioLine.open(media_url(url), parameters) as line:
        await line.ended.wait()
    assert house.callers == []


async def test_a_token_opens_one_call_only(url: str, house: House):
    answer = await ring(url, call_sid="CA1")
    async with TwilioLine.open(media_url(url), answer.parameters, call_sid="CA1") as first:
        async with TwilioLine.open(
            media_url(url), (await ring(url, call_sid="CA1")).parameters, call_sid="CA1"
        ) as replay:
            await replay.ended.wait()
        assert not first.ended.is_set()
        assert len(house.callers) == 1


async def test_a_token_that_came_late_opens_no_call(url: str, house: House, clock: VirtualClock):
    answer = await ring(url, call_sid="CA1")
    await clock.advance(60)
    async with TwilioLine.open(media_url(url), answer.parameters, call_sid="CA1") as line:
        await line.ended.wait()
    assert house.callers == []


async def test_a_token_of_another_call_opens_none(url: str, house: House):
    answer = await ring(url, call_sid="CA1")
    async with TwilioLine.open(media_url(url), answer.parameters, call_sid="CA2") as line:
        await line.ended.wait()
    assert house.callers == []


@pytest.mark.parametrize("origin", ["wss://keryx.example.org", "wss://keryx.example.org:443"])
async def test_a_signed_upgrade_passes(url: str, house: House, origin: str):
    joined = asyncio.Event()

    async def take(transport: MediaTransport) -> None:
        joined.set()

    house.answer = take
    answer = await ring(url, call_sid="CA1")
    signature = ACCOUNT.sign("/twilio/media", origin=origin)
    headers = {"X-Twilio-Signature": signature, **FORWARDED}
    async with TwilioLine.open(media_url(url), answer.parameters, call_sid="CA1", headers=headers) as line:
        await joined.wait()
        await line.ended.wait()
    assert len(house.callers) == 1


async def test_a_wrongly_signed_upgrade_is_refused_before_the_socket_opens(url: str, house: House):
    with pytest.raises(InvalidStatus) as refused:
        async with TwilioLine.open(media_url(url), {}, headers={"X-Twilio-Signature": "wrong"}):
            pass
    assert refused.value.response.status_code == 403


async def test_nonsense_on_the_stream_ends_no_call(url: str, house: House):
    async with dial(url, ACCOUNT, OWNER) as line:
        for message in ("", "{", "[]", '{"event":"media"}', '{"event":"dtmf","dtmf":{"digit":"x"}}'):
            await line.send(message)
        with contextlib.suppress(ConnectionClosed):
            await line.socket.send(b"\0\1\2")
        await line.begin({"token": "again"})
        await line.press("1")
        assert not line.ended.is_set()
        await line.hang_up()


async def test_the_caller_hanging_up_ends_the_call(url: str, house: House):
    ended = asyncio.Event()

    async def answer(transport: MediaTransport) -> None:
        try:
            while True:
                await transport.receive()
        except LineClosed:
            ended.set()

    house.answer = answer
    async with dial(url, ACCOUNT, OWNER) as line:
        await line.hang_up()
        await asyncio.wait_for(ended.wait(), 5)
