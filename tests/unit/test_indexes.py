"""The cache of indexes keeps the latest of each scope, within its bytes, and can forget."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall import index_cache as caching
from recollect.recall import scope_index as indexing
from recollect.recall.candidates import SCATTERED_FROM
from recollect.recall.collection_update import SCOPES_MIN
from recollect.recall.eligibility import Eligibility
from recollect.recall.index_cache import LISTINGS_MAX, Indexes, TakenIndex
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.segment import ROLES
from recollect.records import Scope
from recollect.stores.change_feed import Feed, FeedEntry, ReadMoment
from recollect.stores.plans.changes import Below
from recollect.text.terms import encode_terms

ADA: Scope = ("users", "ada")
BOB: Scope = ("users", "bob")
OPEN = Eligibility(now=0)
EVERY_KIND = (True, None)

BLANK = FeedEntry(
    uid=0, seq=1, kind="message", thread=1, session="s", position=1, time=0, speaker=None,
    role="user", type=None, state="active", valid_from=None, valid_until=None, expires_at=None,
    terms=encode_terms("red kite", None), vector=None,
)  # fmt: skip


def index_of(
    scope: Scope = ADA, *, seq: int = 1, epoch: int = 1, entries: int = 1, **fields: Any
) -> ScopeIndex:
    """Return an index of so many entries, as it stands at *seq* of *epoch*."""
    fed = tuple(BLANK._replace(uid=uid, position=uid, **fields) for uid in range(1, entries + 1))
    feed = Feed(scope=scope, now=0, seq=seq, epoch=epoch, reset=True, entries=fed, removed=())
    return refreshed(ScopeIndex(scope=scope), feed)


def latest(indexes: Indexes, scope: Scope) -> ScopeIndex:
    """Take the index of one scope."""
    (found,) = indexes.take([scope]).indexes
    return found


def with_offered(*offered: ScopeIndex, bytes_max: int = 1 << 30) -> Indexes:
    """Return a cache that was offered these, in order."""
    indexes = Indexes(bytes_max)
    for each in offered:
        indexes.offer([each])
    return indexes


def test_an_unknown_scope_has_an_empty_index() -> None:
    """It begins before the feed does."""
    found = latest(Indexes(), ADA)

    assert (ADA, 0, ()) == (found.scope, found.seq, found.parts)


def test_what_was_offered_is_taken() -> None:
    """The next search goes on where the last one ended."""
    index = index_of()

    assert latest(with_offered(index), ADA) is index


@pytest.mark.parametrize(("first", "second"), [(3, 7), (7, 3)])
def test_the_later_index_is_kept(first: int, second: int) -> None:
    """In whatever order two searches end, the one that saw more stays."""
    indexes = with_offered(index_of(seq=first), index_of(seq=second))

    assert latest(indexes, ADA).seq == 7


def test_of_equally_late_indexes_the_first_is_kept() -> None:
    """So that what was derived from it stays useful."""
    first, second = index_of(), index_of()

    assert latest(with_offered(first, second), ADA) is first


def test_an_erase_begins_anew() -> None:
    """An index of the epoch after an erase takes the place of a longer one from before."""
    before, after = index_of(seq=9, epoch=1), index_of(seq=2, epoch=2)

    assert latest(with_offered(before, after), ADA) is after


def test_an_index_from_before_an_erase_does_not_come_back() -> None:
    """A search that began before an erase ends after it, and what it saw is not kept."""
    before, after = index_of(seq=9, epoch=1), index_of(seq=2, epoch=2)

    assert latest(with_offered(after, before), ADA) is after


def test_the_longest_unused_are_dropped_over_the_limit() -> None:
    """Taking an index is using it."""
    size = index_of().size_bytes
    indexes = with_offered(index_of(("a",)), index_of(("b",)), bytes_max=2 * size)
    latest(indexes, ("a",))

    indexes.offer([index_of(("c",))])

    assert [1, 0, 1] == [len(latest(indexes, (name,)).parts) for name in "abc"]
    assert indexes.size_bytes <= 2 * size


def test_one_index_over_the_limit_is_kept() -> None:
    """A scope that is larger than the limit can be searched all the same."""
    indexes = with_offered(index_of(BOB), index_of(entries=500), bytes_max=100)

    assert (500, 0) == (latest(indexes, ADA).live, latest(indexes, BOB).live)


OFFERS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 9), st.integers(0, 4)), max_size=12
)


@given(OFFERS, st.integers(0, 4_000))
def test_bytes_are_counted_exactly(offers: Sequence[tuple[str, int, int]], bytes_max: int) -> None:
    """After any offers the count is the sum of what is kept, at most the limit or one index."""
    indexes = with_offered(
        *(index_of((name,), seq=seq, entries=count) for name, seq, count in offers),
        bytes_max=bytes_max,
    )

    kept = indexes.take([(name,) for name in "abc"]).indexes
    assert sum(index.size_bytes for index in kept) == indexes.size_bytes
    assert indexes.size_bytes <= bytes_max or sum(bool(index.parts) for index in kept) == 1


def test_a_forgotten_scope_takes_those_below_along() -> None:
    """Segments are compared whole: a name that only begins alike stays."""
    scopes: list[Scope] = [("users",), ADA, (*ADA, "work"), ("users", "adam"), BOB]
    indexes = with_offered(*map(index_of, scopes))

    indexes.forget(ADA)

    assert [1, 0, 0, 1, 1] == [latest(indexes, scope).live for scope in scopes]


def test_nothing_is_counted_for_what_was_forgotten() -> None:
    """An empty cache takes no bytes."""
    indexes = with_offered(index_of(ADA), index_of(BOB))

    indexes.forget(("users",))

    assert indexes.size_bytes == 0


def test_a_collection_is_made_once() -> None:
    """While nothing changed, searches share one."""
    indexes = with_offered(index_of())
    taken = indexes.take([ADA]).indexes

    first = indexes.collection(taken, [OPEN])

    assert indexes.collection(taken, [Eligibility(now=5)]) is first


def test_a_collection_known_to_be_behind_is_not_looked_at_ahead() -> None:
    """It would be of no use: the search reads what was written, and another one is made."""
    indexes = with_offered(index_of())
    taken = indexes.take([ADA]).indexes
    made = indexes.collection(taken, [OPEN])
    assert indexes.take([ADA], OPEN.kinds).collection is made

    indexes.note_written(ADA)

    assert indexes.take([ADA], OPEN.kinds).collection is None
    assert indexes.collection(taken, [OPEN]) is made

    indexes.offer([index_of(seq=2)])
    later = indexes.take([ADA]).indexes
    again = indexes.collection(later, [OPEN])

    assert indexes.take([ADA], OPEN.kinds).collection is again


def test_a_changed_index_has_another_collection() -> None:
    """What was written since is in it."""
    indexes = with_offered(index_of())
    before = indexes.collection(indexes.take([ADA]).indexes, [OPEN])
    indexes.offer([index_of(seq=2, entries=2)])

    after = indexes.collection(indexes.take([ADA]).indexes, [OPEN])

    assert (1, 2) == (len(before), len(after))


def test_several_scopes_have_a_collection_of_their_own() -> None:
    """Scopes in another order are other numbers."""
    indexes = with_offered(index_of(ADA), index_of(BOB, entries=2))
    both = indexes.take([ADA, BOB]).indexes

    found = indexes.collection(both, [OPEN, OPEN])
    other = indexes.collection(both[::-1], [OPEN, OPEN])

    assert [0, 1, 1] == found.scope.tolist()
    assert [0, 0, 1] == other.scope.tolist()


@pytest.mark.parametrize(
    "wanted",
    [
        Eligibility(now=0, messages=False),
        Eligibility(now=0, types=frozenset()),
        Eligibility(now=0, threads=frozenset({1})),
        Eligibility(now=0, since=0),
        Eligibility(now=0, until=1),
        Eligibility(now=0, uids=frozenset({1})),
    ],
)
def test_a_restricted_collection_is_made_for_its_search(wanted: Eligibility) -> None:
    """It is not taken for the open one, nor the open one for it."""
    indexes = with_offered(index_of())
    taken = indexes.take([ADA]).indexes
    whole = indexes.collection(taken, [OPEN])

    restricted = indexes.collection(taken, [wanted])

    assert restricted is not whole
    assert indexes.collection(taken, [OPEN]) is whole


def test_a_collection_of_some_kinds_is_kept_beside_that_of_all() -> None:
    """Kinds depend on no hour: what was made of the same ones is found again."""
    indexes = with_offered(index_of(kind="memory", type="Note"))
    taken = indexes.take([ADA]).indexes
    notes = Eligibility(now=0, messages=False, types=frozenset({"Note"}))
    facts = Eligibility(now=0, messages=False, types=frozenset({"Fact"}))

    made = [indexes.collection(taken, [each]) for each in (OPEN, notes, facts)]

    assert [1, 1, 0] == [len(each) for each in made]
    assert all(
        indexes.collection(taken, [each]) is one
        for each, one in zip((OPEN, notes, facts), made, strict=True)
    )


def test_a_collection_of_many_scopes_is_joined_when_it_is_searched_again() -> None:
    """Joining takes longer than a search: what is searched once goes without."""
    many = [index_of((str(number),)) for number in range(SCATTERED_FROM)]
    indexes = with_offered(*many)

    first, second, third = (indexes.collection(many, [OPEN] * len(many)) for _ in range(3))

    assert (True, False) == (first.is_scattered, second.is_scattered)
    assert second is third
    assert indexes.size_bytes == second.size_bytes + sum(each.size_bytes for each in many)


@pytest.mark.parametrize("field", ["expires_at", "valid_until", "valid_from"])
def test_what_depends_on_the_hour_is_looked_at_each_time(field: str) -> None:
    """An entry that expires or ends between two searches is in the first one only."""
    span: dict[str, Any] = {field: 0 if field == "valid_from" else 5}
    indexes = with_offered(index_of(kind="memory", type="Note", **span))
    taken = indexes.take([ADA]).indexes

    now, later = (indexes.collection(taken, [Eligibility(now=at, valid_at=at)]) for at in (0, 9))

    assert (1, 1 if field == "valid_from" else 0) == (len(now), len(later))


def test_a_collection_is_kept_while_the_same_entries_are_eligible() -> None:
    """Until the next one of them begins, ends or expires."""
    indexes = with_offered(index_of(kind="memory", type="Note", valid_until=5))
    taken = indexes.take([ADA]).indexes

    first, second, late, later = (
        indexes.collection(taken, [Eligibility(now=at, valid_at=at)]) for at in (0, 4, 5, 9)
    )

    assert first is second
    assert late is later is not first


def test_nothing_is_kept_that_was_made_of_what_was_forgotten() -> None:
    """A search that began before an erase may have taken a collection with the erased words."""
    many = [index_of((str(number),)) for number in range(SCATTERED_FROM + SCOPES_MIN)]
    indexes = with_offered(*many)
    scopes = [each.scope for each in many]
    indexes.collection(many, [OPEN] * len(many))
    generation, taken = indexes.generation, indexes.take(scopes, EVERY_KIND)

    indexes.forget(scopes[0])
    left = list(taken.indexes[1:])
    made = indexes.collection(left, [OPEN] * len(left), taken.known, generation)

    assert taken.known is not None
    assert len(left) == len(made)
    assert not indexes._collections

    indexes.collection(left, [OPEN] * len(left), generation=indexes.generation)
    assert 1 == len(indexes._collections)


def test_a_collection_is_brought_up_to_date_when_a_scope_was_written_to() -> None:
    """Its other scopes are not collected again."""
    many = [index_of((str(number),)) for number in range(SCOPES_MIN)]
    indexes = with_offered(*many)
    scopes = [each.scope for each in many]
    indexes.collection(many, [OPEN] * len(many))
    indexes.note_written(scopes[3])
    taken = indexes.take(scopes, EVERY_KIND)
    newer = index_of(scopes[3], seq=2, entries=2)
    indexes.offer([newer])
    now = [*many[:3], newer, *many[4:]]

    made = indexes.collection(now, [OPEN] * len(now), taken.known)

    assert (None, True) == (taken.collection, taken.known is not None)
    assert len(many) + 1 == len(made)
    # The others' segments, joined, and that of the scope.
    assert 2 == len(made.slices)
    assert made is indexes.collection(now, [OPEN] * len(now))


def test_forgetting_a_scope_forgets_its_collections() -> None:
    """Nothing of it stays behind in a collection that it shared with others."""
    indexes = with_offered(index_of(ADA), index_of(BOB))
    both = indexes.take([ADA, BOB]).indexes
    indexes.collection(both, [OPEN, OPEN])
    alone = indexes.collection(both[1:], [OPEN])

    indexes.forget(ADA)

    assert {((BOB,), EVERY_KIND): alone} == indexes._collections


def test_collections_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest unmade one is dropped first."""
    monkeypatch.setattr(caching, "COLLECTIONS_MAX", 2)
    offered = [index_of((name,)) for name in "abc"]
    indexes = with_offered(*offered)

    for each in offered:
        indexes.collection([each], [OPEN])

    assert [((("b",),), EVERY_KIND), ((("c",),), EVERY_KIND)] == list(indexes._collections)


