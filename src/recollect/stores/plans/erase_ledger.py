"""
The erase ledger: keyed digests of everything erased, so that no backup restores it.

Given an address, such as a scope and a thread id, and the entry's key, one can test whether it was
erased, and given a scope, whether the erase was in or below it. The entry alone reveals neither.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from recollect.errors import UsageError
from recollect.records import EvidenceMap, JsonObject, Scope
from recollect.stores.digests import keyed_digest
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.evidence import decode_evidence, encode_evidence
from recollect.stores.receipt_sources import sources_of
from recollect.stores.remainder import cited_version
from recollect.stores.rows import ReceiptRow
from recollect.stores.validation import check_id, check_list, check_object

_DIGEST_BYTES: Final = 16
_KEY_BYTES: Final = 32
_FOREIGN: Final = b"\x01"
"""
First byte of a receipt's target that holds another store's key before its digests.

It makes the length no multiple of a digest's, by which such a target is recognised.
"""
_COUNTS: Final = ("messages", "memories", "revised", "erased_at")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One erase, with the digests, made with *key*, of its names and scope; times are in µs."""

    id: str
    key: bytes = field(repr=False)
    digests: tuple[bytes, ...]
    messages: int
    memories: int
    revised: int
    erased_at: int
    clean_at: int | None


def target_digests(key: bytes, scope: Scope, target: EraseTarget) -> bytes:
    """
    Return the concatenated digests of an erase: of its names, one per message, and of its scope.

    That scope and each one above it have a digest, by which the erases below a scope are found.
    """
    return named_digests(key, scope, target) + b"".join(_marks_of(key, scope))


def named_digests(key: bytes, scope: Scope, *targets: EraseTarget) -> bytes:
    """Return the concatenated digests of all that *targets* name in a scope."""
    names = (each for target in targets for each in _each(target))
    return b"".join(digest_of_target(key, scope, each) for each in names)


def _marks_of(key: bytes, scope: Scope) -> Iterator[bytes]:
    return (_mark_below(key, scope[:depth]) for depth in range(1, len(scope) + 1))


def _mark_below(key: bytes, prefix: Scope) -> bytes:
    """Return the digest that every erase in or below *prefix* has."""
    return keyed_digest(key, prefix, "below")


def digest_of_target(key: bytes, scope: Scope, target: EraseTarget) -> bytes:
    """Return the digest of a target that names at most one message."""
    return keyed_digest(key, scope, repr(target))


def _each(target: EraseTarget) -> Iterator[EraseTarget]:
    if isinstance(target, EraseMessages):
        for message in target.messages:
            yield EraseMessages(thread=target.thread, messages=[message])
    elif isinstance(target, EraseMemory):
        # The memory is named by its address alone, at whichever version it was erased.
        yield EraseMemory(type=target.type, key=target.key)
    else:
        yield target


def entry_of(row: ReceiptRow, key: bytes) -> LedgerEntry:
    """Return the ledger entry of a receipt in the store with *key*."""
    target = row.target
    if len(target) % _DIGEST_BYTES:  # adopted from another store: its key comes first
        key, target = target[1 : 1 + _KEY_BYTES], target[1 + _KEY_BYTES :]
    return LedgerEntry(
        id=row.id,
        key=key,
        digests=_split(target),
        messages=row.messages,
        memories=row.memories,
        revised=row.revised,
        erased_at=row.erased_at,
        clean_at=row.clean_at,
    )


def _split(digests: bytes) -> tuple[bytes, ...]:
    starts = range(0, len(digests), _DIGEST_BYTES)
    return tuple(digests[start : start + _DIGEST_BYTES] for start in starts)


def row_of(entry: LedgerEntry, *, unclean: bool) -> ReceiptRow:
    """Return *entry* as a receipt row for any store; clean unless *unclean*."""
    clean_at = entry.erased_at if entry.clean_at is None else entry.clean_at
    return ReceiptRow(
        id=entry.id,
        target=_FOREIGN + entry.key + b"".join(entry.digests),
        messages=entry.messages,
        memories=entry.memories,
        revised=entry.revised,
        erased_at=entry.erased_at,
        clean_at=None if unclean else clean_at,
    )


def entry_record(entry: LedgerEntry) -> JsonObject:
    """Return *entry* as JSON."""
    return {
        "kind": "erase",
        "id": entry.id,
        "key": entry.key.hex(),
        "digests": [each.hex() for each in entry.digests],
        **{name: getattr(entry, name) for name in _COUNTS},
        "clean_at": entry.clean_at,
    }


def read_entry(record: JsonObject) -> LedgerEntry:
    """Return the entry that `entry_record` encoded."""
    try:
        counts = {name: int(str(record[name])) for name in _COUNTS}
        clean_at = record["clean_at"]
        digests = check_list(record["digests"], "digest")
        found = LedgerEntry(
            id=check_id(record["id"], "an erase's id"),
            key=bytes.fromhex(str(record["key"])),
            digests=tuple(bytes.fromhex(each) for each in digests),
            clean_at=None if clean_at is None else int(str(clean_at)),
            **counts,
        )
    except (KeyError, TypeError, ValueError) as error:
        msg = f"an entry of the erase ledger lacks or distorts a field: {error!r}"
        raise UsageError(msg) from error
    if len(found.key) != _KEY_BYTES or any(len(each) != _DIGEST_BYTES for each in found.digests):
        raise UsageError(
            f"the entry {found.id!r} of the erase ledger is damaged: a key has {_KEY_BYTES} bytes, "
            f"a digest {_DIGEST_BYTES}"
        )
    return found


