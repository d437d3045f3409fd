"""Following a scope's feed step by step gives the index that starting over would give."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

import anyio
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recollect.recall import scope_index as indexing
from recollect.recall.candidates import Collection
from recollect.recall.eligibility import Eligibility
from recollect.recall.index_names import MESSAGE, IndexNames
from recollect.recall.query_analysis import read_question
from recollect.recall.ranking import search
from recollect.recall.scope_index import (
    MERGE_ENTRIES_MAX,
    SEGMENTS_MAX,
    ScopeIndex,
    merged,
    needs_merging,
    refreshed,
)
from recollect.recall.vector_backlog import Embedding
from recollect.records import DeleteMemory, NewMessage, PutMemory, Scope
from recollect.stores.change_feed import Feed, FeedEntry
from recollect.stores.in_process.store import InProcessStore
from recollect.stores.plans.erase_targets import EraseMessages, EraseThread
from recollect.stores.vector_codec import encode_vector
from recollect.testing import NOON, CountingIds, FrozenClock, HashedEmbedder
from recollect.text.terms import encode_terms, term_hash

ADA: Scope = ("users", "ada")
EMBEDDER = HashedEmbedder(16)
VOCABULARY = "kite red sky oslo paint yesterday I".split()
TERMS = "kite red sky oslo paint yesterday may 2024".split()
QUERIES = [
    "Who painted the red kite?",
    "When was Oslo red?",
    "What did Ada paint?",
    "Where is Bob's kite?",
]
# Cosines of equal entries differ by a rounding, which standardising may enlarge.
TOLERANCE = 0.02

Step = tuple[str, int, int, str]
Refresh = Callable[[ScopeIndex, Feed], ScopeIndex]

DEEDS = [
    "say",
    "say",
    "say",
    "replace",
    "remove",
    "note",
    "delete",
    "embed",
    "refresh",
    "refresh",
    "merge",
    "erase message",
    "erase thread",
    "start over",
]
TEXTS = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=5).map(" ".join)
STEPS = st.lists(
    st.tuples(st.sampled_from(DEEDS), st.integers(0, 5), st.integers(0, 2), TEXTS), max_size=25
)


@dataclass
class Follower:
    """A store, and an index that follows it, keeping every index that it came by."""

    refresh: Refresh = refreshed
    clock: FrozenClock = field(default_factory=FrozenClock)
    index: ScopeIndex = field(default_factory=lambda: ScopeIndex(scope=ADA))
    past: list[tuple[ScopeIndex, list[NDArray[np.generic]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = InProcessStore(clock=self.clock, ids=CountingIds())

    async def take(self, step: Step) -> None:
        """Do one thing to the store or the index."""
        deed, number, kind, text = step
        self.clock.advance(600 * (kind + 1))
        match deed:
            case "say" | "replace":
                await self._say(deed, number, kind, text)
            case "remove" | "erase message" | "erase thread":
                await self._take_away(deed, number, kind)
            case "note":
                await self.store.apply(ADA, [note(number, kind, text, self.clock.now())])
            case "delete":
                await self.store.apply(ADA, [DeleteMemory(type="Note", key=str(number))])
            case "embed":
                await Embedding(self.store, EMBEDDER).settle(ADA)
            case "merge":
                self._keep(merged(self.index))
            case "start over":
                self.index = ScopeIndex(scope=ADA)
            case _:
                await self.catch_up()

    async def _say(self, deed: str, number: int, kind: int, text: str) -> None:
        speaker = (None, "Ada", "Bob")[kind]
        role = ("user", "assistant")[number % 2]
        thread = f"t{kind}"
        message = NewMessage(role=role, text=text, name=speaker, id=f"m{number}")  # type: ignore[arg-type]
        known = {each.id for each in (await self.store.messages(ADA, thread)).rows}
        if message.id in known:
            await self.store.replace(ADA, thread, message)
        elif deed == "say":
            await self.store.append(ADA, thread, [message])

    async def _take_away(self, deed: str, number: int, kind: int) -> None:
        thread = f"t{kind}"
        if await self.store.thread(ADA, thread) is None:
            return
        if deed == "remove":
            await self.store.remove(ADA, thread, [f"m{number}"])
        elif deed == "erase message":
            await self.store.erase(ADA, EraseMessages(thread=thread, messages=[f"m{number}"]))
        else:
            await self.store.erase(ADA, EraseThread(thread=thread))

    async def catch_up(self) -> None:
        """Bring the index up to the store."""
        feed = await self.store.changes(self.index.cursor, embedder=EMBEDDER.identity)
        self._keep(self.refresh(self.index, feed))

    def _keep(self, index: ScopeIndex) -> None:
        self.index = index
        self.past.append((index, [each.copy() for each in arrays_of(index)]))

    async def started_over(self) -> ScopeIndex:
        """Return the index that somebody builds who comes now."""
        empty = ScopeIndex(scope=ADA)
        return refreshed(empty, await self.store.changes(empty.cursor, embedder=EMBEDDER.identity))


def note(number: int, kind: int, text: str, now: datetime) -> PutMemory:
    """Return a memory that may be ended, expiring or quarantined."""
    hour = timedelta(hours=1)
    return PutMemory(
        type=("Note", "Fact")[number == 5],
        key=str(number),
        value={"text": text},
        text=text,
        state="quarantined" if kind == 1 else "active",
        valid_from=now - hour if kind == 2 else None,
        valid_until=now + hour if kind == 2 else None,
        expires_at=now + 24 * hour if number % 2 else None,
    )


def arrays_of(index: ScopeIndex) -> list[NDArray[np.generic]]:
    """Return every array that *index* consists of."""
    return [
        each
        for part in index.parts
        for each in (part.is_live, *(getattr(part.segment, n) for n in part.segment.__slots__))
        if isinstance(each, np.ndarray)
    ]


def portrait(index: ScopeIndex, wanted: Eligibility) -> dict[str, object]:
    """Return all that a search can see of an index, in words that do not depend on its numbers."""
    collection = Collection([index], [wanted])
    uid = collection.uid.tolist()
    speakers = {number: name for name, number in index.names.speakers.items()}
    kinds = {MESSAGE: "message"} | {number: name for name, number in index.names.kinds.items()}
    plain = ("time", "role", "length", "has_time_expression", "is_first_person", "window_length")
    seen: dict[str, object] = {
        name: dict(zip(uid, getattr(collection, name).tolist(), strict=True)) for name in plain
    }
    seen["speaker"] = {u: speakers.get(n) for u, n in zip(uid, collection.speaker, strict=True)}
    seen["kind"] = {u: kinds[n] for u, n in zip(uid, collection.kind, strict=True)}
    seen["sessions"] = {
        tuple(u for u, session in zip(uid, collection.session, strict=True) if session == number)
        for number in range(collection.sessions)
    }
    for term in TERMS:
        ((places, counts),) = collection.postings([term_hash(term)])
        seen[term] = {uid[p]: c for p, c in zip(places.tolist(), counts.tolist(), strict=True)}
    return seen | {"years": collection.years, "eligible": collection.eligible, "live": index.live}


def scores(index: ScopeIndex, wanted: Eligibility, query: str) -> dict[int, float]:
    """Return the score of every entry."""
    (vector,) = EMBEDDER.embed([query])
    question = read_question(query, date(2024, 5, 15))
    return {
        h.uid: h.score for h in search(Collection([index], [wanted]), question, vector, 99).hits
    }


def assert_alike(one: ScopeIndex, other: ScopeIndex, now: int) -> None:
    """Compare all that can be seen of two indexes, and what they answer."""
    for wanted in (Eligibility(now=now), Eligibility(now=now, valid_at=now)):
        assert portrait(one, wanted) == portrait(other, wanted)
        for query in QUERIES:
            expected = scores(one, wanted, query)
            assert scores(other, wanted, query) == pytest.approx(expected, abs=TOLERANCE)


def followed(steps: Sequence[Step], merge_entries_max: int, refresh: Refresh) -> Follower:
    """Take *steps*, check that both ways to an index agree, and return what was followed."""
    follower = Follower(refresh=refresh)

    async def follow() -> None:
        for step in steps:
            await follower.take(step)
        await follower.catch_up()
        found, expected = follower.index, await follower.started_over()
        assert (expected.seq, expected.epoch) == (found.seq, found.epoch)
        assert_alike(expected, found, follower.store.now())
        assert_alike(expected, merged(found), follower.store.now())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexing, "MERGE_ENTRIES_MAX", merge_entries_max)
        anyio.run(follow)
    return follower


LATE_VECTOR: list[Step] = [
    ("say", 0, 0, "red kite"),
    ("say", 1, 1, "blue sky"),
    ("refresh", 0, 0, "-"),
    ("embed", 0, 0, "-"),
    ("say", 2, 2, "oslo"),
    ("refresh", 0, 0, "-"),
]
REPLACED: list[Step] = [
    ("say", 0, 0, "red kite"),
    ("say", 1, 0, "sky"),
    ("refresh", 0, 0, "-"),
    ("replace", 0, 0, "oslo oslo"),
]
REMOVED: list[Step] = [
    ("say", 0, 0, "red kite"),
    ("say", 1, 0, "sky"),
    ("refresh", 0, 0, "-"),
    ("remove", 0, 0, "-"),
]
ERASED: list[Step] = [*REMOVED[:3], ("erase message", 0, 0, "-")]


@given(STEPS, st.sampled_from([0, 3, MERGE_ENTRIES_MAX]))
@example(LATE_VECTOR, 3)
@example(REPLACED, 0)
@example(REMOVED, 0)
@example(ERASED, 0)
@settings(max_examples=100)
def test_following_a_feed_equals_starting_over(steps: list[Step], merge_entries_max: int) -> None:
    """Replaced, removed, erased and embedded at any moment, merged or not: the answers agree."""
    followed(steps, merge_entries_max, refreshed)


@pytest.mark.prove
@given(STEPS, st.sampled_from([0, 3, MERGE_ENTRIES_MAX]))
@settings(max_examples=2_000)
def test_following_a_feed_equals_starting_over_in_full(
    steps: list[Step], merge_entries_max: int
) -> None:
    """The same, two thousand times."""
    followed(steps, merge_entries_max, refreshed)


def deaf_to_removals(index: ScopeIndex, feed: Feed) -> ScopeIndex:
    """Follow a feed without hearing what was removed."""
    return refreshed(index, replace(feed, removed=()))


def deaf_to_resets(index: ScopeIndex, feed: Feed) -> ScopeIndex:
    """Follow a feed as if it had never begun anew."""
    return refreshed(index, replace(feed, reset=feed.reset and not index.parts))


def keeping_what_was_replaced(index: ScopeIndex, feed: Feed) -> ScopeIndex:
    """Follow a feed, but let the earlier forms of entries live on."""
    found = refreshed(index, feed)
    return found if feed.reset else replace(found, parts=(*index.parts, *found.parts))


def keeping_the_first_vector(index: ScopeIndex, feed: Feed) -> ScopeIndex:
    """Follow a feed, but look at an entry's vector only when it comes for the first time."""
    known = {uid for part in index.parts for uid in part.segment.uid.tolist()}
    entries = tuple(e._replace(vector=None) if e.uid in known else e for e in feed.entries)
    return refreshed(index, replace(feed, entries=entries))


