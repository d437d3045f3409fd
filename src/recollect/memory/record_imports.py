"""Import exported records into a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from recollect.deferred_imports import load_modules
from recollect.memory.runtime import MemoryRuntime
from recollect.records import JsonObject
from recollect.stores.contract.base import Store
from recollect.stores.plans.archive import batches_of

if TYPE_CHECKING:
    from recollect.lifecycle.record_import import RecordCallback, RecordImport, RecordNote


def open_record_import(
    memory: ImportMethods, *, depth: int = 1, restore_erased: bool = False
) -> RecordImport:
    """Return an import of records into *memory*, to be given them batch by batch."""
    from recollect.lifecycle.record_import import RecordImport

    runtime = memory._runtime  # noqa: SLF001 (one module)
    return RecordImport(
        memory.store,
        runtime.assistants,
        runtime.wrote,
        depth=depth,
        restore_erased=restore_erased,
    )


def ignore_note(_: RecordNote) -> None:
    """Ignore a note; the default callback."""


class ImportMethods:
    """The part of `Recollect` that imports exported records."""

    store: Store
    _runtime: MemoryRuntime

    async def import_records(
        self,
        records: Sequence[JsonObject],
        *,
        restore_erased: bool = False,
        told: RecordCallback = ignore_note,
    ) -> int:
        """
        Restore exported records, in batches of one scope each; return how many were new.

        Batches of one scope are stored in order, those of different scopes concurrently.
        Idempotent. Records that this store's ledger lists as erased are left out, with everything
        derived from them alone; so is evidence in messages that are neither in the store nor among
        the records.

        Args:
            restore_erased: Also restore what was erased here.
            told: Called for each record that was left out or stored differently.

        Raises:
            ConflictError: A record differs from the stored one at its address. Earlier batches of
                its scope are stored, and some of other scopes may be.
            UsageError: A record is malformed, holds invalid settings, or holds internal data of a
                service. Earlier batches of its scope are stored, and some of other scopes may be.
        """
        await load_modules("recollect.lifecycle.scope_batches")
        from recollect.lifecycle.scope_batches import take_window, windows_of

        batches = [batch for _, batch in batches_of(records)]
        record_import = open_record_import(self, restore_erased=restore_erased)
        new = places = 0
        record_import.expect(records)
        for window in windows_of(batches):
            taken = await take_window(record_import, window, partial(record_import.take, last=True))
            for batch, counts in zip(window, taken.counts, strict=True):
                if counts is None:  # this batch failed; its error is raised below
                    break
                new += counts.new
                for note in counts.notes:
                    # A note counts within its batch; the caller's numbers are of all *records*.
                    told(replace(note, place=note.place + places))
                places += len(batch)
            if taken.error:
                raise taken.error
        return new
