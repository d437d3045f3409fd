"""Evaluation cases: conversations, and what must, may and must not be remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Literal, TypeAlias

from recollect.formation.types import MemoryType
from recollect.records import Json, JsonObject, NewMessage

Kind: TypeAlias = Literal["must", "may", "must_not"]
"""Whether an expectation demands, allows or forbids something."""
Forming: TypeAlias = Literal["own", "next", "none"]
"""A conversation is formed by itself, with the next one, or not at all (as earlier context)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseTalk:
    """Consecutive messages of one thread, with times and ids, and how they are formed."""

    thread: str
    messages: tuple[NewMessage, ...]
    forming: Forming = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialMemory:
    """A memory that exists before the first conversation; *rejected* means a person refused it."""

    type: str
    value: JsonObject = field(hash=False)
    since: datetime | None = None
    until: datetime | None = None
    rejected: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Because:
    """A quote that a correct answer cites, from a message by its number in the case."""

    message: int
    quote: str
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """
    Something that must, may or must not be remembered after conversation *after*.

    It concerns the memories of *type* that match *where*. The value at *path* is one of *equals*,
    or a text with one of *contains*; without either, anything. *absent* means that no such value
    exists; *ended* that its validity ended, at *at*; *count* is the number of such entries. *since*
    and *until* bound its validity.

    *value* is what a correct answer writes, *because* what it cites. With *tried*, the oracle
    writes it although it is forbidden, and formation has to reject it.
    """

    kind: Kind
    type: str
    after: int
    path: str = ""
    where: Mapping[str, Json] = field(default_factory=dict, hash=False)
    equals: tuple[Json, ...] = field(default=(), hash=False)
    contains: tuple[str, ...] = ()
    absent: bool = False
    ended: bool = False
    count: int | None = None
    value: Json = field(default=None, hash=False)
    because: tuple[Because, ...] = ()
    since: date | None = None
    until: date | None = None
    at: date | None = None
    tried: bool = False

    def __str__(self) -> str:
        return " ".join([self.kind.replace("_", " "), *self._about(), f"after talk {self.after}"])

    def _about(self) -> list[str]:
        dates = (("since", self.since), ("until", self.until), ("at", self.at))
        parts = [self.type, *([self.path] if self.path else [])]
        parts += [f"[{name} {value!r}]" for name, value in self.where.items()]
        parts += [f"= {' or '.join(repr(each) for each in self.equals)}"] if self.equals else []
        parts += [f"~ {' or '.join(repr(each) for each in self.contains)}"] if self.contains else []
        parts += [f"{name} {each}" for name, each in dates if each]
        parts += ["absent"] if self.absent else []
        parts += ["ended"] if self.ended else []
        return [*parts, f"x {self.count}"] if self.count is not None else parts


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCase:
    """
    A case of the evaluation.

    *source* is the file's name. *expectations* are in the order of the file, the musts first.
    """

    name: str
    talks: tuple[CaseTalk, ...]
    types: tuple[MemoryType, ...]
    expectations: tuple[Expectation, ...]
    language: str = "en"
    tags: tuple[str, ...] = ()
    memories: tuple[InitialMemory, ...] = ()
    source: str = ""

    @property
    def messages(self) -> tuple[NewMessage, ...]:
        """The messages of all conversations; message number 1 comes first."""
        return tuple(message for talk in self.talks for message in talk.messages)

    def type_named(self, name: str) -> MemoryType:
        """Return the memory type *name* of the case; it must exist."""
        return next(each for each in self.types if each.name == name)


def objects_in(value: Json) -> list[JsonObject]:
    """Return the objects in a JSON list; none of any other value."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def chosen(cases: Sequence[EvaluationCase], tags: Sequence[str]) -> list[EvaluationCase]:
    """Return the cases with one of *tags* as a tag or language; all cases without tags."""
    return [case for case in cases if not tags or not {case.language, *case.tags}.isdisjoint(tags)]
