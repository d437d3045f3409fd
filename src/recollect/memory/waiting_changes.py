"""Find the shown memories that await a review of a change in the user's own words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from recollect.formation.config import Assistants
from recollect.formation.rivals import is_single, rivals_of, subject_key
from recollect.formation.scope_types import type_in_force
from recollect.formation.succession import is_told_later, told_at
from recollect.formation.types import MemoryType
from recollect.recall.context_plan import MemoryName, memory_name
from recollect.records import Memory, Scope
from recollect.stores.contract.base import Store
from recollect.stores.proposal_names import is_named, proposed_for

WAITING_MAX: Final = 500
"""Quarantined memories that are read for a context; changes beyond them are not marked."""


async def read_waiting_changes(
    store: Store, scope: Scope, memories: Iterable[Memory], assistants: Assistants
) -> Mapping[MemoryName, frozenset[str]]:
    """
    Return the fields of active *memories* of *scope* that a quarantined memory would change.

    Only quarantined memories that rest on the user's own words count. Pasted text, a tool or an
    agent could otherwise cast doubt on what the user said, merely by contradicting it.
    """
    by_type = defaultdict[str, list[Memory]](list)
    for memory in memories:
        # Approving a change touches one scope: an equal key of another scope is another memory.
        if memory.scope == scope and memory.state == "active":
            by_type[memory.type].append(memory)
    if not by_type:
        return {}
    page = await store.memories(scope, state="quarantined", limit=WAITING_MAX)
    waiting = [
        each
        for each in page.rows
        if each.trust == "user" and any(each.evidence.values()) and each.type in by_type
    ]
    found: dict[MemoryName, frozenset[str]] = {}
    for name in dict.fromkeys(each.type for each in waiting):
        of_type = [each for each in waiting if each.type == name]
        type_ = await type_in_force(store, scope, assistants, name)
        for change, memory in _changes(of_type, by_type[name], type_):
            fields = _changed_fields(memory, change)
            if fields:
                address = memory_name(memory)
                found[address] = found.get(address, frozenset()) | fields
    return found


def _changes(
    waiting: Sequence[Memory], active: Sequence[Memory], type_: MemoryType | None
) -> Iterator[tuple[Memory, Memory]]:
    """Yield the memories of one type that wait, each with an active one that it would change."""
    by_subject = defaultdict[tuple[str, ...], list[Memory]](list)
    if type_ is not None and type_.single_valued:
        # Grouped, since comparing all with all would block the event loop for a second.
        for memory in active:
            by_subject[subject_key(type_, memory.value)].append(memory)
    for change in waiting:
        proposed = proposed_for(change.key)
        if proposed is not None:
            name, version = proposed
            # One for an earlier version may be out of date: its fields are not compared.
            current = (each for each in active if each.version == version)
            yield from ((change, each) for each in current if is_named(name, each.key))
        elif type_ is not None and is_single(type_, change.value):
            told = told_at(change)
            since = change.valid_from or told
            same = by_subject[subject_key(type_, change.value)]
            for rival in rivals_of(type_, change.value, since, same):
                # Approving it does not end what was said later.
                if not is_told_later(rival, told, since):
                    yield change, rival


def _changed_fields(memory: Memory, waiting: Memory) -> frozenset[str]:
    """
    Return the fields of *memory* that *waiting* would change.

    A proposed end changes none: it repeats the value and the trust of the memory, and may rest on
    anybody's words.
    """
    return frozenset(
        name for name, field in memory.value.items() if waiting.value.get(name) != field
    )
