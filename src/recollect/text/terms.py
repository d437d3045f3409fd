"""What is stored of an entry's words: hashed terms with their counts, in one block of bytes."""

from __future__ import annotations

import re
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
from recollect.text.time_expressions import has_time_expression

HEADER: Final = struct.Struct("<HHI")
"""Before the terms of an entry: the analyser's version, flags, and how many terms there are."""
HASH_BYTES: Final = 8
COUNT_BYTES: Final = 2
TIME_EXPRESSION: Final = 1
FIRST_PERSON: Final = 2
COUNT_MAX: Final = 65_535
"""A term is counted up to here in one entry."""

_CHINESE: Final = re.compile("[一-鿿]")
MONTHS: Final = (
    "January February March April May June July August September October November December"
).split()


@lru_cache(maxsize=200_000)
def term_hash(term: str) -> int:
    """Return 64 bits of the BLAKE2b hash of *term*: the form in which terms are kept."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def encode_terms(text: str, time: datetime | None) -> bytes:
    """
    Return the stored form of an entry's *text*, said at *time*.

    The date counts among the words, written as the text's language writes it, so that
    a question for a day or month finds it.
    """
    every = _hashes_of(text)
    if time:
        every += map(term_hash, date_terms(text, time))
    counts = Counter(every)
    hashes = sorted(counts)
    counted = [counts[each] for each in hashes]
    if len(every) > COUNT_MAX:
        counted = [min(each, COUNT_MAX) for each in counted]
    flags = TIME_EXPRESSION * has_time_expression(text) | FIRST_PERSON * is_first_person(text)
    return (
        HEADER.pack(ANALYSER_VERSION, flags, len(every))
        + array("Q", hashes).tobytes()
        + array("H", counted).tobytes()
    )


def _hashes_of(text: str) -> list[int]:
    """Return the hashes of the terms of *text*; most of its words have been seen before."""
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


_known_hashes: Final = lru_cache(maxsize=100_000)(_hashes_in)


def date_terms(text: str, time: datetime) -> list[str]:
    """
    Return the date as terms, in Chinese if the text is.

    >>> from datetime import datetime, UTC
    >>> date_terms("hello", datetime(2023, 5, 8, tzinfo=UTC))
    ['8', 'may', '2023']
    """
    return list(_day_terms(time.date(), is_chinese=_CHINESE.search(text) is not None))


@lru_cache(maxsize=1_024)
def _day_terms(day: date, *, is_chinese: bool) -> tuple[str, ...]:
    """Return the terms of a day: many entries in a row are of the same one."""
    if is_chinese:
        return tuple(terms_of(f"{day.year}年{day.month}月{day.day}日"))
    return tuple(terms_of(f"{day.day} {MONTHS[day.month - 1]} {day.year}"))


def is_current(stored: bytes) -> bool:
    """Say whether *stored* is of the analyser's present version."""
    version: int = HEADER.unpack_from(stored)[0]
    return version == ANALYSER_VERSION


def query_hashes(terms: Iterable[str]) -> dict[int, int]:
    """Return the hashes of a query's terms with how often each is asked for."""
    return dict(Counter(term_hash(term) for term in terms))
