"""Putting records of an export back into a memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.deferred_imports import load_modules
from recollect.memory.runtime import MemoryRuntime
from recollect.records import JsonObject
from recollect.stores.contract.base import Store
from recollect.stores.plans.archive import batches_of

if TYPE_CHECKING:
    from recollect.lifecycle.record_intake import Intake, RecordNote, Told


def open_intake(memory: Restoration, *, depth: int = 1, restore_erased: bool = False) -> Intake:
    """Return what takes the records of one import into *memory*, batch by batch; see `Intake`."""
    return memory._intake(depth=depth, restore_erased=restore_erased)  # noqa: SLF001 (one module)


def tell_nothing(_: RecordNote) -> None:
    """Take a note that nobody asked for."""


class Restoration:
    """What a memory offers for records from outside."""

    store: Store
    _runtime: MemoryRuntime

    def _intake(self, *, depth: int = 1, restore_erased: bool = False) -> Intake:
        from recollect.lifecycle.record_intake import Intake

        runtime = self._runtime
        return Intake(
            self.store,
            runtime.assistants,
            runtime.wrote,
            depth=depth,
            restore_erased=restore_erased,
        )

    async def restore(
        self,
        records: Sequence[JsonObject],
        *,
        restore_erased: bool = False,
        told: Told = tell_nothing,
    ) -> int:
        """
        Put exported records back, in batches of one scope each; say how many were new.

        Repeating it changes nothing. What this store's ledger says was erased is left out, with
        what rests on it alone; so is evidence in messages that are neither here nor among the
        records.

        Args:
            restore_erased: Bring back what was erased here as well.
            told: Is told of each record that was left out, or stored otherwise.

        Raises:
            ConflictError: A record differs from what stands in its place; the batches
                before it are stored.
            UsageError: A record is not one, or no direct write would have made it: settings that
                are wrong, or what a service keeps; the batches before it are stored.
        """
        await load_modules("recollect.lifecycle.record_intake")
        batches = batches_of(records)
        intake, new, places = self._intake(restore_erased=restore_erased), 0, 0
        intake.expect(records)
        for _, batch in batches:
            taken = await intake.take(batch, last=True)
            new += taken.new
            for note in taken.notes:
                told(replace(note, place=note.place + places))
            places += len(batch)
        return new
