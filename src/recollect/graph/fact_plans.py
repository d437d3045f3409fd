"""Plan the writes of new facts and retractions from a snapshot of the graph; pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from recollect.formation.grounding.passage_trust import least
from recollect.formation.succession import holds, holds_from, is_valid_at, succession_of
from recollect.formation.value_identity import content_key
from recollect.graph.fact_ends import end_of
from recollect.graph.graph_snapshot import GraphSnapshot, KnownFact, known_fact
from recollect.graph.name_equality import clean_name, name_key, numbered
from recollect.graph.values import (
    FACT_TYPE,
    AdditionAction,
    NewFact,
    ObjectType,
    Retraction,
    value_text,
    written,
)
from recollect.records import EndMemory, EvidenceMap, Json, JsonObject, Memory, PutMemory, Write
from recollect.stores.kept_evidence import merged_evidence

DOUBTED: Final = "more trusted words say otherwise"
"""The reason of a fact that is quarantined because it contradicts a more trusted one."""
REJECTED: Final = "this fact was rejected"
RETRACTED: Final = "retracted"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedFact:
    """The plan for one new fact: its writes, and its resulting address."""

    action: AdditionAction
    key: str | None
    writes: tuple[Write, ...] = ()
    ended: tuple[str, ...] = ()
    reason: str = ""


@dataclass
class GraphDraft:
    """The graph after the writes planned so far, so that each fact sees those before it."""

    view: GraphSnapshot
    _changed: dict[str, KnownFact] = field(default_factory=dict)
    _added: dict[str, list[str]] = field(default_factory=dict)

    def facts_like(self, subject_key: str, predicate_key: str) -> list[KnownFact]:
        """Return the facts of a subject and predicate in every state, oldest first."""
        stored = (each.memory.key for each in self.view.facts_of(subject_key))
        keys = [*stored, *self._added.get(subject_key, ())]
        found = [self._changed.get(key) or self.view.fact_at(key) for key in keys]
        return [each for each in found if each and each.predicate_key == predicate_key]

    def free_key(self, proposal: ComparableFact, *, several: bool) -> str:
        """
        Return the key of a new fact, numbered if it is taken.

        It is derived from what must be unique: subject and predicate, plus the object if there may
        be several. So concurrent writers of contradicting facts conflict at one key, and one of
        them retries.
        """
        words = [proposal.subject_key, proposal.predicate_key]
        if several:
            words.append(value_text(proposal.new.object))
        return next(
            key
            for key in numbered(content_key({"fact": words}))
            if key not in self._changed and not self.view.takes(FACT_TYPE, key)
        )

    def note(self, write: Write, before: Memory | None) -> None:
        """Apply a planned write of a fact to the draft."""
        if isinstance(write, PutMemory):
            after = _as_written(write, before, self.view)
        elif isinstance(write, EndMemory) and before is not None:
            after = replace(before, valid_until=write.at, version=before.version + 1)
        else:
            return
        fact = known_fact(after)
        if fact is not None:
            if before is None:
                subject_key = self.view.aliases.key_of(fact.subject_key)
                self._added.setdefault(subject_key, []).append(after.key)
            self._changed[after.key] = fact


def _as_written(write: PutMemory, before: Memory | None, view: GraphSnapshot) -> Memory:
    return Memory(
        scope=view.scope,
        type=write.type,
        key=write.key,
        value=write.value,
        text="",
        version=before.version + 1 if before else 1,
        created_at=before.created_at if before else view.now,
        updated_at=view.now,
        valid_from=write.valid_from,
        valid_until=write.valid_until,
        expires_at=write.expires_at,
        evidence=write.evidence,
        trust=write.trust,
        state=write.state,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparableFact:
    """A new fact with the keys by which it is compared."""

    new: NewFact
    subject_key: str
    predicate_key: str
    object: Json
    object_type: ObjectType
    subject: str
    predicate: str

    @property
    def evidence(self) -> EvidenceMap:
        """The evidence of the whole fact."""
        return {"": tuple(self.new.evidence)} if self.new.evidence else {}

    def value(self, *, several: bool) -> JsonObject:
        """Return the value of the fact's memory."""
        value: dict[str, Json] = {
            "subject": self.subject,
            "predicate": self.predicate,
            "object": self.object,
        }
        if self.object_type != "entity":
            value["object_type"] = self.object_type
        return {**value, "several": True} if several else value

    def says(self, fact: KnownFact, view: GraphSnapshot) -> bool:
        """Return True if *fact*, of the same subject and predicate, has the same object."""
        if self.object_type == "entity" or fact.object_key is not None:
            both = self.object_type == "entity" and fact.object_key is not None
            return both and view.aliases.key_of(fact.object_key or "") == view.key_of(
                str(self.object)
            )
        kept = fact.memory.value["object"]
        is_truth = isinstance(kept, bool) or isinstance(self.object, bool)
        return kept == self.object and (not is_truth or type(kept) is type(self.object))


