"""
Locate a quote in a text.

Texts are compared word by word, ignoring case, width, white space, quotation marks and punctuation;
traditional Chinese characters count as simplified ones. A quote that is not found so is looked for
once more with its numbers by their values ("thirty" and 30, 两万五 and 25000). "…" in a quote
stands for a few omitted words.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from typing import Final, NamedTuple

from recollect.formation.grounding.hedges import hedges_in, keeps_hedge
from recollect.formation.wording.pieces import piece_spans
from recollect.text.chinese_scripts import simplified
from recollect.text.numerals import is_row_of_two, numbers_in
from recollect.text.short_texts import kept_if_short

__all__ = ["QuotableText", "find_quote", "hedges_in", "keeps_hedge"]

GAP_CHARACTERS_MAX: Final = 200
"""Most characters that "…" may leave out: words from all over a text make no quote."""
PIECES_MAX: Final = 8
WORDS_MIN: Final = 3
"""Least words of a quote that is searched for in other messages than the one cited."""
NUMBERED_CHARACTERS_MAX: Final = 20_000
"""In a longer text numbers are compared as written, not by value."""
_OCCURRENCES_MAX: Final = 1_000
_GAP: Final = re.compile(r"[\[(]? ?(?:\.{3,}|\u2026+|\u22ef+) ?[\])]?")
_APOSTROPHES: Final = "'\u2018\u2019\u02bc`\u00b4"
_AND: Final = "\u0648"
"""Arabic joins its "and" to the word behind it, which a quote may leave out."""
_SIGNS: Final = frozenset("%#&@\u2030")
_DATE_BEHIND: Final = re.compile(r"\d{1,2}[/月]\d?")
_DATE_BEFORE: Final = re.compile(r"\d{1,2}/\d{1,2}\Z")
"""A date beside a comma: 一打420,4/18交 has no 420,4."""
_PURE_NUMBER: Final = re.compile(r"[\d,.]+|[^\W\d_]+(?:[ -][^\W\d_]+)*|\d+[万亿千百]\d*")


class _Word(NamedTuple):
    folded: str
    start: int
    end: int


@dataclass(slots=True)
class _Joined:
    """
    The words of a text, each between two NULs, with their offsets in both.

    Offsets are arrays: one object per word of a long text would keep the garbage collector busy and
    block other threads.
    """

    text: str = ""
    places: array[int] = field(default_factory=lambda: array("Q"))
    starts: array[int] = field(default_factory=lambda: array("Q"))
    ends: array[int] = field(default_factory=lambda: array("Q"))

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return the span of the words from the NUL at *first* to that before *last*."""
        begin = bisect_left(self.places, first)
        end = bisect_left(self.places, last - 1) - 1
        return self.starts[begin], self.ends[end]


class QuotableText:
    """A text in which quotes are looked up; both are parsed once."""

    def __init__(self, text: str) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        self._text = text
        self._spans: dict[str, tuple[int, int] | None] = {}

    def find(self, quote: str) -> tuple[int, int] | None:
        """Return the span of *quote* in the text, as `find_quote` does."""
        if quote not in self._spans:
            self._spans[quote] = self._found(quote)
        return self._spans[quote]

    @cached_property
    def _joined(self) -> _Joined:
        return _joined(_words(self._text))

    def _found(self, quote: str) -> tuple[int, int] | None:
        whole = _folded_words(quote)
        if len(whole) <= 1:
            return None
        at = self._joined.text.find(whole)
        if at >= 0:
            return self._joined.span(at, at + len(whole))
        if found := self._found_before_s(whole) or self._found_by_value(quote):
            return found
        pieces = [_folded_words(piece) for piece in _GAP.split(quote)]
        pieces = [piece for piece in pieces if len(piece) > 1]
        if not 2 <= len(pieces) <= PIECES_MAX or any(not _says_enough(each) for each in pieces):
            return None
        found = _chained(self._joined.text, pieces)
        return self._joined.span(*found) if found else None

    def _found_before_s(self, whole: str) -> tuple[int, int] | None:
        """Return the span of a quote that leaves out an ending: "next door" of "next door's in"."""
        longer = f"{whole[:-1]}s\0"
        at = self._joined.text.find(longer)
        if at < 0:
            return None
        start, end = self._joined.span(at, at + len(longer))
        is_left_out = unicodedata.normalize("NFKC", self._text[end - 2]) in _APOSTROPHES
        return (start, end - 2) if is_left_out else None

    def _found_by_value(self, quote: str) -> tuple[int, int] | None:
        """Return the span of a quote whose numbers are written in another way."""
        if max(len(quote), len(self._text)) > NUMBERED_CHARACTERS_MAX:
            return None
        words = list(_with_values(quote))
        if not any(each.folded.startswith("=") for each in words):
            return None
        whole = _joined(iter(words)).text
        at = self._with_values.text.find(whole)
        return None if at < 0 else self._with_values.span(at, at + len(whole))

    @cached_property
    def _with_values(self) -> _Joined:
        return _joined(_with_values(self._text))


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """
    Return the span of *quote* in *text*; ``None`` if it does not occur.

    Returns the first occurrence. A quote without a word never occurs.

    >>> find_quote("i LIKE  tea", "Well, I like “tea”.")
    (6, 17)
    >>> find_quote("I like te", "I like tea") is None
    True
    """
    return QuotableText(text).find(quote)


def says_enough(quote: str) -> bool:
    """
    Return True if a quote is long enough not to occur elsewhere by chance.

    >>> says_enough("I like tea"), says_enough("yes"), says_enough("我住在高雄")
    (True, False, True)
    """
    return sum(1 for _ in islice(_words(quote), WORDS_MIN)) >= WORDS_MIN