def test_collections_go_before_indexes() -> None:
    """They count, and are made again within a search; an index has to be read again."""
    offered = [index_of((name,), entries=20) for name in "abc"]
    size = sum(each.size_bytes for each in offered)
    indexes = with_offered(*offered[:2], bytes_max=size)
    made = indexes.collection([offered[0]], [OPEN])
    assert size - offered[2].size_bytes + made.size_bytes == indexes.size_bytes

    indexes.offer([offered[2]])

    assert size == indexes.size_bytes
    assert [20, 20, 20] == [latest(indexes, (name,)).live for name in "abc"]
    assert indexes.collection([offered[0]], [OPEN]) is not made


def test_of_one_index_over_the_limit_one_collection_is_kept() -> None:
    """Otherwise each search of a large scope would make its collection anew."""
    index = index_of(entries=500)
    indexes = with_offered(index, bytes_max=100)

    made = indexes.collection([index], [OPEN])
    assert indexes.collection([index], [OPEN]) is made
    of_messages = indexes.collection([index], [replace(OPEN, types=frozenset())])

    assert [of_messages] == list(indexes._collections.values())
    assert index.size_bytes + of_messages.size_bytes == indexes.size_bytes


def test_a_collection_over_the_limit_goes_before_a_second_index() -> None:
    """Only what cannot be helped stays over the limit."""
    index = index_of(BOB, entries=20)
    indexes = with_offered(index, bytes_max=index.size_bytes)
    indexes.collection([index], [OPEN])

    indexes.offer([index_of(entries=20)])

    assert not indexes._collections


