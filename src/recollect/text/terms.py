"""Encode the terms of an entry for storage: hashes with counts, in one block of bytes."""

from __future__ import annotations

import struct
from array import array
from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from recollect.text.analysis import (
    ANALYSER_VERSION,
    WORD_CHARACTERS_MAX,
    ascii_terms,
    ascii_tokens,
    is_first_person,
    terms_of,
)
from recollect.text.chinese_scripts import has_chinese, simplified
from recollect.text.field_words import field_words_in
from recollect.text.time_expressions import has_time_expression
from recollect.text.word_caches import word_cache

HEADER: Final = struct.Struct("<HHI")
"""The header of an entry's terms: analyser version, flags, and the number of terms."""
HASH_BYTES: Final = 8
COUNT_BYTES: Final = 2
TIME_EXPRESSION: Final = 1
FIRST_PERSON: Final = 2
COUNT_MAX: Final = 65_535
"""Highest count of a term in one entry; it is stored in two bytes."""

MONTHS: Final = (
    "January February March April May June July August September October November December"
).split()


@word_cache(maxsize=200_000)
def term_hash(term: str) -> int:
    """Return 64 bits of the BLAKE2b hash of *term*; terms are stored as hashes, not as words."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def encode_terms(text: str, time: datetime | None) -> bytes:
    """
    Return the encoded terms of an entry's *text*, said at *time*.

    The date is added as terms in the text's language, so that a question about a day or month finds
    the entry. A memory has no *time*; the words in which its fields are asked for are added.
    """
    every = _hashes_of(text)
    if time:
        every += map(term_hash, date_terms(text, time))
    elif asked_for := field_words_in(text):
        every += _hashes_of(asked_for)
    counts = Counter(every)
    hashes = sorted(counts)
    counted = [counts[each] for each in hashes]
    if len(every) > COUNT_MAX:
        counted = [min(each, COUNT_MAX) for each in counted]
    tells_time = has_time_expression(simplified(text))
    flags = TIME_EXPRESSION * tells_time | FIRST_PERSON * is_first_person(text)
    return (
        HEADER.pack(ANALYSER_VERSION, flags, len(every))
        + array("Q", hashes).tobytes()
        + array("H", counted).tobytes()
    )


def _hashes_of(text: str) -> list[int]:
    """Return the hashes of the terms of *text*; those of known ASCII words are cached."""
    if not text.isascii():
        return list(map(term_hash, terms_of(text)))
    return [
        hash_
        for token in ascii_tokens(text)
        for hash_ in (
            _known_hashes(token) if len(token) <= WORD_CHARACTERS_MAX else _hashes_in(token)
        )
    ]


def _hashes_in(token: str) -> tuple[int, ...]:
    return tuple(map(term_hash, ascii_terms(token)))


_known_hashes: Final = word_cache(maxsize=100_000)(_hashes_in)


def date_terms(text: str, time: datetime) -> list[str]:
    """
    Return the date as terms, in Chinese if the text is.

    >>> from datetime import datetime, UTC
    >>> date_terms("hello", datetime(2023, 5, 8, tzinfo=UTC))
    ['8', 'may', '2023']
    """
    return list(_day_terms(time.date(), is_chinese=has_chinese(text)))


@lru_cache(maxsize=1_024)
def _day_terms(day: date, *, is_chinese: bool) -> tuple[str, ...]:
    """Return the terms of a day; cached, since consecutive entries mostly share their day."""
    if is_chinese:
        return tuple(terms_of(f"{day.year}年{day.month}月{day.day}日"))
    return tuple(terms_of(f"{day.day} {MONTHS[day.month - 1]} {day.year}"))


def is_current(stored: bytes) -> bool:
    """Return True if *stored* was encoded by the current version of the analyser."""
    version: int = HEADER.unpack_from(stored)[0]
    return version == ANALYSER_VERSION


def query_hashes(terms: Iterable[str]) -> dict[int, int]:
    """Return the number of occurrences of each of *terms* in a query, by its hash."""
    return dict(Counter(term_hash(term) for term in terms))
