"""Each safeguard between two features is one that random histories miss at once when it is gone."""

import asyncio
from collections.abc import Collection, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from secrets import token_bytes
from typing import Any, Final, TypeAlias

import pytest

from benchmarks.combinations.histories import Tally, play
from benchmarks.combinations.stage import FilePlaces
from recollect.formation import derived_memories as derivation
from recollect.lifecycle import store_copy
from recollect.memory.facade import Recollect
from recollect.ports import Ids
from recollect.records import Evidence, EvidenceMap, JsonObject, Memory, Scope
from recollect.stores.contract.backend import Transactor
from recollect.stores.meter import plan_charged
from recollect.stores.plans import undo_reversal
from recollect.stores.plans.erase_targets import EraseTarget
from recollect.stores.plans.erasure import plan_erase
from recollect.stores.plans.leases import Lease, check_lease
from recollect.stores.plans.undo import Undo
from recollect.stores.rows import ReceiptRow, ScopeRow
from recollect.stores.unit_of_work import PlannedWrite, Rows
from recollect.worker.loop import Worker

HISTORIES_MAX: Final = 60
"""In so many histories each mutant must be seen."""
STEPS: Final = 20
Patch: TypeAlias = tuple[str, object]


def forgetting(
    rows: Rows, scope: Scope, target: EraseTarget, *, receipt: ReceiptRow, key: bytes
) -> PlannedWrite[ReceiptRow]:
    """Forget all keys of a scope in which something is erased."""
    planned = plan_erase(rows, scope, target, receipt=receipt, key=key)
    forgotten = [(row.id, receipt.erased_at + 1) for row in planned.effect.scopes]
    effect = replace(planned.effect, old_keys=forgotten, idempotency=())
    return PlannedWrite(effect, planned.result)


def trusting(self: Worker, actor: str, *, proviso: object = None) -> Worker:
    """Form without checking whether the key is still valid."""
    assert proviso
    return acting(self, actor)


def whatever_the_epoch(scope: ScopeRow | None, lease: Lease) -> ScopeRow:
    """Accept a lease even if something was erased since, which released it as well."""
    held = replace(scope, lease_owner=lease.owner) if scope else None
    return check_lease(held, replace(lease, epoch=scope.epoch) if scope else lease)


def undone_anyway(
    rows: Rows, undo: Undo, *, ids: Ids, now: int, secret: bytes
) -> PlannedWrite[None]:
    """Undo a change even if something was erased since."""
    scope = rows.scope(undo.scope)
    known = replace(undo, epoch=scope.epoch) if scope else undo
    another = bytes(len(secret))  # the ledger names nothing
    return plan_undo(rows, known, ids=ids, now=now, secret=another)


def without_made(self: Any, change: Any) -> None:
    """Leave behind what a change created."""
    if change.text("did") != "made":
        take_back(self, change)


def of_its_own(self: Recollect, store: Any, **given: Any) -> Recollect:
    """Return a view with a separate runtime."""
    view = over(self, store, **given)
    view._runtime = copy(view._runtime)
    return view


def first_alone(sources: Sequence[Memory]) -> list[Evidence]:
    """Forget all sources of a derived memory but one."""
    return evidence(sources[:1])


async def of_this_process(self: Transactor) -> bytes:
    """Generate a new secret of digests in each process."""
    if self._digests.value is None:
        self._digests.value = token_bytes(16)
    return self._digests.value


async def kept_reserved(self: Any, action: str, scope: Scope, plan: Any) -> object:
    """Never give back what was reserved for what failed."""
    charge = await self._meter.charge(action, scope)

    def charged(rows: Rows) -> PlannedWrite[Any]:
        return plan_charged(rows, plan, charge)

    result = await self._store._change(action, scope, charged)
    charge.spend()
    return result


async def of_scopes_alone(self: Any, scope: Scope | None, records: Sequence[JsonObject]) -> None:
    """Copy the keys of no scope with a whole store only."""
    if scope is not None or not self.prefix:
        await carry_keys(self, scope, records)


def as_erased(target: EraseTarget) -> list[EraseTarget]:
    """Name a target in the ledger as it was given, with the version that was expected."""
    return [target]


async def nothing(*_: object, **__: object) -> None:
    """Do nothing."""


def own_alone(_: object, after: Any, *__: object, **___: object) -> EvidenceMap:
    """Give a put only its own evidence."""
    found: EvidenceMap = after.evidence
    return found


def given_alone(_: object, given: Sequence[Evidence], *__: object, **___: object) -> object:
    """Drop the evidence of what a new value carries over."""
    return tuple(given)