@pytest.mark.parametrize(
    ("mutant", "steps"),
    [
        (deaf_to_removals, REMOVED),
        (deaf_to_resets, ERASED),
        (keeping_what_was_replaced, REPLACED),
        (keeping_the_first_vector, LATE_VECTOR),
    ],
)
def test_a_follower_that_misses_something_is_caught(mutant: Refresh, steps: list[Step]) -> None:
    """Each way to follow a feed wrongly gives other answers, and the check says so."""
    with pytest.raises(AssertionError):
        followed(steps, 0, mutant)


@given(STEPS, st.sampled_from([0, 3, MERGE_ENTRIES_MAX]))
@settings(max_examples=40)
def test_an_index_never_changes(steps: list[Step], merge_entries_max: int) -> None:
    """A search may go on with the index that it began with: no later step touches its arrays."""
    follower = followed(steps, merge_entries_max, refreshed)

    for index, arrays in follower.past:
        for before, now in zip(arrays, arrays_of(index), strict=True):
            np.testing.assert_array_equal(before, now)


@pytest.mark.parametrize("deed", ["remove", "replace"])
def test_a_speaker_who_is_gone_is_gone(deed: str) -> None:
    """Once nothing of his is left, a question that names him is answered as after a restart."""
    follower = Follower()

    async def follow() -> ScopeIndex:
        await follower.take(("say", 0, 2, "red kite"))
        await follower.take(("say", 2, 0, "blue sky"))
        await follower.catch_up()
        if deed == "remove":
            await follower.take(("remove", 0, 2, "-"))
        else:
            nameless = NewMessage(role="user", text="red kite", id="m0")
            await follower.store.replace(ADA, "t2", nameless)
        await follower.catch_up()
        return await follower.started_over()

    expected = anyio.run(follow)

    wanted = Eligibility(now=follower.store.now())
    assert scores(expected, wanted, "Bob") == pytest.approx(
        scores(follower.index, wanted, "Bob"), abs=TOLERANCE
    )


