"""Any text → words that a voice can say: nothing meaningful lost, nothing spelled that nobody would spell.

`speakable` turns a text into one line of words, `sentences` cuts such a line into pieces for a voice that starts
before the end is known, `pronounce` respells developers' words. The words themselves are in
`prompts/pronunciations.toml`.
"""

from keryx.voice.speech.line import pronounce, speakable
from keryx.voice.speech.pieces import sentences

__all__ = ["pronounce", "sentences", "speakable"]
