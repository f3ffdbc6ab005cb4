"""End of speech → first audio, and result → first audio of its summary, with the real speech parts.

`python -m tests.bench.talk_latency` prints medians and 95th percentiles.
"""

import asyncio
import statistics
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from keryx.tasks.models import News, NewsKind
from keryx.voice.loading import SpeechParts
from keryx.voice.transports.base import Capabilities
from tests.bench.line import LINES, load_parts, open_line, recording, speech_of, spoken_requests
from tests.bench.rows import percentile


async def end_of_speech_to_first_audio_ms(
    parts: SpeechParts, capabilities: Capabilities, names: list[str]
) -> list[float]:
    """One figure for each recording, spoken one after the other into one call; negative: it was cut short."""
    figures = []
    async with open_line(parts, capabilities) as line:
        for name in names:
            turns, sent = len(line.dialogue.asked), len(line.transport.sent_at_s)
            began_s = await line.send(recording(name, capabilities))
            await line.until(lambda turns=turns: len(line.dialogue.asked) > turns)
            await line.until(lambda sent=sent: len(line.transport.sent_at_s) > sent)
            figures.append((line.transport.sent_at_s[sent] - began_s - speech_of(name)[1]) * 1000)
            await line.quiet(1.0)
            await line.until_quiet()
    return figures


async def result_to_first_audio_ms(parts: SpeechParts, capabilities: Capabilities, count: int = 10) -> list[float]:
    """How long a result takes from the moment it is announced into a quiet call to its first sound."""
    figures = []
    async with open_line(parts, capabilities) as line:
        for number in range(1, count + 1):
            await line.quiet(0.3)
            sent, at_s = len(line.transport.sent_at_s), time.monotonic()
            text = f"Task {number} is done. Claude says the invoice test passes now; it was a rounding error."
            moment = datetime.now(UTC)
            line.engine.announce([News(number, number, NewsKind.DONE, text, moment, "claude")])
            await line.until(lambda sent=sent: len(line.transport.sent_at_s) > sent)
            figures.append((line.transport.sent_at_s[sent] - at_s) * 1000)
            await line.until(lambda number=number: len(line.told) == number)
    return figures


def line_of(name: str, figures: list[float]) -> str:
    return f"{name}: n={len(figures)} p50={statistics.median(figures):.0f} p95={percentile(figures, 0.95):.0f} ms"


async def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        parts = await load_parts(Path(cache))
        for name, capabilities in LINES.items():
            figures = await end_of_speech_to_first_audio_ms(parts, capabilities, spoken_requests() * 2)
            print(line_of(f"end of speech → first audio, {name}", figures), [round(figure) for figure in figures])
        print(line_of("result → first audio", await result_to_first_audio_ms(parts, LINES["16 kHz"])))
        parts.close()


if __name__ == "__main__":
    asyncio.run(main())
