"""The same history and the same questions, put to several stores: answers must be the same."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias, cast

from recollect.errors import RecollectError
from recollect.recall.query import RecallQuery, Where
from recollect.recall.recaller import Recaller
from recollect.recall.results import Recall
from recollect.recall.vector_backlog import Embedding
from recollect.records import (
    DeleteMemory,
    EndMemory,
    Evidence,
    NewMessage,
    PutMemory,
    Scope,
    Write,
)
from recollect.stores.change_feed import Cursor, Feed
from recollect.stores.contract.base import Store
from recollect.stores.in_process.store import Tables
from recollect.stores.locator import open_store
from recollect.stores.plans.due_times import Debounce
from recollect.stores.plans.embedding_backlog import Unembedded
from recollect.stores.plans.erase_targets import (
    EraseMemory,
    EraseMessages,
    EraseScope,
    EraseSource,
    EraseTarget,
    EraseThread,
)
from recollect.stores.plans.formation import Formed
from recollect.stores.plans.leases import Lease
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.stores.vector_codec import encode_vector
from recollect.testing.frozen_clock import NOON, FrozenClock
from recollect.testing.hashed_embedder import HashedEmbedder
from recollect.testing.reproducible_ids import SeededIds
from recollect.testing.truth_tables import FILTERS
from recollect.text.token_estimate import estimated_tokens
from tests.harness.truth_tables import ILLEGAL_IDS

SCOPES: tuple[Scope, ...] = (("a",), ("a", "é"), ("a", "!"), ("ab",), ("%", "_"))
THREADS = ("t", "T", "%", "爱")
MESSAGES = ("m1", "m2", "m3", "m4", "m5", "M1", "_", "m%", "é")
TYPES, KEYS = ("Fact", "fact"), ("k", "K", "a/b", "🙂")
SOURCES = ("mail", "%")
STEPS: Final = 60
EMBEDDER: Final = HashedEmbedder(16)
QUERIES: Final = (
    "hello",
    "Where do I live?",
    "What did Bob say of Oslo in March?",
    "some words, and a kite",
    "我住在哪里",
    "🙂",
    " ",
)

Arguments: TypeAlias = dict[str, Any]
Drawn: TypeAlias = tuple[str, Arguments]
"""A method of the store, or of `ComparedStore`, and what to call it with."""


def _moment(random: Random) -> datetime:
    return NOON + timedelta(minutes=random.randint(-90, 180))


def _maybe(random: Random, value: object, chance: float = 0.3) -> Any:
    return value if random.random() < chance else None


def _message_text(random: Random) -> str:
    known = ["hello", "I live in Oslo", "我住在奥斯陆", "🙂"]
    return random.choice(["", "a\0b"] if random.random() < 0.03 else known)


def _document(random: Random) -> dict[str, Any]:
    _, document, _ = random.choice(FILTERS)
    return {**document, "city": random.choice(["Oslo", "Rome", "爱丁堡"])}


def _message(random: Random) -> NewMessage:
    return NewMessage(
        role=random.choice(["user", "assistant", "tool"]),
        text=_message_text(random),
        id=random.choice([*MESSAGES, *MESSAGES, None]),
        name=_maybe(random, random.choice(["Ada", "Bob"])),
        time=_maybe(random, _moment(random)),
        session=_maybe(random, "s"),
        source=_maybe(random, random.choice(SOURCES)),
        content=_maybe(random, [{"caption": "a kite", "n": [1.0, 1]}]),
        metadata=_document(random) if random.random() < 0.5 else {},
    )


def _write(random: Random) -> Write:
    named: Arguments = {
        "type": random.choice(TYPES),
        "key": random.choice([*KEYS[:1] * 3, *KEYS]),
        "expected": _maybe(random, random.randint(0, 3), 0.05),
    }
    kind = random.random()
    if kind < 0.1:
        return DeleteMemory(**named)
    if kind < 0.17:
        return EndMemory(**named, at=_moment(random))
    begins = _moment(random)
    found = [
        Evidence(thread=_places(random)["thread"], message=random.choice(MESSAGES), quote="q")
        for _ in range(random.randint(0, 2))
    ]
    return PutMemory(
        **named,
        value=_document(random),
        text=_maybe(random, "some words"),
        valid_from=_maybe(random, begins),
        valid_until=_maybe(random, begins + timedelta(minutes=random.randint(-1, 60))),
        expires_at=_maybe(random, _moment(random)),
        evidence={random.choice(["", "/city", "/a"]): found},
        state=random.choice(["active", "active", "rejected", "quarantined"]),
    )


def _target(random: Random) -> EraseTarget:
    thread = _places(random)["thread"]
    targets: list[EraseTarget] = [
        EraseScope(below=random.random() < 0.5),
        EraseThread(thread=thread),
        EraseMessages(thread=thread, messages=random.sample(MESSAGES, 2)),
        EraseThread(thread=thread),
        EraseMessages(thread=thread, messages=random.sample(MESSAGES, 4)),
        EraseMessages(thread=thread, messages=random.sample(MESSAGES, 4)),
        EraseMemory(type=random.choice(TYPES), key=random.choice(KEYS)),
        EraseSource(source=random.choice(SOURCES)),
    ]
    return random.choice(targets)


def _places(random: Random) -> Arguments:
    # Most happens in one thread of one scope, so that it meets.
    return {
        "scope": random.choice([*SCOPES[:1] * 5, *SCOPES]),
        "thread": random.choice([*THREADS[:1] * 3, *THREADS]),
    }


def _requests(random: Random) -> str | None:
    return cast("str | None", _maybe(random, random.choice(["r1", "r2", "r3"]), 0.1))


def _write_step(random: Random) -> Drawn:
    """Return a step that changes the store or the time."""
    places, scope = _places(random), random.choice(SCOPES)
    often: list[Drawn] = [
        (
            "append",
            {
                **places,
                "messages": [_message(random) for _ in range(random.randint(1, 3))],
                "idempotency_key": _requests(random),
                "debounce": Debounce(
                    quiet_s=5,
                    max_wait_s=random.choice([5, 30]),
                    messages=_maybe(random, 3),
                    tokens=_maybe(random, 12),
                ),
                "settings": _maybe(random, {"types": random.choice(TYPES)}),
            },
        ),
        (
            "apply",
            {
                "scope": places["scope"],
                "writes": [_write(random) for _ in range(random.randint(1, 4))],
                "idempotency_key": _requests(random),
            },
        ),
    ]
    lease: Arguments = {"number": random.randint(0, 3)}
    others: list[Drawn] = [
        ("advance", {"seconds": random.choice([1, 10, 60, 1_801])}),
        ("remove", {**places, "messages": random.choices(MESSAGES, k=2)}),
        ("keep", {**places, "first": random.randint(0, 4), "last": random.choice([None, 5])}),
        ("replace", {**places, "message": _message(random)}),
        ("erase", {"scope": places["scope"], "target": _target(random)}),
        ("retry", {"number": random.randint(0, 2)}),
        ("clean", {}),
        ("claim", {"owner": random.choice("vw"), "lease_s": random.choice([5, 60])}),
        ("commit", {**lease, "writes": [_write(random)], "part": random.random() < 0.3}),
        ("give_up", lease),
        ("redrive", {"scope": places["scope"]}),
        ("pause", {"scope": places["scope"], "thread": _maybe(random, places["thread"])}),
        ("resume", {"scope": places["scope"], "thread": _maybe(random, places["thread"])}),
        ("extend", lease),
        ("release", {**lease, "retry_s": random.choice([0, 20])}),
        ("signal", places),
        ("embed", {"scope": places["scope"]}),
        ("copy", {"scope": scope, "to": random.choice(SCOPES)}),
    ]
    return random.choice(often if random.random() < 0.4 else others)


def _recall(random: Random) -> Arguments:
    """Return a question by words and meaning, of one scope or of two together."""
    where: Arguments = {
        "messages": random.random() < 0.8,
        "types": _maybe(random, random.choice([(), TYPES[:1], TYPES])),
        "threads": _maybe(random, THREADS[:2]),
        "filter": _maybe(random, random.choice(FILTERS)[0], 0.2),
        "since": _maybe(random, _moment(random), 0.1),
        "until": _maybe(random, _moment(random), 0.1),
        "valid_at": random.choice(["now", "now", "ever", _moment(random)]),
        "known_at": _maybe(random, _moment(random), 0.1),
    }
    return {
        "scopes": random.choice([SCOPES[:1], SCOPES[:1], SCOPES[:2], SCOPES]),
        "query": random.choice(QUERIES),
        "limit": random.choice([1, 3, 20]),
        "budget_tokens": _maybe(random, random.choice([5, 40])),
        "where": where,
        "asked_at": _maybe(random, _moment(random), 0.2),
    }


def _read_step(random: Random) -> Drawn:
    """Return a step that only asks."""
    places, few = _places(random), {"limit": random.randint(1, 4)}
    scope, filter_ = {"scope": places["scope"]}, _maybe(random, random.choice(FILTERS)[0])
    illegal = random.choice(ILLEGAL_IDS)
    type_, prefix = random.choice(TYPES), random.choice([(), ("a",), (...,)])
    steps: list[Drawn] = [
        ("threads", {**scope, **few, "cursor": _maybe(random, random.choice(THREADS))}),
        ("thread", {**places, **(_maybe(random, {"thread": illegal}, 0.1) or {})}),
        ("messages", {**places, **few, "after": random.randint(0, 5)}),
        ("last_messages", {**places, **few, "before": random.choice([None, 0, 3])}),
        ("get_many", {**scope, "addresses": [(t, k) for t in TYPES for k in KEYS]}),
        ("memories", {**scope, **few, "type_": _maybe(random, type_), "filter_": filter_}),
        ("memories", {**scope, "filter_": filter_, "valid_at": _moment(random)}),
        ("history", {**scope, "type_": type_, "key": random.choice(KEYS)}),
        ("follow", scope),
        ("look", {"scopes": random.sample(SCOPES, 2), "filter_": filter_}),
        ("past", {**scope, "known_at": _moment(random), "filter_": filter_}),
        ("scopes", {**few, "prefix": prefix, "depth_max": _maybe(random, 1)}),
        ("scopes", {**few, "suffix": random.choice([(), ("é",)]), "type_": _maybe(random, type_)}),
        ("newest", {**few, "prefix": places["scope"][:1], "type_": type_, "filter_": filter_}),
        ("receipts", {"unclean": random.random() < 0.5}),
        ("archive", scope),
        ("pending", {**few, **scope, "below": random.random() < 0.5}),
        ("formations", {**few, **scope, "status": random.choice([None, "dead", "failed"])}),
        ("spent", {"scope": SCOPES[0], "since": random.choice([NOON, _moment(random)])}),
        ("waiting", {}),
    ]
    return ("recall", _recall(random)) if random.random() < 0.15 else random.choice(steps)


def history(seed: int, steps: int = STEPS) -> list[Drawn]:
    """Return the steps of one history, always the same: each writes, then asks twice."""
    random = Random(seed)  # noqa: S311 - repeatable on purpose
    drawn: list[Drawn] = []
    for _ in range(steps):
        drawn += [_write_step(random), _read_step(random), _read_step(random)]
    return drawn


@dataclass(slots=True)
class ComparedStore:
    """A store that is asked, with the leases and cursors that it gave."""

    store: Store
    clock: FrozenClock
    leases: list[Lease] = field(default_factory=list)
    cursors: dict[Scope, Cursor] = field(default_factory=dict)
    numbers: dict[int, int] = field(default_factory=dict)
    keyed: list[Drawn] = field(default_factory=list)
    """The requests that were made under a key."""
    recaller: Recaller = field(init=False)

    def __post_init__(self) -> None:
        # It keeps its indexes from step to step; what has no vector is found by its words.
        embedding = Embedding(self.store, EMBEDDER)
        self.recaller = Recaller(self.store, embedding, estimated_tokens)

    async def answer(self, method: str, arguments: Arguments) -> object:
        """Return the answer to one step, or the error, in the same words for all stores."""
        if arguments.get("idempotency_key"):
            self.keyed.append((method, arguments))
        asked = getattr(self, method, None) or getattr(self.store, method)
        try:
            return self.told(await asked(**arguments))
        except RecollectError as error:
            return type(error), str(error)

    def told(self, answer: object) -> object:
        """Return *answer* with the store's own numbers in the order in which they were met."""
        match answer:
            case Feed():
                entries = [
                    each._replace(thread=self.number(each.thread)) for each in answer.entries
                ]
                epoch, removed = self.number(answer.epoch), tuple(sorted(answer.removed))
                return replace(answer, epoch=epoch, removed=removed, entries=tuple(entries))
            case Lease():
                return replace(answer, epoch=self.number(answer.epoch))
            case list() | tuple():
                return [self.told(each) for each in answer]
            case _:
                return answer

    def number(self, number: int) -> int:
        """Return how many numbers the store had given before *number*; 0 stands for itself."""
        return self.numbers.setdefault(number, len(self.numbers) + 1) if number else 0

    async def advance(self, seconds: float) -> None:
        """Let time pass for this store."""
        self.clock.advance(seconds)

    async def retry(self, number: int) -> object:
        """Make one of the last requests with a key again."""
        if number >= len(self.keyed):
            return None
        method, arguments = self.keyed[-1 - number]
        return await getattr(self.store, method)(**arguments)

    async def claim(self, owner: str, lease_s: float) -> Lease | None:
        """Claim, and keep the lease."""
        lease = await self.store.claim(owner, lease_s=lease_s)
        self.leases += [lease] if lease else []
        return lease

    def _lease(self, number: int) -> Lease | None:
        return self.leases[-1 - number] if number < len(self.leases) else None

    async def commit(self, number: int, writes: Sequence[Write], *, part: bool) -> object:
        """Commit under one of the last leases."""
        lease = self._lease(number)
        if lease is None:
            return None
        positions = {t.thread: t.formed + 1 if part else t.last for t in lease.threads}
        again = {t.thread: t.again[:1] if part else t.again for t in lease.threads}
        formed = Formed(watermarks=positions, again=again, calls=1, tokens=len(writes))
        return await self.store.commit(lease, writes, formed)

    async def give_up(self, number: int) -> object:
        """Give up all that one of the last leases is about."""
        lease = self._lease(number)
        if lease is None:
            return None
        failed = {t.thread: [*t.again, *range(t.formed + 1, t.last + 1)] for t in lease.threads}
        positions = {t.thread: t.last for t in lease.threads}
        formed = Formed(watermarks=positions, failed=failed, status="dead", receipt={"q": 1})
        return await self.store.commit(lease, [], formed)

    async def redrive(self, scope: Scope) -> object:
        """Redrive the newest formation of a scope."""
        found = (await self.store.formations(scope, limit=1)).rows
        return found and [found, await self.store.redrive(scope, found[0].id)]

    async def extend(self, number: int) -> object:
        """Extend one of the last leases."""
        lease = self._lease(number)
        return lease and await self.store.extend(lease)

    async def release(self, number: int, retry_s: float) -> None:
        """Give one of the last leases back."""
        if lease := self._lease(number):
            names = [each.thread for each in lease.threads]
            spent = Formed(watermarks={}, calls=2, tokens=5) if retry_s else None
            await self.store.release(
                lease, failed=names[:1], postponed=names[1:], retry_s=retry_s, attempt=spent
            )

    async def embed(self, scope: Scope) -> object:
        """Embed what waits in a scope."""
        scope_id = await self.store.scope_id(scope)
        batch = scope_id and await self.store.unembedded(scope_id, EMBEDDER.identity)
        if not isinstance(batch, Unembedded):
            return None
        entries = sorted(batch.entries)
        vectors = EMBEDDER.embed([text for _, _, text in entries])
        done = [
            (uid, hash_, encode_vector(vector))
            for (uid, hash_, _), vector in zip(entries, vectors, strict=True)
        ]
        kept = await self.store.keep_vectors(batch, EMBEDDER.identity, done)
        return [batch.until, *entries, kept]

    async def copy(self, scope: Scope, to: Scope) -> int:
        """Restore the records of a scope elsewhere."""
        return await self.store.restore(to, await self.store.archive(scope))

    async def follow(self, scope: Scope) -> Feed:
        """Read on in the feed of a scope."""
        cursor = self.cursors.get(scope, Cursor(scope=scope))
        feed = await self.store.changes(cursor, embedder=EMBEDDER.identity)
        self.cursors[scope] = Cursor(scope=scope, seq=feed.seq, epoch=feed.epoch)
        return feed

    async def look(self, scopes: list[Scope], filter_: Any) -> object:
        """Pick every second eligible entry of some scopes."""
        cursors = [Cursor(scope=scope) for scope in scopes]

        def read(snapshot: StoreSnapshot) -> list[object]:
            feeds = snapshot.feeds(cursors, filter_=filter_)
            places = [
                (feed.scope, each.uid)
                for feed in feeds
                for each in feed.entries[::2]
                if feed.eligible is None or each.uid in feed.eligible
            ]
            return [*feeds, *snapshot.entries(places)]

        return await self.store.read(read)

    async def recall(
        self,
        scopes: Sequence[Scope],
        query: str,
        *,
        limit: int,
        budget_tokens: int | None,
        where: Arguments,
        asked_at: datetime | None,
    ) -> Recall:
        """Recall what bears on a query, with the score of each entry and what it is made of."""
        ask = RecallQuery(
            query=query,
            limit=limit,
            budget_tokens=budget_tokens,
            where=Where(**where),
            asked_at=asked_at,
        )
        return await self.recaller.recall(scopes, ask)

    async def waiting(self) -> object:
        """Return the scopes that wait to be embedded."""
        ids = {await self.store.scope_id(scope): scope for scope in SCOPES}
        found = await self.store.unembedded_scopes(EMBEDDER.identity)
        return sorted(ids[each] for each in found)


