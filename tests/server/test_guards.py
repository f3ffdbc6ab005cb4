"""Hosts, origins, bodies and what every answer tells the browser."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from keryx.server.guards import MAX_BODY_BYTES, TOO_LARGE, Served, content_policy, origin_of
from tests.server.house import KEY

HOME = Served.at("127.0.0.1", "https://keryx.example.org")
OPEN = Served.at("0.0.0.0")


@pytest.mark.parametrize(
    "host",
    ["localhost", "localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST:1", "keryx.example.org"],
)
def test_a_served_name_is_answered(host: str) -> None:
    assert HOME.has_host(host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "[",
        "10.0.0.9",
    ],
)
def test_any_other_name_is_not(host: str | None) -> None:
    assert not HOME.has_host(host)


def test_listening_everywhere_answers_to_figures_but_not_to_names() -> None:
    assert OPEN.has_host("192.168.1.20:8080")
    assert OPEN.has_host("[fe80::1]:8080")
    assert not OPEN.has_host("evil.example")


def test_the_configured_host_is_served() -> None:
    assert Served.at("10.0.0.9").has_host("10.0.0.9:8080")
    assert Served.at("den.lan").has_host("den.lan:8080")


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, "127.0.0.1:8080"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("http://localhost:8080", "localhost:8080"),
        ("http://[::1]:8080", "[::1]:8080"),
        ("http://localhost", "localhost:80"),
        ("https://keryx.example.org", "127.0.0.1:8080"),
        ("https://keryx.example.org", "keryx.example.org"),
    ],
)
def test_the_own_page_may_open_a_call(origin: str | None, host: str) -> None:
    assert HOME.has_origin(origin, host)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://evil.example", "127.0.0.1:8080"),
        ("http://evil.example", "evil.example"),
        ("http://127.0.0.1:9999", "127.0.0.1:8080"),
        ("http://localhost:8080", "127.0.0.1:8080"),
        ("https://keryx.example.org.evil.example", "keryx.example.org"),
        ("https://keryx.example.org:444", "keryx.example.org"),
        ("null", "127.0.0.1:8080"),
        ("file://", "127.0.0.1:8080"),
        ("http://x@127.0.0.1:8080", "127.0.0.1:8080"),
        ("http://127.0.0.1:port", "127.0.0.1:8080"),
    ],
)
def test_another_page_may_not(origin: str, host: str) -> None:
    assert not HOME.has_origin(origin, host)


def test_an_origin_is_written_as_browsers_write_it() -> None:
    assert origin_of("https://Keryx.example.org:443/path") == "https://keryx.example.org"


def test_nothing_inline_and_nothing_from_elsewhere_may_run() -> None:
    policy = content_policy("127.0.0.1:8080")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "default-src 'none'" in policy
    assert "ws://127.0.0.1:8080" in policy


def test_a_host_header_cannot_add_to_the_policy() -> None:
    assert "evil" not in content_policy("x; script-src evil.example")


async def test_a_request_for_another_name_is_turned_away(stranger: httpx2.AsyncClient) -> None:
    answer = await stranger.get("/", headers={"Host": "evil.example"})
    assert answer.status_code == 421
    assert "public_url" in answer.json()["error"]


@pytest.mark.parametrize("path", ["/", "/docs", "/static/main.js", "/api/tasks", "/nothing"])
async def test_every_answer_carries_the_rules(stranger: httpx2.AsyncClient, path: str) -> None:
    headers = (await stranger.get(path)).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert "server" not in headers


async def test_five_megabytes_are_answered_with_a_sentence(client: httpx2.AsyncClient) -> None:
    answer = await client.post("/api/tasks", json={"description": "x" * 5_000_000})
    assert answer.status_code == 413
    assert answer.json() == {"error": TOO_LARGE}


async def test_a_body_without_a_length_is_counted_as_it_comes(client: httpx2.AsyncClient) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY_BYTES // 65_536 + 2):
            yield b" " * 65_536

    answer = await client.post("/api/tasks", content=pieces(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


async def test_twenty_thousand_characters_of_any_script_fit(client: httpx2.AsyncClient) -> None:
    answer = await client.post(
        "/api/tasks",
        content=b'{"description": "' + b"\\ud83d\\ude00" * 20_000 + b'"}',
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"},
    )
    assert answer.status_code == 201
