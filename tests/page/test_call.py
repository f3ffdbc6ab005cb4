"""Calling from the page: sound both ways, captions, typing, falling silent, and a line that breaks."""

import asyncio
import contextlib
import wave
from pathlib import Path

import numpy as np
import pytest
from playwright.async_api import Browser, Page, expect

from keryx.voice.transports.base import AudioIn, MediaTransport, Played, StopSpeaking, TextIn
from tests.page.browser import FIXTURES, as_microphone, browsing
from tests.page.conftest import PATIENCE_S, Operator, open_page, page_troubles
from tests.server.house import House, serving

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

FRAME_BYTES = 640
SPOKEN = "joe_01_16k.wav"
AHEAD_S = 0.1
"""A browser makes sound ahead of the loudspeaker by what its audio device buffers; a mark may be early by that."""


def call_button(page: Page):
    return page.get_by_role("button", name="Call", exact=True)


def hang_up_button(page: Page):
    return page.get_by_role("button", name="Hang up")


def tone(duration_s: float) -> bytes:
    at = np.arange(int(24_000 * duration_s)) / 24_000
    return (8000 * np.sin(2 * np.pi * 440 * at)).astype("<i2").tobytes()


async def calling(page: Page, operator: Operator) -> MediaTransport:
    await call_button(page).click()
    line = await operator.picked_up()
    await line.state("listening")
    await expect(page.locator("#state")).to_have_text("Listening")
    return line


async def test_what_is_said_into_the_microphone_arrives_whole(
    house: House, url: str, operator: Operator, tmp_path: Path
) -> None:
    microphone = await asyncio.to_thread(as_microphone, SPOKEN, tmp_path)
    with wave.open(str(FIXTURES / SPOKEN)) as file:
        spoken = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(float)
    heard = b""
    async with browsing(microphone=microphone) as browser:
        page = await open_page(browser, f"{url}/?key={house.page_key}")
        await call_button(page).click()
        await operator.picked_up()
        while len(heard) < 2 * (len(spoken) + 16_000 * 2):
            frame = (await operator.given(AudioIn)).payload
            assert len(frame) == FRAME_BYTES
            heard += frame
    likeness = _likeness(np.frombuffer(heard, dtype="<i2").astype(float), spoken)
    assert likeness > 0.6  # the browser's own noise suppression shapes it; noise alone stays below 0.1


def _likeness(heard: np.ndarray, spoken: np.ndarray) -> float:
    """The best normalised correlation of `spoken` with any part of `heard`."""
    size = 1 << (len(heard) + len(spoken)).bit_length()
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(spoken, size)))[: len(heard)]
    sums = np.concatenate([[0.0], np.cumsum(heard**2)])
    energy = sums[len(spoken) :] - sums[: -len(spoken)]
    return float(np.max(np.abs(product[: len(energy)]) / np.sqrt(np.maximum(energy, 1.0) * np.sum(spoken**2))))


async def test_a_mark_is_answered_when_what_came_before_it_was_played(page: Page, operator: Operator) -> None:
    line = await calling(page, operator)
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    await line.play(tone(0.6))
    await line.mark("half")
    await line.play(tone(0.4))
    await line.mark("end")
    await operator.given(Played, where=lambda played: played.name == "half")
    assert loop.time() - began_s >= 0.6 - AHEAD_S
    await operator.given(Played, where=lambda played: played.name == "end")
    assert loop.time() - began_s >= 1.0 - AHEAD_S


async def test_a_mark_with_nothing_before_it_is_answered_at_once(page: Page, operator: Operator) -> None:
    line = await calling(page, operator)
    await line.mark("empty")
    assert (await operator.given(Played)).name == "empty"


async def test_clear_throws_away_what_is_queued_and_answers_its_marks(page: Page, operator: Operator) -> None:
    line = await calling(page, operator)
    loop = asyncio.get_running_loop()
    await line.play(tone(30))
    await line.mark("late")
    began_s = loop.time()
    await line.clear()
    assert (await operator.given(Played)).name == "late"
    assert loop.time() - began_s < 10


async def test_escape_stops_the_voice_and_no_mark_is_answered_before_the_server_says_so(
    page: Page, operator: Operator
) -> None:
    line = await calling(page, operator)
    await line.state("speaking")
    await line.play(tone(20))
    await line.mark("never heard")
    await page.keyboard.press("Escape")
    await operator.given(StopSpeaking)
    await line.mark("after")
    await line.clear()
    assert [(await operator.given(Played)).name for _ in range(2)] == ["never heard", "after"]


async def test_both_sides_words_are_shown_as_they_are_said(page: Page, operator: Operator) -> None:
    line = await calling(page, operator)
    captions = page.locator("[aria-live] .caption")
    await line.caption("caller", "fix the", final=False, utterance=1)
    await expect(captions).to_have_text(["Youfix the"])
    await line.caption("caller", "Fix the <b>invoice</b> test.", final=True, utterance=1)
    await line.caption("keryx", "On it.", final=True, utterance=1)
    await expect(captions).to_have_text(["YouFix the <b>invoice</b> test.", "KeryxOn it."])
    await line.state("thinking")
    await expect(page.locator("#state")).to_have_text("Thinking")
    await line.state("speaking")
    await expect(page.locator("#state")).to_have_text("Speaking")


async def test_typing_during_a_call_reaches_it(page: Page, operator: Operator) -> None:
    await calling(page, operator)
    await page.keyboard.press("/")
    await page.keyboard.type("what is running?")
    await page.keyboard.press("Enter")
    assert (await operator.given(TextIn)).text == "what is running?"
    await expect(page.locator("#text")).to_have_value("")


