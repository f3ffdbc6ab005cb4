"""The scripted Messages API is held against what its vendor publishes: the types, and the client that reads them."""

import asyncio
from typing import Any

import pytest

from tests.support.anthropic_server import INPUT_TOKENS, OUTPUT_TOKENS, anthropic_server
from tests.support.model_steps import AskUser, Call, Drop, Refuse, Run, Say, Step, Write

anthropic = pytest.importorskip("anthropic", reason="the vendor's published types are not installed")
pydantic = pytest.importorskip("pydantic")

STEPS: list[Step] = [
    Say("Hello, world. " * 5),
    Say(""),
    Run("ls", say="I look."),
    Write("a.txt", "content"),
    AskUser("Which?", ("a", "b")),
    Call("Read", {"file_path": "/a"}),
]
# A model of no name: a real one is deprecated some day, and the client warns of it.
REQUEST: dict[str, Any] = {
    "model": "claude-scripted",
    "max_tokens": 1000,
    "messages": [{"role": "user", "content": "do it"}],
    "tools": [{"name": "Bash", "input_schema": {"type": "object"}}],
}


def client(url: str) -> Any:
    return anthropic.AsyncAnthropic(api_key="scripted", base_url=url, max_retries=0)


@pytest.mark.parametrize("step", STEPS, ids=repr)
async def test_every_event_is_one_that_the_vendor_publishes(step: Step):
    published = pydantic.TypeAdapter(anthropic.types.RawMessageStreamEvent)
    async with anthropic_server() as server, client(server.url) as vendor:
        server.script(step)
        async with vendor.messages.stream(**REQUEST) as stream:
            message = await stream.get_final_message()
        assert server.sent
        for event in server.sent:
            published.validate_python(event)
            assert published.dump_python(published.validate_python(event), exclude_unset=True) == event
    assert message.stop_reason == ("end_turn" if isinstance(step, Say) else "tool_use")
    assert message.usage.output_tokens == OUTPUT_TOKENS
    assert message.usage.input_tokens < INPUT_TOKENS


@pytest.mark.parametrize("step", STEPS, ids=repr)
async def test_a_whole_message_is_one_that_the_vendor_publishes(step: Step):
    async with anthropic_server() as server, client(server.url) as vendor:
        server.script(step)
        await vendor.messages.create(**REQUEST)
        anthropic.types.Message.model_validate(server.sent[-1])


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, anthropic.BadRequestError),
        (401, anthropic.AuthenticationError),
        (404, anthropic.NotFoundError),
        (429, anthropic.RateLimitError),
        (529, anthropic.InternalServerError),
    ],
)
async def test_a_refusal_is_the_error_that_the_vendor_publishes(status: int, error: type[Exception]):
    async with anthropic_server() as server, client(server.url) as vendor:
        server.script(Refuse(status, "not now"))
        with pytest.raises(error, match="not now"):
            await vendor.messages.create(**REQUEST)


async def test_a_dropped_answer_breaks_off():
    async with anthropic_server() as server, client(server.url) as vendor:
        server.script(Drop())
        async with asyncio.timeout(20):
            with pytest.raises(Exception, match=r"peer closed|incomplete|disconnected|reset|Connection") as broken:
                async with vendor.messages.stream(**REQUEST) as stream:
                    await stream.get_final_message()
    assert not isinstance(broken.value, TimeoutError)


async def test_a_request_without_tools_is_an_errand_and_uses_up_no_step():
    async with anthropic_server() as server, client(server.url) as vendor:
        server.script(Say("for the conversation"))
        await vendor.messages.create(**{**REQUEST, "tools": []})
        assert server.errands == ["errand"]
        assert (await vendor.messages.create(**REQUEST)).content[0].text == "for the conversation"
        assert server.heard("do it") == 1
