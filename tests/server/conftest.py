"""A served house for each test, and a client that has its key."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from tests.server.house import KEY, House, open_house, serving


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with open_house(tmp_path) as house:
        yield house


@pytest.fixture
async def url(house: House) -> AsyncIterator[str]:
    async with serving(house) as url:
        yield url


@pytest.fixture
async def client(url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Asks with the page's key."""
    async with httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {KEY}"}, trust_env=False) as client:
        yield client


@pytest.fixture
async def stranger(url: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Asks without any key."""
    async with httpx2.AsyncClient(base_url=url, trust_env=False) as client:
        yield client
