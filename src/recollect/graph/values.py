"""The graph's facts, entities and results, and the conversion of objects to and from memories."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Final, Literal, TypeAlias, TypedDict

from recollect.errors import UsageError
from recollect.formation.types.builtin import ENTITY, FACT
from recollect.graph.name_equality import clean_name
from recollect.records import Evidence, EvidenceMap, Json, Memory, MemoryState, Trust
from recollect.stores.validation import check_text

Value: TypeAlias = str | int | float | bool | date | datetime
"""The value of an attribute; a relation's object is the name of an entity."""

ObjectType: TypeAlias = Literal["entity", "text", "number", "boolean", "date", "time"]
AdditionAction: TypeAlias = Literal["stored", "merged", "unchanged", "quarantined", "refused"]

ENTITY_TYPE: Final = ENTITY.name
FACT_TYPE: Final = FACT.name


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """
    A fact to add.

    Args:
        object: The name of another entity; with *is_attribute*, a value. Anything but text is
            always a value.
        several: Whether the subject can have several such objects at once; ``None`` means as in
            current facts with this subject and predicate, otherwise one at a time.
        since: When it became true; ``None`` means now if there is one object at a time.
        until: When it stops being true, if known.
        evidence: The messages that support it.
        trust: The trust of the source.
    """

    subject: str
    predicate: str
    object: Value
    several: bool | None = None
    is_attribute: bool = False
    since: datetime | None = None
    until: datetime | None = None
    evidence: Sequence[Evidence] = ()
    trust: Trust = "user"


class FactOptions(TypedDict, total=False):
    """The optional fields of `NewFact` for any kind of fact."""

    several: bool | None
    since: datetime | None
    until: datetime | None
    evidence: Sequence[Evidence]
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Retraction:
    """
    A statement that a fact is not or no longer true, which ends it unless it has a higher trust.

    *since* is when it stopped being true, now if ``None``; *trust* is that of the statement.
    """

    subject: str
    predicate: str
    object: Value
    since: datetime | None = None
    trust: Trust = "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphFact:
    """
    A fact of the graph: an edge to another entity, or an attribute with its value.

    Names are the current names of the entities. The fact is true from *valid_from* (inclusive) to
    *valid_until* (exclusive; ``None`` if open). *key* is the key of its ``Fact`` memory.
    """

    key: str
    subject: str
    predicate: str
    object: Value
    object_type: ObjectType
    several: bool
    valid_from: datetime | None
    valid_until: datetime | None
    evidence: EvidenceMap = field(hash=False)
    trust: Trust
    state: MemoryState

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {value_text(self.object)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """An entity of the graph, with its names, kind, summary and valid attributes."""

    name: str
    kind: str | None
    aliases: tuple[str, ...]
    summary: str | None
    attributes: Mapping[str, tuple[Value, ...]] = field(hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """
    The result of adding a fact.

    The fact was *stored*; *merged* into an equal fact, or left that *unchanged*; *quarantined*,
    because it contradicts a more trusted fact; or *refused*, for *reason*. *ended* are the facts
    that it replaced.
    """

    action: AdditionAction
    fact: GraphFact | None
    ended: tuple[GraphFact, ...] = ()
    reason: str = ""


def value_text(value: Value) -> str:
    """
    Return a value as text for a sentence.

    >>> value_text(True), value_text(date(2026, 3, 31)), value_text(4.5)
    ('true', '2026-03-31', '4.5')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else str(value)


def written(fact: NewFact) -> tuple[Json, ObjectType]:
    """
    Return the object of a new fact as JSON, and its type.

    Raises:
        UsageError: The object is neither a name nor a value, or a time without a zone.
    """
    value = fact.object
    if isinstance(value, bool):
        return value, "boolean"
    if isinstance(value, int | float):
        return value, "number"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise UsageError(f"the object {value!r} has no zone: give one, such as tzinfo=UTC")
        return value.isoformat(), "time"
    if isinstance(value, date):
        return value.isoformat(), "date"
    if fact.is_attribute:
        return check_text(value, "an attribute's value"), "text"
    return clean_name(value, "a fact's object"), "entity"


def read_object(memory: Memory) -> tuple[Value, ObjectType] | None:
    """Return the object of a ``Fact`` memory and its type; text if its type does not match."""
    value, type_ = memory.value.get("object"), memory.value.get("object_type")
    if isinstance(value, bool):
        return value, "boolean"
    if isinstance(value, int | float):
        return value, "number"
    if not isinstance(value, str):
        return None
    return (value, "entity") if type_ is None else _read_text(value, type_)


def _read_text(text: str, type_: Json) -> tuple[Value, ObjectType]:
    truth = {"true": True, "false": False}.get(text.lower())
    if type_ == "boolean" and truth is not None:
        return truth, "boolean"
    readers: Mapping[ObjectType, Callable[[str], Value]] = {
        "number": float,
        "date": date.fromisoformat,
        "time": datetime.fromisoformat,
    }
    for name, read in readers.items():
        if name == type_:
            try:
                return read(text), name
            except ValueError:
                break
    return text, "text"
