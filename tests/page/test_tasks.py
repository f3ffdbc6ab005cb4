"""Tasks on the page: live, opened, added to, cancelled; and what is not yet heard."""

import math

import pytest
from playwright.async_api import Page, expect

from keryx.agents.base import FakeTurn, Steer, TokenUsage
from keryx.tasks.models import TaskStatus
from tests.server.house import ENDLESS, House

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

REPORT = """## Found

<script>window.harmed = true</script> <img src=x onerror="window.harmed = true">

It was **rounding**, see [the notes](javascript:alert(1)).

SPOKEN_SUMMARY: It was rounding.
"""


def row(page: Page, number: int):
    return page.locator(f"[data-task='{number}']")


async def test_a_task_appears_and_moves_as_it_happens(page: Page, house: House) -> None:
    await expect(page.get_by_text("No tasks yet")).to_be_visible()
    house.agent.script(FakeTurn(progress=("Reading the test",), takes_s=1.0, reply="SPOKEN_SUMMARY: It was rounding."))
    await house.manager.dispatch("Fix the invoice test", project="billing")
    await expect(row(page, 1)).to_contain_text("Fix the invoice test")
    await expect(row(page, 1)).to_contain_text("billing")
    await expect(row(page, 1)).to_contain_text("Reading the test")
    await expect(row(page, 1).locator(".status")).to_have_text("Done")
    await expect(row(page, 1)).to_contain_text("It was rounding.")
    await expect(page.get_by_text("No tasks yet")).to_be_hidden()


async def test_the_newest_stands_on_top(page: Page, house: House) -> None:
    for text in ("one", "two", "three"):
        await house.manager.dispatch(text)
    await expect(page.locator(".asked")).to_have_text(["three", "two", "one"])


async def test_news_carries_a_dot_until_it_was_heard(page: Page, house: House) -> None:
    task = await house.manager.dispatch("Fix it")
    await house.manager.wait(task.id)
    await expect(row(page, 1).locator(".dot")).to_be_visible()
    await expect(page.locator("#tally")).to_contain_text("1 to hear")
    await house.manager.mark_told([news.id for news in await house.manager.untold()])
    await expect(row(page, 1).locator(".dot")).to_be_hidden()
    await expect(page.locator("#tally")).not_to_contain_text("to hear")


async def test_an_opened_task_shows_its_report_and_what_it_cost(page: Page, house: House) -> None:
    house.agent.script(
        FakeTurn(REPORT, progress=("Reading", "Testing"), usage=TokenUsage(12_345, 678, 9_000), cost_usd=0.25)
    )
    task = await house.manager.dispatch("Find it")
    await house.manager.wait(task.id)
    await row(page, 1).get_by_role("button").first.click()
    opened = row(page, 1).get_by_role("group", name="Task 1")
    await expect(opened.locator(".progress li")).to_have_count(2)
    await expect(opened.locator(".report strong")).to_have_text("rounding")
    await expect(opened).to_contain_text("12,345 in (9,000 cached), 678 out")
    await expect(opened).to_contain_text("0.25")
    assert await page.evaluate("window.harmed") is None
    assert await opened.locator("script, img, [href^='javascript']").count() == 0


async def test_unknown_cost_is_called_unknown(page: Page, house: House) -> None:
    task = await house.manager.dispatch("Find it")
    await house.manager.wait(task.id)
    await row(page, 1).get_by_role("button").first.click()
    await expect(row(page, 1).locator(".facts")).to_contain_text("Costunknown")


async def test_a_follow_up_goes_to_the_running_task(page: Page, house: House) -> None:
    house.agent.script(ENDLESS)
    await house.manager.dispatch("Fix it")
    await house.agent.begun()
    await row(page, 1).get_by_role("button").first.click()
    await page.get_by_label("Add something while it works").fill("Leap years too.")
    await page.keyboard.press("Enter")
    await expect(row(page, 1).locator(".note")).to_have_text("Passed on: the agent has it now.")
    assert house.agent.steered == ["Leap years too."]