class Interrupted(dict[tuple[int, str], int]):
    """Numbers of sessions; another thread gets its turn once, between count and entry."""

    interruption: Callable[[], object] | None = None

    def __len__(self) -> int:
        length = super().__len__()
        interruption, self.interruption = self.interruption, None
        if interruption:
            interruption()
        return length


def test_two_searches_never_give_one_number_twice() -> None:
    """Two threads that refresh the same index at once tell all its sessions apart."""
    names, sessions = IndexNames(), Interrupted()
    names.sessions = sessions
    one, other = said(1, "kite", session="a"), said(2, "sky", session="b")
    sessions.interruption = lambda: names.session(other.thread, other.session)

    names.session(one.thread, one.session)

    assert names.session(one.thread, one.session) != names.session(other.thread, other.session)


BLANK = FeedEntry(
    uid=0, seq=1, kind="message", thread=1, session="s", position=1, time=0, speaker=None,
    role="user", type=None, state="active", valid_from=None, valid_until=None, expires_at=None,
    terms=b"", vector=None,
)  # fmt: skip


def said(uid: int, text: str, **fields: Any) -> FeedEntry:
    """Return a message that says *text*."""
    entry = BLANK._replace(uid=uid, position=uid, terms=encode_terms(text, NOON))
    return entry._replace(**fields)


