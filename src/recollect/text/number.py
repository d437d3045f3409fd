"""A number somewhere in a text: what every reader of numerals returns."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """
    A number as it is written from *start* to *end*, with all that it may mean.

    Not every one claims an amount: "one of them", "a", 一起 do not, but they support
    one; so do the *parts* of a number: 1/3 supports 3, and is not supported by it. A
    *literal* is what a decimal or a dotted version looks like; of a version
    (3.10 is not 3.1) only that counts. A *decade* is told by any of its years.
    """

    start: int
    end: int
    readings: frozenset[Fraction]
    parts: frozenset[Fraction] = frozenset()
    is_claim: bool = True
    literal: str | None = None
    is_version: bool = False
    decade: int | None = None