def erases_below(entries: Iterable[LedgerEntry], prefix: Scope) -> list[LedgerEntry]:
    """
    Return the erases in *prefix* and below.

    An erase of everything below a scope above *prefix* is cut down to *prefix* and gets another id:
    in another store, the whole would also erase scopes that it does not concern.
    """
    found = []
    for entry in entries:
        digests = set(entry.digests)
        if _mark_below(entry.key, prefix) in digests:
            found.append(entry)
        elif _names_scope(entry.key, digests, prefix):
            found.append(_narrowed(entry, prefix))
    return found


def _narrowed(entry: LedgerEntry, prefix: Scope) -> LedgerEntry:
    digests = target_digests(entry.key, prefix, EraseScope(below=True))
    mark = _mark_below(entry.key, prefix).hex()
    return LedgerEntry(
        id=f"{entry.id}-{mark}",
        key=entry.key,
        digests=_split(digests),
        messages=0,  # those of the whole erase say nothing of this part
        memories=0,
        revised=0,
        erased_at=entry.erased_at,
        clean_at=entry.clean_at,
    )


def named_in(entries: Iterable[LedgerEntry], records: Sequence[JsonObject]) -> list[EraseTarget]:
    """
    Return the erase targets that *entries* name among *records*, all records of a scope.

    If the scope itself was erased, or an ancestor with everything below, that is the only target.
    """
    if not records:
        return []
    known = _known_digests(entries)
    scope = tuple(map(str, check_list(records[0]["scope"], "segment")))
    if any(_names_scope(key, digests, scope) for key, digests in known.items()):
        return [EraseScope()]
    return [
        target
        for target in _candidates(records)
        if any(digest_of_target(key, scope, target) in known[key] for key in known)
    ]


def threads_named(
    entries: Iterable[LedgerEntry], places: Iterable[tuple[Scope, str]]
) -> Iterator[tuple[Scope, str]]:
    """Yield those of *places*, threads, that *entries* name, or whose whole scope they name."""
    known = _known_digests(entries)
    for scope, thread in places:
        target = EraseThread(thread=thread)
        for key, digests in known.items():
            is_named = digest_of_target(key, scope, target) in digests
            if is_named or _names_scope(key, digests, scope):
                yield scope, thread
                break


def _known_digests(entries: Iterable[LedgerEntry]) -> dict[bytes, set[bytes]]:
    """Return digests by key: entries adopted from other stores have those stores' keys."""
    known: dict[bytes, set[bytes]] = {}
    for entry in entries:
        known.setdefault(entry.key, set()).update(entry.digests)
    return known


def _names_scope(key: bytes, digests: set[bytes], scope: Scope) -> bool:
    if digest_of_target(key, scope, EraseScope()) in digests:
        return True
    below = EraseScope(below=True)
    return any(
        digest_of_target(key, scope[:depth], below) in digests for depth in range(1, len(scope) + 1)
    )


def _candidates(records: Sequence[JsonObject]) -> list[EraseTarget]:
    """Return every address in *records* as a target, including messages cited as evidence."""
    found: dict[tuple[str, str, str], EraseTarget] = {}

    def note_message(thread: str, message: str) -> None:
        found["thread", thread, ""] = EraseThread(thread=thread)
        found["message", thread, message] = EraseMessages(thread=thread, messages=[message])

    for record in records:
        match record["kind"]:
            case "thread":
                thread = str(record["id"])
                found["thread", thread, ""] = EraseThread(thread=thread)
            case "message":
                note_message(str(record["thread"]), str(record["id"]))
                if record.get("source") is not None:
                    source = str(record["source"])
                    found["source", source, ""] = EraseSource(source=source)
            case "side" if record["thread"] is not None:
                thread = str(record["thread"])
                found["thread", thread, ""] = EraseThread(thread=thread)
            case "memory":
                type_, key = str(record["type"]), str(record["key"])
                found["memory", type_, key] = EraseMemory(type=type_, key=key)
                versions = [record, *check_list(record["revisions"], "revision")]
                for cited in (each for version in versions for each in cited_in(version)):
                    note_message(*cited)
                found |= _sources_named(versions)
            case "formation":
                found |= _sources_of_receipt(record)
    return list(found.values())


def _sources_of_receipt(record: JsonObject) -> dict[tuple[str, str, str], EraseTarget]:
    """Return what a formation read and wrote, as targets; nothing if its receipt lacks that."""
    receipt, found = record["receipt"], dict[tuple[str, str, str], EraseTarget]()
    for thread, name in (sources_of(receipt) or ()) if isinstance(receipt, Mapping) else ():
        found["thread", thread, ""] = EraseThread(thread=thread)
        found["message", thread, name] = EraseMessages(thread=thread, messages=[name])
        if named := cited_version(thread, name):
            found["memory", named[0], named[1]] = EraseMemory(type=named[0], key=named[1])
    return found


def _sources_named(versions: Iterable[JsonObject]) -> dict[tuple[str, str, str], EraseTarget]:
    named = {source for version in versions for source in sources_in(version).values()}
    return {("source", each, ""): EraseSource(source=each) for each in sorted(named)}


def cited_in(version: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield the (thread, message) pairs cited in the record of a memory version."""
    for cited in evidence_in(version).values():
        for each in cited:
            yield each.thread, each.message


def sources_in(version: JsonObject) -> dict[tuple[str, str], str]:
    """Return the sources of the findings in the record of a memory version, by thread and id."""
    cited = (each for found in evidence_in(version).values() for each in found)
    return {(each.thread, each.message): each.source for each in cited if each.source is not None}


def evidence_in(version: JsonObject) -> EvidenceMap:
    """Return the evidence in the record of a memory version."""
    written = check_object(version.get("evidence"), "a memory's evidence")
    try:
        found = decode_evidence(written)
    except (AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"a memory's evidence cannot be read: {error}") from error
    encode_evidence(found)  # which checks every name in it
    return found
