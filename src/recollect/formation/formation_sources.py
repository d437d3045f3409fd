"""The sources of a receipt: the names of what its formation read and wrote."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from recollect.formation.offer import Offer
from recollect.formation.operation_outcomes import OperationOutcome, Present
from recollect.formation.window import Window
from recollect.records import DeleteMemory, Json, Memory
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
        read.append((MEMORY_THREAD, version_name(memory.type, memory.key, memory.version)))
        # Its words are those of its evidence, which may be erased when the memory is long gone.
        cited = (each for found in memory.evidence.values() for each in found)
        read += [(each.thread, each.message) for each in cited]
    return names_by_thread([*read, *_written(outcomes)])


def _memories_read(offer: Offer | None, present: Present | None) -> Iterator[Memory]:
    if offer is not None:
        yield from offer.known.values()
    if present is not None:
        yield from present.at.values()
        yield from present.seen
        for rivals in present.rivals.values():
            yield from rivals


def _written(outcomes: Iterable[OperationOutcome]) -> Iterator[tuple[str, str]]:
    for each in outcomes:
        if each.write is not None and not isinstance(each.write, DeleteMemory):
            version = (each.write.expected or 0) + 1
            yield MEMORY_THREAD, version_name(each.type, each.key, version)
