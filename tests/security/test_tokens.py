"""Stream tokens are used once; the page's key lasts."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keryx.clock import VirtualClock
from keryx.errors import ConfigError, Refused
from keryx.security import tokens
from keryx.security.tokens import StreamTokens, page_key, same_key


def test_a_token_gives_its_subject_once(clock: VirtualClock) -> None:
    stream_tokens = StreamTokens(clock)
    token = stream_tokens.issue("anna", "CA1")
    assert stream_tokens.redeem(token) == "anna"
    with pytest.raises(Refused, match="used"):
        stream_tokens.redeem(token)


def test_the_same_request_is_given_the_same_token(clock: VirtualClock) -> None:
    stream_tokens = StreamTokens(clock)
    assert stream_tokens.issue("anna", "CA1") == stream_tokens.issue("anna", "CA1")
    assert stream_tokens.issue("anna", "CA1") != stream_tokens.issue("anna", "CA2")


def test_a_replay_after_the_call_began_gets_a_used_token(clock: VirtualClock) -> None:
    stream_tokens = StreamTokens(clock)
    token = stream_tokens.issue("anna", "CA1")
    stream_tokens.redeem(token)
    assert stream_tokens.issue("anna", "CA1") == token
    with pytest.raises(Refused):
        stream_tokens.redeem(token)


async def test_a_token_is_worth_nothing_after_a_minute_and_the_request_gets_no_other(clock: VirtualClock) -> None:
    stream_tokens = StreamTokens(clock)
    token = stream_tokens.issue("anna", "CA1")
    await clock.advance(60)
    with pytest.raises(Refused, match="expired"):
        stream_tokens.redeem(token)
    with pytest.raises(Refused, match="already answered"):
        stream_tokens.issue("anna", "CA1")


def test_a_forged_token_is_refused(clock: VirtualClock) -> None:
    with pytest.raises(Refused, match="unknown"):
        StreamTokens(clock).redeem("")


def test_a_token_brought_by_another_call_is_refused_and_used_up(clock: VirtualClock) -> None:
    stream_tokens = StreamTokens(clock)
    token = stream_tokens.issue("anna", "CA1")
    for request in ("CA2", "CA1"):
        with pytest.raises(Refused):
            stream_tokens.redeem(token, request=request)


def test_a_request_belongs_to_one_subject(clock: VirtualClock) -> None:
    stream_tokens = StreamTokens(clock)
    stream_tokens.issue("anna", "CA1")
    with pytest.raises(Refused):
        stream_tokens.issue("bert", "CA1")


def test_memory_stays_bounded(clock: VirtualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "REMEMBERED_REQUESTS", 10)
    stream_tokens = StreamTokens(clock)
    issued = [stream_tokens.issue("anna", f"CA{n}") for n in range(25)]
    assert stream_tokens.redeem(issued[-1]) == "anna"
    with pytest.raises(Refused):
        stream_tokens.redeem(issued[0])
    assert len(stream_tokens._by_token) == len(stream_tokens._by_request) == 10


def test_the_page_key_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "home" / "page.key"
    key = page_key(path)
    assert len(key) >= 43
    assert page_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == ["page.key"]


def test_a_page_key_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "page.key"
    key = page_key(path)
    path.chmod(0o644)
    assert page_key(path) == key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_empty_key_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "page.key"
    path.touch()
    assert page_key(path)


def test_several_starting_together_agree_on_the_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: page_key(tmp_path / "page.key"), range(16)))
    assert len(keys) == 1


def test_a_key_that_cannot_be_kept_is_one_line_for_the_owner(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="page's key"):
        page_key(tmp_path / "file" / "page.key")


def test_keys_are_the_same_only_when_they_are() -> None:
    assert same_key("abc", "abc")
    assert not same_key("abc", "abd")
    assert not same_key("", "")
    assert not same_key(None, None)
    assert not same_key("ä", "a")


def test_a_request_answered_before_a_restart_gets_no_token_after_it(tmp_path: Path, clock: VirtualClock) -> None:
    answered = tmp_path / "answered-calls"
    StreamTokens(clock, answered=answered).issue("anna", "CA1")
    with answered.open("a") as file:
        file.write('\n"CA-torn')
    restarted = StreamTokens(clock, answered=answered)
    with pytest.raises(Refused, match="already answered"):
        restarted.issue("anna", "CA1")
    assert restarted.issue("anna", "CA2")
    with pytest.raises(Refused, match="already answered"):
        StreamTokens(clock, answered=answered).issue("anna", "CA2")
    assert stat.S_IMODE(answered.stat().st_mode) == 0o600


def test_the_memory_of_answered_requests_does_not_grow_for_ever(tmp_path: Path, clock: VirtualClock) -> None:
    answered = tmp_path / "answered-calls"
    answered.write_text("".join(f'"CA{number}"\n' for number in range(tokens.REMEMBERED_REQUESTS + 50)))
    stream_tokens = StreamTokens(clock, answered=answered)
    assert len(answered.read_text().splitlines()) == tokens.REMEMBERED_REQUESTS
    with pytest.raises(Refused):
        stream_tokens.issue("anna", f"CA{tokens.REMEMBERED_REQUESTS + 49}")


def test_a_full_disk_does_not_keep_the_owner_from_calling(clock: VirtualClock) -> None:
    assert StreamTokens(clock, answered=Path("/nowhere/at/all")).issue("anna", "CA1")


@pytest.mark.parametrize("found", ["x", "p32SGmghh0UQN1XIS6I7mn", "a long key, but one with blanks in it", "\0" * 43])
def test_a_damaged_key_opens_nothing_and_is_left_as_it_is(tmp_path: Path, found: str) -> None:
    path = tmp_path / "page.key"
    path.write_text(found)
    with pytest.raises(ConfigError, match="damaged"):
        page_key(path)
    assert path.read_text() == found
