"""Tasks over HTTP, as a script or the page meets them."""

import math
from pathlib import Path

import httpx2
import pytest

from keryx.agents.base import FakeTurn, Steer, TokenUsage
from keryx.tasks.models import TaskStatus
from tests.server.house import ENDLESS, KEY, House, open_house, serving

FIELDS = {
    *("id", "status", "description", "project", "agent", "summary", "error", "told_at", "created_at", "finished_at"),
    *("started_at", "progress", "tokens", "cost_usd", "mode", "model"),
}


async def test_work_is_handed_over(client: httpx2.AsyncClient, house: House) -> None:
    answer = await client.post("/api/tasks", json={"description": "  Fix the invoice test. ", "project": "billing"})
    assert answer.status_code == 201
    task = answer.json()
    assert task.keys() == FIELDS
    assert (task["description"], task["project"], task["agent"], task["mode"]) == (
        "Fix the invoice test.",
        "billing",
        "fake",
        "auto",
    )
    assert (await house.manager.wait(task["id"])).status is TaskStatus.DONE


async def test_a_project_is_known_by_its_name_however_it_is_written(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/tasks", json={"description": "Fix it.", "project": " My  Website "})
    assert answer.json()["project"] == "my website"


async def test_an_unknown_project_is_refused_and_the_known_ones_are_named(client: httpx2.AsyncClient) -> None:
    for name in ("kitchen", "../billing"):
        answer = await client.post("/api/tasks", json={"description": "Fix the tap.", "project": name})
        assert answer.status_code == 404
        assert answer.json()["error"] == f'no project "{name}"; there is billing, my website'
    assert (await client.get("/api/tasks")).json() == []


async def test_the_same_request_again_is_done_once(client: httpx2.AsyncClient) -> None:
    asked = [
        (await client.post("/api/tasks", json={"description": "Once."}, headers={"Idempotency-Key": "abc"})).json()[
            "id"
        ]
        for _ in range(2)
    ]
    assert asked[0] == asked[1]
    assert len((await client.get("/api/tasks")).json()) == 1


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "description is missing."),
        ({"description": "   "}, "description is empty."),
        ({"description": "x" * 20_001}, "description is too long: at most 20,000 characters."),
        ({"description": "x", "colour": "red"}, "colour is not something this address knows."),
        ({"description": 4}, "description: input should be a valid string."),
    ],
)
async def test_what_is_wrong_with_a_body_is_said(client: httpx2.AsyncClient, body: dict, sentence: str) -> None:
    answer = await client.post("/api/tasks", json=body)
    assert answer.status_code == 422
    assert answer.json() == {"error": sentence}