def test_a_collection_of_what_is_not_kept_is_not_kept() -> None:
    """A search that ends after an erase leaves nothing behind of what it saw."""
    index = index_of()
    indexes = with_offered(index)
    indexes.forget(ADA)

    indexes.collection([index], [OPEN])

    assert (0, {}) == (indexes.size_bytes, dict(indexes._collections))


def test_what_a_collection_takes_is_known_before_it_is_searched() -> None:
    """Its count holds what searches will derive from it."""
    indexes = with_offered(index_of(entries=9))
    made = indexes.collection(indexes.take([ADA]).indexes, [OPEN])
    before = made.size_bytes

    lasting = [made.session_times, made.session_length, made.window_length, made.participants]
    lasting += [made.personal, made.opening]
    said = [made.said_as(ROLES[role]) for role in ("user", "assistant")]

    (segment,) = (each.segment for each in made.slices)
    of_the_index = {id(getattr(segment, name)) for name in segment.__slots__}
    arrays = [each for each in vars(made).values() if isinstance(each, np.ndarray)]
    arrays = [each for each in arrays if id(each) not in of_the_index]
    arrays += [*said, *made.session_times, *(each.rank for each in made.slices)]
    assert lasting
    assert sum(each.nbytes for each in arrays) == before


@pytest.fixture
def unmerged(monkeypatch: pytest.MonkeyPatch) -> ScopeIndex:
    """Return an index that asks to be merged."""
    monkeypatch.setattr(indexing, "MERGE_ENTRIES_MAX", 1)
    index = index_of(entries=40)
    feed = Feed(
        scope=ADA, now=0, seq=2, epoch=1, reset=False, entries=(), removed=tuple(range(1, 31))
    )
    return refreshed(index, feed)


