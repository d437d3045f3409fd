"""Predict the reads of a small write or query before it runs, so that they take one trip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from recollect.records import Scope
from recollect.stores.meter import plan_charged
from recollect.stores.plans.audit import chain_of, plan_audited
from recollect.stores.plans.evidence import evidence_messages
from recollect.stores.plans.formation import Formed, plan_commit
from recollect.stores.plans.preconditions import plan_provided, plan_since
from recollect.stores.plans.prepared_writes import PreparedPut, PreparedWrite
from recollect.stores.plans.side_records import levels_of, read_nearest, read_side_records
from recollect.stores.plans.threads import Append, plan_append
from recollect.stores.rows import SidePlace
from recollect.stores.unit_of_work import Plan, Query

MESSAGES_TOGETHER_MAX: Final = 16
"""Messages of an append that may be grouped with others, at most."""
CHARACTERS_TOGETHER_MAX: Final = 65_536
"""Characters of such an append, at most."""
WRITES_TOGETHER_MAX: Final = 16
"""Writes of a formation's commit that may be grouped with others, at most."""

# Views of a store wrap a plan in another one. These add no reads, or few that are the same for all.
_VIEWS: Final = (plan_audited, plan_charged, plan_provided, plan_since)


@dataclass(frozen=True, slots=True)
class ForeseenReads:
    """
    The reads of one write: a scope, a thread, its last message, and messages and key by id.

    A formation's commit reads the *memories* at (type, key) that it writes instead of a key.
    """

    scope: Scope
    thread: str
    messages: tuple[str, ...]
    key: str | None
    """The stored digest of its idempotency key."""
    chain: bytes | None
    """The audit chain that it extends."""
    memories: tuple[tuple[str, str], ...] = ()
    is_formation: bool = False


def foreseen_reads(plan: Plan[Any]) -> ForeseenReads | None:
    """
    Return the reads of *plan*; ``None`` unless it is a small append or commit of a formation.

    This is only a hint: anything else that the plan reads is fetched when it asks.
    """
    chain: bytes | None = None
    scopes: set[Scope] = set()
    while isinstance(plan, partial):
        given: dict[str, Any] = plan.keywords
        if plan.func is plan_append:
            request: Append = given["request"]
            is_grouped = _is_small(request) and scopes <= {request.scope}
            return _reads_of(request, chain) if is_grouped else None
        if plan.func is plan_commit:
            reads = _reads_of_commit(given["lease"].scope, given["writes"], given["formed"], chain)
            return reads if reads and scopes <= {reads.scope} else None
        if plan.func not in _VIEWS:
            return None
        if plan.func is plan_audited:
            change = given["change"]
            scopes.add(change.scope)
            chain = chain_of(change.secret, change.scope)
        elif plan.func is plan_since:
            scopes.add(given["scope"])
        plan = given["plan"]
    return None


@dataclass(frozen=True, slots=True)
class ForeseenSides:
    """The side records that a query reads: at the same places of each of *scopes*."""

    scopes: tuple[Scope, ...]
    places: tuple[SidePlace, ...]


def foreseen_sides(query: Query[Any]) -> ForeseenSides | None:
    """Return the side records that *query* reads, ``None`` if it reads anything else."""
    if not isinstance(query, partial):
        return None
    given: dict[str, Any] = query.keywords
    if query.func is read_side_records and given["places"]:
        return ForeseenSides((given["scope"],), tuple(given["places"]))
    if query.func is read_nearest:
        levels = levels_of(given["scope"], given["depth"])
        return ForeseenSides(tuple(levels), (given["place"],))
    return None


def _is_small(request: Append) -> bool:
    messages = request.messages
    if request.writes or not 0 < len(messages) <= MESSAGES_TOGETHER_MAX:
        return False
    held = (len(each.text) + len(each.content or "") + len(each.metadata) for each in messages)
    return sum(held) <= CHARACTERS_TOGETHER_MAX


def _reads_of_commit(
    scope: Scope, writes: Sequence[PreparedWrite], formed: Formed, chain: bytes | None
) -> ForeseenReads | None:
    thread = next(iter((*formed.watermarks, *formed.again, *formed.failed)), None)
    if thread is None or len(writes) > WRITES_TOGETHER_MAX:
        return None
    puts = [each for each in writes if isinstance(each, PreparedPut)]
    cited = {each for put in puts for each in evidence_messages(put.evidence)}
    return ForeseenReads(
        scope=scope,
        thread=thread,
        messages=tuple(sorted(message for place, message in cited if place == thread)),
        key=None,
        chain=chain,
        memories=tuple((each.type, each.key) for each in puts),
        is_formation=True,
    )


def _reads_of(request: Append, chain: bytes | None) -> ForeseenReads:
    return ForeseenReads(
        scope=request.scope,
        thread=request.thread,
        messages=tuple(each.id for each in request.messages),
        key=request.idempotency.key if request.idempotency else None,
        chain=chain,
    )
