"""Read the parts of a context: the profile, the recalled entries and the thread's messages."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from itertools import chain, islice
from typing import Final

from anyio import to_thread

from recollect.formation.config import Assistants
from recollect.formation.plan_questions import ComingDays, coming_days
from recollect.formation.rivals import is_single, rivals_of, subject_key
from recollect.formation.scope_types import type_in_force, types_in_force
from recollect.formation.succession import is_told_later, told_at
from recollect.formation.types import MemoryType
from recollect.memory.context_query import ContextQuery, check_query
from recollect.memory.context_search import (
    recalled_attitudes,
    recalled_entries,
    recalled_news,
    recalled_plans,
)
from recollect.memory.runtime import MemoryRuntime
from recollect.memory.thread_summary import newest_summary
from recollect.ports import TokenCounter
from recollect.recall.advice_requests import asks_for_advice, entries_for_advice
from recollect.recall.context import Context
from recollect.recall.context_packing import packed_context
from recollect.recall.context_plan import ContextPlan, MemoryName, memory_name
from recollect.recall.field_changes import FieldChange, changes_of
from recollect.recall.query import query_in
from recollect.recall.query_analysis import (
    asks_about_oneself,
    asks_for_answers,
    asks_for_history,
    names_in,
    refers_to_somebody,
)
from recollect.recall.relevance import IDLE_BELOW, IDLE_BELOW_BY_WORDS
from recollect.recall.results import Recall, Recalled, ScopedMessage
from recollect.records import EvidenceMap, Memory, Message, Revision, Scope
from recollect.stores.contract.base import Store
from recollect.stores.field_evidence import messages_cited
from recollect.stores.proposal_names import is_named, proposed_for
from recollect.stores.validation import to_datetime
from recollect.text.time_zones import told_in
from recollect.text.token_estimate import estimated_tokens

WAITING_MAX: Final = 500
"""Quarantined memories that are read for a context; changes beyond them are not marked."""
PACKED_AT_ONCE_CHARACTERS: Final = 32_000
"""Texts up to this length are packed on the event loop, in about two milliseconds."""
DOCUMENTS_MAX: Final = 100
HISTORY_MESSAGES_MAX: Final = 200
_SECRET: Final = secrets.token_bytes(16)
FORMER_MAX: Final = 10
"""The number of best memories whose previous version is read if the query asks for it."""
SPOKEN_MAX: Final = 100
"""The number of best memories whose evidence is read."""


async def gathered_context(
    runtime: MemoryRuntime, request: ContextQuery, *, awaits_vectors: bool
) -> Context:
    """
    Return the context of *request*.

    Raises:
        UsageError: An argument is outside its range, or the token counter failed.
    """
    check_query(request)
    request = replace(request, asked_at=runtime.asked_at(request.scope, request.asked_at))
    asked = query_in(request.query)
    newest = await _newest(runtime, request)
    documents = await _documents(runtime, request) if request.profile else ()
    wants_history = asks_for_history(asked)
    known = len(request.recent_texts) + len(newest)
    coming = _coming_days(runtime, request, asked)
    plans = await recalled_plans(runtime, request, asked, coming) if coming else None
    news = None if plans else await recalled_news(runtime, request, asked, known)
    found = (
        plans
        or news
        or await recalled_entries(runtime, request, asked, known, wants_history=wants_history)
    )
    advises = bool(found) and request.min_score is None and asks_for_advice(asked)
    attitudes = await recalled_attitudes(runtime, request) if advises else None
    former = await _former(runtime, request, documents, found) if wants_history else FormerValues()
    shown = newest[len(newest) - request.recent_messages :] if request.recent_messages else ()
    plan = ContextPlan(
        query=asked,
        budget_tokens=request.budget_tokens,
        now=request.asked_at or to_datetime(runtime.store.now()),
        min_score=request.min_score,
        idle_below=0.0 if news or coming else idle_below(found, asked),
        asks_for_news=news is not None,
        coming=coming,
        asks_for_answers=asks_for_answers(asked),
        asks_for_advice=advises,
        attitudes=tuple(entries_for_advice(attitudes.considered)) if attitudes else (),
        scope=request.scope,
        known=frozenset((each.thread, each.id) for each in shown),
        said=request.recent_texts,
        history=tuple(newest) if request.history_tokens else (),
        history_tokens=request.history_tokens,
        summary=await _summary(runtime, request),
        former=former.revisions,
        changes=former.changes,
        speakers=await read_speakers(
            runtime.store,
            [entry for each in (found, attitudes) if each for entry in each.considered],
        ),
        waiting=await _waiting(runtime, request, documents, found),
        instructions=request.instructions,
        examples=tuple(request.examples),
        awaits_vectors=awaits_vectors,
        secret=_SECRET if request.secret is None else request.secret,
    )
    context = await _packed(plan, found, documents, request.count_tokens)
    return replace(context, replica=found.replica, behind_s=found.behind_s) if found else context


def _coming_days(runtime: MemoryRuntime, request: ContextQuery, asked: str) -> ComingDays | None:
    """Return the days for whose plans the query asks; ``None`` if it asks for anything else."""
    if request.min_score is not None:
        return None
    now = request.asked_at or to_datetime(runtime.store.now())
    return coming_days(asked, now.date())


async def _packed(
    plan: ContextPlan, found: Recall | None, documents: Sequence[Memory], count: TokenCounter
) -> Context:
    """Pack the context, on a worker thread if that may take long."""
    ranked = found.considered if found else []
    if plan.now.utcoffset():
        zone = plan.now.tzinfo or UTC
        ranked = [_in_zone(each, zone) for each in ranked]
        plan = replace(plan, attitudes=tuple(_in_zone(each, zone) for each in plan.attitudes))
        documents = [replace(each, updated_at=told_in(each.updated_at, zone)) for each in documents]
    weights = found.term_weights if found else {}
    characters = sum(len(each.content.text) for each in ranked)
    # Changing threads takes longer than packing a short text, but not than reading the days of so
    # many entries. A custom token counter may be slow, so it always runs on a thread.
    is_short = characters <= PACKED_AT_ONCE_CHARACTERS and plan.coming is None
    if count is estimated_tokens and is_short:
        return packed_context(plan, ranked, weights, documents, count)
    return await to_thread.run_sync(packed_context, plan, ranked, weights, documents, count)


def idle_below(found: Recall | None, asked: str) -> float:
    """Return the relevance that the best entry must reach for any to be shown."""
    # "Where do I live?" asks for memories even if "I just moved to Porto" shares no word with it.
    if asks_about_oneself(asked) or refers_to_somebody(asked):
        return 0.0
    return IDLE_BELOW if found and found.embedder else IDLE_BELOW_BY_WORDS


def _in_zone(entry: Recalled, zone: tzinfo) -> Recalled:
    """Return an entry with the time of its words in *zone*, which determines days."""
    content = entry.content
    if isinstance(content, Message):
        return replace(entry, content=replace(content, time=told_in(content.time, zone)))
    said_at = None if content.said_at is None else told_in(content.said_at, zone)
    written = told_in(content.updated_at, zone)
    return replace(entry, content=replace(content, said_at=said_at, updated_at=written))


async def _newest(runtime: MemoryRuntime, request: ContextQuery) -> Sequence[Message]:
    """Return the newest messages of the thread, oldest first, as many as may be needed."""
    # Each message costs at least one token, so no more than *history_tokens* of them can fit.
    wanted = max(request.recent_messages, min(request.history_tokens, HISTORY_MESSAGES_MAX))
    if request.thread is None or not wanted:
        return ()
    return await runtime.store.last_messages(request.scope, request.thread, limit=wanted)


async def _summary(runtime: MemoryRuntime, request: ContextQuery) -> str:
    """Return the stored summary of the thread; "" if there is none or no history is wanted."""
    if request.thread is None or not request.history_tokens:
        return ""
    kept = await newest_summary(runtime.store, request.scope, request.thread)
    return kept.content


async def _documents(runtime: MemoryRuntime, request: ContextQuery) -> Sequence[Memory]:
    """Return the active documents in the order of their types, each type's main document first."""
    store, scope = runtime.store, request.scope
    names = request.profile
    if isinstance(names, bool):
        types = await types_in_force(store, scope, runtime.assistants, depth=1)
        names = [each.name for each in types if each.update_mode == "patch"]
    at = request.asked_at or to_datetime(store.now())
    found = list[Memory]()
    for name in dict.fromkeys(names):
        page = await store.memories(
            scope, type_=name, state="active", valid_at=at, limit=DOCUMENTS_MAX
        )
        documents = [each for each in page.rows if each.is_document]
        found += sorted(documents, key=lambda each: each.key != each.type)
    return found


