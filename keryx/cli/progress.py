"""How far the speech parts are: one line that changes on a terminal, one line each quarter in a log."""

from typing import TextIO

STEP_PERCENT = 25
WIDTH = 78


class LoadingLine:
    """Writes to `stream`; `done` is called once, at the end."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._quarter = -1

    def show(self, percent: int, message: str) -> None:
        """Tell of `percent` done and what is being loaded."""
        if self._live:
            self._stream.write(f"\r{f'{message} {percent} %'[:WIDTH]:<{WIDTH}}")
            self._stream.flush()
        elif (quarter := percent // STEP_PERCENT) > self._quarter:
            self._quarter = quarter
            self._write(f"{message} {percent} %")

    def done(self, message: str) -> None:
        """The last word: ready, or why not."""
        if self._live:
            self._stream.write("\r" + " " * WIDTH + "\r")
        self._write(message)

    def _write(self, line: str) -> None:
        self._stream.write(line + "\n")
        self._stream.flush()
