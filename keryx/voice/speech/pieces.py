"""A line of words, cut where a voice may breathe."""

import re

LONGEST_PIECE = 200
"""Characters; a longer sentence is cut at a clause."""
LONGEST_FIRST_PIECE = 90
"""The first piece is kept shorter, so that the first sound comes early."""
SHORTEST_PIECE = 20
"""No clause shorter than this stands alone."""

_STOP = re.compile(r"[.!?…]+[\"'”’)]*\s+|[。！？]+\s*")
_NO_STOP = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Fig|vs|approx|dept|est|Jr|Sr|e\.g|i\.e|cf|al)|(?<![A-Za-z])[B-HJ-Z])\.\Z"
)
_CLAUSE = re.compile(r"[,;:，；：、]\s*|\s(?=(?:and|but|or|because|which|so|then|while)\s)")


def sentences(text: str) -> list[str]:
    """`text`, already speakable, in pieces of at most `LONGEST_PIECE` characters that end where a voice may pause."""
    pieces: list[str] = []
    for sentence in _whole_sentences(text):
        pieces += _cut(sentence, LONGEST_PIECE if pieces else LONGEST_FIRST_PIECE)
    return pieces


def _whole_sentences(text: str) -> list[str]:
    found: list[str] = []
    start = 0
    for stop in _STOP.finditer(text):
        if _NO_STOP.search(text[max(start, stop.start() - 8) : stop.start() + 1]):
            continue
        found.append(text[start : stop.end()].strip())
        start = stop.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _cut(sentence: str, longest: int) -> list[str]:
    """Cut at the last clause that fits, else at a word, else in the middle of one."""
    pieces: list[str] = []
    start = 0
    while len(sentence) - start > longest:
        end = start + longest
        clauses = [clause.end() for clause in _CLAUSE.finditer(sentence, start + SHORTEST_PIECE, end)]
        blank = sentence.rfind(" ", start + 1, end)
        cut = clauses[-1] if clauses else blank if blank > start else end
        pieces.append(sentence[start:cut].strip())
        start, longest = cut, LONGEST_PIECE
    pieces.append(sentence[start:].strip())
    return [piece for piece in pieces if piece]
