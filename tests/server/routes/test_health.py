"""`/health` for anybody, `/api/voice` for whoever has the key."""

import httpx2

from tests.server.house import House


async def test_health_needs_no_key_and_says_nothing_private(stranger: httpx2.AsyncClient) -> None:
    answer = await stranger.get("/health")
    assert answer.status_code == 200
    assert answer.json() == {"status": "ok", "voice": "loading", "calls": 0, "version": "0.1.0"}


async def test_health_says_when_the_voice_is_ready(stranger: httpx2.AsyncClient, house: House) -> None:
    await house.loading.load()
    assert (await stranger.get("/health")).json()["voice"] == "ready"


async def test_why_it_is_typing_only_is_told_with_the_command_that_mends_it(
    client: httpx2.AsyncClient, house: House
) -> None:
    house.loading.state, house.loading.message = "typing only", "Typing only: run: pip install 'keryx[speech]'"
    answer = (await client.get("/api/voice")).json()
    assert answer == {"state": "typing only", "percent": 0, "message": "Typing only: run: pip install 'keryx[speech]'"}


async def test_the_voice_is_not_told_without_the_key(stranger: httpx2.AsyncClient) -> None:
    assert (await stranger.get("/api/voice")).status_code == 401
