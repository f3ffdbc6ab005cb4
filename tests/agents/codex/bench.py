"""The real Codex on a bench: offline, with a scripted model, a folder to work in, and a scripted approver."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from keryx.agents.codex.runner import Bounds, CodexAgentRunner
from keryx.agents.equipment import Login
from tests.agents.bench import AgentBench, equipment_below
from tests.support.responses_server import ResponsesServer, responses_server

WHY_NOT = None if find_spec("codex_cli_bin") else "Codex is not installed: pip install 'keryx[codex]'"
"""Why nothing can be run on this bench; None when it can."""

MODEL = "gpt-5.5"
"""Which tools Codex gives a model depends on the model's name; these are the plain ones."""

KEY = "sk-scripted-0123456789abcdef"

CONFIG = """\
model = "{model}"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 1
"""


@dataclass
class CodexBench(AgentBench):
    """`runner` opens real conversations; `home` is its private `CODEX_HOME`."""

    server: ResponsesServer
    home: Path
    bounds: Bounds = Bounds()
    _runner: CodexAgentRunner | None = None

    agent = "codex"
    secret = KEY

    @property
    def runner(self) -> CodexAgentRunner:
        """The same one until the equipment changes: it tries its sandbox only once."""
        if self._runner is None:
            self._runner = CodexAgentRunner(self.equipment, bounds=self.bounds)
        return self._runner

    def equipped(self, **changes: Any) -> None:
        super().equipped(**changes)
        self._runner = None

    def bounded(self, **changes: float) -> None:
        """Change how long anything may take in the conversations to come."""
        self.bounds = replace(self.bounds, **changes)
        self._runner = None

    def configured(self, url: str | None = None, **changes: str) -> None:
        """Write its `config.toml` again for the conversations to come: another address, or further lines before all."""
        lines = "".join(f"{name} = {value}\n" for name, value in changes.items())
        config = CONFIG.format(model=MODEL, url=url or self.server.url)
        (self.home / "config.toml").write_text(lines + config)


@asynccontextmanager
async def codex_bench(tmp_path: Path) -> AsyncIterator[CodexBench]:
    """A bench below `tmp_path` for the length of the block.

    `bench.server.script(...)` says what the model does; `bench.approver` allows all and records what it was asked,
    until a test sets `answers` or `otherwise`; `await bench.runner.open(bench.task(mode="ask"))` opens a conversation,
    which the test closes.
    """
    home = tmp_path / "codex-home"
    home.mkdir()
    async with responses_server() as server:
        login = Login("API key", {"CODEX_API_KEY": KEY})
        equipment, approver, workplace = equipment_below(tmp_path, login, CODEX_HOME=str(home))
        bench = CodexBench(equipment, approver, workplace, server, home)
        bench.configured()
        yield bench