def _says_enough(piece: str) -> bool:
    """Return True if a piece between gaps is more than one word."""
    return piece.count("\0") >= 3


def _chained(joined: str, pieces: Sequence[str]) -> tuple[int, int] | None:
    """Return the span of the first chain of all *pieces* in order, none far from the last."""
    # Each chain so far: where it began, where it ends.
    chains = [(at, at + len(pieces[0])) for at in _occurrences(joined, pieces[0])]
    for piece in pieces[1:]:
        longer: list[tuple[int, int]] = []
        behind = 0
        for at in _occurrences(joined, piece):
            while behind + 1 < len(chains) and chains[behind + 1][1] <= at + 1:
                behind += 1
            if behind < len(chains) and 0 <= at + 1 - chains[behind][1] <= GAP_CHARACTERS_MAX:
                longer.append((chains[behind][0], at + len(piece)))
        chains = longer
    return chains[0] if chains else None


def _occurrences(joined: str, piece: str) -> Iterator[int]:
    at = joined.find(piece)
    for _ in range(_OCCURRENCES_MAX):
        if at < 0:
            return
        yield at
        at = joined.find(piece, at + len(piece) - 1)


@kept_if_short
def _folded_words(quote: str) -> str:
    """Return the words of a quote, each between two NULs; it may be looked for in many lines."""
    return _joined(_words(quote)).text


def _joined(words: Iterator[_Word]) -> _Joined:
    folded: list[str] = [""]
    joined = _Joined()
    length = 0
    for word in words:
        joined.places.append(length)
        joined.starts.append(word.start)
        joined.ends.append(word.end)
        folded.append(word.folded)
        length += 1 + len(word.folded)
    joined.text = "\0".join([*folded, ""]) if length else "\0"
    return joined


def _words(text: str) -> Iterator[_Word]:
    """Yield words, figures and signs; each Chinese character is a word."""
    pending: list[str] = []
    start = end = 0
    is_pending_alone = False
    for at, character in enumerate(text):
        folded, is_alone = _read(character)
        if not folded:
            if not unicodedata.combining(character) and unicodedata.category(character) != "Cf":
                if pending and not _joins(text, at, pending):
                    yield _Word(_composed(pending), start, end)
                    pending = []
            elif pending:
                pending.append(character)
                end = at + 1
            continue
        if pending and (is_alone or is_pending_alone):
            yield _Word(_composed(pending), start, end)
            pending = []
        if folded == _AND and not pending:
            yield _Word(folded, at, at + 1)
            continue
        if not pending:
            start, is_pending_alone = at, is_alone
        pending.append(folded)
        end = at + 1
    if pending:
        yield _Word(_composed(pending), start, end)


# A talk repeats few characters, and each is normalised and looked up in a table of scripts.
@lru_cache(maxsize=16_384)
def _read(character: str) -> tuple[str, bool]:
    """Return the plain form of a character, and whether it is a word by itself."""
    folded = _folded(character)
    return folded, bool(folded) and _is_alone(folded)


def _folded(character: str) -> str:
    """Return a letter, figure or sign in its plain form; nothing for what does not count."""
    if character.isascii():
        return character.lower() if character.isalnum() or character in "$+<>=%#&@^~|" else ""
    folded = simplified(unicodedata.normalize("NFKC", character).casefold())
    if folded.isalnum() or folded in _SIGNS:
        return folded
    return folded if unicodedata.category(character) in {"Sc", "Sm"} else ""


def _is_alone(folded: str) -> bool:
    """Return True if it is a word by itself: a Chinese character, a sign."""
    return not folded[0].isalnum() or "\u3040" <= folded[0] <= "\u9fff"


def _joins(text: str, at: int, pending: Sequence[str]) -> bool:
    """Return True if a mark joins what is beside it: don't, 3.5, 1,000, 7:30; not "end.Next"."""
    following = text[at + 1 : at + 2]
    if not following or not following.isalnum():
        return False
    mark = unicodedata.normalize("NFKC", text[at])
    if mark in _APOSTROPHES:
        return pending[-1].isalpha() and following.isalpha()
    is_in_number = mark in ".,:" and pending[-1].isdigit() and following.isdigit()
    if not is_in_number or mark != ",":
        return is_in_number
    is_listed = _DATE_BEHIND.match(text, at + 1) or _DATE_BEFORE.search(text, max(0, at - 5), at)
    # A row of two begins with the three figures before its comma.
    return is_listed is None and not is_row_of_two(text, at - 3)


def _with_values(text: str) -> Iterator[_Word]:
    """Yield the words of a text, with "=" and its value for each plain number."""
    numbers = _values_in(text)
    for word in _words(text):
        while numbers and numbers[0].end <= word.start:
            yield numbers.pop(0)
        if not numbers or word.end <= numbers[0].start:
            yield word
    yield from numbers


def _values_in(text: str) -> list[_Word]:
    """Return the numbers that have one value and no unit, where they stand in *text*."""
    # Character by character, so that places stay what they are.
    usual = simplified("".join(map(_usual, text)))
    found: list[_Word] = []
    for start, end in piece_spans(usual):
        piece = usual[start:end]
        for each in numbers_in(piece):
            is_plain = each.is_claim and len(each.readings) == 1 and not each.parts
            if is_plain and _PURE_NUMBER.fullmatch(piece[each.start : each.end]):
                value = next(iter(each.readings))
                found.append(_Word(f"={value}", start + each.start, start + each.end))
    return found


def _usual(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 else character


def _composed(pending: Sequence[str]) -> str:
    joined = "".join(pending)
    return joined if joined.isascii() else unicodedata.normalize("NFC", joined)
