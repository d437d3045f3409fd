"""The sources of a receipt: the names of what its formation read and wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from recollect.formation.derived_memories import DerivedChange
from recollect.formation.offer import Offer
from recollect.formation.operation_outcomes import OperationOutcome, Present
from recollect.formation.window import Window
from recollect.records import DeleteMemory, EvidenceMap, Json, Memory, PutMemory, Write
from recollect.stores.receipt_sources import names_by_thread
from recollect.stores.remainder import MEMORY_THREAD, version_name


def receipt_sources(
    window: Window,
    offer: Offer | None,
    present: Present | None = None,
    outcomes: Sequence[OperationOutcome] = (),
) -> dict[str, list[Json]]:
    """Return the names of what a formation read and wrote, as evidence names it, by thread."""
    read = [(line.message.thread, line.message.id) for line in window.lines]
    for memory in _memories_read(offer, present):
        read += _names_in(memory)
    return names_by_thread([*read, *_written(outcomes)])


def consolidation_sources(
    memories: Iterable[Memory], changes: Iterable[DerivedChange]
) -> dict[str, list[Json]]:
    """Return the names of the *memories* that a consolidation read and of what it wrote."""
    names = [name for memory in memories for name in _names_in(memory)]
    for write in (write for each in changes for write in each.writes):
        if isinstance(write, PutMemory):
            names += _cited_in(write.evidence)
        names += _versions_of([write])
    return names_by_thread(names)


def _names_in(memory: Memory) -> Iterator[tuple[str, str]]:
    yield MEMORY_THREAD, version_name(memory.type, memory.key, memory.version)
    # Its words are those of its evidence, which may be erased when the memory is long gone.
    yield from _cited_in(memory.evidence)


def _cited_in(evidence: EvidenceMap) -> Iterator[tuple[str, str]]:
    return ((each.thread, each.message) for found in evidence.values() for each in found)


def _memories_read(offer: Offer | None, present: Present | None) -> Iterator[Memory]:
    if offer is not None:
        yield from offer.known.values()
    if present is not None:
        yield from present.at.values()
        yield from present.seen
        for rivals in present.rivals.values():
            yield from rivals


def _written(outcomes: Iterable[OperationOutcome]) -> Iterator[tuple[str, str]]:
    yield from _versions_of(each.write for each in outcomes if each.write is not None)


def _versions_of(writes: Iterable[Write]) -> Iterator[tuple[str, str]]:
    for each in writes:
        if not isinstance(each, DeleteMemory):
            version = (each.expected or 0) + 1
            yield MEMORY_THREAD, version_name(each.type, each.key, version)
