"""The README's pictures of the page: `python -m tests.page.screenshot` writes them to deploy/pictures.

With a folder as its argument it writes more of them, there: every state that is worth looking at, light and dark.

Everything in them is the real page on a real server; what the agents and the caller say is scripted.
"""

import asyncio
import contextlib
import math
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.async_api import Browser, Page

from keryx.agents.base import FakeTurn, TokenUsage
from keryx.clock import VirtualClock
from keryx.voice.transports.base import LineClosed, MediaTransport
from tests.page.browser import browsing
from tests.server.house import House, open_house, serving

PICTURES = Path(__file__).parent.parent.parent / "deploy" / "pictures"
IN_README = ("page-desk.png", "page-desk-dark.png", "page-phone.png", "page-phone-tasks.png")
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SHOWN_S = 0.9
"""How long the page is given to come to rest (or the voice to be in full swing) before the picture."""

Words = tuple[tuple[str, str], ...]
TALK: Words = (
    ("keryx", "Keryx. The website build failed: the lock file is out of date. Fix that too?"),
    (
        "caller",
        "Yes. And in billing, fix the failing invoice test, leap years too, and call me back when it’s done.",
    ),
    ("keryx", "On it. Claude has the invoice test in billing, task six."),
    ("caller", "How’s the schema going?"),
    ("keryx", "Running for twelve minutes. It’s on the last of three tables, Codex says."),
)

REPORT = """The tests failed because totals were rounded **before** tax was added.

### What changed
- `invoice.py`: round once, at the end
- one new test for a total of 10.005

| Suite | Passed | Failed |
|---|---|---|
| billing | 41 | 0 |

SPOKEN_SUMMARY: The invoice test is fixed; it was a rounding error. All forty-one tests pass.
"""

USED = TokenUsage(48_210, 3_904, 31_020)


async def furnish(house: House, clock: VirtualClock) -> None:
    """Tasks as they might stand on a working morning, the last half hour of which passes in a moment."""
    turns = (
        FakeTurn(
            REPORT,
            progress=("Reading billing/invoice.py", "Running the tests: 1 of 41 fails", "Running the tests: all pass"),
            takes_s=150,
            usage=USED,
            cost_usd=0.2134,
            when="rounding",
        ),
        FakeTurn(error="The build stopped: the lock file is out of date.", takes_s=40, when="website"),
        FakeTurn("SPOKEN_SUMMARY: Twelve places renamed, and all the tests pass.", takes_s=90, when="get user"),
        FakeTurn(progress=("Copying customers", "On the last of three tables"), takes_s=900, when="new schema"),
        FakeTurn("Which branch should the release come from, main or next?", takes_s=20, when="release"),
        FakeTurn(progress=("Reading the failing test",), takes_s=200, when="leap"),
    )
    for agent in house.agents:
        agent.script(*turns)
    ask = house.manager.dispatch
    first = await ask("Find the rounding error in the invoice totals", project="billing", agent="claude")
    await pass_time(clock, 260)
    await ask("Build the website for staging", project="website", agent="codex")
    await pass_time(clock, 180)
    third = await ask("Rename get user to fetch user everywhere", project="accounts", agent="claude")
    await pass_time(clock, 300)
    await ask("Move the tables to the new schema", project="crm", agent="codex")
    await pass_time(clock, 590)
    await ask("Prepare the release", project="keryx", agent="codex")
    await pass_time(clock, 60)
    await ask("Fix the failing invoice test, leap years too", project="billing", agent="claude")
    await pass_time(clock, 110)
    await ask("Write down how invoices are numbered", project="billing", agent="claude")
    await house.manager.mark_told(
        [news.id for news in await house.manager.untold() if news.task_id in (first.id, third.id)]
    )


async def pass_time(clock: VirtualClock, duration_s: int) -> None:
    """Let virtual time go by in steps, with a breath for the database in between."""
    for _ in range(0, duration_s, 10):
        await clock.advance(10)
        await asyncio.sleep(0.02)


