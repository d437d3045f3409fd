"""The operations that a model may request: insert, patch and end memories, with evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias

from recollect.records import JsonObject

FaultKind: TypeAlias = Literal["answer", "call", "value", "quote", "claim", "hedge", "support"]
"""
Kind of fault: the whole answer, a call's form, a value that violates its schema, a quote that is
in no message, an unsupported claim, an omitted doubt, or a value that its quotes do not support.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """
    The quote from one message that supports a part of a value.

    *message* is its number in the window, *path* a JSON pointer into the value; ``""`` means all of
    it. An *implied* citation was found in the conversation, not given by the model.
    """

    message: int
    quote: str
    path: str = ""
    implied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert:
    """
    Keep a new document of a type; *since* and *until* say when it is true, as ISO dates.

    *key* is where the document stands of the speaker who is cited, if several have one.
    """

    call: str
    type: str
    value: JsonObject
    because: tuple[Citation, ...]
    since: str | None = None
    until: str | None = None
    key: str | None = None

    @property
    def document_key(self) -> str:
        """Return its key, if it is a document."""
        return self.key or self.type


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchChange:
    """One operation of a JSON Patch (RFC 6902), and the words that it rests on."""

    operation: JsonObject
    because: Citation
    besides: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Change a known document; *target* is the short id under which the model was shown it."""

    call: str
    target: str
    changes: tuple[PatchChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """End the validity of a known document, at *at* or when it was said."""

    call: str
    target: str
    because: tuple[Citation, ...]
    at: str | None = None


Operation: TypeAlias = Insert | Patch | End


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """
    A fault of an answer, or of one of its calls, phrased so that a model can repair it.

    *call* is the id of the call, ``None`` if no single call is at fault; *tool* and *target* are
    the tool called and the memory meant, as far as they could be parsed.
    """

    call: str | None
    kind: FaultKind
    reason: str
    tool: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedCall:
    """
    A call of the model that was refused before anything was decided, and the *reason*.

    *type* and *value* (its JSON, cut if it is long) are those of a new memory; *target* is the
    short id of the memory that the call would have changed or ended.

    >>> RefusedCall(kind="quote", reason="message 1 does not say 'I live in Paris'").type is None
    True
    """

    kind: FaultKind
    reason: str
    type: str | None = None
    value: str | None = None
    target: str | None = None

    def as_json(self) -> JsonObject:
        """Return the fields that it has, as receipts and the service tell them."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: each for name, each in named.items() if each is not None}


class WrongCallError(Exception):
    """A call cannot be carried out; the message is for the model."""

    def __init__(self, kind: FaultKind, reason: str, *, target: str | None = None) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason
        self.target = target


def same_operation(one: Operation, other: Operation) -> bool:
    """Return True if two calls ask for the same."""
    return type(one) is type(other) and replace(one, call="") == replace(other, call="")


def citations_of(operation: Operation) -> Sequence[Citation]:
    """Return all citations of an operation."""
    if isinstance(operation, Patch):
        return [each for change in operation.changes for each in cited_by(change)]
    return operation.because


def cited_by(change: PatchChange) -> tuple[Citation, ...]:
    """Return all citations of one change."""
    return (change.because, *change.besides)