async def test_typing_without_calling_is_a_call_by_typing(page: Page, operator: Operator) -> None:
    await page.get_by_label("Type instead of speaking").fill("Fix the invoice test.")
    await page.get_by_role("button", name="Send").click()
    line = await operator.picked_up()
    assert (await operator.given(TextIn)).text == "Fix the invoice test."
    assert not line.capabilities.audio
    await expect(page.locator("#detail")).to_contain_text("by typing")
    await expect(hang_up_button(page)).to_be_visible()


async def test_muted_the_line_goes_on_in_silence(page: Page, operator: Operator) -> None:
    await calling(page, operator)
    await operator.given(AudioIn, where=lambda sound: any(sound.payload))
    await page.get_by_role("button", name="Mute").click()
    await expect(page.get_by_role("button", name="Unmute")).to_have_attribute("aria-pressed", "true")
    operator.forget()
    silent = 0
    while silent < 50:
        silent = 0 if any((await operator.given(AudioIn)).payload) else silent + 1


async def test_held_down_space_talks_while_muted(page: Page, operator: Operator) -> None:
    await calling(page, operator)
    await page.get_by_role("button", name="Mute").click()
    await page.keyboard.down("Space")
    await expect(page.locator("#mute")).to_have_attribute("aria-pressed", "false")
    await operator.given(StopSpeaking)
    await page.keyboard.up("Space")
    await expect(page.locator("#mute")).to_have_attribute("aria-pressed", "true")
    await expect(hang_up_button(page)).to_be_visible()


async def test_hanging_up_ends_the_call(page: Page, operator: Operator) -> None:
    await calling(page, operator)
    await hang_up_button(page).click()
    await expect(page.locator("#state")).to_have_text("Ready")
    await expect(page.locator("#detail")).to_contain_text("Call ended")
    await expect(call_button(page)).to_be_visible()
    async with asyncio.timeout(PATIENCE_S):
        await operator.hung_up.wait()


async def test_the_page_is_told_when_the_other_side_hangs_up(page: Page, operator: Operator) -> None:
    line = await calling(page, operator)
    await line.hang_up("goodbye")
    await expect(page.locator("#state")).to_have_text("Ready")


@pytest.mark.parametrize("reason", ["restarting", "interrupted"])
async def test_a_daemon_that_is_being_restarted_is_called_again(page: Page, operator: Operator, reason: str) -> None:
    line = await calling(page, operator)
    await line.hang_up(reason)
    again = await operator.picked_up()
    await again.state("listening")
    await expect(page.locator("#state")).to_have_text("Listening")


async def test_a_blocked_microphone_says_how_to_allow_it_and_typing_works(
    house: House, url: str, operator: Operator
) -> None:
    async with browsing(flags=("--deny-permission-prompts",)) as browser:
        page = await open_page(browser, f"{url}/?key={house.page_key}", microphone=False)
        await call_button(page).click()
        line = await operator.picked_up()
        assert not line.capabilities.audio
        await expect(page.locator("#notices")).to_contain_text("blocked by the browser")
        await expect(page.locator("#notices")).to_contain_text("allow")
        await page.locator("#text").fill("hello")
        await page.keyboard.press("Enter")
        assert (await operator.given(TextIn)).text == "hello"


async def test_a_browser_without_a_microphone_makes_a_call_by_typing(
    house: House, url: str, operator: Operator
) -> None:
    async with browsing(no_microphone=True) as browser:
        page = await open_page(browser, f"{url}/?key={house.page_key}")
        await call_button(page).click()
        line = await operator.picked_up()
        assert not line.capabilities.audio
        await expect(page.locator("#notices")).to_contain_text("no microphone")


async def test_the_page_says_how_far_the_voice_is(page: Page, house: House) -> None:
    house.loading.state, house.loading.percent, house.loading.message = "loading", 61, "Loading the voice."
    house.loading._advance("Loading the voice.", 0.62)
    await expect(page.locator("#notices")).to_contain_text("Voice loading 62 %")
    house.loading._become("typing only", "Typing only: run pip install 'keryx[speech]'")
    await expect(page.locator("#notices")).to_contain_text("Typing only. Run pip install 'keryx[speech]'")
    house.loading._become("ready", "Ready.")
    await expect(page.locator("#notices")).to_be_empty()


async def test_a_restart_of_the_daemon_is_survived(browser: Browser, house: House, operator: Operator) -> None:
    await house.manager.dispatch("Fix the invoice test")
    served = contextlib.AsyncExitStack()
    url = await served.enter_async_context(serving(house))
    page = await open_page(browser, f"{url}/?key={house.page_key}")
    troubles = page_troubles(page)
    line = await calling(page, operator)
    await line.caption("keryx", "Before.", final=True, utterance=1)
    await expect(page.get_by_text("Before.")).to_be_visible()

    await break_off(line)
    await served.aclose()
    await expect(page.locator("#state")).to_have_text("Reconnecting")
    await expect(page.locator("#connection-words")).to_have_text("Reconnecting, your tasks keep running")
    await expect(page.locator(".asked")).to_be_visible()

    async with serving(house, port=int(url.rpartition(":")[2])):
        again = await operator.picked_up()
        await again.state("listening")
        await expect(page.locator("#state")).to_have_text("Listening")
        await expect(page.locator("#connection-words")).to_have_text("Connected")
        await operator.given(AudioIn)
        await again.caption("keryx", "After.", final=True, utterance=1)
        await expect(page.locator(".caption.keryx")).to_have_text(["KeryxBefore.", "KeryxAfter."])
        assert troubles == []
        await page.context.close()


async def break_off(line: MediaTransport) -> None:
    """Cut the line as a killed daemon does: without a word."""
    line._closed = True  # pyright: ignore[reportAttributeAccessIssue]  (the page must not be told that the call ended)