def talking(words: Words, state: str) -> Callable[[MediaTransport], Awaitable[None]]:
    """A call in which these words have been said and somebody is speaking now."""

    async def answer(transport: MediaTransport) -> None:
        for number, (who, text) in enumerate(words):
            await transport.caption("keryx" if who == "keryx" else "caller", text, final=True, utterance=number)
        await transport.state("speaking" if state == "speaking" else "listening")
        with contextlib.suppress(LineClosed):
            if state == "speaking":
                await transport.play(_murmur())
            while True:
                await transport.receive()

    return answer


def _murmur() -> bytes:
    """Eight seconds of something with the loudness of a voice."""
    import numpy as np

    at = np.arange(24_000 * 8) / 24_000
    loudness = 0.25 * (0.75 + 0.25 * np.sin(2 * math.pi * 3.1 * at))
    return (loudness * np.sin(2 * math.pi * 150 * at) * 32767).astype("<i2").tobytes()


async def open_page(browser: Browser, address: str, size: dict, scheme: str) -> Page:
    context = await browser.new_context(
        viewport=size,  # pyright: ignore[reportArgumentType]  (a TypedDict of the same two fields)
        color_scheme="dark" if scheme == "dark" else "light",
        device_scale_factor=2,
        locale="en-GB",
        permissions=["microphone"],
    )
    page = await context.new_page()
    await page.goto(address)
    await page.get_by_text("Connected").wait_for()
    return page


async def take(folder: Path, wanted: Collection[str] | None = None) -> None:
    """Write the pictures called `wanted` (None: all) to `folder`, which is there."""

    async def shoot(name: str) -> None:
        if wanted is None or name in wanted:
            await page.screenshot(path=folder / name)

    with tempfile.TemporaryDirectory() as home:
        clock = VirtualClock(datetime.now(UTC) - timedelta(seconds=1500))
        async with (
            open_house(Path(home), agents=("claude", "codex"), clock=clock) as house,
            serving(house) as url,
            browsing() as browser,
        ):
            await furnish(house, clock)
            await house.loading.load()
            address = f"{url}/?key={house.page_key}"
            for scheme in ("light", "dark"):
                suffix = "" if scheme == "light" else "-dark"
                house.answer = talking(TALK, "speaking")
                page = await open_page(browser, address, DESK, scheme)
                await page.get_by_role("button", name="Call", exact=True).click()
                await page.locator("[data-task='4'] .row").click()
                await page.get_by_text("Add something while it works").wait_for()
                await page.mouse.move(300, 100)
                await page.locator("#tasks-body").evaluate("body => body.scrollTo(0, 0)")
                await page.wait_for_timeout(SHOWN_S * 1000)
                await shoot(f"page-desk{suffix}.png")
                await page.context.close()

                page = await open_page(browser, address, PHONE, scheme)
                await page.wait_for_timeout(SHOWN_S * 1000)
                await shoot(f"page-phone-ready{suffix}.png")
                house.answer = talking(TALK, "listening")
                await page.get_by_role("button", name="Call", exact=True).click()
                await page.wait_for_timeout(SHOWN_S * 1000)
                await shoot(f"page-phone{suffix}.png")
                await page.get_by_role("button", name="Show the tasks").click()
                await page.wait_for_timeout(SHOWN_S * 1000)
                await shoot(f"page-phone-tasks{suffix}.png")
                await page.locator("[data-task='1'] .row").click()
                await page.get_by_text("What changed").wait_for()
                await page.wait_for_timeout(SHOWN_S * 1000)
                await shoot(f"page-phone-report{suffix}.png")
                await page.context.close()


if __name__ == "__main__":
    elsewhere = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    (elsewhere or PICTURES).mkdir(parents=True, exist_ok=True)
    asyncio.run(take(elsewhere, None) if elsewhere else take(PICTURES, IN_README))
