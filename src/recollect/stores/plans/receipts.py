"""Receipts of formations: read, archive and blank them, and redrive the messages given up."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final, get_args

from recollect.errors import NotFoundError, UsageError
from recollect.records import Formation, FormationAction, Json, JsonObject, Scope
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.plans.lanes import LANES, redriven_lanes
from recollect.stores.plans.pending_messages import again_of, due_at_once, with_again
from recollect.stores.plans.undo import UNDO, holds_removed
from recollect.stores.receipt_sources import EXAMINED, examined_in, sources_of
from recollect.stores.remainder import cited_version
from recollect.stores.rows import FormationRow, ReceiptPlace, ScopeRow, ThreadRow
from recollect.stores.unit_of_work import Effect, PlannedWrite, Rows
from recollect.stores.validation import (
    POSITION_MAX,
    check_id,
    check_object,
    encode_json,
    to_datetime,
)
from recollect.text.coded_text import with_code
from recollect.text.scope_paths import written_scope

OUTCOMES: Final = "outcomes"
LEFT_OUT: Final = "outcomes_left_out"
ERASED: Final = "erased"
"""Field of a receipt that tells that its content went with something that was erased."""
_ACTIONS: Final = frozenset(get_args(FormationAction))
_PAGE_ROWS: Final = 100
"""Receipts in memory at a time: each may be long."""


def formation_of(row: FormationRow, scope: Scope) -> Formation:
    """Return the formation stored in *row*."""
    failed = json.loads(row.failed)
    return Formation(
        scope=scope,
        id=row.id,
        status=row.status,
        at=to_datetime(row.committed_at),
        fence=row.fence,
        calls=row.calls,
        tokens=row.tokens,
        watermarks=json.loads(row.watermarks),
        failed={thread: tuple(positions) for thread, positions in failed.items()},
        receipt=json.loads(row.receipt),
    )


def receipt_place(row: FormationRow) -> ReceiptPlace:
    """Return the sort key of a formation among those of its scope."""
    return row.committed_at, row.fence, row.id


def each_formation(rows: Rows, scope_id: int) -> Iterator[FormationRow]:
    """Yield all formations of a scope, newest first."""
    before: ReceiptPlace | None = None
    while page := rows.formations(scope_id, None, before, _PAGE_ROWS):
        yield from page
        before = receipt_place(page[-1])


def formation_record(row: FormationRow, scope: Scope) -> JsonObject:
    """Return the record of a formation in an archive."""
    return {
        "kind": "formation",
        "scope": list(scope),
        "id": row.id,
        "status": row.status,
        "committed_at": row.committed_at,
        "fence": row.fence,
        "calls": row.calls,
        "tokens": row.tokens,
        "watermarks": json.loads(row.watermarks),
        "failed": json.loads(row.failed),
        "receipt": json.loads(row.receipt),
    }


def restored_formation(given: RecordFields, scope_id: int) -> FormationRow:
    """Return the formation row described by an archive record."""
    watermarks, failed = given.by_thread("watermarks"), given.by_thread("failed")
    for thread in watermarks:
        RecordFields(watermarks).count(thread)
    for thread in failed:
        RecordFields(failed).positions(thread, POSITION_MAX)
    return FormationRow(
        scope_id=scope_id,
        id=check_id(given.text("id"), "a formation's id"),
        fence=given.count("fence"),
        committed_at=given.moment("committed_at"),
        status=given.status(),
        calls=given.count("calls"),
        tokens=given.count("tokens"),
        watermarks=encode_json(watermarks, "a formation's watermarks"),
        failed=encode_json(failed, "a formation's failed positions"),
        receipt=check_object(given.record["receipt"], "a formation's receipt"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """
    The names of all that an erase removes from a scope, as receipts have them.

    *names* are messages and versions of memories, *addresses* those of memories that are removed,
    *threads* those that are erased whole.
    """

    names: AbstractSet[tuple[str, str]]
    addresses: AbstractSet[tuple[str, str]]
    threads: AbstractSet[str]

    def spares(self, receipt: Mapping[str, Json]) -> bool:
        """Return True if a receipt repeats nothing of it: its sources are known, and others."""
        sources = sources_of(receipt)
        if sources is None or holds_removed(receipt.get(UNDO)):
            return False
        touched = {named[:2] for thread, each in sources if (named := cited_version(thread, each))}
        touched |= {address for address, _ in outcomes_in(receipt)}
        return not (
            self.names & sources
            or self.addresses & touched
            or any(thread in self.threads for thread, _ in sources)
        )


def blanked_formations(rows: Rows, scope_id: int, erasure: Erasure) -> list[FormationRow]:
    """
    Return the formations of a scope that an erase changes, without the content it removes.

    Costs, counts of actions and the names of changed memories that still exist stay, and so do
    positions in threads that stay: a redrive skips messages that no longer exist.
    """
    found = []
    for row in each_formation(rows, scope_id):
        blank = row
        receipt = json.loads(row.receipt)
        if not erasure.spares(receipt):
            blank = replace(row, receipt=_blanked(rows, scope_id, row.receipt, erasure))
        if erasure.threads:
            blank = replace(
                blank,
                watermarks=_without(row.watermarks, erasure.threads),
                failed=_without(row.failed, erasure.threads),
            )
        if blank != row:
            found.append(blank)
    return found


def types_of(receipt: str) -> tuple[str, ...]:
    """Return the types to which a formation was limited, none if it formed all."""
    found = json.loads(receipt).get(LANES)
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _blanked(rows: Rows, scope_id: int, receipt: str, erasure: Erasure) -> str:
    """
    Return a receipt without content: its lanes, counts, digests, and what it did to which memories.

    An undo of a message that stays needs these: no evidence names what the message ended.
    """
    left: dict[str, Json] = {}
    given = json.loads(receipt)
    if OUTCOMES in given:
        left[OUTCOMES] = _bare_outcomes(rows, scope_id, given, erasure)
        left[ERASED] = True
        if given.get(LEFT_OUT):
            left[LEFT_OUT] = given[LEFT_OUT]
    if types := types_of(receipt):
        left[LANES] = list(types)
    if examined := examined_in(given):
        left[EXAMINED] = list(examined)
    if counts := _counts_of(receipt):
        left["counts"] = counts
    return encode_json(left, "a receipt") if left else "{}"


def _bare_outcomes(
    rows: Rows, scope_id: int, receipt: Mapping[str, Json], erasure: Erasure
) -> list[Json]:
    """Return the outcomes for memories that still exist: action, address, and the messages."""
    outcomes = list(outcomes_in(receipt))
    addresses = list(dict.fromkeys(address for address, _ in outcomes))
    there = {(row.type, row.key) for row in rows.memories_at(scope_id, addresses)}
    left: list[Json] = []
    for address, outcome in outcomes:
        if address in there - erasure.addresses and outcome.get("action") in _ACTIONS:
            bare: dict[str, Json] = {"action": outcome["action"]}
            bare["type"], bare["key"] = address
            if because := list(_because_in(outcome, erasure)):
                bare["because"] = because
            left.append(bare)
    return left


def outcomes_in(
    receipt: Mapping[str, Json],
) -> Iterator[tuple[tuple[str, str], Mapping[str, Json]]]:
    """Yield the well-formed outcomes of a receipt, by the addresses of their memories."""
    outcomes = receipt.get(OUTCOMES)
    for each in outcomes if isinstance(outcomes, list) else ():
        match each:
            case {"type": str(type_), "key": str(key)} if type_ and key:
                yield (type_, key), each


def _because_in(outcome: Mapping[str, Json], erasure: Erasure) -> Iterator[Json]:
    because = outcome.get("because")
    for each in because if isinstance(because, list) else ():
        match each:
            case {"thread": str(thread), "message": str(message)}:
                if (thread, message) not in erasure.names and thread not in erasure.threads:
                    yield {"thread": thread, "message": message}


def _counts_of(receipt: str) -> dict[str, Json]:
    """Return the counts in a receipt, of known actions only."""
    # A receipt from an archive may hold anything under this name, a person's words included.
    found = json.loads(receipt).get("counts")
    if not isinstance(found, dict):
        return {}
    counts = {action: found.get(action) for action in get_args(FormationAction)}
    return {
        action: count
        for action, count in counts.items()
        if isinstance(count, int) and not isinstance(count, bool) and 0 < count <= POSITION_MAX
    }


def _without(by_thread: str, gone_threads: Collection[str]) -> str:
    kept = {name: each for name, each in json.loads(by_thread).items() if name not in gone_threads}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def plan_redrive(rows: Rows, scope: Scope, formation_id: str, now: int) -> PlannedWrite[int]:
    """
    Make the messages that a dead formation gave up pending again; the result is how many.

    Raises:
        NotFoundError: The formation does not exist.
        UsageError: It is not dead, or was redriven before.
    """
    scope_row = rows.scope(scope)
    row = rows.formation(scope_row.id, formation_id) if scope_row else None
    if scope_row is None or row is None:
        raise NotFoundError(
            f"there is no formation {formation_id!r} in the scope {written_scope(scope)}"
        )
    if row.status != "dead":
        msg = with_code(
            "not_given_up",
            f"formation {formation_id!r} is {row.status}: only a dead one can be redriven, once",
            status=row.status,
        )
        raise UsageError(msg)
    threads, count = [], 0
    for thread_id, positions in json.loads(row.failed).items():
        thread = rows.thread(scope_row.id, thread_id)
        live = _live(rows, scope_row, thread, positions) if thread else []
        if thread and live:
            count += len(live)
            types = types_of(row.receipt)
            if types:
                # No due time: a lane is due when the schedule of its type strikes again.
                threads.append(redriven_lanes(thread, types, live))
                continue
            threads.append(due_at_once(with_again(thread, (*again_of(thread), *live)), now))
    effect = Effect(threads=threads, formations=[replace(row, status="redriven")])
    return PlannedWrite(effect, count)


def _live(rows: Rows, scope: ScopeRow, thread: ThreadRow, positions: list[int]) -> list[int]:
    """Return those of *positions* that still have a message."""
    return [
        position
        for position in positions
        if rows.messages(scope.id, thread.number, after=position - 1, until=position, limit=1)
    ]
