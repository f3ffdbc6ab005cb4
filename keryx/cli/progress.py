"""What a daemon says on its standard output, which may be a terminal, a log, a full disk or nobody.

How far the speech parts are is one line that changes on a terminal, one line each quarter in a log.
"""

import contextlib
from typing import TextIO

STEP_PERCENT = 25
WIDTH = 78


def say_out(stream: TextIO | None, text: str) -> None:
    """Write `text` if it can be written: a daemon outlives whoever read its first lines."""
    with contextlib.suppress(OSError, ValueError):  # ValueError: the stream is closed
        if stream is not None:
            stream.write(text)
            stream.flush()


class LoadingLine:
    """Writes to `stream`; `done` is called once, at the end."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._live = stream is not None and stream.isatty()
        self._quarter = -1

    def show(self, percent: int, message: str) -> None:
        """Tell of `percent` done and what is being loaded."""
        if self._live:
            say_out(self._stream, f"\r{f'{message} {percent} %'[:WIDTH]:<{WIDTH}}")
        elif (quarter := percent // STEP_PERCENT) > self._quarter:
            self._quarter = quarter
            say_out(self._stream, f"{message} {percent} %\n")

    def done(self, message: str) -> None:
        """The last word: ready, or why not."""
        if self._live:
            say_out(self._stream, "\r" + " " * WIDTH + "\r")
        say_out(self._stream, f"{message}\n")
