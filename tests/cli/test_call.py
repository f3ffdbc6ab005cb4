"""`keryx call` as a program of its own, on the real line, with a scripted Keryx at the other end."""

import asyncio
import contextlib
import json
import wave
from pathlib import Path

import pytest

from keryx.cli.sound import can_convert, can_speak
from keryx.config.daemon import DaemonPointer, announce
from keryx.config.places import places
from keryx.voice.transports.base import AudioIn, LineClosed, MediaTransport, Played, TextIn
from tests.cli.conftest import Keryx
from tests.cli.test_sound import record
from tests.server.house import KEY, House, serving

LOUD_BYTES = 100
"""What makes a frame more than silence: so many bytes that are not zero."""


class Scripted:
    """Greets, answers every line with "You said …", and says goodbye when asked to."""

    def __init__(self, *, greeting: str = "Keryx.", tone_s: float = 0.0, on_task: House | None = None) -> None:
        self.heard_bytes = 0
        self.loud_frames = 0
        self.typed: list[str] = []
        self.played: list[str] = []
        self._greeting = greeting
        self._tone_s = tone_s
        self._house = on_task
        self._utterance = 0

    async def __call__(self, line: MediaTransport) -> None:
        with contextlib.suppress(LineClosed):
            await self._say(line, self._greeting)
            while True:
                match await line.receive():
                    case TextIn(text):
                        self.typed.append(text)
                        await line.caption("caller", text, final=True, utterance=self._next())
                        await line.state("thinking")
                        if text == "goodbye":
                            await self._say(line, "Bye.")
                            return
                        if self._house:
                            await self._house.manager.dispatch(text)
                        await self._say(line, f"You said {text}.")
                    case AudioIn(payload):
                        await self._hear(line, payload)
                    case Played(name):
                        self.played.append(name)
                    case _:
                        pass

    async def _hear(self, line: MediaTransport, payload: bytes) -> None:
        loud = len(payload) - payload.count(0) > LOUD_BYTES
        before, self.heard_bytes = self.loud_frames, self.heard_bytes + len(payload)
        self.loud_frames += loud
        if before and not loud and self.loud_frames:
            frames, self.loud_frames = self.loud_frames, 0
            self.typed.append(f"{frames} frames")
            await line.caption("caller", f"{frames} frames", final=True, utterance=self._next())
            await self._say(line, "I heard that.")

    async def _say(self, line: MediaTransport, text: str) -> None:
        utterance = self._next()
        await line.state("speaking")
        await line.caption("keryx", text, final=False, utterance=utterance)
        if line.capabilities.audio:
            await line.play(b"\x00\x10" * int(24_000 * self._tone_s))
        await line.mark(f"u{utterance}")
        await line.caption("keryx", text, final=True, utterance=utterance)
        await line.state("listening")

    def _next(self) -> int:
        self._utterance += 1
        return self._utterance


async def test_piped_lines_are_typed_one_after_the_other(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.answer = answer = Scripted()
    ran = await keryx("call", "--type", typed="fix it\n\n  and test it  \n")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        "keryx: Keryx.",
        "you: fix it",
        "keryx: You said fix it.",
        "you: and test it",
        "keryx: You said and test it.",
    ]
    assert answer.played == ["u1", "u3", "u5"]
    assert house.callers[0].kind == "terminal"
    assert house.live == [], "it hung up"