def feed_of(*entries: FeedEntry, seq: int = 1, removed: tuple[int, ...] = ()) -> Feed:
    """Return a feed with *entries*, which begins anew if it is the first."""
    return Feed(
        scope=ADA, now=0, seq=seq, epoch=1, reset=seq == 1, entries=entries, removed=removed
    )


def test_a_feed_without_news_changes_nothing() -> None:
    """The same object comes back, so that what was derived from it holds."""
    index = refreshed(ScopeIndex(scope=ADA), feed_of(said(1, "kite")))

    again = refreshed(index, replace(feed_of(), reset=False))

    assert index is again


def test_a_feed_that_only_counted_on_moves_the_cursor() -> None:
    """The next search asks from there on; the parts stay what they were."""
    index = refreshed(ScopeIndex(scope=ADA), feed_of(said(1, "kite")))

    later = refreshed(index, feed_of(seq=7))

    assert (7, index.parts) == (later.cursor.seq, later.parts)


def test_an_index_stays_in_few_parts() -> None:
    """Small changes are merged as they come, so that a search looks into few places."""
    index = ScopeIndex(scope=ADA)
    for seq in range(1, 200):
        index = refreshed(index, feed_of(said(seq, "kite"), seq=seq))

    assert len(index.parts) <= 4
    assert not needs_merging(index)


