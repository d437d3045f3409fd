"""Find imported records that a store's ledger lists as erased, and what remains without them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from recollect.records import (
    INSTRUCTIONS,
    INSTRUCTIONS_PROPOSAL,
    JsonObject,
    MemoryAddress,
    MessageAddress,
    NewMessage,
    Scope,
)
from recollect.side_records import SideAddress
from recollect.stores.locator import open_store
from recollect.stores.plans.erase_ledger import (
    LedgerEntry,
    cited_in,
    digest_of_target,
    evidence_in,
    sources_in,
)
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.side_archive import SIDE, address_in
from recollect.stores.proposal_names import proposed_for
from recollect.stores.receipt_sources import sources_of
from recollect.stores.remainder import cited_version, remainder_of
from recollect.stores.validation import check_time
from recollect.text.searchable import memory_text

_BESIDE: Final = "recollect: beside"
"""Helper thread in the in-memory store: without it, an erase of all records deletes the scope."""
_MEMORY_PARTS: Final = ("value", "evidence", "valid_until", "cause", "revisions")
_FORMATION_PARTS: Final = ("receipt", "watermarks", "failed")


class Erasures:
    """The erase times in a ledger, looked up by target; in µs, 0 for never."""

    def __init__(self, entries: Iterable[LedgerEntry]) -> None:
        self._known: defaultdict[bytes, dict[bytes, int]] = defaultdict(dict)
        for entry in entries:
            for digest in entry.digests:
                before = self._known[entry.key].get(digest, 0)
                self._known[entry.key][digest] = max(before, entry.erased_at)

    def __bool__(self) -> bool:
        return bool(self._known)

    def at(self, scope: Scope, target: EraseTarget) -> int:
        """Return when exactly *target* was last erased from *scope*."""
        # Each key of the ledger gives the target another digest.
        found = (
            known.get(digest_of_target(key, scope, target), 0) for key, known in self._known.items()
        )
        return max(found, default=0)


class ScopeErasures:
    """The erase times of one scope, and of the scope that its records *came from*, if given."""

    def __init__(self, erasures: Erasures, scope: Scope, came_from: Scope | None = None) -> None:
        self._erasures = erasures
        self._scopes = {scope, came_from or scope}
        above = (each[:depth] for each in self._scopes for depth in range(1, len(each) + 1))
        below = (erasures.at(each, EraseScope(below=True)) for each in above)
        self.whole_at = max(self.at(EraseScope()), *below)
        """When the scope was last erased as a whole, by itself or with a scope above it."""

    def at(self, target: EraseTarget) -> int:
        """Return when exactly *target* was last erased."""
        return max(self._erasures.at(each, target) for each in self._scopes)


@dataclass(slots=True)
class Doomed:
    """The erased data of a scope, among the records seen so far."""

    cited: set[MessageAddress] = field(default_factory=set)
    """Messages, including those that are only cited as evidence, and versions of memories."""
    threads: set[str] = field(default_factory=set)
    memories: set[tuple[str, str]] = field(default_factory=set)
    formations: set[str] = field(default_factory=set)
    sides: set[SideAddress] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.cited or self.threads or self.memories or self.formations or self.sides)

    def names(self, record: JsonObject) -> bool:
        """Return True if *record* is itself one of these."""
        if record.get("kind") == SIDE:
            return address_in(record) in self.sides
        match name_of(record):
            case ("thread", id_):
                return id_ in self.threads
            case ("message", thread, id_):
                return (thread, id_) in self.cited
            case ("memory", type_, key):
                return (type_, key) in self.memories
            case (_, id_):
                return id_ in self.formations
        return False


def name_of(record: JsonObject) -> tuple[str, ...]:
    """Return a key that identifies a record within its scope."""
    fields = {
        "message": ("thread", "id"),
        "memory": ("type", "key"),
        SIDE: ("thread", "side_kind", "key"),
    }
    kind = str(record.get("kind"))
    return (kind, *(str(record.get(name)) for name in fields.get(kind, ("id",))))


def is_covered(time: object, erased_at: int) -> bool:
    """Return True if data of this *time* existed at the erase; assume so without a time."""
    return erased_at > 0 and not (isinstance(time, int) and time > erased_at)


def note_erased(erasures: ScopeErasures, records: Sequence[JsonObject], doomed: Doomed) -> None:
    """
    Add to *doomed* those of a scope's *records* that *erasures* lists.

    A record that came to the scope after the erase is not among them, even if its name is.

    Raises:
        UsageError: The evidence of a record cannot be read.
    """
    newer: set[MessageAddress] = set()
    for record in records:
        kind, *name = name_of(record)
        if kind == "message":
            at = _own_message_at(erasures, record)
            noted = doomed.cited if is_covered(record.get("kept_at"), at) else newer
            noted.add((name[0], name[1]))
        elif kind == "memory":
            _note_memory(erasures, record, doomed)
        elif kind == SIDE:
            _note_side(erasures, record, doomed)
        elif kind == "formation" and is_covered(record.get("committed_at"), erasures.whole_at):
            doomed.formations.add(name[0])
        elif kind == "formation":
            _note_sources(erasures, record, doomed)
        elif kind == "thread":
            at = max(erasures.whole_at, erasures.at(EraseThread(thread=name[0])))
            if is_covered(record.get("created_at"), at):
                doomed.threads.add(name[0])
    # A message that was added again after its erase has the same id, and is kept.
    doomed.cited -= newer


def _own_message_at(erasures: ScopeErasures, record: JsonObject) -> int:
    _, thread, id_ = name_of(record)
    at = max(erasures.whole_at, _message_at(erasures, thread, id_))
    if record.get("source") is None:
        return at
    return max(at, erasures.at(EraseSource(source=str(record["source"]))))


def _note_memory(erasures: ScopeErasures, record: JsonObject, doomed: Doomed) -> None:
    _, type_, key = name_of(record)
    addresses = ((type_, key), *_changed_by(record, type_, key))
    at = max(erasures.at(EraseMemory(type=of, key=each)) for of, each in addresses)
    if is_covered(record.get("created_at"), max(erasures.whole_at, at)):
        doomed.memories.add((type_, key))
    for version in versions_in(record):
        time = version.get("believed_from", version.get("updated_at"))
        sources = sources_in(version)
        for thread, id_ in cited_in(version):
            found = _named_at(erasures, thread, id_)
            if (source := sources.get((thread, id_))) is not None:
                found = max(found, erasures.at(EraseSource(source=source)))
            if is_covered(time, found):
                doomed.cited.add((thread, id_))


def _note_sources(erasures: ScopeErasures, record: JsonObject, doomed: Doomed) -> None:
    """Note what is erased of what a formation read or wrote: its receipt may repeat it."""
    receipt = record.get("receipt")
    for thread, name in (sources_of(receipt) or ()) if isinstance(receipt, Mapping) else ():
        if is_covered(record.get("committed_at"), _named_at(erasures, thread, name)):
            doomed.cited.add((thread, name))


def _named_at(erasures: ScopeErasures, thread: str, name: str) -> int:
    """Return when the message, or the memory of a version, that evidence names was erased."""
    if named := cited_version(thread, name):
        return erasures.at(EraseMemory(type=named[0], key=named[1]))
    return _message_at(erasures, thread, name)


def _changed_by(record: JsonObject, type_: str, key: str) -> Iterator[MemoryAddress]:
    """Yield the memory that a waiting, rejected or proposed change is for: they go with it."""
    proposed = proposed_for(key)
    if proposed is not None and record.get("state") in {"quarantined", "rejected"}:
        yield type_, proposed[0]
    value = record.get("value")
    if type_ == INSTRUCTIONS_PROPOSAL and isinstance(value, Mapping):
        yield INSTRUCTIONS, str(value.get("agent"))


def _note_side(erasures: ScopeErasures, record: JsonObject, doomed: Doomed) -> None:
    address, at = address_in(record), erasures.whole_at
    if address.thread is not None:
        at = max(at, erasures.at(EraseThread(thread=address.thread)))
    if is_covered(record.get("updated_at"), at):
        doomed.sides.add(address)


def _message_at(erasures: ScopeErasures, thread: str, id_: str) -> int:
    return max(
        erasures.at(EraseThread(thread=thread)),
        erasures.at(EraseMessages(thread=thread, messages=[id_])),
    )


def versions_in(record: JsonObject) -> Iterator[JsonObject]:
    """Yield a memory's record, and those of its past versions."""
    yield record
    past = record.get("revisions", ())
    if isinstance(past, list | tuple):
        yield from (each for each in past if isinstance(each, dict))