def test_an_index_that_pays_to_be_merged_is_named(unmerged: ScopeIndex) -> None:
    """The others are left in peace."""
    assert [unmerged] == with_offered(unmerged, index_of(BOB)).unmerged()


def test_a_merged_index_takes_the_place_of_what_it_was_made_of(unmerged: ScopeIndex) -> None:
    """It holds the same entries in fewer bytes, and they are counted."""
    indexes = with_offered(unmerged)

    indexes.merge(unmerged)

    assert latest(indexes, ADA).live == unmerged.live
    assert indexes.size_bytes == latest(indexes, ADA).size_bytes < unmerged.size_bytes
    assert indexes.unmerged() == []


def test_a_merged_index_does_not_replace_a_later_one(unmerged: ScopeIndex) -> None:
    """What came in while it was merged is not lost."""
    indexes = with_offered(unmerged)
    later = index_of(seq=3, entries=2)
    indexes.offer([later])

    indexes.merge(unmerged)

    assert latest(indexes, ADA) is later


def test_a_merged_index_does_not_bring_back_a_forgotten_scope(unmerged: ScopeIndex) -> None:
    """An erase during the merge wins."""
    indexes = with_offered(unmerged)
    indexes.forget(ADA)

    indexes.merge(unmerged)

    assert (0, 0) == (latest(indexes, ADA).live, indexes.size_bytes)