def test_a_large_part_is_not_copied_for_each_message() -> None:
    """A message is merged with its like; the large part before stays the same object."""
    index = refreshed(ScopeIndex(scope=ADA), feed_of(*(said(n, "kite") for n in range(1, 101))))
    (large,) = index.parts
    for seq in range(2, 20):
        index = refreshed(index, feed_of(said(100 + seq, "kite"), seq=seq))

    assert large is index.parts[0]
    assert len(index.parts) <= 4


def test_what_outgrew_a_large_part_is_merged_with_it() -> None:
    """So each entry is copied a few times in its life, and parts stay few."""
    index = refreshed(ScopeIndex(scope=ADA), feed_of(*(said(n, "kite") for n in range(1, 101))))
    for seq in range(2, 60):
        index = refreshed(index, feed_of(said(100 + seq, "kite"), seq=seq))

    assert len(index.parts[0].segment) > 100


def test_large_parts_are_left_to_be_merged_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """While refreshing nothing large is copied; the index says when it should be."""
    monkeypatch.setattr(indexing, "MERGE_ENTRIES_MAX", 2)
    index = ScopeIndex(scope=ADA)
    for seq in range(1, SEGMENTS_MAX + 2):
        entries = [said(10 * seq + n, "kite") for n in range(3)]
        index = refreshed(index, feed_of(*entries, seq=seq))

    assert needs_merging(index)
    assert SEGMENTS_MAX + 1 == len(index.parts)
    assert (1, index.live) == (len(merged(index).parts), merged(index).live)


def test_dead_entries_are_merged_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index of mostly dead entries asks to be merged, and is small then."""
    monkeypatch.setattr(indexing, "MERGE_ENTRIES_MAX", 2)
    index = refreshed(ScopeIndex(scope=ADA), feed_of(*(said(n, "kite") for n in range(1, 101))))
    index = refreshed(index, feed_of(seq=2, removed=tuple(range(1, 91))))

    compact = merged(index)

    assert needs_merging(index)
    assert not needs_merging(compact)
    assert compact.size_bytes < index.size_bytes / 4


def test_an_index_of_nothing_left_has_no_parts() -> None:
    """What is all dead is dropped at once."""
    index = refreshed(ScopeIndex(scope=ADA), feed_of(said(1, "kite"), said(2, "sky")))

    index = refreshed(index, feed_of(seq=2, removed=(1, 2)))

    assert ((), 0) == (index.parts, index.size_bytes)


def test_an_entry_takes_at_most_one_and_a_half_kilobytes() -> None:
    """Ordinary messages of some twenty words, with vectors of 384 dimensions, are kept small."""
    draw = np.random.default_rng(1)
    words = [f"word{n}" for n in range(20_000)]
    entries = [
        said(
            uid,
            " ".join(words[min(int(rank), 19_999)] for rank in draw.zipf(1.3, size=20)),
            speaker=("Ada", "Bob")[uid % 2],
            session=str(uid // 12),
            vector=encode_vector(draw.normal(size=384).astype(np.float32)),
        )
        for uid in range(1, 3_001)
    ]

    index = refreshed(ScopeIndex(scope=ADA), feed_of(*entries))

    assert index.size_bytes / len(entries) <= 1_500
    assert merged(index).size_bytes / len(entries) <= 1_500
