"""Voice activity by Silero v6, the ONNX model that faster-whisper carries."""

from pathlib import Path

import numpy as np

from keryx.voice.hearing.base import HEARING_RATE, VAD_FRAME

_CONTEXT = 64
"""Samples of the frame before that the model wants in front of each frame."""

_STATE = (1, 1, 128)


class SileroModel:
    """The loaded model; one for all calls, which may use it from several threads."""

    def __init__(self, path: Path) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(self, samples: np.ndarray, hidden: np.ndarray, cell: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """One step: [1, 576] samples and the two states → the probability and the new states."""
        found, hidden, cell = map(np.asarray, self._session.run(None, {"input": samples, "h": hidden, "c": cell}))
        return float(found.reshape(-1)[0]), hidden, cell


class SileroActivity:
    """One call's `VoiceActivity`: 60 µs a frame, so it runs where it is called."""

    def __init__(self, model: SileroModel) -> None:
        self._model = model
        self._samples = np.zeros((1, _CONTEXT + VAD_FRAME), np.float32)
        self.reset()

    def probability(self, frame: np.ndarray) -> float:
        if len(frame) != VAD_FRAME:
            raise ValueError(f"a frame has {VAD_FRAME} samples at {HEARING_RATE} Hz, not {len(frame)}")
        self._samples[0, :_CONTEXT] = self._samples[0, -_CONTEXT:]
        self._samples[0, _CONTEXT:] = frame
        found, self._hidden, self._cell = self._model.run(self._samples, self._hidden, self._cell)
        return found

    def reset(self) -> None:
        self._samples[:] = 0
        self._hidden = np.zeros(_STATE, np.float32)
        self._cell = np.zeros(_STATE, np.float32)
