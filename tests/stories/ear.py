"""A listener's judgement: what was said, written down again, against what should have been said."""

import re
from pathlib import Path

import numpy as np

from keryx.voice.audio import Resampler, decode
from keryx.voice.hearing.base import HEARING_RATE
from keryx.voice.loading import SpeechParts
from keryx.voice.transports.base import AudioFormat
from keryx.voice.transports.browser import OUTGOING
from keryx.voice.transports.twilio import MULAW_8K

__all__ = ["MULAW_8K", "OUTGOING", "SPEECH", "shared", "transcribed", "words"]

SPEECH = Path(__file__).parent.parent / "fixtures" / "speech"


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def shared(said: str, understood: str) -> float:
    """The part of the words of `said` that stand in `understood`."""
    heard = set(words(understood))
    return sum(word in heard for word in words(said)) / len(words(said))


async def transcribed(parts: SpeechParts, sound: bytes, format: AudioFormat = OUTGOING) -> str:
    """What a person would write down who heard this."""
    samples: np.ndarray = decode(sound, format)
    heard = Resampler(format.rate, HEARING_RATE).push(samples, last=True)
    return (await parts.hearing.transcribe(heard, vocabulary=("billing", "invoice"))).text