def erased_among(
    erasures: ScopeErasures, thread: str, messages: Sequence[NewMessage]
) -> list[bool]:
    """Return, per new message, whether a message with its id was erased after its time."""

    def is_erased(message: NewMessage) -> bool:
        at = max(erasures.whole_at, _message_at(erasures, thread, message.id or ""))
        if message.source is not None:
            at = max(at, erasures.at(EraseSource(source=message.source)))
        time = None if message.time is None else check_time(message.time, "a message's time")
        return is_covered(time, at)

    return [is_erased(each) for each in messages]


async def remainder_after_erase(
    scope: Scope, records: Sequence[JsonObject], doomed: Doomed
) -> dict[int, JsonObject]:
    """
    Return what remains of *records* after an erase of the *doomed* data, by their positions.

    The erase runs in an in-memory store, by the regular plan, so that derived values and formation
    receipts are handled as in any erase.

    Raises:
        UsageError, ConflictError: A record is malformed, or records contradict each other.
    """
    kept = {at: each for at, each in enumerate(records) if not _goes_before(each, doomed)}
    async with open_store("memory:") as beside:
        now = beside.now()
        await beside.restore(scope, [with_times(each, now) for each in kept.values()])
        last, first = (NewMessage(role="user", text="beside", id=id_) for id_ in ("last", "first"))
        await beside.append(scope, _BESIDE, [first, last])
        for target in _targets(doomed, list(kept.values())):
            await beside.erase(scope, target)
        left = {name_of(each): each for each in await beside.archive(scope)}
    return {
        at: _changed(each, left[name_of(each)])
        for at, each in kept.items()
        if name_of(each) in left
    }