def plan_additions(view: GraphSnapshot, new: Sequence[NewFact]) -> list[PlannedFact]:
    """
    Return the plan for each new fact, in order, each seeing those before it.

    The rules are those of formation: a repeated fact gains evidence, a new value for a subject and
    predicate ends the old one, a rejected fact stays rejected. In addition, a less trusted fact
    never ends a more trusted one: it is quarantined.
    """
    draft, planned = GraphDraft(view), list[PlannedFact]()
    for each in new:
        planned.append(_plan_fact(_proposal(each, view), draft))
    return planned


def plan_statements(view: GraphSnapshot, statements: Sequence[NewFact | Retraction]) -> list[Write]:
    """
    Return the writes of new facts and retractions, in order, each seeing those before it.

    A start in the future counts as now. A retracted fact is restored only by a user's words, not by
    an assistant that repeats it.
    """
    draft, writes = GraphDraft(view), list[Write]()
    for each in statements:
        dated = replace(each, since=min(each.since, view.now)) if each.since else each
        if isinstance(dated, Retraction):
            writes += _plan_retraction(dated, draft)
            continue
        proposal = _proposal(dated, view)
        if dated.trust == "user" or not _is_retracted(proposal, draft):
            writes += _plan_fact(proposal, draft).writes
    return writes


def _is_retracted(proposal: ComparableFact, draft: GraphDraft) -> bool:
    """Return True if a fact has ended without being replaced by another one."""
    moment = proposal.new.since or draft.view.now
    stored = draft.facts_like(proposal.subject_key, proposal.predicate_key)
    same = [each.memory for each in stored if proposal.says(each, draft.view)]
    others = [each.memory for each in stored if not proposal.says(each, draft.view)]
    is_single = not _several(proposal.new, stored, moment)
    is_replaced = is_single and any(holds_from(each, moment) for each in others)
    return bool(same) and not is_replaced and not any(is_valid_at(each, moment) for each in same)


def _plan_retraction(said: Retraction, draft: GraphDraft) -> list[Write]:
    view = draft.view
    new = NewFact(subject=said.subject, predicate=said.predicate, object=said.object)
    proposal, moment = _proposal(new, view), said.since or view.now
    found = [
        each.memory
        for each in draft.facts_like(proposal.subject_key, proposal.predicate_key)
        if proposal.says(each, view)
        and holds(each.memory, moment)
        and least([each.memory.trust, said.trust]) == each.memory.trust
    ]
    ends = [end_of(each, moment, RETRACTED) for each in found]
    for write, memory in zip(ends, found, strict=True):
        draft.note(write, memory)
    return list(ends)


def _proposal(new: NewFact, view: GraphSnapshot) -> ComparableFact:
    subject = clean_name(new.subject, "a fact's subject")
    predicate = clean_name(new.predicate, "a fact's predicate")
    value, type_ = written(new)
    return ComparableFact(
        new=new,
        subject_key=view.key_of(subject),
        predicate_key=name_key(predicate),
        object=value,
        object_type=type_,
        subject=subject,
        predicate=predicate,
    )


def _plan_fact(proposal: ComparableFact, draft: GraphDraft) -> PlannedFact:
    view, new = draft.view, proposal.new
    stored = draft.facts_like(proposal.subject_key, proposal.predicate_key)
    same = [each for each in stored if proposal.says(each, view)]
    if any(each.memory.state == "rejected" for each in same):
        return PlannedFact(action="refused", key=None, reason=REJECTED)
    moment = new.since or view.now
    several = _several(new, stored, moment)
    for each in same:
        if is_valid_at(each.memory, moment):
            return _merged(each.memory, proposal, draft)
    is_past = new.since is None and new.until is not None and new.until <= view.now
    # A fact of the past ends no current one, and one of several ends none of the others.
    ends_none = several or is_past
    rivals = [
        each.memory
        for each in stored
        if not ends_none and not proposal.says(each, view) and holds_from(each.memory, moment)
    ]
    since = new.since if ends_none else moment
    return _added(proposal, draft, rivals, since=since, several=several)


