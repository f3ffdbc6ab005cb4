"""The page itself: its key, its shape at every width, its shell without a daemon, and that everybody can use it."""

from pathlib import Path

import axe_playwright_python
import pytest
from playwright.async_api import Browser, Page, expect

from keryx.agents.base import FakeTurn
from tests.page.conftest import Operator, open_page, page_troubles
from tests.server.house import ENDLESS, House, serving

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
REPORT = (
    "### Found\n\n`a/very/long/path/"
    + "x" * 200
    + "`\n\n```\n"
    + "wide " * 80
    + "\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
)


async def serious(page: Page) -> list[str]:
    """What axe finds serious or critical on the page as it stands."""
    await page.evaluate(AXE)
    found = await page.evaluate("axe.run(document)")
    return [
        f"{fault['id']}: {[node['html'] for node in fault['nodes']]}"
        for fault in found["violations"]
        if fault["impact"] in ("serious", "critical")
    ]


async def sideways_px(page: Page) -> int:
    return await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


async def furnish(house: House) -> None:
    house.agent.script(FakeTurn(REPORT, progress=("Reading",)), FakeTurn(error="It broke."), FakeTurn("Main or next?"))
    for text in ("one " * 60, "two", "x" * 300):
        await house.manager.wait((await house.manager.dispatch(text, project="billing")).id)
    house.agent.script(ENDLESS)
    await house.manager.dispatch("four")


async def test_the_key_leaves_the_address_and_stays_in_the_browser(page: Page, url: str) -> None:
    await expect(page.locator("#connection-words")).to_have_text("Connected")
    assert page.url == f"{url}/"
    await page.reload()
    await expect(page.locator("#connection-words")).to_have_text("Connected")


async def test_without_a_key_it_says_where_the_address_is(browser: Browser, url: str, house: House) -> None:
    page = await open_page(browser, url)
    await expect(page.get_by_role("heading", name="This page needs its key")).to_be_visible()
    await expect(page.locator("#locked")).to_contain_text("keryx serve")
    await expect(page.get_by_role("button", name="Call", exact=True)).to_be_hidden()
    assert await serious(page) == []
    await page.get_by_label("Or paste the address").fill(f"{url}/?key={house.page_key}")
    await page.get_by_role("button", name="Open").click()
    await expect(page.locator("#connection-words")).to_have_text("Connected")
    await page.context.close()


async def test_a_key_that_does_not_fit_any_more_is_said_and_forgotten(browser: Browser, url: str) -> None:
    page = await open_page(browser, f"{url}/?key=stale")
    await expect(page.locator("#locked-why")).to_contain_text("does not fit any more")
    await page.reload()
    await expect(page.locator("#locked-why")).to_contain_text("Open the whole address")
    await page.context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 800)])
async def test_axe_finds_nothing_serious(
    browser: Browser, url: str, house: House, operator: Operator, scheme: str, width: int, height: int
) -> None:
    await furnish(house)
    page = await open_page(
        browser,
        f"{url}/?key={house.page_key}",
        width=width,
        height=height,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    troubles = page_troubles(page)
    await expect(page.locator("#connection-words")).to_have_text("Connected")
    assert await serious(page) == []
    await page.get_by_role("button", name="Call", exact=True).click()
    line = await operator.picked_up()
    await line.caption("caller", "Fix the test.", final=True, utterance=1)
    await line.caption("keryx", "On it.", final=False, utterance=2)
    await line.state("speaking")
    await expect(page.locator("#state")).to_have_text("Speaking")
    assert await serious(page) == []
    if width < 880:
        await page.get_by_role("button", name="Show the tasks").click()
    await page.locator("[data-task='1'] .row").click()
    await expect(page.locator(".report pre")).to_be_visible()
    await page.locator("[data-task='4'] .row").click()
    await page.get_by_role("button", name="Cancel this task").click()
    assert await serious(page) == []
    assert troubles == []
    await page.context.close()


@pytest.mark.parametrize(("width", "height"), [(320, 568), (360, 740), (640, 400), (844, 390), (1280, 800)])
async def test_nothing_scrolls_sideways_even_at_double_size(
    browser: Browser, url: str, house: House, operator: Operator, width: int, height: int
) -> None:
    await furnish(house)
    page = await open_page(browser, f"{url}/?key={house.page_key}", width=width, height=height)
    await page.get_by_role("button", name="Call", exact=True).click()
    line = await operator.picked_up()
    await line.caption("keryx", "y" * 300, final=True, utterance=1)
    await expect(page.get_by_text("y" * 300)).to_be_attached()
    assert await sideways_px(page) <= 0
    if width < 880:
        await page.get_by_role("button", name="Show the tasks").click()
    await page.locator("[data-task='1'] .row").click()
    await expect(page.locator(".report pre")).to_be_attached()
    assert await sideways_px(page) <= 0
    body = await page.evaluate("(b => b.scrollWidth - b.clientWidth)(document.getElementById('tasks-body'))")
    assert body <= 0
    await page.context.close()


async def test_on_a_telephone_the_tasks_slide_up_and_away(browser: Browser, url: str, house: House) -> None:
    await house.manager.dispatch("Fix it")
    page = await open_page(browser, f"{url}/?key={house.page_key}", width=390, height=844)
    await expect(page.locator("[data-task='1'] .row")).not_to_be_in_viewport()
    await page.get_by_role("button", name="Show the tasks").click()
    await expect(page.locator("[data-task='1'] .row")).to_be_in_viewport()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("button", name="Show the tasks")).to_be_focused()
    await expect(page.locator("[data-task='1'] .row")).not_to_be_in_viewport()
    box = await page.get_by_role("button", name="Call", exact=True).bounding_box()
    assert box is not None
    assert box["y"] > 844 / 2  # within a thumb's reach
    assert min(box["width"], box["height"]) >= 96
    await page.context.close()


