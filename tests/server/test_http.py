"""The whole application: errors as sentences, the page's files, the documentation."""

import httpx2
import pytest

from keryx.errors import BudgetSpent, ConfigError, KeryxError, NotFound, Refused, Unavailable
from tests.server.house import House

LARGEST_PAGE_BYTES = 150_000


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (NotFound("no task 4"), 404),
        (Refused("task 4 has ended"), 409),
        (BudgetSpent("the limit is used up"), 429),
        (Unavailable("the store is busy"), 503),
        (ConfigError("a setting is wrong"), 500),
        (KeryxError("something"), 500),
    ],
)
async def test_an_error_is_one_sentence_with_the_status_that_fits(
    client: httpx2.AsyncClient, house: House, monkeypatch: pytest.MonkeyPatch, error: KeryxError, status: int
) -> None:
    async def failing(**_: object) -> None:
        raise error

    monkeypatch.setattr(house.manager, "list", failing)
    answer = await client.get("/api/tasks")
    assert answer.status_code == status
    assert answer.json() == {"error": str(error)}


async def test_a_defect_ends_that_request_and_says_nothing_private(
    client: httpx2.AsyncClient, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing(**_: object) -> None:
        raise ZeroDivisionError("private detail")

    monkeypatch.setattr(house.manager, "list", failing)
    answer = await client.get("/api/tasks")
    assert answer.status_code == 500
    assert "private" not in answer.text
    assert "log" in answer.json()["error"]
    assert (await client.get("/health")).status_code == 200


@pytest.mark.parametrize(("verb", "path", "status"), [("GET", "/nothing", 404), ("DELETE", "/api/tasks", 405)])
async def test_a_wrong_address_points_to_the_right_ones(
    client: httpx2.AsyncClient, verb: str, path: str, status: int
) -> None:
    answer = await client.request(verb, path)
    assert answer.status_code == status
    assert "/docs" in answer.json()["error"]


async def test_the_page_and_everything_it_names_is_served(stranger: httpx2.AsyncClient) -> None:
    page = await stranger.get("/?key=whatever")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    worker = await stranger.get("/service-worker.js")
    assert worker.headers["Content-Type"].startswith("text/javascript")
    manifest = (await stranger.get("/manifest.webmanifest")).json()
    for icon in manifest["icons"]:
        assert (await stranger.get(icon["src"])).headers["Content-Type"].startswith(icon["type"])
    for path in ("/static/main.js", "/static/style.css", "/static/icon.svg", "/favicon.ico"):
        assert (await stranger.get(path)).status_code == 200


async def test_the_page_asks_each_time_whether_it_is_still_the_same(stranger: httpx2.AsyncClient) -> None:
    first = await stranger.get("/static/main.js")
    assert first.headers["Cache-Control"] == "no-cache"
    again = await stranger.get("/static/main.js", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304


async def test_only_the_pages_own_files_are_served(stranger: httpx2.AsyncClient) -> None:
    for path in ("/static/../http.py", "/static/%2e%2e/http.py", "/static/..%2fhttp.py", "/static/"):
        assert (await stranger.get(path)).status_code == 404


def test_the_page_is_small_and_names_no_other_host() -> None:
    from keryx.server.routes.page import WEB

    files = list(WEB.iterdir())
    assert sum(file.stat().st_size for file in files) < LARGEST_PAGE_BYTES
    for file in files:
        if file.suffix != ".png":
            text = file.read_text(encoding="utf-8").replace("http://www.w3.org/", "").replace("http://127.0.0.1", "")
            assert "http://" not in text, file.name
            assert "https://" not in text, file.name


def test_the_shell_kept_for_offline_is_the_whole_page() -> None:
    from keryx.server.routes.page import WEB

    kept = (WEB / "service-worker.js").read_text(encoding="utf-8")
    for module in WEB.glob("*.js"):
        if module.name != "service-worker.js":
            assert f'"{module.stem}"' in kept, f"{module.name} is missing from the service worker's list"


async def test_the_documentation_stands_on_its_own(stranger: httpx2.AsyncClient) -> None:
    docs = await stranger.get("/docs")
    assert docs.status_code == 200
    for part in ("/api/tasks/{number}/follow-up", "Idempotency-Key", "/api/events", "/talk", "curl", "Needs the key"):
        assert part in docs.text
    assert "<script" not in docs.text
    assert "style=" not in docs.text
    document = (await stranger.get("/openapi.json")).json()
    assert set(document["paths"]) >= {"/health", "/api/tasks", "/api/tasks/{number}", "/api/events", "/api/voice"}
