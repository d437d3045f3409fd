"""Read the input of a formation: pending messages, existing memories, and current rivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Final

from anyio import to_thread

from recollect.errors import NotFoundError
from recollect.formation.config import FormationLimits, FormationSettings
from recollect.formation.offer import Offer, offer_of
from recollect.formation.offered_memories import chosen_memories, queries_of
from recollect.formation.older_words import targets_written_since
from recollect.formation.operation_outcomes import Present
from recollect.formation.operations import Insert, Operation
from recollect.formation.past_plans import READ_MAX as PLANS_READ_MAX
from recollect.formation.past_plans import recent_plans
from recollect.formation.reconciliation import addresses_of, rival_type
from recollect.formation.rivals import identity_of, subject_key
from recollect.formation.speakers import (
    Cited,
    Speaker,
    SpeakerDocuments,
    documents_of_speakers,
    has_speakers,
    named_speakers,
    speaker_of,
)
from recollect.formation.succession import holds_from
from recollect.formation.talk_language import language_of_talk
from recollect.formation.told_times import ToldTimes
from recollect.formation.types import MemoryType
from recollect.formation.window import MESSAGES_MAX, Waiting, Window, window_of
from recollect.lifecycle.forgotten_memories import forgotten_at
from recollect.ports import TokenCounter
from recollect.records import JsonObject, Memory, MemoryAddress, Message, Scope
from recollect.stores.contract.base import Store
from recollect.stores.field_evidence import messages_cited
from recollect.stores.pages import each_row
from recollect.stores.plans.leases import DueThread
from recollect.stores.validation import to_datetime
from recollect.text.token_estimate import estimated_tokens
from recollect.worker.former import Search

RIVALS_A_PAGE: Final = 500
_NOTHING_SAID: Final = datetime.min.replace(tzinfo=UTC)
DOCUMENTS_MAX: Final = 1_000
"""Most speakers' documents of one type that are read in one scope."""


async def read_window(
    store: Store,
    scope: Scope,
    threads: Sequence[DueThread],
    limits: FormationLimits,
    count: TokenCounter,
) -> Window:
    """
    Return the pending messages of *threads*; half as many after every failed attempt.

    The thread that was waiting first comes first, so that what was said last has the last word.
    """
    # A smaller window isolates the message that makes the model fail, and fits a shorter context.
    attempts = max((each.attempts for each in threads), default=0)
    messages_max = max(1, min(limits.window_messages, MESSAGES_MAX) >> attempts)
    waiting = [await _waiting(store, scope, each, limits, messages_max) for each in threads]
    # A schedule or `form` makes all threads due at once, whatever was said in which of them last.
    waiting.sort(key=_began)
    return window_of(
        scope,
        waiting,
        messages_max=messages_max,
        tokens_max=max(1, limits.window_tokens >> attempts),
        count=count,
    )


def _began(waiting: Waiting) -> datetime:
    """Return when the first pending message of a thread was said; those without one come first."""
    said = [each.time for each in (*waiting.again[:1], *waiting.new[:1])]
    return min(said, default=_NOTHING_SAID)


async def _waiting(
    store: Store, scope: Scope, due: DueThread, limits: FormationLimits, messages_max: int
) -> Waiting:
    page = await store.messages(scope, due.thread, after=due.formed, limit=messages_max + 1)
    before: Sequence[Message] = ()
    if limits.context_messages:
        before = await store.last_messages(
            scope,
            due.thread,
            limit=min(limits.context_messages, MESSAGES_MAX),
            before=due.formed + 1,
        )
    again = []
    for position in due.again[:messages_max]:
        found = await store.messages(scope, due.thread, after=position - 1, limit=1)
        again += [message for message in found.rows if message.position == position]
    return Waiting(
        thread=due.thread,
        formed=due.formed,
        last=due.last,
        before=before,
        new=[message for message in page.rows if message.position <= due.last],
        again=again,
    )


async def read_offer(
    store: Store,
    search: Search,
    window: Window,
    settings: FormationSettings,
    count: TokenCounter = estimated_tokens,
) -> Offer:
    """Return the memories to show to the model: the existing documents and relevant entries."""
    scope, types, seen_at = window.scope, settings.types, to_datetime(store.now())
    whose = await read_speakers(store, window, types)
    addresses = [
        (each.name, key)
        for each in types
        if each.update_mode == "patch"
        for key in _keys_of(each, whose.get(each.name))
    ]
    documents, now = await store.get_many(scope, addresses), to_datetime(store.now())
    known = [each for each in documents if each is not None and holds_from(each, now)]
    collections = [each for each in types if each.update_mode == "insert"]
    if collections and settings.limits.existing_memories:
        plans = await _past_plans(store, window, collections)
        known += await _related(search, window, collections, settings.limits, now, count, plans)
    # Detecting the language and the dates of texts is CPU-bound: a thread keeps it off the loop.
    offer = await to_thread.run_sync(_offered, window, settings, known, whose)
    return replace(offer, seen_at=seen_at)


