"""
A tokenizer for an uncased BERT vocabulary (WordPiece), without a tokenizer package.

The rules are those of the published model's tokenizer: clean, lower-case, drop accents, split at
spaces and punctuation, then repeatedly take the longest known piece of each word. One difference is
deliberate: names of special pieces in a text ("[SEP]") are read as plain characters, so that a text
cannot end its own input early.
"""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Final

UNKNOWN: Final = "[UNK]"
START: Final = "[CLS]"
END: Final = "[SEP]"
WORD_CHARACTERS_MAX: Final = 100
CACHED_WORDS_MAX: Final = 32_768
CACHED_CHARACTERS_MAX: Final = 16_384

_ASCII_WORD: Final = re.compile(r"[a-z0-9]+|[^a-z0-9\s]")
_ASCII_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_IDEOGRAPHS: Final = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def read_vocabulary(path: Path) -> list[str]:
    """Return the pieces of a ``vocab.txt``, one per line; a piece's line number is its id."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


class WordPiece:
    """A tokenizer over one vocabulary; safe to use from several threads."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        """
        Assign each piece of *vocabulary* its position as id.

        Raises:
            KeyError: `UNKNOWN`, `START` or `END` is missing.
        """
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self.unknown = self._numbers[UNKNOWN]
        self.start = self._numbers[START]
        self.end = self._numbers[END]
        self._words: dict[str, tuple[int, ...]] = {}
        self._characters = _Characters()

    def encode(self, text: str, pieces_max: int) -> list[int]:
        """
        Return the ids of the pieces of *text*, enclosed by `start` and `end`.

        Args:
            text: Any text; lone surrogates and control characters are dropped.
            pieces_max: The most ids to return, including both ends.
        """
        room = pieces_max - 1
        numbers = [self.start]
        words = self._words
        for word in self._split(text):
            found = words.get(word)
            numbers += self._cut(word) if found is None else found
            if len(numbers) >= room:
                del numbers[room:]
                break
        numbers.append(self.end)
        return numbers

    def _split(self, text: str) -> list[str]:
        if text.isascii():
            # The fast path. Control characters are removed, and do not separate words.
            if _ASCII_CONTROL.search(text):
                text = _ASCII_CONTROL.sub("", text)
            return _ASCII_WORD.findall(text.lower())
        return text.translate(self._characters).split()

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > WORD_CHARACTERS_MAX:
            return (self.unknown,)
        pieces = self._longest_pieces(word)
        if len(self._words) >= CACHED_WORDS_MAX:
            self._words.clear()
        self._words[word] = pieces
        return pieces

    def _longest_pieces(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        begin, prefix = 0, ""
        while begin < len(word):
            for end in range(len(word), begin, -1):
                number = self._numbers.get(prefix + word[begin:end])
                if number is not None:
                    break
            else:
                return (self.unknown,)
            found.append(number)
            begin, prefix = end, "##"
        return tuple(found)


class _Characters(dict[int, str]):
    """Translation table for `str.translate`, filled lazily."""

    def __missing__(self, code: int) -> str:
        if len(self) >= CACHED_CHARACTERS_MAX:
            self.clear()
        self[code] = replacement = _replace(chr(code))
        return replacement


def _replace(character: str) -> str:
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category[0] == "Z":
        return " "
    if character == "\ufffd" or category in {"Cc", "Cf", "Cs", "Co"}:
        return ""
    plain = "".join(
        part
        for part in unicodedata.normalize("NFD", character)
        if unicodedata.category(part) != "Mn"
    )
    code = ord(character)
    if any(first <= code <= last for first, last in _IDEOGRAPHS):
        return f" {plain} "
    return "".join(f" {part} " if _is_punctuation(part) else part for part in plain.lower())


def _is_punctuation(character: str) -> bool:
    if character.isascii():
        return not character.isalnum() and character.isprintable() and character != " "
    return unicodedata.category(character)[0] == "P"
