"""Speech onset → clear, with the real detector: the caller begins to speak while Keryx does.

`python -m tests.bench.barge_in` prints median and 95th percentile.
"""

import asyncio
import tempfile
from pathlib import Path

from keryx.voice.loading import SpeechParts
from keryx.voice.transports.base import Capabilities, TextIn
from tests.bench.line import LINES, InstantDialogue, load_parts, open_line, recording, speech_of, spoken_requests
from tests.bench.talk_latency import line_of

LONG = "There is a lot to tell about this. " * 8


async def onset_to_clear_ms(parts: SpeechParts, capabilities: Capabilities, names: list[str]) -> list[float]:
    """One figure for each recording spoken over a long answer, from its first loud sample."""
    figures = []
    for name in names:
        async with open_line(parts, capabilities, dialogue=InstantDialogue(answer=LONG)) as line:
            line.transport.send(TextIn("Tell me."))
            await line.until(lambda line=line: line.transport.states[-1:] == ["speaking"])
            await line.quiet(0.8)
            cleared = len(line.transport.cleared_at_s)
            began_s = await line.send(recording(name, capabilities))
            if len(line.transport.cleared_at_s) == cleared:
                raise RuntimeError(f"{name} did not interrupt")
            figures.append((line.transport.cleared_at_s[cleared] - began_s - speech_of(name)[0]) * 1000)
    return figures


async def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        parts = await load_parts(Path(cache))
        for name, capabilities in LINES.items():
            figures = await onset_to_clear_ms(parts, capabilities, spoken_requests())
            print(line_of(f"speech onset → clear, {name}", figures), [round(figure) for figure in figures])
        parts.close()


if __name__ == "__main__":
    asyncio.run(main())
