"""Leaves of memories, the fields and list elements that measures count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.evaluation.cases import EvaluationCase, Expectation
from recollect.evaluation.oracle_script import pattern_of
from recollect.formation.claims import SaidText, unsupported
from recollect.formation.succession import has_ended, holds_from
from recollect.formation.value_identity import leading_fields
from recollect.records import Json, Memory
from recollect.stores.json_pointers import covers as pointer_covers
from recollect.stores.json_pointers import leaves, parse_pointer

_PLACE: Final = re.compile(r"/\d+(?=/|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueLeaf:
    """A field or list element of a memory."""

    memory: Memory
    pointer: str
    value: Json

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """Key that identifies the leaf, regardless of its position in a list."""
        place = _PLACE.sub("/-", self.pointer)
        return self.memory.type, self.memory.key, place, f"{type(self.value).__name__} {self.value}"


def is_ended(memory: Memory, now: datetime) -> bool:
    """Return True if *memory* is active, but no longer valid at *now*."""
    return memory.state == "active" and has_ended(memory, now)


def leaves_of(memories: Mapping[tuple[str, str], Memory], now: datetime) -> list[ValueLeaf]:
    """Return the leaves of the memories that are current at *now*."""
    return [
        ValueLeaf(memory=memory, pointer=pointer, value=value)
        for memory in memories.values()
        if holds_from(memory, now)
        for pointer, value in leaves(memory.value)
    ]


def covers(expectation: Expectation, leaf: ValueLeaf, case: EvaluationCase) -> bool:
    """
    Return True if *expectation* wants or allows *leaf*.

    An expectation about a collection entry also allows the leading fields of its schema.
    """
    is_positive = expectation.kind in {"must", "may"} and not expectation.absent
    if not is_positive or expectation.type != leaf.memory.type:
        return False
    pattern, value = pattern_of(expectation), leaf.memory.value
    if not expectation.path:
        return pattern.matches(value)
    if pointer_covers(expectation.path, leaf.pointer):
        return pattern.selects(value) and pattern.fits(leaf.value)
    type_ = case.type_named(expectation.type)
    is_leading = parse_pointer(leaf.pointer)[0] in leading_fields(type_.parameters)
    return type_.update_mode == "insert" and is_leading and pattern.matches(value)


def allows_loss(expectation: Expectation, leaf: ValueLeaf, *, is_closed: bool) -> bool:
    """Return True if *expectation* wants *leaf* removed, or its memory ended (*is_closed*)."""
    goes = expectation.absent or expectation.ended or expectation.kind == "must_not"
    if not goes or expectation.tried or expectation.type != leaf.memory.type:
        return False
    pattern = pattern_of(expectation)
    if is_closed or not expectation.path:
        return pattern.matches(leaf.memory.value)
    is_there = pointer_covers(expectation.path, leaf.pointer)
    return is_there and pattern.selects(leaf.memory.value) and pattern.fits(leaf.value)


def same_place(one: ValueLeaf, other: ValueLeaf) -> bool:
    """Return True if two leaves are at the same place of the same memory."""
    return one.identity[:3] == other.identity[:3]


def heard_texts(case: EvaluationCase, talk: int) -> list[SaidText]:
    """Return the messages of all conversations up to number *talk*."""
    return [
        SaidText(text=message.text, at=message.time, speaker=message.name)
        for each in case.talks[:talk]
        for message in each.messages
        if message.time is not None
    ]


def is_unsupported(leaf: ValueLeaf, heard: Sequence[SaidText], case: EvaluationCase) -> bool:
    """Return True if *leaf* has a number, name or date that is in no message or initial memory."""
    standing = [each.value for each in case.memories if each.type == leaf.memory.type]
    return bool(unsupported(leaf.value, heard, standing))


def grouped(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    """Return memories by their type."""
    found: dict[str, list[Memory]] = {}
    for each in memories:
        found.setdefault(each.type, []).append(each)
    return found
