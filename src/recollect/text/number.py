"""A number in a text: the result of every reader of numerals."""

from fractions import Fraction
from typing import NamedTuple


class Number(NamedTuple):
    """
    A number as written from *start* to *end*, with its possible values as *readings*.

    Unless *is_claim* it does not claim an amount ("one of them", "a", 一起), but may support one
    claimed elsewhere. So do its *parts*: 1/3 supports 3, and 3 does not support 1/3. *literal* is
    the spelling of a decimal or dotted version; of a version it alone counts, as 3.10 is not 3.1.
    Any year of a *decade* supports it.
    """

    start: int
    end: int
    readings: frozenset[Fraction]
    parts: frozenset[Fraction] = frozenset()
    is_claim: bool = True
    literal: str | None = None
    is_version: bool = False
    decade: int | None = None