async def test_a_last_line_without_an_end_counts(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.answer = answer = Scripted()
    await keryx("call", typed="fix é")
    assert answer.typed == ["fix é"]


async def test_the_call_ends_when_keryx_says_goodbye(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.answer = Scripted()
    ran = await keryx("call", typed="goodbye\nnever said\n")
    assert ran.code == 0
    assert ran.out.splitlines()[-1] == "keryx: Bye."


async def test_for_scripts_every_message_is_a_json_line(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.answer = Scripted()
    ran = await keryx("call", "--json", typed="fix it\n")
    events = [json.loads(line) for line in ran.out.splitlines()]
    assert events[0]["type"] == "ready"
    assert {"type": "caption", "who": "caller", "text": "fix it", "final": True, "utterance": 2} in events
    assert ran.code == 0


async def test_what_keryx_says_is_saved(house: House, daemon: DaemonPointer, keryx: Keryx, tmp_path: Path) -> None:
    house.answer = Scripted(tone_s=0.4)
    ran = await keryx("call", "--type", "--out", str(tmp_path / "out.wav"), typed="fix it\n")
    assert (ran.code, ran.err) == (0, "")
    with wave.open(str(tmp_path / "out.wav"), "rb") as file:
        assert (file.getframerate(), file.getnchannels()) == (24_000, 1)
        assert file.getnframes() / 24_000 == pytest.approx(0.8, abs=0.05)


async def test_a_recording_is_played_at_its_own_pace(
    house: House, daemon: DaemonPointer, keryx: Keryx, tmp_path: Path
) -> None:
    house.loading.state = "ready"
    house.answer = answer = Scripted(greeting="Go on.")
    ran = await keryx("call", "--wav", str(record(tmp_path / "a.wav", duration_s=0.6)))
    assert (ran.code, ran.err) == (0, "")
    assert answer.typed == ["30 frames"]
    assert ran.out.splitlines() == ["keryx: Go on.", "you: 30 frames", "keryx: I heard that."]


async def test_a_recording_needs_a_daemon_that_hears(
    house: House, daemon: DaemonPointer, keryx: Keryx, tmp_path: Path
) -> None:
    house.loading.state = "typing only"
    ran = await keryx("call", "--wav", str(record(tmp_path / "a.wav")))
    assert ran.code == 1
    assert ran.err == "keryx: The daemon cannot hear: it is typing only. Use --type, or pip install 'keryx[speech]'\n"


async def test_words_are_typed_where_there_is_no_voice(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.loading.state = "typing only"
    house.answer = answer = Scripted()
    ran = await keryx("call", "--say", "what's running?")
    assert ran.code == 0
    assert answer.typed == ["what's running?"]
    assert "sent as text" in ran.err


@pytest.mark.speech
@pytest.mark.skipif(not (can_convert() and can_speak()), reason="the speech extra is not installed")
async def test_words_are_spoken_where_there_is_a_voice(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.loading.state = "ready"
    house.answer = answer = Scripted()
    ran = await keryx("call", "--say", "What's running?")
    assert (ran.code, ran.err) == (0, "")
    assert answer.heard_bytes > 16_000
    assert answer.typed


async def test_it_stays_until_the_calls_tasks_are_done_and_told(
    house: House, daemon: DaemonPointer, keryx: Keryx
) -> None:
    house.answer = Scripted(on_task=house)
    older = await house.manager.dispatch("an older one, which nobody hears")
    await house.manager.wait(older.id)
    ran = await keryx("call", "--until-done", "--wait", "1", typed="fix it\n")
    assert ran.code == 1
    assert ran.err == "keryx: Task 2 had not ended and been told after 1 s.\n"
    await house.manager.mark_told([news.id for news in await house.manager.untold()])
    house.answer = Scripted()
    assert (await keryx("call", "--until-done", typed="nothing new\n")).code == 0


async def test_the_wrong_key_is_one_line(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    announce(places(), DaemonPointer(daemon.url, "wrong"))
    ran = await keryx("call", typed="hello\n")
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)


async def test_a_place_for_the_sound_that_cannot_be_written_is_said_before_the_call(
    house: House, daemon: DaemonPointer, keryx: Keryx
) -> None:
    ran = await keryx("call", "--type", "--out", "/no/such/folder/out.wav", typed="hello\n")
    assert (ran.code, house.callers) == (1, [])
    assert ran.err.startswith("keryx: cannot write /no/such/folder/out.wav")


async def test_ctrl_c_hangs_up(house: House, daemon: DaemonPointer, keryx: Keryx) -> None:
    house.answer = Scripted()
    ran = await keryx("call", "--type", typed=None, interrupt_on="keryx: Keryx.")
    assert (ran.code, ran.err) == (0, "")
    assert house.live == []


async def test_a_daemon_that_goes_away_in_the_middle_is_one_line(house: House, keryx: Keryx) -> None:
    greeted = asyncio.Event()

    async def greet(line: MediaTransport) -> None:
        await line.caption("keryx", "Keryx.", final=True, utterance=1)
        greeted.set()
        while True:
            await line.receive()

    async def go_away() -> None:
        async with serving(house) as url:
            announce(places(), DaemonPointer(url, KEY))
            ready.set()
            await greeted.wait()

    house.answer = greet
    ready = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(go_away())
        await ready.wait()
        ran = await keryx("call", "--type", typed=None)
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "cut off" in ran.err