async def _waiting(
    runtime: MemoryRuntime,
    request: ContextQuery,
    documents: Sequence[Memory],
    found: Recall | None,
) -> Mapping[MemoryName, frozenset[str]]:
    """Return the fields of documents and recalled memories for which a change waits for review."""
    ranked = (each.content for each in found.considered) if found else ()
    memories = [*documents, *(each for each in ranked if isinstance(each, Memory))]
    return await read_waiting_changes(runtime.store, request.scope, memories, runtime.assistants)


async def _former(
    runtime: MemoryRuntime,
    request: ContextQuery,
    documents: Sequence[Memory],
    found: Recall | None,
) -> FormerValues:
    """Return what the documents, and the best memories, said before they changed."""
    ranked = (each.content for each in found.considered) if found else ()
    memories = islice((each for each in ranked if isinstance(each, Memory)), FORMER_MAX)
    zone = request.asked_at.tzinfo if request.asked_at else None
    return await read_former(runtime.store, documents, memories, zone or UTC)


@dataclass(frozen=True, slots=True)
class FormerValues:
    """The previous versions of memories, and the changes of the fields of documents, by name."""

    revisions: Mapping[MemoryName, Revision] = field(default_factory=dict)
    changes: Mapping[MemoryName, Mapping[str, FieldChange]] = field(default_factory=dict)


