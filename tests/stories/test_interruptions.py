"""The caller goes on while something is being done or said: it is done once, and nothing stale is said."""

from keryx.agents.base import FakeTurn
from tests.stories.house import House


async def test_talking_over_the_answer_to_a_request_makes_no_second_task(house: House) -> None:
    house.agent.script(FakeTurn(takes_s=60))
    async with house.called(by="page") as visitor:
        await visitor.until_quiet()
        await visitor.say("In billing, fix the failing invoice test.")
        await house.until(lambda: house.agent.prompts)
        await visitor.quiet(0.05)
        await visitor.say("What's running?")
        await visitor.until_quiet()
        assert len(await house.tasks()) == 1
        assert len(house.agent.prompts) == 1
        assert "running" in visitor.line.said()[-1]


async def test_a_line_lost_in_the_middle_of_an_answer_leaves_nothing_of_it_for_the_next_call(house: House) -> None:
    async with house.called() as dropped:
        await dropped.until_quiet()
        await dropped.type("help")
        await dropped.hears("Tell me what to build")
        await dropped.quiet(0.3)
    house.voice.said.clear()
    async with house.called() as again:
        await again.until_quiet()
        assert len(house.voice.said) <= 2
        assert not any("Tell me what to build" in said or "cancel one" in said for said in house.voice.said)


async def test_five_seconds_of_comfort_noise_are_no_turn_and_no_task(house: House) -> None:
    async with house.called(by="phone") as visitor:
        await visitor.until_quiet()
        said = list(house.voice.said)
        await visitor.quiet(5)
        assert house.voice.said == said
        assert house.ears.heard == []
        assert await house.tasks() == []


async def test_an_interrupted_result_is_offered_again_and_not_begun_anew(house: House) -> None:
    house.agent.script(FakeTurn("SPOKEN_SUMMARY: The invoice test passes now. The total was off by a cent, in March."))
    await house.manager.wait((await house.manager.dispatch("fix the invoice test")).id)
    async with house.called() as visitor:
        await visitor.hears("invoice test passes")
        await visitor.quiet(0.3)
        await visitor.say("What's running?")
        await visitor.until_quiet()
        assert "want" in visitor.line.said()[-1].lower()
        assert len(await house.manager.untold()) == 1
        await visitor.say("Yes.")
        await visitor.until_quiet()
        assert "off by a cent" in house.voice.said[-1]
        assert await house.manager.untold() == []