def _offered(
    window: Window,
    settings: FormationSettings,
    known: Sequence[Memory],
    whose: Mapping[str, SpeakerDocuments],
) -> Offer:
    language = settings.language or language_of_talk(window)
    return offer_of(
        settings.types,
        known,
        " ".join(line.text for line in window.new),
        whose,
        today=_day_of(window),
        texts=settings.prompts.texts(language),
    )


def _keys_of(type_: MemoryType, whose: SpeakerDocuments | None) -> list[str]:
    return [type_.name] if whose is None else list(dict.fromkeys(whose.keys.values()))


async def read_speakers(
    store: Store, window: Window, types: Sequence[MemoryType]
) -> dict[str, SpeakerDocuments]:
    """Return the owner of each document, by type; nothing for types with one document."""
    messages = [line.message for line in window.lines]
    if not named_speakers(messages):
        return {}
    found: dict[str, SpeakerDocuments] = {}
    for type_ in types:
        if has_speakers(type_):
            standing = await read_documents(store, window.scope, type_.name)
            authors = await _authors(store, window, standing, type_.name)
            whose = documents_of_speakers(type_, window.scope, standing, messages, authors)
            if whose is not None:
                found[type_.name] = whose
    return found


async def read_documents(store: Store, scope: Scope, type_: str) -> list[Memory]:
    """
    Return the active documents of a ``patch`` type: the type's own, then the speakers' by name.

    At most ``DOCUMENTS_MAX`` documents of speakers are read.
    """
    page = await store.memories(scope, type_=type_, state="active", limit=DOCUMENTS_MAX)
    # "@name" sorts before the type's name: with very many speakers it is not in the first page.
    main = None if page.cursor is None else await store.get(scope, type_, type_)
    found = [each for each in page.rows if each.is_document and each.key != type_]
    own = next((each for each in page.rows if each.key == type_), main)
    return [*([own] if own is not None and own.state == "active" else []), *found]


async def _authors(
    store: Store, window: Window, standing: Sequence[Memory], type_: str
) -> dict[Cited, Speaker]:
    """Return the authors of the user messages that a type's main document cites."""
    main = next((each for each in standing if each.key == type_), None)
    messages = await _cited_by(store, window.scope, main) if main else ()
    return {(e.thread, e.id): speaker_of(e) for e in messages if e.role == "user"}


async def _cited_by(store: Store, scope: Scope, memory: Memory) -> tuple[Message, ...]:
    """Return the messages that a memory cites, as far as they still exist."""
    cited = messages_cited([memory.evidence])
    return await store.messages_named(scope, cited) if cited else ()


def _day_of(window: Window) -> date:
    """Return the day of the newest message, which is "today" in the conversation."""
    return max(line.message.time for line in window.lines).date()


async def _past_plans(store: Store, window: Window, types: Sequence[MemoryType]) -> list[Memory]:
    """Return the entries that are plans whose day passed recently."""
    found: list[Memory] = []
    for each in types:
        page = await store.memories(
            window.scope, type_=each.name, state="active", limit=PLANS_READ_MAX
        )
        found += page.rows
    return await to_thread.run_sync(recent_plans, found, _day_of(window))


async def _related(  # noqa: PLR0917 (each is part of one formation)
    search: Search,
    window: Window,
    types: Sequence[MemoryType],
    limits: FormationLimits,
    now: datetime,
    count: TokenCounter,
    plans: Sequence[Memory],
) -> list[Memory]:
    """Return the entries most relevant to the new messages, and *plans*, within the limits."""
    names = [each.name for each in types]
    roles = frozenset(role for each in types for role in each.roles)
    found = [
        await search(window.scope, query, names, limits.existing_memories)
        for query in queries_of(window, roles)
    ]
    choose = partial(
        chosen_memories,
        [*found, plans],
        now=now,
        memories_max=limits.existing_memories,
        tokens_max=limits.existing_tokens,
        count=count,
    )
    return await to_thread.run_sync(choose)


