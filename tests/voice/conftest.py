"""The real speech parts, loaded once for the whole run; fixtures of any room may use them."""

from collections.abc import Iterator

import pytest

from keryx.voice.loading import SpeechParts, load_parts


@pytest.fixture(scope="session")
def speech_parts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpeechParts]:
    """Whisper, Silero and hibari. They keep to their own threads, so tests on different event loops may share them."""
    pytest.importorskip("hibari", reason="the speech extra is not installed")
    parts = load_parts(tmp_path_factory.mktemp("speech"), None, False, lambda what, done: None)
    yield parts
    parts.close()
