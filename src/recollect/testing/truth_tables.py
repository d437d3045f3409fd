"""Tables of contract cases as plain values, for tests of pure functions and of backends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from math import inf, nan
from typing import Final

from recollect.records import DeleteMemory, EndMemory, JsonObject, PutMemory, Write
from recollect.testing.frozen_clock import NOON

_NESTED: Final[JsonObject] = {"pet": {"name": "Tom", "age": 3, "toys": ["ball", 7]}}
_MANY: Final[JsonObject] = {"tags": ["a", 1, True, None, {"k": 1}, [1, 2]]}
FILTERS: Final[tuple[tuple[JsonObject, JsonObject, bool], ...]] = (
    # Nothing is asked for.
    ({}, {}, True),
    ({}, {"a": 1}, True),
    # Absent and null.
    ({"a": None}, {"a": None}, True),
    ({"a": None}, {}, False),
    ({"a": None}, {"a": False}, False),
    ({"a": None}, {"a": 0}, False),
    ({"a": None}, {"a": ""}, False),
    ({"a": 1}, {}, False),
    ({"a": 1}, {"a": None}, False),
    ({"a": {"$ne": 1}}, {}, True),
    ({"a": {"$ne": None}}, {}, True),
    ({"a": {"$ne": None}}, {"a": None}, False),
    ({"a": {"$ne": None}}, {"a": 0}, True),
    ({"a": {"$in": [None]}}, {}, False),
    ({"a": {"$in": [None]}}, {"a": None}, True),
    ({"a": {"$contains": None}}, {}, False),
    ({"a": {"$gt": None}}, {"a": None}, False),
    ({"a": {"$gte": None}}, {"a": None}, False),
    ({"a": {"$lte": 0}}, {}, False),
    ({"a": {"$lt": 1}}, {"a": None}, False),
    # Truth values are no numbers.
    ({"a": True}, {"a": True}, True),
    ({"a": True}, {"a": 1}, False),
    ({"a": 1}, {"a": True}, False),
    ({"a": False}, {"a": 0}, False),
    ({"a": 0}, {"a": False}, False),
    ({"a": 0.0}, {"a": False}, False),
    ({"a": True}, {"a": "true"}, False),
    ({"a": True}, {"a": False}, False),
    ({"a": {"$ne": True}}, {"a": 1}, True),
    ({"a": {"$in": [True]}}, {"a": 1}, False),
    ({"a": {"$in": [1]}}, {"a": True}, False),
    ({"a": {"$gt": False}}, {"a": True}, False),
    ({"a": {"$gte": True}}, {"a": True}, False),
    ({"a": {"$gt": 0}}, {"a": True}, False),
    # Infinity bounds every number, and equals none.
    ({"a": {"$lt": inf}}, {"a": 1e300}, True),
    ({"a": {"$gt": -inf, "$lte": inf}}, {"a": -3.5}, True),
    ({"a": {"$gte": inf}}, {"a": 1e300}, False),
    ({"a": {"$lt": -inf}}, {"a": -(1e300)}, False),
    ({"a": {"$lt": inf}}, {"a": "text"}, False),
    ({"a": {"$lt": inf}}, {}, False),
    ({"a": inf}, {"a": 1}, False),
    ({"a": {"$ne": inf}}, {"a": 1}, True),
    ({"a": {"$in": [inf, 1]}}, {"a": 1}, True),
    # Numbers are equal by value; texts are no numbers.
    ({"a": 1}, {"a": 1.0}, True),
    ({"a": 1.0}, {"a": 1}, True),
    ({"a": 0.0}, {"a": -0.0}, True),
    ({"a": 0.1}, {"a": 0.1}, True),
    ({"a": 1}, {"a": 1.5}, False),
    ({"a": {"$in": [2, 1.0]}}, {"a": 1}, True),
    ({"a": 12}, {"a": "12"}, False),
    ({"a": "12"}, {"a": 12}, False),
    ({"a": {"$ne": "12"}}, {"a": 12}, True),
    ({"a": 2**53 + 1}, {"a": 2**53}, False),
    ({"a": 2**53 + 1}, {"a": 2**53 + 1}, True),
    ({"a": {"$gt": 2**53}}, {"a": 2**53 + 1}, True),
    ({"a": {"$gt": float(2**53)}}, {"a": 2**53 + 1}, True),
    ({"a": -(2**63) + 1}, {"a": -(2**63) + 1}, True),
    # Texts, by code point, case and form kept.
    ({"a": "Oslo"}, {"a": "Oslo"}, True),
    ({"a": "oslo"}, {"a": "Oslo"}, False),
    ({"a": "é"}, {"a": "e\u0301"}, False),
    ({"a": ""}, {"a": ""}, True),
    ({"a": "%"}, {"a": "Oslo"}, False),
    ({"a": "' OR 1=1 --"}, {"a": "x"}, False),
    ({"a": {"$gt": "A"}}, {"a": "a"}, True),
    ({"a": {"$gt": "Z"}}, {"a": "É"}, True),
    ({"a": {"$lt": "\uffff"}}, {"a": "\U0001f642"}, False),
    ({"a": {"$lt": "b"}}, {"a": "a" * 300}, True),
    ({"a": {"$gte": "a"}}, {"a": "a"}, True),
    ({"a": {"$gt": "9"}}, {"a": "10"}, False),
    # Order, and none across types.
    ({"a": {"$gt": 9}}, {"a": 10}, True),
    ({"a": {"$gt": 10}}, {"a": 10}, False),
    ({"a": {"$gte": 10}}, {"a": 10.0}, True),
    ({"a": {"$lt": 10}}, {"a": 9.99}, True),
    ({"a": {"$lte": 10}}, {"a": 10}, True),
    ({"a": {"$lte": 10}}, {"a": 11}, False),
    ({"a": {"$gt": 5, "$lt": 9}}, {"a": 7}, True),
    ({"a": {"$gt": 5, "$lt": 9}}, {"a": 9}, False),
    ({"a": {"$gt": "1"}}, {"a": 2}, False),
    ({"a": {"$lt": 2}}, {"a": "1"}, False),
    ({"a": {"$gt": [1]}}, {"a": [2]}, False),
    ({"a": {"$gte": [1]}}, {"a": [1]}, False),
    ({"a": {"$gt": 0}}, {"a": [1]}, False),
    # Lists and objects, equal if all their parts are.
    ({"a": []}, {"a": []}, True),
    ({"a": []}, {}, False),
    ({"a": [1, "x"]}, {"a": [1.0, "x"]}, True),
    ({"a": [1]}, {"a": [True]}, False),
    ({"a": [1, 2]}, {"a": [2, 1]}, False),
    ({"a": [1]}, {"a": 1}, False),
    ({"a": 1}, {"a": [1]}, False),
    ({"a": {}}, {"a": {}}, True),
    ({"a": {}}, {"a": []}, False),
    ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2, "x": 1.0}}, True),
    ({"a": {"x": 1}}, {"a": {"x": 1, "y": 2}}, False),
    ({"a": {"x": {"y": [1]}}}, {"a": {"x": {"y": [1]}}}, True),
    ({"a": {"$eq": {"x": 1}}}, {"a": {"x": 1}}, True),
    ({"a": {"$eq": {"$gt": 1}}}, {"a": {"$gt": 1}}, True),
    # Fields within fields, and names with dots.
    ({"pet.name": "Tom"}, _NESTED, True),
    ({"pet.name": "tom"}, _NESTED, False),
    ({"pet": {"name": "Tom", "age": 3, "toys": ["ball", 7]}}, _NESTED, True),
    ({"pet.age": {"$gte": 3}}, _NESTED, True),
    ({"pet.toys": {"$contains": 7.0}}, _NESTED, True),
    ({"pet.toys.0": "ball"}, _NESTED, False),
    ({"pet.colour": None}, _NESTED, False),
    ({"pet.name.first": "Tom"}, _NESTED, False),
    ({"pet.name": "Tom"}, {"pet.name": "Tom"}, True),
    ({"pet.name": "Tom"}, {"pet.name": "Kit", "pet": {"name": "Tom"}}, False),
    ({"a.b.c": 1}, {"a": {"b.c": 1}}, True),
    ({"a.b.c": 1}, {"a": {"b": {"c": 1}}}, True),
    ({"a.b": 1}, {"a": [{"b": 1}]}, False),
    ({"a.": 1}, {"a": {"": 1}}, True),
    ({"$a": 1}, {"$a": 1}, True),
    ({'a"b': 1}, {'a"b': 1}, True),
    # One of several.
    ({"a": {"$in": []}}, {"a": 1}, False),
    ({"a": {"$in": [1, "x"]}}, {"a": "x"}, True),
    ({"a": {"$in": [[1], {"k": 1}]}}, {"a": {"k": 1}}, True),
    ({"a": {"$in": [1]}}, {"a": [1]}, False),
    # Containing: an element of a list, or a part of a text.
    ({"tags": {"$contains": "a"}}, _MANY, True),
    ({"tags": {"$contains": 1.0}}, _MANY, True),
    ({"tags": {"$contains": True}}, _MANY, True),
    ({"tags": {"$contains": False}}, _MANY, False),
    ({"tags": {"$contains": None}}, _MANY, True),
    ({"tags": {"$contains": {"k": 1}}}, _MANY, True),
    ({"tags": {"$contains": [1, 2]}}, _MANY, True),
    ({"tags": {"$contains": 2}}, _MANY, False),
    ({"a": {"$contains": "slo"}}, {"a": "Oslo"}, True),
    ({"a": {"$contains": ""}}, {"a": "Oslo"}, True),
    ({"a": {"$contains": "SLO"}}, {"a": "Oslo"}, False),
    ({"a": {"$contains": "%"}}, {"a": "Oslo"}, False),
    ({"a": {"$contains": "_"}}, {"a": "Oslo"}, False),
    ({"a": {"$contains": 1}}, {"a": "1"}, False),
    ({"a": {"$contains": "x"}}, {"a": {"x": 1}}, False),
    ({"a": {"$contains": 1}}, {"a": 1}, False),
    # All conditions must hold.
    ({"a": 1, "b": 2}, {"a": 1, "b": 2}, True),
    ({"a": 1, "b": 2}, {"a": 1}, False),
    ({"a": {"$ne": 1}, "b": 2}, {"a": 1, "b": 2}, False),
)
"""Filter, document, and whether the filter matches it."""
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
__all__ = (
    "BELIEFS",
    "FILTERS",
    "ILLEGAL_FILTERS",
    "ILLEGAL_IDS",
    "LEGAL_IDS",
    "VALIDITIES",
    "BeliefCase",
    "hour",
)

LEGAL_IDS: Final = (
    "ada",
    "Ada",
    "ADA",
    "ada ",
    " ada",
    "ada.",
    "a",
    "%",
    "_",
    "ad_",
    "a%",
    "*",
    "?",
    "[a-z]*",
    ".",
    "..",
    "/",
    "a/b",
    "\\",
    "'",
    '"',
    "';--",
    "$1",
    "{}",
    "null",
    "42",
    "042",
    "-1",
    "1e3",
    "ada@example.org",
    "ada+1@example.org",
    "ada:lovelace",
    "ada,lovelace",
    '["ada"]',
    "é",
    "e\u0301",  # the same letter in two parts
    "ﬁne",
    "fine",  # NFKC folds the ligature above into this
    "\uff21",
    "A",  # NFKC folds the wide letter above into this
    "ß",
    "ss",
    "İ",
    "i",
    "\u200bada",
    "爱达",
    "🙂",
    "👩‍🚀",
    "\ue000",
    "\U0010ffff",
    "x" * 256,
    "x" * 255,
    "🙂" * 256,
)
"""Valid ids of a segment, thread, message or memory; all of them are different."""

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


def hour(number: float) -> datetime:
    """Return the time *number* hours after the start of a `FrozenClock`."""
    return NOON + timedelta(hours=number)


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
