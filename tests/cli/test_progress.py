"""The loading line on a terminal and in a log."""

import io

import pytest

from keryx.cli.progress import LoadingLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_a_line_each_quarter_and_the_last_word() -> None:
    stream = io.StringIO()
    line = LoadingLine(stream)
    for percent in (0, 3, 24, 25, 30, 49, 80, 99):
        line.show(percent, "Loading the voice.")
    line.done("Ready to hear and to speak.")
    assert stream.getvalue().splitlines() == [
        "Loading the voice. 0 %",
        "Loading the voice. 25 %",
        "Loading the voice. 80 %",
        "Ready to hear and to speak.",
    ]


def test_a_terminal_gets_one_line_that_changes() -> None:
    stream = Terminal()
    line = LoadingLine(stream)
    line.show(10, "Loading the voice.")
    line.show(11, "Loading the voice.")
    line.done("Ready.")
    *changing, last = stream.getvalue().split("\r")
    assert "\n" not in "".join(changing)
    assert last == "Ready.\n"


class Gone(io.StringIO):
    """Whoever read it has gone, or its disk is full."""

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize("stream", [Gone(), None], ids=["gone", "never there"])
def test_nobody_has_to_read_it(stream: io.StringIO | None) -> None:
    line = LoadingLine(stream)
    line.show(50, "Loading the voice.")
    line.done("Ready to hear and to speak.")
