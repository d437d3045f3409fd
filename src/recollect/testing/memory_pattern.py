"""Patterns that match memories, for the oracle and the measures of the evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.errors import NotFoundError, UsageError
from recollect.formation.value_identity import normalised
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import join_pointer, leaves, value_at


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryPattern:
    """
    Matches memories whose fields equal *where*, and that have a matching leaf at *path*.

    A leaf matches if it is one of *equals*, or a text with one of *contains*; without either, any
    leaf does. Texts are compared ignoring case and punctuation. Keys of *where* are fields or
    pointers.

    >>> tea = MemoryPattern(path="/likes", contains=("tea",))
    >>> tea.matches({"likes": ["green tea", "rain"]}), tea.matches({"likes": ["coffee"]})
    (True, False)
    """

    path: str = ""
    where: Mapping[str, Json] = field(default_factory=dict, hash=False)
    equals: tuple[Json, ...] = field(default=(), hash=False)
    contains: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether any leaf at the path matches."""
        return not self.equals and not self.contains

    def selects(self, value: JsonObject) -> bool:
        """Return True if the fields of *value* equal *where*."""
        return all(
            any(same_leaf(leaf, wanted) for _, leaf in leaves_at(value, pointer_of(name)))
            for name, wanted in self.where.items()
        )

    def matches(self, value: JsonObject) -> bool:
        """Return True if *value* matches the whole pattern."""
        found = leaves_at(value, self.path)
        return self.selects(value) and any(self.fits(leaf) for _, leaf in found)

    def fits(self, leaf: Json) -> bool:
        """Return True if *leaf* is one of *equals*, or contains one of *contains*."""
        if self.is_open or any(same_leaf(leaf, wanted) for wanted in self.equals):
            return True
        words = normalised(leaf) if isinstance(leaf, str) else ""
        return any(normalised(each) in words for each in self.contains)


def same_leaf(one: Json, other: Json) -> bool:
    """Return True if two leaves are equal; texts ignoring case and punctuation."""
    if isinstance(one, str) and isinstance(other, str):
        return normalised(one) == normalised(other)
    return type(one) is type(other) and one == other


def leaves_at(value: JsonObject, pointer: str) -> list[tuple[str, Json]]:
    """Return pointer and value of every leaf at or below *pointer*; none if nothing is there."""
    try:
        found = value_at(value, pointer)
    except (NotFoundError, UsageError):
        return []
    return [(f"{pointer}{below}", leaf) for below, leaf in leaves(found)]


def pointer_of(name: str) -> str:
    """Return *name* if it is a pointer, otherwise the pointer of the field with this name."""
    return name if name.startswith("/") else join_pointer([name])