acting, over, evidence = Worker.acting, Recollect.over, derivation._evidence
carry_keys = store_copy._Copying._carry_keys
plan_undo, take_back = undo_reversal.plan_undo, undo_reversal._Undoing.take_back
ERASE: Final = "erase messages"
MUTANTS: dict[str, tuple[list[Patch], Collection[str]]] = {
    "erase, retry: an erase forgets the keys": (
        [("stores.contract.erasure.plan_erase", forgetting)],
        ("append under a key", "retry", ERASE),
    ),
    "revoke, open formation: the key is asked for at the beginning alone": (
        [("worker.loop.Worker.acting", trusting)],
        ("append", "revoke while forming"),
    ),
    "erase, open formation: a lease outlives an erase": (
        [("stores.plans.formation.check_lease", whatever_the_epoch)],
        ("append", "append", "form", "erase while forming"),
    ),
    "import, ledger: what was erased comes back": (
        [("lifecycle.record_import.RecordImport._leave_out_erased", nothing)],
        ("append", "export", ERASE, "import"),
    ),
    "erase as seen, import: the ledger names the version that was erased": (
        [("stores.plans.erase_ledger._each", as_erased)],
        ("put", "put", "export", "erase a memory", "import"),
    ),
    "backup, ledger: what was erased since comes back": (
        [("lifecycle.backup_restore._since", lambda *_: [])],
        ("append", "back up", ERASE, "restore a backup"),
    ),
    "patch, erase: a new value rests on its own quote alone": (
        [
            ("stores.provenance.carried_over", given_alone),
            ("formation.evidence.carried_over", given_alone),
            ("formation.attribution.carried_over", given_alone),
            ("stores.plans.memory_writes.kept_evidence", own_alone),
        ],
        ("append", "form", ERASE),
    ),
    "undo, erase: a change is taken back after an erase": (
        [("stores.contract.memories.plan_undo", undone_anyway)],
        ("append", "put", "form", "forget", "edit", "undo", ERASE, "erase a memory"),
    ),
    "forget, put, undo: a memory is taken for the one before it": (
        [("stores.plans.undo_reversal._Undoing._check_same", lambda *_: None)],
        ("put", "forget", "undo"),
    ),
    "receipt, erase: a receipt that repeats what is erased stays": (
        [("stores.plans.receipts.Erasure.spares", lambda *_: True)],
        ("append", "form", ERASE),
    ),
    "receipt, erase: the memories that a formation read are no sources": (
        [("formation.formation_sources._memories_read", lambda *_: ())],
        ("append", "form", "edit", ERASE, "erase a memory"),
    ),
    "consolidate, erase: a consolidation names none of what it read": (
        [("worker.consolidation_result.consolidation_sources", lambda *_: {})],
        ("append", "form", "consolidate", ERASE),
    ),
    "second reading, erase: a reason keeps the words that it quotes": (
        [("stores.plans.erasure._unquoted", lambda *_: [])],
        ("append", "form", ERASE),
    ),
    "second reading, review, erase: a past version keeps the reader's words": (
        [("stores.plans.memories.without_reader_quote", lambda cause: cause)],
        ("append", "review", "edit", "consolidate", ERASE),
    ),
    "embedder, view: a view has a runtime of its own": (
        [("memory.facade.Recollect.over", of_its_own)],
        ("append", "change the embedder"),
    ),
    "migration, undo: what was made stays": (
        [("stores.plans.undo_reversal._Undoing.take_back", without_made)],
        ("append", "form", "migrate a type"),
    ),
    "consolidate, erase: a merged memory rests on one source": (
        [("formation.derived_memories._evidence", first_alone)],
        ("append", "form", "consolidate", ERASE),
    ),
    "copy, keys: keys stay behind": (
        [("lifecycle.store_copy._Copying._carry_keys", nothing)],
        ("append under a key", "copy", "retry"),
    ),
    "copy of one scope, erase, keys: those of erased scopes stay behind": (
        [("lifecycle.store_copy._Copying._carry_keys", of_scopes_alone)],
        ("append under a key", "erase a scope", "copy one scope", "retry"),
    ),
    "crash, append under a key: keys are known to one process": (
        [("stores.contract.backend.Transactor._digest_secret", of_this_process)],
        ("append under a key", "crash in an append", "reopen", "retry"),
    ),
    "reject, form again: nobody remembers the refusal": (
        [("formation.operation_outcomes.Present.refused", lambda *_: None)],
        ("append", "form", "say a rejected note again"),
    ),
    "quota, revoke: what was refused stays reserved": (
        [("stores.contract.base.MeteredStore._change", kept_reserved)],
        ("append", "write with a revoked key", "write over quota"),
    ),
}
LASTING: Final = {"back up", "reopen"}
"""Operations that need a file."""


def played(folder: Path, seed: int, operations: Collection[str]) -> Tally:
    """Play one history of some operations."""
    inside = folder / str(seed)
    inside.mkdir(exist_ok=True)
    places = FilePlaces(inside, lasts=not LASTING.isdisjoint(operations))
    return asyncio.run(play(places, seed, STEPS, only=operations))


@pytest.mark.parametrize("name", MUTANTS)
def test_a_missing_safeguard_is_seen(tmp_path: Path, name: str) -> None:
    """It is in one of a few histories, in which nothing is broken otherwise."""
    patches, operations = MUTANTS[name]
    with pytest.MonkeyPatch.context() as patch:
        for function, wrong in patches:
            patch.setattr(f"recollect.{function}", wrong)
        tallies = ((seed, played(tmp_path, seed, operations)) for seed in range(HISTORIES_MAX))
        seed = next((seed for seed, tally in tallies if tally.broken), None)

    assert seed is not None
    (whole := tmp_path / "whole").mkdir()
    assert played(whole, seed, operations).broken == []