@pytest.mark.parametrize("content", [b"", b"{", b"null", b"[1]", b"\xff\xfe", b'"{}"'])
async def test_no_garbled_body_becomes_a_task(client: httpx2.AsyncClient, content: bytes) -> None:
    answer = await client.post("/api/tasks", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"].endswith(".") or "parsing" in answer.json()["error"]
    assert (await client.get("/api/tasks")).json() == []


async def test_a_mode_that_does_not_exist_is_refused(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/tasks", json={"description": "x", "mode": "reckless"})
    assert answer.status_code == 422


async def test_an_agent_that_does_not_exist_is_named(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/tasks", json={"description": "x", "agent": "nobody"})
    assert answer.status_code == 404
    assert "nobody" in answer.json()["error"]


async def test_the_days_limit_is_said(tmp_path: Path) -> None:
    async with open_house(tmp_path, daily_cap=1) as house, serving(house) as url:
        async with httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {KEY}"}) as client:
            assert (await client.post("/api/tasks", json={"description": "one"})).status_code == 201
            answer = await client.post("/api/tasks", json={"description": "two"})
            assert answer.status_code == 429
            assert "midnight" in answer.json()["error"]


async def test_a_task_tells_everything_about_itself(client: httpx2.AsyncClient, house: House) -> None:
    house.agent.script(
        FakeTurn(
            "## Found\n\n<script>alert(1)</script> it was **rounding**.\n\nSPOKEN_SUMMARY: It was rounding.",
            progress=("Reading", "Testing"),
            usage=TokenUsage(100, 20, 40),
            cost_usd=0.5,
        )
    )
    number = (await client.post("/api/tasks", json={"description": "Find it"})).json()["id"]
    await house.manager.wait(number)
    task = (await client.get(f"/api/tasks/{number}")).json()
    assert task["summary"] == "It was rounding."
    assert [line["text"] for line in task["progress_lines"]] == ["Reading", "Testing"]
    assert task["tokens"] == {"input": 100, "output": 20, "cached": 40}
    assert task["cost_usd"] == 0.5
    assert "**rounding**" in task["report"]
    assert "<strong>rounding</strong>" in task["report_html"]
    assert "<script" not in task["report_html"]


async def test_unknown_tokens_and_cost_are_not_zero(client: httpx2.AsyncClient, house: House) -> None:
    number = (await client.post("/api/tasks", json={"description": "x"})).json()["id"]
    await house.manager.wait(number)
    task = (await client.get(f"/api/tasks/{number}")).json()
    assert task["tokens"] is None
    assert task["cost_usd"] is None


async def test_secrets_never_leave(client: httpx2.AsyncClient, house: House) -> None:
    secret = "sk-ant-api03-" + "A1b2C3d4" * 10
    house.agent.script(FakeTurn(f"Found {secret} in .env\n\nSPOKEN_SUMMARY: The key is {secret}.", progress=(secret,)))
    number = (await client.post("/api/tasks", json={"description": f"Use {secret}"})).json()["id"]
    await house.manager.wait(number)
    assert secret not in (await client.get(f"/api/tasks/{number}")).text
    assert secret not in (await client.get("/api/tasks")).text


async def test_the_list_is_newest_first_and_can_be_narrowed(client: httpx2.AsyncClient, house: House) -> None:
    house.agent.script(FakeTurn(), FakeTurn(error="It broke."), ENDLESS)
    for text in ("one", "two", "three"):
        number = (await client.post("/api/tasks", json={"description": text})).json()["id"]
        if text != "three":
            await house.manager.wait(number)
    assert [task["id"] for task in (await client.get("/api/tasks")).json()] == [3, 2, 1]
    narrowed = await client.get("/api/tasks", params={"status": ["failed", "done"], "limit": 1})
    assert [task["id"] for task in narrowed.json()] == [2]


@pytest.mark.parametrize("query", ["status=eager", "limit=0", "limit=x", "limit=100000"])
async def test_a_strange_question_is_answered_with_a_sentence(client: httpx2.AsyncClient, query: str) -> None:
    answer = await client.get(f"/api/tasks?{query}")
    assert answer.status_code == 422
    assert query.split("=")[0] in answer.json()["error"]


@pytest.mark.parametrize("number", ["99", "0", "-1", str(2**70)])
async def test_a_task_that_does_not_exist_is_not_found(client: httpx2.AsyncClient, number: str) -> None:
    for answer in (
        await client.get(f"/api/tasks/{number}"),
        await client.post(f"/api/tasks/{number}/cancel"),
        await client.post(f"/api/tasks/{number}/follow-up", json={"text": "x"}),
    ):
        assert answer.status_code == 404
        assert answer.json()["error"]


async def test_a_follow_up_reaches_the_running_agent(client: httpx2.AsyncClient, house: House) -> None:
    house.agent.script(ENDLESS)
    number = (await client.post("/api/tasks", json={"description": "long"})).json()["id"]
    await house.agent.begun()
    answer = await client.post(f"/api/tasks/{number}/follow-up", json={"text": "Leap years too."})
    assert answer.status_code == 200
    assert answer.json()["how"] == "steered"
    assert house.agent.steered == ["Leap years too."]


async def test_a_follow_up_that_the_agent_refuses_comes_next_and_says_so(
    client: httpx2.AsyncClient, house: House
) -> None:
    house.agent.script(FakeTurn(takes_s=math.inf, steer=Steer.REFUSED))
    number = (await client.post("/api/tasks", json={"description": "long"})).json()["id"]
    await house.agent.begun()
    answer = (await client.post(f"/api/tasks/{number}/follow-up", json={"text": "More."})).json()
    assert (answer["how"], answer["refused"]) == ("next", True)


async def test_a_follow_up_may_change_the_mode(client: httpx2.AsyncClient, house: House) -> None:
    number = (await client.post("/api/tasks", json={"description": "x", "mode": "plan"})).json()["id"]
    await house.manager.wait(number)
    path = f"/api/tasks/{number}/follow-up"
    strange = await client.post(path, json={"text": "Go ahead.", "mode": "yolo"})
    assert (strange.status_code, "plan, ask, auto, full" in strange.json()["error"]) == (409, True)
    answer = (await client.post(path, json={"text": "Go ahead.", "mode": "auto"})).json()
    assert (answer["how"], answer["refused"], answer["task"]["mode"]) == ("taken up", False, "auto")


async def test_another_agents_model_is_refused_before_anything_fails(tmp_path: Path) -> None:
    async with (
        open_house(tmp_path, agents=("codex", "claude")) as house,
        serving(house) as url,
        httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {KEY}"}, trust_env=False) as client,
    ):
        wrong = await client.post("/api/tasks", json={"description": "x", "agent": "codex", "model": "opus"})
        assert wrong.status_code == 404
        assert "opus" in wrong.json()["error"]
        assert await house.manager.list() == []
        picked = (await client.post("/api/tasks", json={"description": "x", "model": "opus"})).json()
        assert (picked["agent"], picked["model"]) == ("claude", "opus")


async def test_a_follow_up_sent_twice_is_added_once(client: httpx2.AsyncClient, house: House) -> None:
    house.agent.script(ENDLESS)
    number = (await client.post("/api/tasks", json={"description": "long"})).json()["id"]
    await house.agent.begun()
    for _ in range(2):
        await client.post(
            f"/api/tasks/{number}/follow-up", json={"text": "Once."}, headers={"Idempotency-Key": "follow-1"}
        )
    assert house.agent.steered == ["Once."]


async def test_an_ended_task_is_taken_up_again(client: httpx2.AsyncClient, house: House) -> None:
    number = (await client.post("/api/tasks", json={"description": "short"})).json()["id"]
    await house.manager.wait(number)
    answer = (await client.post(f"/api/tasks/{number}/follow-up", json={"text": "More."})).json()
    assert answer["how"] == "taken up"
    assert answer["task"]["status"] in ("queued", "running")


async def test_a_cancelled_task_stays_cancelled_and_says_so_the_second_time(
    client: httpx2.AsyncClient, house: House
) -> None:
    house.agent.script(ENDLESS)
    number = (await client.post("/api/tasks", json={"description": "long"})).json()["id"]
    assert (await client.post(f"/api/tasks/{number}/cancel")).json()["status"] == "cancelled"
    again = await client.post(f"/api/tasks/{number}/cancel")
    assert again.status_code == 409
    assert again.json()["error"]


@pytest.mark.parametrize("key", [None, "Bearer wrong", "Bearer x y", f"Basic {KEY}", KEY, "Bearer kéy"])
@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/api/tasks"),
        ("POST", "/api/tasks"),
        ("GET", "/api/tasks/1"),
        ("POST", "/api/tasks/1/follow-up"),
        ("POST", "/api/tasks/1/cancel"),
        ("GET", "/api/events"),
    ],
)
async def test_without_the_key_nothing_is_told_or_done(
    stranger: httpx2.AsyncClient, verb: str, path: str, key: str | None
) -> None:
    headers = httpx2.Headers([] if key is None else [(b"Authorization", key.encode("latin-1"))])
    answer = await stranger.request(verb, path, headers=headers, json={"description": "x"} if verb == "POST" else None)
    assert answer.status_code == 401
    assert "keryx serve" in answer.json()["error"]
    assert answer.headers["WWW-Authenticate"] == "Bearer"
