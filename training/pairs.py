"""The words that a model reads of a question and of a message that may bear on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from recollect.embedders.wordpiece import WordPiece
from training.candidates import SpokenLine

QUESTION_PIECES: Final = 48
BEFORE_PIECES: Final = 20
PAIR_PIECES: Final = 128
PASSAGE_CHARACTERS: Final = 420
_PIECE_CHARACTERS: Final = 4
_SENTENCE: Final = re.compile(r"(?<=[.!?\n;:])\s+|\n+")
_WORD: Final = re.compile(r"[a-z0-9]{3,}")


def passage_of(text: str, question: str, characters: int = PASSAGE_CHARACTERS) -> str:
    """
    Return the sentences of a long *text* that share the most words with *question*, in order.

    No more than *characters* of them.

    >>> passage_of("short", "why?")
    'short'
    """
    if len(text) <= characters:
        return text
    asked = _stems(question)
    sentences = [each[:characters] for each in _SENTENCE.split(text) if each]
    shared = [len(asked & _stems(each)) for each in sentences]
    near = [own + 0.4 * (shared[at - 1] if at else 0) - 0.001 * at for at, own in enumerate(shared)]
    chosen: set[int] = set()
    room = characters
    for at in sorted(range(len(sentences)), key=near.__getitem__, reverse=True):
        if len(sentences[at]) <= room:
            chosen.add(at)
            room -= len(sentences[at]) + 1
    return " ".join(sentences[at] for at in sorted(chosen))


def _stems(text: str) -> set[str]:
    return {each[:5] for each in _WORD.findall(text.lower())}


class PairWords:
    """Cuts questions and messages into word pieces, each text once; a pair to *pieces_max*."""

    def __init__(self, pieces: WordPiece, pieces_max: int = PAIR_PIECES) -> None:
        self._pieces = pieces
        self._pieces_max = pieces_max
        more = _PIECE_CHARACTERS * (pieces_max - PAIR_PIECES)
        self._characters = max(PASSAGE_CHARACTERS + more, _PIECE_CHARACTERS)
        self._cut: dict[tuple[str, int], list[int]] = {}

    def pair(self, question: str, line: SpokenLine) -> tuple[list[int], int]:
        """
        Return the pieces of a question, then of the line before, who spoke when, and the words.

        The number is that of the pieces of the question, which a model reads as the first text.
        """
        first = self._of(question, QUESTION_PIECES)
        end = first[-1]
        before = self._of(line.before[-200:], 1_000)[1:-1][-BEFORE_PIECES:]
        said = f"{line.speaker}, {line.day}: {passage_of(line.text, question, self._characters)}"
        room = self._pieces_max - len(first) - len(before) - 1
        rest = self._of(said, room)[1:]
        return [*first, *before, end, *rest], len(first)

    def single(self, text: str, pieces_max: int) -> tuple[list[int], int]:
        """Return the pieces of one text."""
        cut = self._of(text, pieces_max)
        return cut, len(cut)

    def _of(self, text: str, pieces_max: int) -> list[int]:
        key = (text, pieces_max)
        found = self._cut.get(key)
        if found is None:
            found = self._cut[key] = self._pieces.encode(text[:2_000], pieces_max)
        return found


def embedded_text(line: SpokenLine, roles: Mapping[str, str]) -> str:
    """
    Return the text by which a message is embedded, near that of `recollect.text.searchable`.

    It names a person who talks to an assistant, which the package does not.
    """
    return line.text if line.speaker in roles else f"{line.speaker}: {line.text}"
