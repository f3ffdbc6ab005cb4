"""Speech to text by Whisper base, int8, on ctranslate2.

The window is cut to the sound and a pad instead of Whisper's 30 s, which halves the time of a short request; the
decoder is prompted with the names likely to be said. ctranslate2 and its tokenizer are driven directly: the package
above them pulls in a media library that nothing here needs, a second of start and 30 MB.
"""

import asyncio
import functools
import math
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from keryx.voice.hearing.base import HEARING_RATE, Transcript
from keryx.voice.hearing.mel import HOP, log_mel
from keryx.voice.hearing.plausible import plausible_text

WINDOW_S = 30.0
"""Whisper was trained on windows this long and takes no longer ones."""

PAD_S = 10.0
"""Silence after the sound. With less, short phrases loop; the rest of the 30 s costs time and gains nothing."""

BEAM = 3
MIN_SOUND_S = 0.1
"""Anything shorter cannot hold a word."""

_STEP_S = 0.2
_MAX_TOKENS = 448
_TOKENS_PER_S = 8
_SPARE_TOKENS = 10
_MAX_PROMPT_TOKENS = 120

_AGENTS = ("Codex", "Claude")
_PROMPT = (
    "Coding tasks: {names}, pull request, branch, main, rewrite, refactor, slash, fixture, webhook, task twelve, PIN."
)
"""A list, because whole sentences make the decoder answer in their style; names first, general words after."""


class WhisperHearing:
    """The `Hearing` of this machine. One transcription at a time; several calls wait for each other."""

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        """Load the model from `folder`; blocks for about a second, so call it in a thread."""
        # OpenMP's threads spin while they wait for each other: beside agents that keep the processors busy, that makes
        # 0.5 s of transcribing 5 to 20. So few spins cost nothing on a quiet machine and make it 1 on a busy one. Read
        # once, when ctranslate2 loads the library.
        os.environ.setdefault("GOMP_SPINCOUNT", "1000")
        import ctranslate2
        import tokenizers

        self._model = ctranslate2.models.Whisper(str(folder), device="cpu", compute_type="int8", intra_threads=threads)
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._end = self._token("<|endoftext|>")
        self._start = [self._token(f"<|{name}|>") for name in ("startoftranscript", "en", "transcribe", "notimestamps")]
        self._prompt_for = functools.lru_cache(maxsize=32)(self._make_prompt)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="hearing")

    async def transcribe(self, samples: np.ndarray, *, vocabulary: Sequence[str] = ()) -> Transcript:
        unwanted = threading.Event()
        work = functools.partial(self.transcribe_now, samples, tuple(vocabulary), unwanted)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)
        except asyncio.CancelledError:
            unwanted.set()
            raise

    def transcribe_now(
        self, samples: np.ndarray, vocabulary: tuple[str, ...] = (), unwanted: threading.Event | None = None
    ) -> Transcript:
        """`transcribe` in the calling thread; once `unwanted` is set it stops at the next step and gives nothing."""
        import ctranslate2

        samples = np.nan_to_num(np.asarray(samples, np.float32))[-int(WINDOW_S * HEARING_RATE) :]
        sound_s = len(samples) / HEARING_RATE
        if sound_s < MIN_SOUND_S:
            return Transcript("", no_speech=1.0, confidence=0.0)
        prompt = self._prompt_for(vocabulary)
        features = ctranslate2.StorageView.from_array(np.ascontiguousarray(_window(samples)[None]))
        # Encoding and decoding take about as long; a caller who goes on speaking makes the second half needless.
        encoded = self._model.encode(features)
        if unwanted is not None and unwanted.is_set():
            return Transcript("", no_speech=1.0, confidence=0.0)
        found = self._model.generate(
            encoded,
            [prompt],
            beam_size=BEAM,
            max_length=min(_MAX_TOKENS, len(prompt) + _SPARE_TOKENS + int(sound_s * _TOKENS_PER_S)),
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        words = [token for token in found.sequences_ids[0] if token < self._end]
        confidence = math.exp(min(0.0, found.scores[0]))
        text = plausible_text(self._tokenizer.decode(words), sound_s, found.no_speech_prob, confidence)
        return Transcript(text, no_speech=found.no_speech_prob, confidence=confidence if text else 0.0)

    def close(self) -> None:
        """Give up what waits and free the model's thread; may be called twice."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _make_prompt(self, vocabulary: tuple[str, ...]) -> list[int]:
        names = dict.fromkeys(name.strip() for name in (*vocabulary, *_AGENTS) if name.strip())
        text = " " + _PROMPT.format(names=", ".join(names))
        tokens = self._tokenizer.encode(text, add_special_tokens=False).ids[-_MAX_PROMPT_TOKENS:]
        return [self._token("<|startofprev|>"), *tokens, *self._start]

    def _token(self, name: str) -> int:
        number = self._tokenizer.token_to_id(name)
        if number is None:
            raise ValueError(f"the tokenizer has no {name}")
        return number


def _window(samples: np.ndarray) -> np.ndarray:
    """Features of the sound and the pad after it, never longer than `WINDOW_S`."""
    wanted_s = math.ceil((len(samples) / HEARING_RATE + PAD_S) / _STEP_S) * _STEP_S
    size = int(round(min(WINDOW_S, wanted_s) * HEARING_RATE))
    padded = np.zeros(size, np.float32)
    padded[: len(samples)] = samples[:size]
    return log_mel(padded)[:, : size // HOP]