async def answers(store: Store, clock: FrozenClock, steps: Sequence[Drawn]) -> list[object]:
    """Return the answers of a store to all steps."""
    asked = ComparedStore(store, clock)
    return [await asked.answer(method, arguments) for method, arguments in steps]


async def told_by(url: str, steps: Sequence[Drawn]) -> list[object]:
    """Return the answers of the empty store at *url*, as by a clock and ids that repeat."""
    clock = FrozenClock()
    store = open_store(url, clock=clock, ids=SeededIds(1), durability="relaxed")
    async with store:
        return await answers(store, clock, steps)


async def first_difference(steps: Sequence[Drawn], *urls: str) -> object:
    """
    Return the first step to which two stores answer differently, with both answers.

    The first store is the one in process; the others are the empty ones at *urls*, or one
    in a new file.
    """
    with tempfile.TemporaryDirectory() as folder:
        expected = await told_by("memory:", steps)
        for url in urls or (str(Path(folder) / "memory.db"),):
            told = await told_by(url, steps)
            for step, one, other in zip(steps, expected, told, strict=True):
                if one != other:
                    return step, one, other
    return None


@contextmanager
def forgetful_tables() -> Iterator[None]:
    """Have the store in process find no newest messages: the mutant."""
    found = Tables.last_messages

    def last_messages(*_: object, **__: object) -> tuple[()]:
        return ()

    setattr(Tables, "last_messages", last_messages)  # noqa: B010 - a mutant is no declaration
    try:
        yield
    finally:
        setattr(Tables, "last_messages", found)  # noqa: B010 - as above