async def test_the_shell_opens_while_the_daemon_is_away(browser: Browser, house: House) -> None:
    async with serving(house) as url:
        page = await open_page(browser, f"{url}/?key={house.page_key}")
        await expect(page.locator("#connection-words")).to_have_text("Connected")
        await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    await page.reload()
    await expect(page.locator("#connection-words")).to_have_text("Reconnecting, your tasks keep running")
    assert house.page_key not in await page.evaluate(
        "caches.open('keryx-shell-1').then(c => c.keys()).then(k => k.map(r => r.url).join())"
    )
    await page.context.close()


async def test_a_daemon_that_stays_away_is_named_with_what_to_do(browser: Browser, house: House) -> None:
    async with serving(house) as url:
        page = await open_page(browser, "about:blank")
        await page.clock.install()
        await page.goto(f"{url}/?key={house.page_key}")
        await expect(page.locator("#connection-words")).to_have_text("Connected")
    await expect(page.locator("#connection-words")).to_have_text("Reconnecting, your tasks keep running")
    await page.clock.fast_forward("00:30")
    await expect(page.locator("#notices")).to_contain_text("start it with keryx serve")
    await page.context.close()


async def test_the_documentation_is_as_usable(browser: Browser, url: str) -> None:
    page = await open_page(browser, f"{url}/docs", width=360, height=740)
    troubles = page_troubles(page)
    await expect(page.get_by_role("heading", name="Keryx for scripts")).to_be_visible()
    assert await serious(page) == []
    assert await sideways_px(page) <= 0
    assert troubles == []
    await page.context.close()


@pytest.mark.parametrize("rate", [44_100, 48_000])
async def test_resampling_keeps_the_voice_and_folds_nothing_back(page: Page, rate: int) -> None:
    """A tone within the band comes through unchanged; one above half the lower rate is 60 dB down, both ways."""
    loudness = """async ([from, to, hertz]) => {
        const { Resampler } = await import("/static/resampler.js");
        const resampler = new Resampler(from, to);
        const out = [];
        for (let start = 0; start < from; start += 128) {
            const wave = (_, i) => Math.sin(2 * Math.PI * hertz * (start + i) / from);
            resampler.push(Float32Array.from({ length: 128 }, wave));
            while (resampler.ready) out.push(resampler.next());
        }
        const middle = out.slice(out.length / 4, out.length * 3 / 4);
        return [10 * Math.log10(2 * middle.reduce((sum, x) => sum + x * x, 0) / middle.length), out.length];
    }"""
    kept, count = await page.evaluate(loudness, [rate, 16_000, 1000])
    assert abs(kept) < 0.1
    assert abs(count - 16_000) < 60
    assert (await page.evaluate(loudness, [rate, 16_000, 6000]))[0] > -1
    assert (await page.evaluate(loudness, [rate, 16_000, 9000]))[0] < -60
    assert (await page.evaluate(loudness, [rate, 16_000, 15_000]))[0] < -60
    assert abs((await page.evaluate(loudness, [24_000, rate, 1000]))[0]) < 0.1