async def read_former(
    store: Store, documents: Sequence[Memory], others: Iterable[Memory], zone: tzinfo
) -> FormerValues:
    """Return the previous version of each document, and of the *others*, that changed."""
    former: dict[MemoryName, Revision] = {}
    changes: dict[MemoryName, Mapping[str, FieldChange]] = {}
    for memory in chain(documents, others):
        name = memory_name(memory)
        if memory.version < 2 or name in former:
            continue
        revisions = {each.version: each for each in await store.history(*name)}
        earlier = [version for version in revisions if version < memory.version]
        if not earlier:
            continue
        former[name] = before = revisions[max(earlier)]
        newest = revisions.get(memory.version)
        if memory.is_document and newest is not None:
            cited = messages_cited([before.evidence, newest.evidence])
            named = await store.messages_named(memory.scope, cited)
            said = {(each.thread, each.id): each.time for each in named}
            changes[name] = changes_of(memory, before, newest, said, zone)
    return FormerValues(former, changes)


async def read_speakers(store: Store, entries: Iterable[Recalled]) -> Mapping[MemoryName, str]:
    """
    Return the speaker of each of the best memories in *entries*, if it is in doubt who "I" is.

    That is: several people speak, one of them alone said it, and its text does not name them.
    """
    contents = [each.content for each in entries]
    messages = [each for each in contents if isinstance(each, Message)]
    said = (each for each in contents if isinstance(each, Memory) and _is_said(each))
    memories = list(islice(said, SPOKEN_MAX))
    # Where messages were found, and none has a name, nobody has to be told apart.
    if not memories or (messages and not any(each.name for each in messages)):
        return {}
    return speakers_of(memories, messages, await _cited_messages(store, memories))


def speakers_of(
    memories: Iterable[Memory], found: Iterable[Message], cited: Mapping[ScopedMessage, Message]
) -> dict[MemoryName, str]:
    """Return the speakers of *memories*, of the messages that they cite; see `read_speakers`."""
    users = [each for each in (*found, *cited.values()) if each.role == "user"]
    if len({each.name for each in users}) < 2:
        return {}
    speakers = {}
    for memory in memories:
        places = ((memory.scope, *each) for each in messages_cited([memory.evidence]))
        names = {cited[each].name for each in places if each in cited}
        name = names.pop() if len(names) == 1 else None
        if name and not names_in(memory.text, [name]):
            speakers[memory_name(memory)] = name
    return speakers


def _is_said(memory: Memory) -> bool:
    return memory.trust == "user" and bool(memory.evidence) and not memory.is_document


async def _cited_messages(store: Store, memories: Iterable[Memory]) -> dict[ScopedMessage, Message]:
    evidence: defaultdict[Scope, list[EvidenceMap]] = defaultdict(list)
    for memory in memories:
        evidence[memory.scope].append(memory.evidence)
    return {
        (scope, each.thread, each.id): each
        for scope, found in evidence.items()
        for each in await store.messages_named(scope, messages_cited(found))
    }


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