async def read_present(
    store: Store, window: Window, offer: Offer, operations: Sequence[Operation]
) -> Present:
    """Return the current state that reconciling *operations* depends on."""
    now = to_datetime(store.now())
    addresses = list(
        dict.fromkeys(each for operation in operations for each in addresses_of(operation, offer))
    )
    found = await store.get_many(window.scope, addresses)
    forgotten = await forgotten_at(store, window.scope, addresses)
    present = Present(
        window=window,
        offer=offer,
        now=now,
        new_key=store.new_name,
        at={each: memory for each, memory in zip(addresses, found, strict=True) if memory},
        forgotten=forgotten,
        stored=await _stored_at(store, window, min(forgotten.values())) if forgotten else {},
        rivals=await _rivals(store, window, offer, operations),
    )
    targets = targets_written_since(operations, present)
    return replace(present, told=await _told_times(store, window.scope, targets))


async def _told_times(
    store: Store, scope: Scope, memories: Sequence[Memory]
) -> dict[MemoryAddress, ToldTimes]:
    """Return when the parts of each of *memories* were said."""
    cited = messages_cited([each.evidence for each in memories])
    messages = await store.messages_named(scope, cited) if cited else ()
    said = {(each.thread, each.id): each.time for each in messages}
    return {
        (each.type, each.key): ToldTimes(
            memory=each, said=said, history=await store.history(scope, each.type, each.key)
        )
        for each in memories
    }


async def _stored_at(store: Store, window: Window, since: datetime) -> dict[int, datetime]:
    """Return when the lines that are dated after *since* were stored, by number."""
    found: dict[int, datetime] = {}
    for line in window.lines:
        message = line.message
        if message.time > since:
            with suppress(NotFoundError):  # erased meanwhile: what is formed of it is not kept
                at = await store.waiting_since(window.scope, message.thread, message.position - 1)
                found |= {line.number: at} if at else {}
    return found


async def _rivals(
    store: Store, window: Window, offer: Offer, operations: Sequence[Operation]
) -> dict[str, Sequence[Memory]]:
    """Return, by call, the memories that its new single value may replace."""
    found: dict[str, Sequence[Memory]] = {}
    for type_ in offer.types.values():
        wanted = {
            each.call: each
            for each in operations
            if isinstance(each, Insert) and rival_type(each, offer) == type_
        }
        values = {call: each.value for call, each in wanted.items()}
        rivals = await read_rivals(store, window.scope, type_, values)
        if wanted and not identity_of(type_):
            rivals = await _of_same_speaker(store, window, wanted, rivals)
        found |= rivals
    return found


async def _of_same_speaker(
    store: Store,
    window: Window,
    operations: Mapping[str, Insert],
    rivals: Mapping[str, Sequence[Memory]],
) -> dict[str, Sequence[Memory]]:
    """
    Return *rivals* without memories of named users whom the operation does not cite.

    A type without a subject field is about its speaker: one user's value must not end another's.
    """
    found: dict[str, Sequence[Memory]] = {}
    for call, operation in operations.items():
        cited = named_speakers(
            line.message for each in operation.because if (line := window.line(each.message))
        )
        said = {
            each.key: named_speakers(await _cited_by(store, window.scope, each))
            for each in (rivals[call] if cited else ())
        }
        found[call] = [
            each for each in rivals[call] if not said.get(each.key) or cited & said[each.key]
        ]
    return found


async def read_rivals(
    store: Store, scope: Scope, type_: MemoryType, values: Mapping[str, JsonObject]
) -> dict[str, Sequence[Memory]]:
    """
    Return the active memories of a type about the same subject as each of *values*.

    All memories of the type are read: subjects are compared by their normalised words, which no
    filter of the store can do.
    """
    found: dict[str, list[Memory]] = {name: [] for name in values}
    wanted: dict[tuple[str, ...], list[str]] = {}
    for name, value in values.items():
        wanted.setdefault(subject_key(type_, value), []).append(name)
    if not wanted:
        return {}
    async for memory in each_row(
        lambda cursor: store.memories(scope, type_=type_.name, cursor=cursor, limit=RIVALS_A_PAGE)
    ):
        if memory.state == "active":
            for name in wanted.get(subject_key(type_, memory.value), ()):
                found[name].append(memory)
    return {name: tuple(each) for name, each in found.items()}


async def reread_offer(store: Store, scope: Scope, offer: Offer) -> Offer | None:
    """Return *offer* with the current versions of its memories; ``None`` if one is gone."""
    addresses = [(memory.type, memory.key) for memory in offer.known.values()]
    found = await store.get_many(scope, addresses)
    known = {
        id_: memory
        for id_, memory in zip(offer.known, found, strict=True)
        if memory is not None and memory.state == "active"
    }
    return replace(offer, known=known) if len(known) == len(offer.known) else None
