"""A browser on a served house, and an operator who answers its calls as the test says."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from keryx.voice.transports.base import Inbound, LineClosed, MediaTransport
from tests.page.browser import browsing, chromium
from tests.server.house import House, open_house, serving

T = TypeVar("T", bound=Inbound)

PATIENCE_S = 20.0
"""Longer than anything here takes on a busy machine."""

expect.set_options(timeout=PATIENCE_S * 1000)


class Operator:
    """What a call does: it picks up, writes down what it is given, and lets the test do the talking."""

    def __init__(self) -> None:
        self.lines: asyncio.Queue[MediaTransport] = asyncio.Queue()
        self.hung_up = asyncio.Event()
        self._given: asyncio.Queue[Inbound] = asyncio.Queue()

    async def __call__(self, line: MediaTransport) -> None:
        self.lines.put_nowait(line)
        try:
            while True:
                self._given.put_nowait(await line.receive())
        except LineClosed:
            self.hung_up.set()

    async def picked_up(self) -> MediaTransport:
        """The next call's line."""
        async with asyncio.timeout(PATIENCE_S):
            return await self.lines.get()

    async def given(self, kind: type[T], *, where: Callable[[T], bool] = lambda inbound: True) -> T:
        """The next thing of that kind from the page."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                inbound = await self._given.get()
                if isinstance(inbound, kind) and where(inbound):
                    return inbound

    def forget(self) -> None:
        """Take no notice of what came so far."""
        while not self._given.empty():
            self._given.get_nowait()


@pytest.fixture
def operator() -> Operator:
    return Operator()


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for all tests, since starting it takes longest; each test has a context of its own."""
    if chromium() is None:
        pytest.skip("the page was not tested: there is no Chromium on the PATH (install chromium)")
    async with browsing() as browser:
        yield browser


@pytest_asyncio.fixture(loop_scope="session")
async def house(tmp_path: Path, operator: Operator, browser: Browser) -> AsyncIterator[House]:
    async with open_house(tmp_path) as house:
        await house.loading.load()
        house.answer = operator
        yield house


@pytest_asyncio.fixture(loop_scope="session")
async def url(house: House) -> AsyncIterator[str]:
    async with serving(house) as url:
        yield url


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser, url: str, house: House) -> AsyncIterator[Page]:
    """The page, opened with its key, the microphone allowed; nothing may go wrong in it unnoticed."""
    page = await open_page(browser, f"{url}/?key={house.page_key}")
    troubles = page_troubles(page)
    yield page
    await page.context.close()
    assert troubles == []


async def open_page(
    browser: Browser, address: str, *, width: int = 1280, height: int = 800, microphone: bool = True, **context: object
) -> Page:
    """A page in a context of its own."""
    made = await browser.new_context(
        viewport={"width": width, "height": height},
        permissions=["microphone"] if microphone else [],
        locale="en-GB",
        **context,  # pyright: ignore[reportArgumentType]  (passed on as given)
    )
    made.set_default_timeout(PATIENCE_S * 1000)
    page = await made.new_page()
    await page.goto(address)
    return page


def page_troubles(page: Page) -> list[str]:
    """Fills with every script error and everything the Content-Security-Policy stopped."""
    troubles: list[str] = []
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda message: troubles.append(message.text) if "Content Security" in message.text else None)
    return troubles