async def test_an_ended_task_is_taken_up_again(page: Page, house: House) -> None:
    task = await house.manager.dispatch("Fix it")
    await house.manager.wait(task.id)
    await row(page, 1).get_by_role("button").first.click()
    await page.get_by_label("Follow up, and it runs again").fill("More.")
    await row(page, 1).get_by_role("button", name="Send").click()
    await expect(row(page, 1).locator(".note")).to_have_text("Passed on: the task is running again.")


async def test_a_plan_is_carried_out_with_one_button(page: Page, house: House) -> None:
    task = await house.manager.dispatch("Move to Postgres", mode="plan")
    await house.manager.wait(task.id)
    await row(page, 1).get_by_role("button").first.click()
    await expect(row(page, 1).locator(".facts")).to_contain_text("Modeplan")
    await row(page, 1).get_by_role("button", name="Carry out this plan").click()
    await expect(row(page, 1).locator(".note")).to_have_text("Passed on: the task is running again, in auto mode.")
    await expect(row(page, 1).locator(".facts")).to_contain_text("Modeauto")
    await expect(row(page, 1).get_by_role("button", name="Carry out this plan")).to_be_hidden()
    assert (await house.manager.wait(task.id)).mode == "auto"


async def test_an_agent_that_takes_nothing_in_is_told_of(page: Page, house: House) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf, steer=Steer.REFUSED))
    await house.manager.dispatch("Fix it")
    await house.agent.begun()
    await row(page, 1).get_by_role("button").first.click()
    await page.get_by_label("Add something while it works").fill("Leap years too.")
    await page.keyboard.press("Enter")
    await expect(row(page, 1).locator(".note")).to_have_text(
        "Kept: the agent takes nothing in just now, and does it next."
    )


async def test_cancelling_asks_first(page: Page, house: House) -> None:
    house.agent.script(ENDLESS)
    task = await house.manager.dispatch("Fix it")
    await house.agent.begun()
    await row(page, 1).get_by_role("button").first.click()
    await page.get_by_role("button", name="Cancel this task").click()
    await page.get_by_role("button", name="Keep it running").click()
    assert (await house.manager.status(task.id)).status is TaskStatus.RUNNING
    await page.get_by_role("button", name="Cancel this task").click()
    await page.get_by_role("button", name="Yes, cancel").click()
    await expect(row(page, 1).locator(".status")).to_have_text("Cancelled")
    assert (await house.manager.status(task.id)).status is TaskStatus.CANCELLED


async def test_what_the_daemon_refuses_is_said(page: Page, house: House) -> None:
    house.agent.script(ENDLESS)
    await house.manager.dispatch("Fix it")
    await house.agent.begun()
    await row(page, 1).get_by_role("button").first.click()
    await page.get_by_role("button", name="Cancel this task").click()
    await page.route("**/cancel", lambda route: route.fulfill(status=409, json={"error": "Task 1 has ended already."}))
    await page.get_by_role("button", name="Yes, cancel").click()
    await expect(row(page, 1).locator(".note")).to_have_text("Task 1 has ended already.")


async def test_a_question_waits_on_top_with_the_way_to_answer(page: Page, house: House) -> None:
    house.agent.script(FakeTurn("Which branch, main or next?"))
    task = await house.manager.dispatch("Prepare the release")
    await house.manager.wait(task.id)
    await expect(page.locator("#asking")).to_contain_text("Task 1 asks: Which branch, main or next?")
    await page.get_by_role("button", name="Answer").click()
    await page.keyboard.type("main")
    await page.keyboard.press("Enter")
    await expect(page.locator("#asking")).to_be_empty()


async def test_a_task_is_opened_and_left_by_keyboard(page: Page, house: House) -> None:
    await house.manager.dispatch("Fix it")
    opener = row(page, 1).get_by_role("button").first
    await opener.focus()
    await page.keyboard.press("Enter")
    await expect(opener).to_have_attribute("aria-expanded", "true")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Escape")
    await expect(opener).to_have_attribute("aria-expanded", "false")
    await expect(opener).to_be_focused()
