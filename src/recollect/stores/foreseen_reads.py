"""Predict the reads of an append before it runs, so that many can be fetched in one trip."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from recollect.records import Scope
from recollect.stores.meter import plan_charged
from recollect.stores.plans.audit import chain_of, plan_audited
from recollect.stores.plans.preconditions import plan_provided, plan_since
from recollect.stores.plans.threads import Append, plan_append
from recollect.stores.unit_of_work import Plan

MESSAGES_TOGETHER_MAX: Final = 16
"""Messages of an append that may be grouped with others, at most."""
CHARACTERS_TOGETHER_MAX: Final = 65_536
"""Characters of such an append, at most."""

# Views of a store wrap a plan in another one. These add no reads, or few that are the same for all.
_VIEWS: Final = (plan_audited, plan_charged, plan_provided, plan_since)


@dataclass(frozen=True, slots=True)
class AppendReads:
    """The reads of one append: a scope, a thread, its last message, and messages and key by id."""

    scope: Scope
    thread: str
    messages: tuple[str, ...]
    key: str | None
    """The stored digest of its idempotency key."""
    chain: bytes | None
    """The audit chain that it extends."""


def foreseen_reads(plan: Plan[Any]) -> AppendReads | None:
    """
    Return the reads of *plan*, ``None`` unless it is a small append to one scope.

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


def _is_small(request: Append) -> bool:
    messages = request.messages
    if request.writes or not 0 < len(messages) <= MESSAGES_TOGETHER_MAX:
        return False
    held = (len(each.text) + len(each.content or "") + len(each.metadata) for each in messages)
    return sum(held) <= CHARACTERS_TOGETHER_MAX


def _reads_of(request: Append, chain: bytes | None) -> AppendReads:
    return AppendReads(
        scope=request.scope,
        thread=request.thread,
        messages=tuple(each.id for each in request.messages),
        key=request.idempotency.key if request.idempotency else None,
        chain=chain,
    )
