"""Tables of cases of decisions that are made above the rows, as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import Final

from recollect.records import DeleteMemory, EndMemory, JsonObject, PutMemory, Write
from recollect.testing.truth_tables import hour

ILLEGAL_FILTERS: Final[tuple[JsonObject, ...]] = (
    {"a": nan},
    {"a": {"$lt": nan}},
    {"": 1},
    {"a": {"$regex": "."}},
    {"a": {"$gt": 1, "b": 2}},
    {"a": {"$in": "abc"}},
    {"a": {"$in": 1}},
    {"a": {"$in": {"b": 1}}},
    {"a": float("nan")},
    {"a": "\ud83d"},
    {"a": "\0"},
    {"a\0": 1},
    {str(number): 1 for number in range(51)},
)
"""Invalid filters."""
ILLEGAL_IDS: Final = (
    "",
    "\0",
    "a\0b",
    "\n",
    "a\nb",
    "\t",
    "\x1b[31m",
    "\x1f",
    "\x7f",
    "\ud83d",
    "a\udc00b",
    "x" * 257,
    "🙂" * 257,
)
"""Invalid ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefCase:
    """
    Writes to one memory, each at an hour, and the version believed at the hour *at*.

    The question is asked at the hour *asked*; *version* is ``None`` if nothing was believed.
    """

    name: str
    writes: tuple[tuple[float, Write], ...]
    at: float
    version: int | None
    asked: float = 10


def _put(city: str, expires: float | None = None) -> PutMemory:
    until = None if expires is None else hour(expires)
    return PutMemory(type="Fact", key="home", value={"city": city}, expires_at=until)


_END: Final = EndMemory(type="Fact", key="home", at=hour(3))
_DELETE: Final = DeleteMemory(type="Fact", key="home")
_MOVES: Final = ((1.0, _put("Oslo")), (2.0, _put("Rome")), (4.0, _END))
_AGAIN: Final = ((1.0, _put("Oslo")), (2.0, _DELETE), (3.0, _put("Rome")))

BELIEFS: Final = (
    BeliefCase(name="before it was written", writes=_MOVES, at=0.9, version=None),
    BeliefCase(name="at the moment of writing", writes=_MOVES, at=1, version=1),
    BeliefCase(name="until the next version", writes=_MOVES, at=1.9, version=1),
    BeliefCase(name="from the next version on", writes=_MOVES, at=2, version=2),
    BeliefCase(name="when its end was not known", writes=_MOVES, at=3.5, version=2),
    BeliefCase(name="when its end was known", writes=_MOVES, at=4, version=3),
    BeliefCase(name="now", writes=_MOVES, at=10, version=3),
    BeliefCase(name="in the future", writes=_MOVES, at=99, version=3),
    BeliefCase(
        name="of two at one moment the later",
        writes=((1, _put("Oslo")), (1, _put("Rome"))),
        at=1,
        version=2,
    ),
    BeliefCase(name="what was deleted", writes=_AGAIN[:2], at=1.5, version=None),
    BeliefCase(name="before it was made again", writes=_AGAIN, at=1.5, version=None),
    BeliefCase(name="after it was made again", writes=_AGAIN, at=3, version=1),
    BeliefCase(name="what expires later", writes=((1, _put("Oslo", 11)),), at=2, version=1),
    BeliefCase(name="what has expired", writes=((1, _put("Oslo", 9)),), at=2, version=None),
)
"""Histories of a memory, and the version that was believed at a time."""

VALIDITIES: Final[tuple[tuple[float | None, float | None, float, bool], ...]] = (
    (None, None, 0, True),
    (None, None, -1e6, True),
    (1, None, 0.9, False),
    (1, None, 1, True),
    (1, None, 99, True),
    (None, 2, -99, True),
    (None, 2, 1.9, True),
    (None, 2, 2, False),
    (1, 2, 0.9, False),
    (1, 2, 1, True),
    (1, 2, 1.5, True),
    (1, 2, 2, False),
    (1, 1, 1, False),
)
"""Hours from and until which a memory is valid, the hour asked about, and whether it is valid."""
