"""Table of contract cases: what is erased together with a message or a source."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from recollect.records import DeleteMemory, EndMemory, JsonObject, PutMemory, Write
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseTarget,
    EraseThread,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureCase:
    """
    A version of a memory, the messages erased, and what remains of it.

    Evidence names messages by JSON pointer, those of a group with its number (``m1#1``). *left* is
    ``None`` if nothing remains.
    """

    name: str
    value: JsonObject
    evidence: dict[str, tuple[str, ...]]
    erased: frozenset[str]
    left: JsonObject | None
    left_evidence: dict[str, tuple[str, ...]] = field(default_factory=dict)


def named(message: str) -> tuple[str, int]:
    """
    Return the id and the group of a message from its name in a case.

    >>> named("m1#2"), named("m1")
    (('m1', 2), ('m1', 0))
    """
    id_, _, group = message.partition("#")
    return id_, int(group or 0)


ERASURES: Final = (
    ErasureCase(
        name="a field goes with any message of a group",
        value={"job": "a nurse in Oslo", "pet": "cat"},
        evidence={"/job": ("m1#1", "m2#1"), "/pet": ("m2",)},
        erased=frozenset({"m1"}),
        left={"pet": "cat"},
        left_evidence={"/pet": ("m2",)},
    ),
    ErasureCase(
        name="a field stays as long as a group is whole",
        value={"job": "a nurse in Oslo"},
        evidence={"/job": ("m1#1", "m2#1", "m3#2", "m2#2")},
        erased=frozenset({"m1"}),
        left={"job": "a nurse in Oslo"},
        left_evidence={"/job": ("m3#2", "m2#2")},
    ),
    ErasureCase(
        name="a message that is enough outlives a group",
        value={"job": "a nurse in Oslo"},
        evidence={"/job": ("m1#1", "m2#1", "m3")},
        erased=frozenset({"m2"}),
        left={"job": "a nurse in Oslo"},
        left_evidence={"/job": ("m3",)},
    ),
    ErasureCase(
        name="a group of one is one message",
        value={"job": "a nurse in Oslo"},
        evidence={"/job": ("m1#1", "m2#2")},
        erased=frozenset({"m1", "m2"}),
        left=None,
    ),
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
"""Memories, the messages erased, and what remains."""

Fate: TypeAlias = Literal["in force", "ended", "rejected", "gone"]
"""The state of a memory after a change of its sources."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivationCase:
    """
    A change to the sources of derived memories, and the effect on all of them.

    The note *tea* cites the message m1, *cake* m2, *milk* m3 and m1. *both* was merged from tea and
    cake, which ended; *trend* was derived from both and milk, which are active. *fates* names the
    notes that change; the others stay the same.
    """

    name: str
    happens: EraseTarget | Write
    fates: dict[str, Fate]


def _messages(*ids: str) -> EraseMessages:
    return EraseMessages(thread="talk", messages=ids)


def _rejected(key: str) -> PutMemory:
    return PutMemory(type="Note", key=key, value={"content": key}, state="rejected")


_NOON: Final = datetime(2024, 5, 6, 12, tzinfo=UTC)
_TEA_GOES: Final[dict[str, Fate]] = {
    "tea": "gone", "both": "gone", "trend": "gone", "cake": "in force"
}  # fmt: skip

DERIVATIONS: Final = (
    DerivationCase(
        name="erasing its only message takes what was derived from a source, and frees the other",
        happens=_messages("m1"),
        fates=_TEA_GOES,
    ),
    DerivationCase(
        name="a source that rests on another message too takes nothing along",
        happens=_messages("m3"),
        fates={},
    ),
    DerivationCase(
        name="a source that is in force takes along what rests on it, and frees nothing",
        happens=EraseMemory(type="Note", key="milk"),
        fates={"milk": "gone", "trend": "gone"},
    ),
    DerivationCase(
        name="erasing a source does as erasing its message does",
        happens=EraseMemory(type="Note", key="tea"),
        fates=_TEA_GOES,
    ),
    DerivationCase(
        name="deleting a source does as erasing it does",
        happens=DeleteMemory(type="Note", key="tea"),
        fates=_TEA_GOES,
    ),
    DerivationCase(
        name="rejecting a source does so too, and keeps it as rejected",
        happens=_rejected("tea"),
        fates={**_TEA_GOES, "tea": "rejected"},
    ),
    DerivationCase(
        name="erasing all messages takes everything",
        happens=EraseThread(thread="talk"),
        fates=dict.fromkeys(("tea", "cake", "milk", "both", "trend"), "gone"),
    ),
    DerivationCase(
        name="erasing both messages of a merge frees nothing",
        happens=_messages("m1", "m2"),
        fates={**_TEA_GOES, "cake": "gone"},
    ),
    DerivationCase(
        name="erasing a merged memory itself brings nothing back",
        happens=EraseMemory(type="Note", key="both"),
        fates={"both": "gone", "trend": "gone"},
    ),
    DerivationCase(
        name="deleting what was derived touches no source",
        happens=DeleteMemory(type="Note", key="trend"),
        fates={"trend": "gone"},
    ),
    DerivationCase(
        name="ending a source takes nothing along",
        happens=EndMemory(type="Note", key="milk", at=_NOON),
        fates={"milk": "ended"},
    ),
    DerivationCase(
        name="a new version of a source takes nothing along",
        happens=PutMemory(type="Note", key="milk", value={"content": "oat milk"}),
        fates={},
    ),
)
"""Changes of sources, and the derived memories that are erased or reactivated by them."""
