"""The spare voice: espeak-ng through ctypes, from a wheel. GPL-3, so it is an extra of its own and imported late.

Follows espeak-ng's `speak_lib.h`. The library keeps one voice per process, so all instances take turns.
"""

import ctypes
import threading
from collections.abc import Iterator

import numpy as np

from keryx.errors import ConfigError
from keryx.voice.speaking.thread import ThreadedSpeaking

INSTALL_COMMAND = "pip install 'keryx[espeak]'"
WORDS_PER_MINUTE = 165

_SYNCHRONOUS = 2
_DONT_EXIT = 0x8000
_BUFFER_MS = 20
_UTF8 = 1
_RATE_PARAMETER = 1
_BY_CHARACTER = 1

_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
_one_at_a_time = threading.Lock()


class EspeakSpeaking(ThreadedSpeaking):
    """A plain voice that needs no model and answers in a millisecond."""

    def __init__(self, voice: str = "en-us") -> None:
        """Load the library; ConfigError when it is not installed or cannot start."""
        try:
            import espeakng_loader
        except ImportError:
            raise ConfigError(f"the espeak voice is not installed. Run: {INSTALL_COMMAND}") from None
        with _one_at_a_time:
            try:
                self._library = ctypes.CDLL(espeakng_loader.get_library_path())
                data = espeakng_loader.get_data_path().encode()
            except (OSError, RuntimeError) as error:
                raise ConfigError(f"the espeak voice cannot be loaded ({error}). Run: {INSTALL_COMMAND}") from error
            rate = self._library.espeak_Initialize(_SYNCHRONOUS, _BUFFER_MS, data, _DONT_EXIT)
            if rate <= 0 or self._library.espeak_SetVoiceByName(voice.encode()) != 0:
                raise ConfigError(f"the espeak voice {voice} cannot be started. Run: {INSTALL_COMMAND}")
        super().__init__(rate)

    def synthesize(self, text: str, pace: float) -> Iterator[np.ndarray]:
        heard: list[np.ndarray] = []

        def take(samples, count: int, events) -> int:
            if samples and count > 0:
                heard.append(np.ctypeslib.as_array(samples, (count,)).copy())
            return 0

        callback = _Callback(take)
        line = text.encode("utf-8", "replace") + b"\0"
        with _one_at_a_time:
            self._library.espeak_SetSynthCallback(callback)
            self._library.espeak_SetParameter(_RATE_PARAMETER, int(WORDS_PER_MINUTE * pace), 0)
            self._library.espeak_Synth(line, ctypes.c_size_t(len(line)), 0, _BY_CHARACTER, 0, _UTF8, None, None)
        if heard:
            yield np.concatenate(heard).astype(np.float32) / np.float32(32768)
