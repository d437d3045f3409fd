"""Receipts of formations: read, archive and blank them, and redrive the messages given up."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final, get_args

from recollect.errors import NotFoundError, UsageError
from recollect.records import Formation, FormationAction, Json, JsonObject, Scope
from recollect.stores.plans.archive_fields import RecordFields
from recollect.stores.plans.lanes import LANES, redriven_lanes
from recollect.stores.plans.pending_messages import again_of, due_at_once, with_again
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


def place_of(row: FormationRow) -> ReceiptPlace:
    """Return the sort key of a formation among those of its scope."""
    return row.committed_at, row.fence, row.id


def each_formation(rows: Rows, scope_id: int) -> Iterator[FormationRow]:
    """Yield all formations of a scope, newest first."""
    before: ReceiptPlace | None = None
    while page := rows.formations(scope_id, None, before, _PAGE_ROWS):
        yield from page
        before = place_of(page[-1])


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
    """
    Return the formation row described by an archive record.

    Raises:
        UsageError: A field is invalid.
    """
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


def blanked_formations(
    rows: Rows, scope_id: int, gone_threads: Collection[str]
) -> list[FormationRow]:
    """
    Return the formations of a scope that an erase changes, without the content it removes.

    Costs and counts of actions stay, and so do positions in threads other than *gone_threads*: a
    redrive skips messages that no longer exist.
    """
    found = []
    for row in each_formation(rows, scope_id):
        blank = replace(row, receipt=_blanked(row.receipt))
        if gone_threads:
            blank = replace(
                blank,
                watermarks=_without(row.watermarks, gone_threads),
                failed=_without(row.failed, gone_threads),
            )
        if blank != row:
            found.append(blank)
    return found


def types_of(receipt: str) -> tuple[str, ...]:
    """Return the types to which a formation was limited, none if it formed all."""
    found = json.loads(receipt).get(LANES)
    return tuple(map(str, found)) if isinstance(found, list) else ()


def _blanked(receipt: str) -> str:
    """Return a receipt without content: its lanes and its counts of actions."""
    left: dict[str, Json] = {}
    if types := types_of(receipt):
        left[LANES] = list(types)
    if counts := _counts_of(receipt):
        left["counts"] = counts
    return encode_json(left, "a receipt") if left else "{}"


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
        raise NotFoundError(f"there is no formation {formation_id!r} in the scope {scope!r}")
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
