"""A base install, without the speech extra: everything works by typing, and says what brings the voice."""

import json
from pathlib import Path

from websockets.asyncio.client import connect

from tests.support.daemon import started
from tests.support.talker import Talker

WITHOUT_SPEECH = """
import sys

HIDDEN = {"numpy", "soxr", "onnxruntime", "faster_whisper", "ctranslate2", "tokenizers", "hibari", "twilio"}

class Poorer:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Poorer, sys.meta_path)

from keryx.cli.main import run
run()
"""


async def test_it_serves_by_typing_and_names_the_command_that_adds_the_voice(tmp_path: Path) -> None:
    async with started(tmp_path / "home", program=("-c", WITHOUT_SPEECH)) as daemon:
        async with Talker.calling(daemon.talk, daemon.key, microphone=False) as caller:
            await caller.type("In billing, run the tests.")
            await caller.caption("keryx", "task one")
            assert caller.first("audio") is None
            assert (await daemon.get("/health"))["voice"] == "typing only"
            assert "pip install" in (await daemon.get("/api/voice"))["message"]
            await caller.hang_up()
            await caller.until_ended()
        async with connect(daemon.talk) as socket:
            await socket.send(json.dumps({"type": "start", "key": daemon.key}))
            assert json.loads(await socket.recv())["voice"] == "typing only"
