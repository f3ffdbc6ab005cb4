"""One record, one line, with its values, and nothing in it that the mask takes out."""

import logging
from collections.abc import Callable, Iterator

import pytest

from keryx import log


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[[], str]]:
    """What reached standard error so far; the root logger is put back as it was afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    seen: list[str] = []

    def read() -> str:
        seen.append(capsys.readouterr().err)
        return "".join(seen)

    yield read
    root.handlers[:] = handlers
    root.setLevel(level)


def test_a_line_has_the_message_and_its_values(written: Callable[[], str]) -> None:
    log.configure()
    logging.getLogger("keryx.tasks").info("task dispatched", extra={"task": 4, "agent": "the fake one"})
    assert written().endswith(' INFO keryx.tasks: task dispatched task=4 agent="the fake one"\n')


def test_a_line_says_which_call_and_task_it_is_about(written: Callable[[], str]) -> None:
    log.configure()
    with log.during(log.call_id, "c1"), log.during(log.task_id, 7):
        logging.getLogger("keryx").info("heard")
    logging.getLogger("keryx").info("over")
    first, second = written().splitlines()
    assert first.endswith("heard call=c1 task=7")
    assert second.endswith("over")


def test_the_mask_sees_message_values_and_traceback(written: Callable[[], str]) -> None:
    log.configure(mask=lambda line: line.replace("s3cret", "***"))
    try:
        raise ValueError("s3cret in the error")
    except ValueError:
        logging.getLogger("keryx").exception("failed on s3cret", extra={"key": "s3cret"})
    assert "s3cret" not in written()
    assert written().count("***") >= 3


def test_what_is_below_the_level_is_not_written(written: Callable[[], str]) -> None:
    log.configure("WARNING")
    logging.getLogger("keryx").info("quiet")
    assert written() == ""


def test_libraries_that_talk_much_are_kept_to_warnings(written: Callable[[], str]) -> None:
    log.configure("DEBUG")
    logging.getLogger("websockets").info("frame")
    logging.getLogger("websockets").warning("odd frame")
    assert "odd frame" in written()
    assert len(written().splitlines()) == 1
