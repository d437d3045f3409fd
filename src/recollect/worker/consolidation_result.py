"""The result of a consolidation, its receipt, and its undo record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias

from recollect.errors import NotFoundError, RecollectError
from recollect.formation.derived_memories import (
    DerivedChange,
    change_record,
    changes_in,
    outcomes_of,
)
from recollect.formation.formation_receipt import receipt_of
from recollect.formation.formation_sources import consolidation_sources
from recollect.formation.operation_outcomes import OperationOutcome
from recollect.formation.window import Window
from recollect.ports import Model
from recollect.records import Json, JsonObject, Memory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.plans.undo import UNDO, Undo
from recollect.stores.receipt_sources import EXAMINED
from recollect.text.scope_paths import written_scope
from recollect.worker.consolidation_calls import ConsolidationState

OUTDATED: Final = "what it was derived from has changed"
"""Reason in the receipt for dropping a derived memory."""
ConsolidationEnding: TypeAlias = Literal["consolidated", "unchanged", "busy", "lost", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult:
    """
    The result of a consolidation.

    *id* is the id of its receipt, for `undo`; ``None`` if there was nothing to do. *postponed*
    counts the groups left for another run because of a limit or a failure (*reason*).

    >>> import recollect
    >>> with recollect.open_sync("memory:", embedder="none", model="rules", worker=False) as memory:
    ...     notes = [memory.remember("ada", each) for each in ("The boat is red.", "It rains.")]
    ...     result = memory.consolidate("ada")
    >>> result.changes
    ()
    """

    end: ConsolidationEnding
    id: str | None = None
    changes: tuple[DerivedChange, ...] = ()
    groups: int = 0
    postponed: int = 0
    dropped: int = 0
    """Derived memories that were deleted because a source had changed."""
    calls: int = 0
    tokens: int = 0
    reason: str = ""
    error: RecollectError | None = field(default=None, compare=False)
    """The error that stopped it, if one did."""


async def undo_of_consolidation(store: Store, scope: Scope, consolidation: str) -> Undo | None:
    """
    Return the undo record of a consolidation or migration; ``None`` if it was empty.

    Its groups still count as examined.

    Raises:
        NotFoundError: The consolidation does not exist.
        UsageError: Its receipt was blanked by an erase.
    """
    # Before the receipt is read: an erase in between makes the undo stale, and brings nothing back.
    (place,) = await store.places([scope])
    found = await store.formation(scope, consolidation)
    if found is None or found.status != "consolidated":
        raise NotFoundError(
            f"there is no consolidation {consolidation!r} in {written_scope(scope)}: give the id "
            "of one, as its result has it, or a change that noting() recorded"
        )
    changes_in(found.receipt)  # raises if the receipt was blanked
    undo = found.receipt.get(UNDO)
    if undo is None:
        return None
    # The stored epoch is that of the store which wrote it, and differs in a copy. The current one
    # is right: an erase since then of anything that it holds would have blanked the receipt.
    return replace(Undo.of_json(undo), scope=scope, epoch=place.epoch)


def receipt_of_consolidation(
    scope: Scope,
    run: ConsolidationState,
    changes: Sequence[DerivedChange],
    dropped: Sequence[Memory],
    *,
    model: Model,
    looked_at: Sequence[str],
) -> JsonObject:
    """Return the receipt of a run: its calls, its changes, and the groups it *looked_at*."""
    outcomes = outcomes_of(changes)
    outcomes += [
        OperationOutcome(action="dropped", type=each.type, key=each.key, reason=OUTDATED)
        for each in dropped
    ]
    window = Window(scope=scope, lines=(), watermarks={})
    asked = model.identity if run.exchanges else None
    replaced = [memory for each in run.combinations for memory in (*each.sources, *each.besides)]
    sources = consolidation_sources([*run.shown, *dropped, *replaced], changes)
    receipt = receipt_of(
        window, run.asked, outcomes, model=asked, reason=run.reason, sources=sources
    )
    consolidation: dict[str, Json] = {"changes": [change_record(each) for each in changes]}
    return {**receipt, "consolidation": consolidation, EXAMINED: list(looked_at)}