def _added(
    proposal: ComparableFact,
    draft: GraphDraft,
    rivals: Sequence[Memory],
    *,
    since: datetime | None,
    several: bool,
) -> PlannedFact:
    """Return the plan for a fact that is not known; it succeeds its *rivals* if it is trusted."""
    new, until = proposal.new, proposal.new.until
    doubted = any(least([rival.trust, new.trust]) != rival.trust for rival in rivals)
    ends: tuple[EndMemory, ...] = ()
    if rivals and since and not doubted:
        succession = succession_of(rivals, since, until, new.trust)
        ends, until = succession.ends, succession.until
    if since and until and until <= since:
        reason = f"it would end at {until.isoformat()}, before it began"
        return PlannedFact(action="refused", key=None, reason=reason)
    put = PutMemory(
        type=FACT_TYPE,
        key=draft.free_key(proposal, several=several),
        value=proposal.value(several=several),
        expected=0,
        valid_from=since,
        valid_until=until,
        evidence=proposal.evidence,
        trust=new.trust,
        state="quarantined" if doubted else "active",
        cause=DOUBTED if doubted else "added",
    )
    by_key = {each.key: each for each in rivals}
    for write in ends:
        draft.note(write, by_key[write.key])
    draft.note(put, None)
    return PlannedFact(
        action="quarantined" if doubted else "stored",
        key=put.key,
        writes=(*ends, put),
        ended=tuple(each.key for each in ends),
        reason=DOUBTED if doubted else "",
    )


def _several(new: NewFact, stored: Iterable[KnownFact], moment: datetime) -> bool:
    if new.several is not None:
        return new.several
    return any(each.several and holds_from(each.memory, moment) for each in stored)


def _merged(memory: Memory, proposal: ComparableFact, draft: GraphDraft) -> PlannedFact:
    """Return the plan for a fact that is stated again."""
    new = proposal.new
    is_weaker = least([memory.trust, new.trust]) != memory.trust
    is_stronger = memory.trust != new.trust and not is_weaker
    if memory.state == "quarantined" and not is_stronger:
        return PlannedFact(action="unchanged", key=memory.key, reason=DOUBTED)
    joined = merged_evidence(memory.value, memory.evidence, proposal.evidence)
    until = new.until or memory.valid_until
    has_news = (
        joined != merged_evidence(memory.value, memory.evidence, {}) or until != memory.valid_until
    )
    if not is_stronger and (is_weaker or not has_news):
        return PlannedFact(action="unchanged", key=memory.key)
    # The stored start is often only the time of the statement, so a given end before it wins.
    is_before = bool(until and memory.valid_from and until < memory.valid_from)
    put = PutMemory(
        type=FACT_TYPE,
        key=memory.key,
        value=memory.value,
        text=memory.text,
        expected=memory.version,
        valid_from=new.since if is_before else memory.valid_from,
        valid_until=until,
        expires_at=memory.expires_at,
        # Once a more trusted source confirms the fact, its evidence is that source alone.
        evidence=proposal.evidence if is_stronger else joined,
        trust=new.trust if is_stronger else memory.trust,
        cause="confirmed" if is_stronger else "said again",
    )
    ends = _ends_by_release(memory, proposal, draft) if memory.state == "quarantined" else ()
    draft.note(put, memory)
    ended = tuple(each.key for each in ends)
    return PlannedFact(action="merged", key=memory.key, writes=(*ends, put), ended=ended)


def _ends_by_release(
    memory: Memory, proposal: ComparableFact, draft: GraphDraft
) -> Sequence[EndMemory]:
    """Return, and note in *draft*, the ends of facts that a quarantined one succeeds."""
    rivals = _rivals_of_released(memory, proposal, draft)
    ends = succession_of(rivals, draft.view.now, None).ends
    for write, rival in zip(ends, rivals, strict=False):
        draft.note(write, rival)
    return ends


def _rivals_of_released(
    memory: Memory, proposal: ComparableFact, draft: GraphDraft
) -> list[Memory]:
    """Return the facts that a quarantined fact ends once it is accepted."""
    if memory.value.get("several") is True:
        return []
    moment = draft.view.now
    return [
        each.memory
        for each in draft.facts_like(proposal.subject_key, proposal.predicate_key)
        if each.memory.key != memory.key and holds(each.memory, moment)
    ]
