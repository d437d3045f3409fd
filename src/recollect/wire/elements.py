"""Times, scopes and evidence as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from recollect.records import Evidence, EvidenceMap, FileLines, Json, Scope

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

RecordT = TypeVar("RecordT", bound="DataclassInstance")
Fields: TypeAlias = Mapping[str, Any]
"""A decoded JSON object, whose fields are not validated yet."""
ScopeNaming: TypeAlias = Callable[[Scope], list[Json]]
"""Encodes a scope; a service makes it relative to the scope of the reader's key."""


def time_to_json(time: datetime | None) -> str | None:
    """
    Encode a time in ISO 8601, ``None`` as ``None``.

    >>> from datetime import UTC
    >>> time_to_json(datetime(2026, 5, 1, 12, tzinfo=UTC))
    '2026-05-01T12:00:00Z'
    """
    return None if time is None else time.isoformat().replace("+00:00", "Z")


def time_from_json(written: str) -> datetime:
    """Decode the result of `time_to_json`."""
    return datetime.fromisoformat(written)


def optional_time(written: str | None) -> datetime | None:
    """Decode the result of `time_to_json`, which may be ``None``."""
    return None if written is None else datetime.fromisoformat(written)


def scope_to_json(scope: Scope) -> list[Json]:
    """Encode a scope as its segments."""
    return list(scope)


def evidence_to_json(evidence: EvidenceMap) -> dict[str, Json]:
    """
    Encode evidence by JSON pointer.

    The defaults, group 0 and the kind ``message``, are left out.
    """
    return {
        pointer: [one_evidence_to_json(each) for each in found]
        for pointer, found in evidence.items()
    }


def one_evidence_to_json(evidence: Evidence) -> dict[str, Json]:
    """Encode the evidence of one message or finding; its defaults are left out."""
    written: dict[str, Json] = {
        "thread": evidence.thread,
        "message": evidence.message,
        "quote": evidence.quote,
    }
    if evidence.group:
        written["group"] = evidence.group
    if evidence.kind != "message":
        written["kind"] = evidence.kind
    if evidence.file is not None:
        written["file"] = asdict(evidence.file)
    if evidence.source is not None:
        written["source"] = evidence.source
    return written


def evidence_from_json(written: Fields) -> EvidenceMap:
    """Decode the result of `evidence_to_json`."""
    return {
        pointer: tuple(
            Evidence(
                thread=each["thread"],
                message=each["message"],
                quote=each.get("quote"),  # `evidence_to_json` leaves out defaults: hence `get`
                group=each.get("group", 0),
                kind=each.get("kind", "message"),
                file=None if each.get("file") is None else FileLines(**each["file"]),
                source=each.get("source"),
            )
            for each in found
        )
        for pointer, found in written.items()
    }


_DECODERS: Final[Mapping[object, Callable[[Any], Any]]] = {
    "datetime": time_from_json,
    "datetime | None": optional_time,
    "Scope": tuple,
    "tuple[str, ...]": tuple,
    "tuple[int, ...]": tuple,
    "frozenset[str]": frozenset,
    "EvidenceMap": evidence_from_json,
}
"""Decoders by the annotation of a field, for what JSON has no type for."""


def record_to_json(record: DataclassInstance) -> dict[str, Json]:
    """Encode a dataclass as an object with its fields: times in ISO 8601, tuples as lists."""
    return {each.name: _plain(getattr(record, each.name)) for each in fields(record)}


def _plain(value: Any) -> Json:
    if isinstance(value, datetime):
        return time_to_json(value)
    if isinstance(value, tuple):
        return list(value)
    found: Json = sorted(value) if isinstance(value, frozenset) else value
    return found


def record_from_json(kind: type[RecordT], written: Fields, **decoded: object) -> RecordT:
    """
    Decode a dataclass from an object with its fields; unknown ones are ignored.

    Args:
        decoded: The fields whose values are records themselves.

    Raises:
        KeyError: A field is missing.
    """
    own = {
        name: decode(written[name]) if decode else written[name]
        for name, decode in _decoders(kind).items()
        if name not in decoded
    }
    return kind(**own, **decoded)


@cache
def _decoders(kind: type[DataclassInstance]) -> Mapping[str, Callable[[Any], Any] | None]:
    return {each.name: _DECODERS.get(each.type) for each in fields(kind)}
