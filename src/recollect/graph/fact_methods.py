"""The methods of `KnowledgeGraph` that add, end, erase and list facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, Unpack

from recollect.formation.grounding.passage_trust import least
from recollect.formation.succession import holds, holds_from
from recollect.graph.fact_ends import end_of
from recollect.graph.fact_plans import PlannedFact, plan_additions, plan_statements
from recollect.graph.graph_access import GraphAccess, moment_of
from recollect.graph.graph_snapshot import GraphSnapshot, KnownFact
from recollect.graph.name_equality import name_key
from recollect.graph.values import (
    FACT_TYPE,
    Addition,
    FactOptions,
    GraphFact,
    NewFact,
    Retraction,
    Value,
    value_text,
)
from recollect.memory.cited_messages import citing
from recollect.memory.facade import Recollect
from recollect.records import Evidence, Revision, Trust, Write
from recollect.stores.plans.erase_targets import EraseReceipt
from recollect.stores.validation import check_time
from recollect.sync.method_pairs import method_pair

STATEMENTS_AT_ONCE_MAX: Final = 300
"""Statements per transaction, at most, as each can end other facts."""


class FactMethods(GraphAccess):
    """The methods of `KnowledgeGraph` for facts."""

    async def _add(
        self,
        memory: Recollect,
        subject: str,
        predicate: str,
        object: Value,  # noqa: A002 (the public name)
        *,
        several: bool | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        evidence: Sequence[Evidence] = (),
        trust: Trust = "user",
    ) -> Addition:
        """
        Add a fact: a relation to the entity named *object*, or an attribute if that is not text.

        A subject has one object of a predicate at a time, unless *several* is set: a new one ends
        the old one, which stays as history. See `NewFact` for the arguments.

        Raises:
            UsageError: A name is empty, or an argument is outside its range; or *evidence* names a
                message that is not there, or was erased.
            VersionConflictError: Concurrent writes won ``TRIES_MAX`` times.
        """
        new = NewFact(
            subject=subject,
            predicate=predicate,
            object=object,
            several=several,
            since=since,
            until=until,
            evidence=evidence,
            trust=trust,
        )
        (addition,) = await self.add_facts(memory, [new])
        return addition

    add, aadd = method_pair(_add)

    async def add_facts(self, memory: Recollect, facts: Sequence[NewFact]) -> tuple[Addition, ...]:
        """
        Add facts in order, atomically, each seeing those before it.

        Args:
            facts: The facts; with the facts that they end, at most ``WRITES_MAX`` writes.

        Raises:
            UsageError: The evidence of one names a message that is not there, or was erased.
        """
        for each in facts:
            for name, time in (("since", each.since), ("until", each.until)):
                if time is not None:
                    check_time(time, name)

        def plan(view: GraphSnapshot) -> tuple[list[PlannedFact], list[Write]]:
            planned = plan_additions(view, facts)
            return planned, [write for each in planned for write in each.writes]

        async def change(view: Recollect) -> list[PlannedFact]:
            return await self.change(view, plan)

        evidence = [cited for each in facts for cited in each.evidence]
        planned = await citing(memory, self.scope, evidence, change)
        view = await self.read(memory)
        return tuple(_addition(each, view) for each in planned)

    add_many, aadd_many = method_pair(add_facts, "add_many")

    async def take(
        self,
        memory: Recollect,
        statements: Sequence[NewFact | Retraction],
        beside: Sequence[Write] = (),
    ) -> None:
        """
        Add and end facts in the order of *statements*, each seeing those before it.

        Up to ``STATEMENTS_AT_ONCE_MAX`` statements are one transaction. With more, *beside* is
        written in the last transaction; repeating a failed call changes nothing twice.
        """
        for at in range(0, max(1, len(statements)), STATEMENTS_AT_ONCE_MAX):
            piece = statements[at : at + STATEMENTS_AT_ONCE_MAX]
            last = beside if at + STATEMENTS_AT_ONCE_MAX >= len(statements) else ()

            def plan(
                view: GraphSnapshot,
                piece: Sequence[NewFact | Retraction] = piece,
                last: Sequence[Write] = last,
            ) -> tuple[None, list[Write]]:
                return None, [*plan_statements(view, piece), *last]

            await self.change(memory, plan)

    async def _end(
        self,
        memory: Recollect,
        subject: str,
        predicate: str | None = None,
        object: Value | None = None,  # noqa: A002 (the public name)
        *,
        at: datetime | None = None,
        trust: Trust = "user",
    ) -> tuple[GraphFact, ...]:
        """
        End the valid facts of *subject*, only those with this predicate and object if given.

        They stay as history. Facts of a higher trust than *trust* are not ended.

        Args:
            at: When they end; now if ``None``.

        Returns:
            The facts that ended, oldest first; none if there was nothing to end.
        """
        if at is not None:
            check_time(at, "at")

        def plan(view: GraphSnapshot) -> tuple[list[str], list[Write]]:
            moment = at or view.now
            found = [
                each.memory
                for each in _matching(view, subject, predicate, object)
                if holds_from(each.memory, moment)
                and least([each.memory.trust, trust]) == each.memory.trust
            ]
            return [each.key for each in found], [end_of(each, moment, "ended") for each in found]

        keys = await self.change(memory, plan)
        return _facts_at(await self.read(memory), keys)

    end, aend = method_pair(_end)

    async def _erase(
        self,
        memory: Recollect,
        subject: str,
        predicate: str | None = None,
        object: Value | None = None,  # noqa: A002 (the public name)
    ) -> tuple[EraseReceipt, ...]:
        """
        Erase the facts of *subject*, ended ones included, with their history.

        See `Recollect.erase`; there is one receipt per fact.
        """
        view = await self.read(memory)
        found = _matching(view, subject, predicate, object)
        return await self.erased(memory, [each.memory for each in found])

    erase, aerase = method_pair(_erase)

    async def _facts(
        self,
        memory: Recollect,
        subject: str | None = None,
        predicate: str | None = None,
        object: Value | None = None,  # noqa: A002 (the public name)
        *,
        at: datetime | None = None,
    ) -> tuple[GraphFact, ...]:
        """Return the valid facts, oldest first; only those with the given parts."""
        view = await self.read(memory)
        moment = moment_of(at, view)
        found = _matching(view, subject, predicate, object)
        return tuple(view.fact(each) for each in found if holds(each.memory, moment))

    facts, afacts = method_pair(_facts)

    async def _history(
        self, memory: Recollect, subject: str | None = None, predicate: str | None = None
    ) -> tuple[GraphFact, ...]:
        """
        Return facts in every state (ended, quarantined and rejected ones too), oldest first.

        Each has the evidence that it had while it was valid. For past versions of one fact see
        `revisions`.
        """
        view = await self.read(memory)
        return tuple(view.fact(each) for each in _matching(view, subject, predicate, None))

    history, ahistory = method_pair(_history)

    async def _revisions(self, memory: Recollect, fact: GraphFact) -> tuple[Revision, ...]:
        """Return all versions of a fact, oldest first; empty if it was erased."""
        return await memory.history(self.scope, FACT_TYPE, fact.key)

    revisions, arevisions = method_pair(_revisions)

    async def _add_attribute(
        self,
        memory: Recollect,
        entity: str,
        attribute: str,
        value: Value,
        **options: Unpack[FactOptions],
    ) -> Addition:
        """Add an attribute: a text *value* is text, not an entity; otherwise like `add`."""
        new = NewFact(
            subject=entity, predicate=attribute, object=value, is_attribute=True, **options
        )
        (addition,) = await self.add_facts(memory, [new])
        return addition

    add_attribute, aadd_attribute = method_pair(_add_attribute)


def _matching(
    view: GraphSnapshot, subject: str | None, predicate: str | None, object_: Value | None
) -> list[KnownFact]:
    """Return the facts in every state with the given parts, oldest first."""
    found = view.facts() if subject is None else view.facts_of(view.key_of(subject))
    if predicate is not None:
        key = name_key(predicate)
        found = [each for each in found if each.predicate_key == key]
    return found if object_ is None else [each for each in found if _has(each, object_, view)]


def _has(fact: KnownFact, object_: Value, view: GraphSnapshot) -> bool:
    if fact.object_key is None:
        return value_text(fact.object) == value_text(object_)
    return isinstance(object_, str) and view.aliases.key_of(fact.object_key) == view.key_of(object_)


def _facts_at(view: GraphSnapshot, keys: Sequence[str]) -> tuple[GraphFact, ...]:
    """Return the facts with these *keys*, in that order."""
    found = (view.fact_at(key) for key in keys)
    return tuple(view.fact(each) for each in found if each is not None)


def _addition(planned: PlannedFact, view: GraphSnapshot) -> Addition:
    fact = _facts_at(view, [planned.key] if planned.key else [])
    return Addition(
        action=planned.action,
        fact=fact[0] if fact else None,
        ended=_facts_at(view, planned.ended),
        reason=planned.reason,
    )