def with_times(record: JsonObject, now: int) -> JsonObject:
    """Return *record* with the time *now*, if it is a memory without times."""
    is_undated = record.get("kind") == "memory" and "created_at" not in record
    return {"created_at": now, "updated_at": now, **record} if is_undated else record


def _goes_before(record: JsonObject, doomed: Doomed) -> bool:
    # A memory must exist when it is erased, so that what was derived from it is erased too.
    return record.get("kind") != "memory" and doomed.names(record)


def _targets(doomed: Doomed, records: Sequence[JsonObject]) -> Iterator[EraseTarget]:
    by_thread: defaultdict[str, list[str]] = defaultdict(list, {_BESIDE: ["first"]})
    for thread, id_ in sorted(doomed.cited):
        by_thread[thread].append(id_)
    for thread, ids in by_thread.items():
        yield EraseMessages(thread=thread, messages=ids)
    for type_, key in sorted(doomed.memories):
        yield EraseMemory(type=type_, key=key)
    # A thread that got new messages after its erase stays; its old messages are among *cited*.
    living = {each.get("thread") for each in records if each.get("kind") == "message"}
    for thread in sorted(doomed.threads - living):
        yield EraseThread(thread=thread)


def _changed(record: JsonObject, left: JsonObject) -> JsonObject:
    """Return *record* unchanged if the erase changed none of its content, otherwise *left*."""
    parts = {"memory": _MEMORY_PARTS, "formation": _FORMATION_PARTS}.get(str(record["kind"]), ())
    if all(record.get(name) == left.get(name) for name in parts):
        return record
    return left


def without_values(
    record: JsonObject, value: JsonObject, pointers: Sequence[str]
) -> JsonObject | None:
    """
    Return the record of a document without the parts of its *value* at *pointers*.

    Its past versions are left out; ``None`` if nothing of it remains.

    Raises:
        UsageError: Its evidence is malformed.
    """
    # Give the values a made-up source, and erase that: the regular plan computes the remainder.
    gone = ("", "")
    cited = {
        at: tuple((each.thread, each.message, each.quote) for each in found)
        for at, found in evidence_in(record).items()
    }
    left = remainder_of(value, {**cited, **dict.fromkeys(pointers, ((*gone, None),))}, {gone})
    if left is None:
        return None
    evidence = {at: [list(each) for each in found] for at, found in left.evidence.items()}
    return {
        **record,
        "value": left.value,
        "text": memory_text(left.value),
        "evidence": evidence,
        "revisions": [],
    }