def test_threads_share_the_cache() -> None:
    """Offers, searches and forgetting from many threads leave a count that is right."""
    offered = [index_of((f"s{n % 7}",), seq=n, entries=n % 5 + 1) for n in range(1, 400)]
    indexes = Indexes(bytes_max=5_000)

    def use(index: ScopeIndex) -> None:
        indexes.offer([index])
        indexes.collection(indexes.take([index.scope]).indexes, [OPEN])
        if index.seq % 11 == 0:
            indexes.forget(index.scope)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, offered))

    kept = sum(latest(indexes, (f"s{n}",)).size_bytes for n in range(7))
    kept += sum(each.size_bytes for each in indexes._collections.values())
    assert kept == indexes.size_bytes <= 5_000


def test_an_idle_index_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """What no search took for a while is let go; what one took stays."""
    now_s = 0.0
    monkeypatch.setattr(caching, "timer_s", lambda: now_s)
    indexes = with_offered(index_of(ADA), index_of(BOB))
    now_s = 50
    latest(indexes, BOB)
    now_s = 61

    assert (1, 0) == (indexes.drop_idle(idle_s=60), indexes.drop_idle(idle_s=60))
    assert indexes.size_bytes == latest(indexes, BOB).size_bytes
    assert latest(indexes, ADA).parts == ()


def test_what_is_searched_together_stays_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """All indexes of a collection that searches take, however seldom that is noted."""
    now_s = [0.0]
    monkeypatch.setattr(caching, "timer_s", lambda: now_s[-1])
    indexes = with_offered(index_of(ADA), index_of(BOB))
    indexes.collection([latest(indexes, ADA), latest(indexes, BOB)], [OPEN, OPEN])

    for at in (10.0, 10.5, 50.0, 50.5):
        now_s.append(at)
        assert indexes.take([ADA, BOB], OPEN.kinds).collection is not None
    now_s.append(100.0)

    assert 0 == indexes.drop_idle(idle_s=60)
    assert 2 == indexes.drop_idle(idle_s=40)


def test_what_was_forgotten_is_not_named() -> None:
    """A list of scopes is kept only until one of them, or anything, is forgotten."""
    indexes, below = with_offered(index_of()), Below(((ADA[0],),))
    indexes.note_listed(below, [ADA], ReadMoment(1, 1))
    assert [ADA] == [index.scope for index in indexes.take_below(below, None).indexes]

    generation = indexes.generation

    indexes.forget(ADA)
    indexes.note_listed(below, [ADA], ReadMoment(1, 1), generation)

    assert TakenIndex() == indexes.take_below(below, None)


def test_lists_are_few() -> None:
    """The one that was noted longest ago goes first."""
    indexes = Indexes()
    for number in range(LISTINGS_MAX + 1):
        indexes.note_listed(Below(((str(number),),)), [ADA], ReadMoment(1, 1))

    kept = [
        bool(indexes.take_below(Below(((str(number),),)), None).indexes)
        for number in (0, 1, LISTINGS_MAX)
    ]
    assert [False, True, True] == kept


def test_what_was_taken_before_something_was_forgotten_is_not_kept() -> None:
    """A search that began before an erase may still hold what went: its index is let go."""
    indexes = with_offered(index_of())
    generation = indexes.generation
    indexes.forget(ADA)

    indexes.offer([index_of(seq=2)], generation)

    assert latest(indexes, ADA).parts == ()


def test_the_index_of_a_scope_that_is_gone_is_dropped() -> None:
    """A search that does not find the scope any more leaves nothing of what was erased."""
    indexes = with_offered(index_of(epoch=7, seq=9), index_of(epoch=0, seq=0, entries=0))

    assert [] == indexes.latest()
    assert 0 == indexes.size_bytes
    indexes.offer([index_of(epoch=0, seq=0, entries=0)])
    assert [0] == [each.epoch for each in indexes.latest()]
