"""What an erased message takes along, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from recollect.records import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureCase:
    """
    A version of a memory, the messages erased, and what is left of it.

    Evidence names messages by JSON pointer; nothing is left where *left* is ``None``.
    """

    name: str
    value: JsonObject
    evidence: dict[str, tuple[str, ...]]
    erased: frozenset[str]
    left: JsonObject | None
    left_evidence: dict[str, tuple[str, ...]] = field(default_factory=dict)


ERASURES: Final = (
    ErasureCase(
        name="a field goes with its only message",
        value={"city": "Oslo", "pet": "cat"},
        evidence={"/city": ("m1",), "/pet": ("m2",)},
        erased=frozenset({"m1"}),
        left={"pet": "cat"},
        left_evidence={"/pet": ("m2",)},
    ),
    ErasureCase(
        name="a field that rests on another message too stays",
        value={"city": "Oslo"},
        evidence={"/city": ("m1", "m2")},
        erased=frozenset({"m1"}),
        left={"city": "Oslo"},
        left_evidence={"/city": ("m2",)},
    ),
    ErasureCase(
        name="a field goes when all its messages do",
        value={"city": "Oslo", "pet": "cat"},
        evidence={"/city": ("m1", "m2")},
        erased=frozenset({"m1", "m2", "m3"}),
        left={"pet": "cat"},
    ),
    ErasureCase(
        name="what never named evidence stays",
        value={"city": "Oslo", "pet": "cat"},
        evidence={},
        erased=frozenset({"m1"}),
        left={"city": "Oslo", "pet": "cat"},
    ),
    ErasureCase(
        name="other messages take nothing along",
        value={"city": "Oslo"},
        evidence={"/city": ("m1",)},
        erased=frozenset({"m2"}),
        left={"city": "Oslo"},
        left_evidence={"/city": ("m1",)},
    ),
    ErasureCase(
        name="a document without a field left goes",
        value={"city": "Oslo"},
        evidence={"/city": ("m1",)},
        erased=frozenset({"m1"}),
        left=None,
    ),
    ErasureCase(
        name="a document goes with its own only message",
        value={"city": "Oslo", "pet": "cat"},
        evidence={"": ("m1",), "/pet": ("m2",)},
        erased=frozenset({"m1"}),
        left=None,
    ),
    ErasureCase(
        name="a document with another message of its own stays",
        value={"city": "Oslo", "pet": "cat"},
        evidence={"": ("m1", "m2"), "/pet": ("m1",)},
        erased=frozenset({"m1"}),
        left={"city": "Oslo"},
        left_evidence={"": ("m2",)},
    ),
    ErasureCase(
        name="an inner field goes alone",
        value={"house": {"city": "Oslo", "street": "Main"}},
        evidence={"/house": ("m2",), "/house/street": ("m1",)},
        erased=frozenset({"m1"}),
        left={"house": {"city": "Oslo"}},
        left_evidence={"/house": ("m2",)},
    ),
    ErasureCase(
        name="a field takes along what is inside it",
        value={"house": {"city": "Oslo"}, "pet": "cat"},
        evidence={"/house": ("m1",), "/house/city": ("m2",), "/pet": ("m2",)},
        erased=frozenset({"m1"}),
        left={"pet": "cat"},
        left_evidence={"/pet": ("m2",)},
    ),
    ErasureCase(
        name="an emptied field inside stays as an empty one",
        value={"house": {"city": "Oslo"}},
        evidence={"/house/city": ("m1",)},
        erased=frozenset({"m1"}),
        left={"house": {}},
    ),
    ErasureCase(
        name="later items of a list move up, with their evidence",
        value={"pets": ["cat", "dog", {"kind": "owl"}]},
        evidence={"/pets/0": ("m1",), "/pets/1": ("m2",), "/pets/2/kind": ("m3",)},
        erased=frozenset({"m1"}),
        left={"pets": ["dog", {"kind": "owl"}]},
        left_evidence={"/pets/0": ("m2",), "/pets/1/kind": ("m3",)},
    ),
    ErasureCase(
        name="several items of one list go",
        value={"pets": ["cat", "dog", "owl", "hen"]},
        evidence={"/pets/0": ("m1",), "/pets/1": ("m2",), "/pets/2": ("m1",), "/pets/3": ("m2",)},
        erased=frozenset({"m1"}),
        left={"pets": ["dog", "hen"]},
        left_evidence={"/pets/0": ("m2",), "/pets/1": ("m2",)},
    ),
    ErasureCase(
        name="items count as numbers, not as text",
        value={"n": list(range(12))},
        evidence={"/n/2": ("m1",), "/n/10": ("m1",), "/n/11": ("m2",)},
        erased=frozenset({"m1"}),
        left={"n": [0, 1, 3, 4, 5, 6, 7, 8, 9, 11]},
        left_evidence={"/n/9": ("m2",)},
    ),
    ErasureCase(
        name="a field named like a number is no list position",
        value={"year": {"1": "Oslo", "2": "Rome"}},
        evidence={"/year/1": ("m1",), "/year/2": ("m2",)},
        erased=frozenset({"m1"}),
        left={"year": {"2": "Rome"}},
        left_evidence={"/year/2": ("m2",)},
    ),
    ErasureCase(
        name="names with a slash or a tilde are read as written in RFC 6901",
        value={"a/b": 1, "a~b": 2, "~1": 3, "": 4},
        evidence={"/a~1b": ("m1",), "/a~0b": ("m2",), "/~01": ("m1",), "/": ("m1",)},
        erased=frozenset({"m1"}),
        left={"a~b": 2},
        left_evidence={"/a~0b": ("m2",)},
    ),
    ErasureCase(
        name="evidence of a field that is not there takes nothing along",
        value={"city": "Oslo"},
        evidence={"/pet": ("m1",), "/city/name": ("m1",), "/city": ("m2",)},
        erased=frozenset({"m1"}),
        left={"city": "Oslo"},
        left_evidence={"/city": ("m2",)},
    ),
    ErasureCase(
        name="a document without a field stays if it rested on nothing",
        value={},
        evidence={},
        erased=frozenset({"m1"}),
        left={},
    ),
    ErasureCase(
        name="a field may be named by any digits",
        value={"²": 1, "\u0663": 2, "01": 3, "9" * 5_000: 4},
        evidence={"/²": ("m1",), "/\u0663": ("m1",), "/01": ("m1",), "/" + "9" * 5_000: ("m2",)},
        erased=frozenset({"m1"}),
        left={"9" * 5_000: 4},
        left_evidence={"/" + "9" * 5_000: ("m2",)},
    ),
)
"""What goes with what."""
