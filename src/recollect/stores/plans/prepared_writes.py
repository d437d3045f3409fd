"""Prepared writes: puts and ends of memories, validated and converted to stored form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, get_args

from recollect.errors import UsageError
from recollect.records import (
    DeleteMemory,
    EndMemory,
    JsonObject,
    MemoryAddress,
    MemoryState,
    PutMemory,
    Trust,
    Write,
)
from recollect.side_records import (
    ATTACHMENT_PART,
    TYPES_SETTING,
    DeleteSideRecord,
    PutSideRecord,
    SideWrite,
)
from recollect.stores.digests import text_hash
from recollect.stores.fast_records import maker_of
from recollect.stores.plans.evidence import encode_evidence
from recollect.stores.plans.side_records import PreparedSideWrite, prepare_side_write
from recollect.stores.validation import (
    check_id,
    check_object,
    check_position,
    check_text,
    check_time,
    plain_text,
    to_datetime,
)
from recollect.text.coded_text import with_code
from recollect.text.searchable import memory_text
from recollect.text.terms import encode_terms

_TRUSTS: Final = frozenset(get_args(Trust))
_STATES: Final = frozenset(get_args(MemoryState))


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPut:
    """A validated `PutMemory`, in stored form."""

    type: str
    key: str
    value: str
    text: str
    expected: int | None
    valid_from: int | None
    valid_until: int | None
    expires_at: int | None
    evidence: str
    trust: Trust
    state: MemoryState
    cause: str
    terms: bytes
    text_hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedEnd:
    """A validated `EndMemory`."""

    type: str
    key: str
    at: int
    expected: int | None
    cause: str


PreparedMemoryWrite = PreparedPut | PreparedEnd | DeleteMemory
PreparedWrite = PreparedMemoryWrite | PreparedSideWrite

# `maker_of` is faster than the constructor, and imports make many of these.
_PUT: Final = maker_of(PreparedPut)


def request_beside(settings: JsonObject | None, writes: Sequence[PreparedWrite]) -> list[object]:
    """
    Return what a request to append asks for beside its messages, for the digest of its key.

    A retry must have the same digest, so this leaves out what each attempt derives from the store:
    the memory types of the scope, and the removal of the parts of a replaced file.
    """
    given = {name: each for name, each in (settings or {}).items() if name != TYPES_SETTING}
    told = [each for each in writes if not _removes_part(each)]
    return [each for each in (check_object(given, "settings") if given else "", told) if each]


def _removes_part(write: PreparedWrite) -> bool:
    if not isinstance(write, PreparedSideWrite):
        return False
    return write.value is None and write.place[1] == ATTACHMENT_PART


def prepare_write(write: Write | SideWrite | PreparedWrite) -> PreparedWrite:
    """Validate *write* and return its prepared form; a prepared write is returned as it is."""
    if isinstance(write, PutMemory):
        return prepare_put(write)
    if isinstance(write, DeleteMemory):
        type_, key = _check_address(write)
        return replace(write, type=type_, key=key)
    if isinstance(write, EndMemory):
        type_, key = _check_address(write)
        at = check_time(write.at, "the end of a memory")
        cause = check_text(write.cause, "a cause")
        return PreparedEnd(type=type_, key=key, at=at, expected=write.expected, cause=cause)
    if isinstance(write, PutSideRecord | DeleteSideRecord):
        return prepare_side_write(write)
    if isinstance(write, PreparedPut | PreparedEnd | PreparedSideWrite):
        return write
    raise UsageError(f"a write is a PutMemory, EndMemory or DeleteMemory, not {write!r}")


def _check_address(write: Write) -> MemoryAddress:
    type_, key = check_id(write.type, "a memory's type"), check_id(write.key, "a memory's key")
    if write.expected is not None and check_position(write.expected, "a version") < 0:
        msg = f"a write expects version {write.expected}; versions begin at 1, 0 means none"
        raise UsageError(msg)
    return type_, key


def prepare_put(
    write: PutMemory, text_of: Callable[[JsonObject], str] = memory_text
) -> PreparedPut:
    """Like `prepare_write` for a put; *text_of* supplies the text if it has none."""
    type_, key = _check_address(write)
    value = check_object(write.value, f"the value of {type_}/{key}")
    given = text_of(write.value) if write.text is None else write.text
    text = check_text(given, "a memory's text")
    valid_from = _moment(write.valid_from, "valid_from")
    valid_until = _moment(write.valid_until, "valid_until")
    check_validity(valid_from, valid_until, f"{type_}/{key}")
    if write.trust not in _TRUSTS or write.state not in _STATES:
        raise UsageError(
            f"trust {write.trust!r} or state {write.state!r} is unknown: use one of "
            f"{', '.join(get_args(Trust))} and one of {', '.join(get_args(MemoryState))}"
        )
    return _PUT((
        type_, key, value, text, write.expected, valid_from, valid_until,
        _moment(write.expires_at, "expires_at"), encode_evidence(write.evidence),
        plain_text(write.trust), plain_text(write.state), check_text(write.cause, "a cause"),
        encode_terms(text, None), text_hash(text),
    ))  # fmt: skip


def _moment(time: datetime | None, what: str) -> int | None:
    return None if time is None else check_time(time, what)


def check_validity(valid_from: int | None, valid_until: int | None, address: str) -> None:
    """Raise `UsageError` if a validity ends before it begins."""
    if valid_from is not None and valid_until is not None and valid_until < valid_from:
        raise UsageError(
            with_code(
                "ends_before_it_begins",
                f"{address} would be valid until {to_datetime(valid_until).isoformat()}, before it "
                f"begins at {to_datetime(valid_from).isoformat()}",
                memory=address,
            )
        )
