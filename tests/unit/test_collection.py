"""Eligible entries are one collection, whatever stood beside them, however scopes split them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.recall import candidates as collections
from recollect.recall.candidates import SCATTERED_FROM, Collection
from recollect.recall.collection_slice import newest_entries
from recollect.recall.eligibility import Eligibility
from recollect.recall.query_analysis import read_question
from recollect.recall.ranking import search
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.signals import lexical_scores
from recollect.records import Scope
from recollect.stores.change_feed import Feed, FeedEntry
from recollect.stores.vector_codec import encode_vector
from recollect.testing import HashedEmbedder
from recollect.text.terms import encode_terms, term_hash

ADA: Scope = ("users", "ada")
NOW = 1_000
EVERYTHING = Eligibility(now=NOW)
TOLERANCE = 1e-4
TEXTS = [
    "Ada flew a red kite in Oslo",
    "The kite got stuck in a tree",
    "We painted the sky yesterday",
    "Oslo was cold last week",
    "My sister paints kites",
    "The tree is red in autumn",
    "Nobody likes a cold kite",
    "I bought paint for the fence",
]
NAMES = ["Bob", "Ada", "Carol"]
QUERIES = ["Who flew the red kite?", "When was Oslo cold?", "What did you paint?"]

BLANK = FeedEntry(
    uid=0, seq=1, kind="message", thread=1, session="s", position=1, time=0, speaker=None,
    role="user", type=None, state="active", valid_from=None, valid_until=None, expires_at=None,
    terms=b"", vector=None,
)  # fmt: skip


def said(uid: int, text: str, **fields: Any) -> FeedEntry:
    """Return a message that says *text*, with its vector, at the position of its number."""
    (vector,) = HashedEmbedder(32).embed([text])
    told = BLANK._replace(
        uid=uid,
        position=uid,
        time=uid,
        terms=encode_terms(text, None),
        vector=encode_vector(vector),
    )
    return told._replace(**fields)


def noted(uid: int, text: str, **fields: Any) -> FeedEntry:
    """Return a memory with *text*, which is a session of its own."""
    entry = said(uid, text, kind="memory", type="Note", thread=0, position=0, session=str(uid))
    return entry._replace(**fields)


def index_of(entries: Sequence[FeedEntry], scope: Scope = ADA) -> ScopeIndex:
    """Return the index of *entries*."""
    feed = Feed(
        scope=scope, now=NOW, seq=1, epoch=1, reset=True, entries=tuple(entries), removed=()
    )
    return refreshed(ScopeIndex(scope=scope), feed)


def scores(
    indexes: Sequence[ScopeIndex], wanted: Eligibility = EVERYTHING
) -> dict[str, dict[int, float]]:
    """Return the score of every entry that takes part, for each query."""
    return scores_of(Collection(indexes, [wanted] * len(indexes)))


def scores_of(collection: Collection) -> dict[str, dict[int, float]]:
    """Return the score of every entry of *collection*, for each query."""
    found = {}
    for query in QUERIES:
        (vector,) = HashedEmbedder(32).embed([query])
        question = read_question(query, date(2024, 5, 15))
        found[query] = {
            hit.uid: hit.score for hit in search(collection, question, vector, 1_000).hits
        }
    return found


def assert_alike(expected: dict[str, dict[int, float]], found: dict[str, dict[int, float]]) -> None:
    """Compare scores up to the rounding of 32 bits."""
    for query in QUERIES:
        assert found[query] == pytest.approx(expected[query], abs=TOLERANCE), query


def test_a_joined_collection_gives_the_same_scores() -> None:
    """Of entries with and without vectors, in several scopes, some of them left out."""
    vectors = HashedEmbedder(32).embed(TEXTS)
    indexes = [
        index_of(
            [
                *(
                    each._replace(vector=encode_vector(vector) if n % 3 else None)
                    for n, (each, vector) in enumerate(zip(talk_of(first), vectors, strict=True))
                ),
                noted(first + 50, TEXTS[0]),
            ],
            scope=(str(first),),
        )
        for first in (100, 200, 300)
    ]
    wanted = Eligibility(now=NOW, messages=True, types=frozenset({"Fact"}))
    collection = Collection(indexes, [wanted] * 3)

    for query in QUERIES:
        (vector,) = HashedEmbedder(32).embed([query])
        question = read_question(query, date(2024, 5, 15))
        scattered, joined = (
            search(each, question, vector, 1_000).hits for each in (collection, collection.joined())
        )

        assert scattered == joined
        assert 3 * len(TEXTS) == len(joined)


def test_joined_memories_give_the_same_scores() -> None:
    """What each posting counts for is worked out once: terms that none has, and repeated ones."""
    indexes = [
        index_of([noted(first + n, text) for n, text in enumerate(TEXTS)], (str(first),))
        for first in (100, 200)
    ]
    collection = Collection(indexes, [EVERYTHING] * 2)
    joined = collection.joined()

    assert joined.has_single_entry_sessions
    for query in (*QUERIES, "kite kite", "nobody says this"):
        terms = read_question(query, date(2024, 5, 15)).terms
        scattered, together = (lexical_scores(each, terms).entry for each in (collection, joined))
        assert (joined.impacts(terms) is None, collection.impacts(terms)) == (False, None)
        assert scattered.tolist() == pytest.approx(together.tolist(), abs=TOLERANCE)


def test_what_was_worked_out_of_its_parts_is_not_said_of_the_joined() -> None:
    """Joined, the vectors are all there, in order, and are multiplied as they stand."""
    (query, *vectors) = HashedEmbedder(32).embed([QUERIES[0], *TEXTS])
    assert query is not None
    indexes = [
        index_of(
            [
                each._replace(vector=encode_vector(vector))
                for each, vector in zip(talk_of(first), vectors, strict=True)
            ],
            scope=(str(first),),
        )
        for first in (100, 200)
    ]
    collection = Collection(indexes, [Eligibility(now=NOW)] * 2)
    scattered, _ = collection.similarity(query)

    joined = collection.joined()

    assert joined._vectors_are_entries
    assert scattered.tolist() == joined.similarity(query)[0].tolist()


def talk_of(first: int) -> list[FeedEntry]:
    """Return messages from uid *first* on."""
    return [
        said(n, text, position=n, session=str(n // 3)) for n, text in enumerate(TEXTS, start=first)
    ]


TALK = [said(n, text, session=str(n // 3)) for n, text in enumerate(TEXTS, start=1)]
NOTES = [noted(n, text) for n, text in enumerate(TEXTS[:4], start=20)]

# What takes no part, and the restriction that leaves it out.
INELIGIBLE = [
    ("expired", noted(99, TEXTS[0], expires_at=NOW), EVERYTHING),
    ("long expired", noted(99, TEXTS[0], expires_at=1), EVERYTHING),
    ("quarantined", noted(99, TEXTS[0], state="quarantined"), EVERYTHING),
    ("rejected", noted(99, TEXTS[0], state="rejected"), EVERYTHING),
    ("ended", noted(99, TEXTS[0], valid_until=NOW), Eligibility(now=NOW, valid_at=NOW)),
    ("not begun", noted(99, TEXTS[0], valid_from=NOW + 1), Eligibility(now=NOW, valid_at=NOW)),
    (
        "of another type",
        noted(99, TEXTS[0], type="Fact"),
        Eligibility(now=NOW, types=frozenset({"Note"})),
    ),
    (
        "of another thread, amid a session",
        said(99, TEXTS[0], thread=2, session="1", position=4),
        Eligibility(now=NOW, threads=frozenset({1})),
    ),
    ("too early", said(99, TEXTS[0], time=0, session="1"), Eligibility(now=NOW, since=1)),
    ("too late", said(99, TEXTS[0], time=99, session="1"), Eligibility(now=NOW, until=99)),
    (
        "filtered out, amid a session",
        said(99, TEXTS[0], session="1", position=4),
        Eligibility(now=NOW, uids=frozenset(entry.uid for entry in (*TALK, *NOTES))),
    ),
]


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [(entry, wanted) for _, entry, wanted in INELIGIBLE],
    ids=[name for name, _, _ in INELIGIBLE],
)
def test_what_takes_no_part_shapes_no_score(entry: FeedEntry, wanted: Eligibility) -> None:
    """The scores are those of a store that never had the entry."""
    never_had = scores([index_of([*TALK, *NOTES])], wanted)

    found = scores([index_of([*TALK, entry, *NOTES])], wanted)

    assert_alike(never_had, found)


@pytest.mark.parametrize(
    "entry", [entry for _, entry, _ in INELIGIBLE], ids=[name for name, _, _ in INELIGIBLE]
)
def test_what_takes_part_does_shape_scores(entry: FeedEntry) -> None:
    """The same entry, were it not left out, would change them: the test above can fail."""
    never_had = scores([index_of([*TALK, *NOTES])])
    present = entry._replace(state="active", valid_from=None, valid_until=None, expires_at=None)

    found = scores([index_of([*TALK, present, *NOTES])])

    with pytest.raises(AssertionError):
        assert_alike(never_had, {query: {**s, 99: 0} for query, s in found.items()})
    assert all(99 in each for each in found.values())


def test_messages_can_be_left_out() -> None:
    """Memories alone are scored as in a store without messages."""
    wanted = Eligibility(now=NOW, messages=False)

    assert_alike(scores([index_of(NOTES)]), scores([index_of([*TALK, *NOTES])], wanted))


def test_memories_can_be_left_out() -> None:
    """With no type wanted, messages are scored as in a store without memories."""
    wanted = Eligibility(now=NOW, types=frozenset())

    assert_alike(scores([index_of(TALK)]), scores([index_of([*TALK, *NOTES])], wanted))


def test_a_speaker_who_takes_no_part_shapes_no_score() -> None:
    """A question that names two people names one where only one of them is searched."""
    talk = [said(1, "Red kites, Bob!", speaker="Ada"), said(2, "A kite?", role="assistant")]
    other = said(3, "Hello", speaker="Bob", thread=2, session="2")
    wanted = Eligibility(now=NOW, threads=frozenset({1}))
    question = read_question("What did Ada tell Bob?", date(2024, 5, 15))

    never_had = search(Collection([index_of(talk)], [wanted]), question, None, 10).hits
    found = search(Collection([index_of([*talk, other])], [wanted]), question, None, 10).hits

    assert [hit.score for hit in never_had] == pytest.approx([hit.score for hit in found])


@given(st.lists(st.integers(0, 2), min_size=4, max_size=4))
def test_splitting_a_scope_changes_no_score(homes: list[int]) -> None:
    """Threads in one scope, or spread over several, are one collection."""
    threads = [
        [said(10 * t + n, text, thread=t, session=f"{t}/{n // 2}", speaker=speaker)
         for n, text in enumerate(TEXTS[t : t + 3])]
        for t, speaker in enumerate(["Ada", None, "Bob", "Ada"], start=1)
    ]  # fmt: skip
    whole = index_of([entry for thread in threads for entry in thread])
    split = [
        index_of(
            [e for home, thread in zip(homes, threads, strict=True) if home == n for e in thread],
            scope=("users", str(n)),
        )
        for n in range(3)
    ]

    assert_alike(scores([whole]), scores(split))


def test_the_scope_of_each_entry_is_known() -> None:
    """Hits of several scopes say where they are from."""
    one, other = index_of(TALK[:4], ("a",)), index_of(TALK[4:], ("b",))
    collection = Collection([one, other], [EVERYTHING, EVERYTHING])
    question = read_question(QUERIES[0], date(2024, 5, 15))

    hits = search(collection, question, None, 100).hits

    assert {("a",): {1, 2, 3, 4}, ("b",): {5, 6, 7, 8}} == {
        scope: {hit.uid for hit in hits if hit.scope == scope} for scope in (("a",), ("b",))
    }


def test_each_scope_has_its_own_restriction() -> None:
    """Filters and threads are read per scope, as their numbers are."""
    one, other = index_of(TALK[:4], ("a",)), index_of(TALK[4:], ("b",))
    wanted = [Eligibility(now=NOW, uids=frozenset({2})), Eligibility(now=NOW, since=7)]

    collection = Collection([one, other], wanted)

    assert [2, 7, 8] == sorted(collection.uid.tolist())


def test_sessions_and_windows_respect_boundaries() -> None:
    """A window never reaches into another session, thread or scope."""
    entries = [
        said(1, "one two"),
        said(2, "three"),
        said(3, "four five six", session="t"),
        said(4, "seven", thread=2),
        noted(5, "eight nine"),
    ]
    there = index_of([said(6, "ten eleven twelve")], ("b",))
    collection = Collection([index_of(entries), there], [EVERYTHING, EVERYTHING])

    order = np.argsort(collection.uid)

    assert [2, 1, 3, 1, 2, 3] == collection.length[order].tolist()
    assert [3, 3, 3, 1, 2, 3] == collection.window_length[order].tolist()
    assert collection.sessions == 5
    assert [3, 3, 1, 2, 3] == [
        collection.session_length[collection.session[order][at]] for at in (0, 2, 3, 4, 5)
    ]


def test_the_first_sessions_of_two_scopes_are_two() -> None:
    """Numbers of sessions are per scope, and do not meet."""
    indexes = [index_of([said(1, "kite")], ("a",)), index_of([said(2, "kite")], ("b",))]

    collection = Collection(indexes, [EVERYTHING, EVERYTHING])

    assert collection.sessions == 2
    assert [1, 1] == collection.window_length.tolist()


def test_a_removed_neighbour_lets_the_others_meet() -> None:
    """Between two entries of a session that stay, nothing stands in a window's way."""
    entries = [said(n, "kite " * n) for n in (1, 2, 3)]
    wanted = Eligibility(now=NOW, uids=frozenset({1, 3}))

    collection = Collection([index_of(entries)], [wanted])

    assert [4, 4] == collection.window_length.tolist()


def test_entries_stand_in_the_order_of_their_positions() -> None:
    """Whatever order they came in, neighbours in the talk are neighbours in the collection."""
    entries = [said(n, "kite") for n in (5, 2, 4, 1, 3)]

    collection = Collection([index_of(entries)], [EVERYTHING])

    assert [1, 2, 3, 4, 5] == collection.uid.tolist()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> int:
    """Let at most three entries be searched."""
    monkeypatch.setattr(collections, "SCAN_ENTRIES_MAX", 3)
    return 3


def test_above_the_limit_the_newest_are_searched(few: int) -> None:
    """The newest take part, over all scopes, and the answer counts the others as well."""
    one = index_of([said(n, "kite", time=time) for n, time in ((1, 50), (2, 10), (3, 40))], ("a",))
    other = index_of([said(n, "kite", time=time) for n, time in ((4, 20), (5, 60))], ("b",))

    collection = Collection([one, other], [EVERYTHING, EVERYTHING])

    assert [1, 3, 5] == sorted(collection.uid.tolist())
    assert (few, 5) == (len(collection), collection.eligible)


def test_above_the_limit_the_rest_shapes_no_score(few: int) -> None:
    """What is not searched is as if it were not there."""
    newest = scores([index_of(TALK[-few:])])

    assert_alike(newest, scores([index_of(TALK)]))


@pytest.mark.usefixtures("few")
def test_of_equally_old_entries_the_same_are_searched_however_they_are_split() -> None:
    """Which of them take part does not depend on segments or scopes."""
    entries = [said(n, "kite", time=7) for n in range(1, 7)]
    split = [index_of(entries[1::2], ("a",)), index_of(entries[::2], ("b",))]

    whole = Collection([index_of(entries)], [EVERYTHING])
    found = Collection(split, [EVERYTHING, EVERYTHING])

    assert set(whole.uid.tolist()) == set(found.uid.tolist())


def test_up_to_the_limit_all_are_searched(few: int) -> None:
    """Exactly as many as may be searched are searched."""
    collection = Collection([index_of(TALK[:few])], [EVERYTHING])

    assert (few, few) == (len(collection), collection.eligible)


def test_postings_count_eligible_entries_only() -> None:
    """A term's frequency is that among the entries that take part."""
    entries = [said(1, "kite kite"), said(2, "sky"), said(3, "kite")]
    wanted = Eligibility(now=NOW, uids=frozenset({2, 3}))

    collection = Collection([index_of(entries)], [wanted])
    ((places, counts),) = collection.postings([term_hash("kite")])

    assert ([1], [1.0]) == (places.tolist(), counts.tolist())


def test_similarity_says_who_has_a_vector() -> None:
    """Entries without one have a similarity of zero, and are named."""
    entries = [said(1, "red kite"), said(2, "red kite", vector=None), said(3, "sky", vector=b"")]
    (query,) = HashedEmbedder(32).embed(["red kite"])
    assert query is not None

    cosine, has_vector = Collection([index_of(entries)], [EVERYTHING]).similarity(query)

    assert [True, False, False] == has_vector.tolist()
    assert [1.0, 0.0, 0.0] == pytest.approx(cosine.tolist(), abs=0.02)


def test_the_years_of_a_collection_are_those_of_its_entries() -> None:
    """A year in which nothing was said is not among them; years before 1970 are."""
    moments = [datetime(year, 12, 31, 23, tzinfo=UTC) for year in (1969, 2023, 2023, 2021)]
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    entries = [
        said(n, "kite", time=(moment - epoch) // timedelta(microseconds=1))
        for n, moment in enumerate(moments, start=1)
    ]

    assert [1969, 2021, 2023] == Collection([index_of(entries)], [EVERYTHING]).years


def test_participants_are_the_speakers_with_names() -> None:
    """A person who speaks in several scopes is one participant; who is left out is none."""
    one = index_of([said(1, "a", speaker="Ada"), said(2, "b")], ("a",))
    other = index_of([said(n, "c", speaker=name) for n, name in enumerate(NAMES, 3)], ("b",))
    wanted = Eligibility(now=NOW, uids=frozenset({1, 2, 3, 4}))

    found = Collection([one, other], [wanted, wanted]).participants

    assert {
        "Ada": [(0, one.names.speakers["Ada"]), (1, other.names.speakers["Ada"])],
        "Bob": [(1, other.names.speakers["Bob"])],
    } == found


def test_many_segments_without_eligible_entries_are_joined() -> None:
    """Scopes of messages, asked for memories twice."""
    indexes = [index_of([said(n, TEXTS[0])], (str(n),)) for n in range(1, SCATTERED_FROM + 1)]
    collection = Collection(indexes, [Eligibility(now=NOW, messages=False)] * len(indexes))

    assert collection.is_scattered
    assert (1, 0) == (len(collection.joined().slices), len(collection.joined()))


@pytest.mark.parametrize("indexes", [[], [ScopeIndex(scope=ADA)], [ScopeIndex(scope=ADA)] * 2])
def test_an_empty_collection_is_one(indexes: list[ScopeIndex]) -> None:
    """Nothing to search is searched without an error."""
    collection = Collection(indexes, [EVERYTHING] * len(indexes))

    found = search(collection, read_question("kite", date(2024, 5, 15)), None, 10).hits

    assert (0, 0, 0, [], []) == (
        len(collection),
        collection.eligible,
        collection.sessions,
        collection.years,
        found,
    )


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=2, max_size=30), st.data()
)
def test_the_newest_are_those_of_a_full_order(
    drawn: list[tuple[int, int]], data: st.DataObject
) -> None:
    """By time, then by id, then by place: also where many are of one moment."""
    half = len(drawn) // 2
    segments = [
        SimpleNamespace(time=np.array([t for t, _ in part]), uid=np.array([uid for _, uid in part]))
        for part in (drawn[:half], drawn[half:])
    ]
    every: Any = [(n, each, np.arange(len(each.time))) for n, each in enumerate(segments)]
    count = data.draw(st.integers(1, len(drawn) - 1))

    found = newest_entries(every, count)

    time, uid = zip(*drawn, strict=True)
    expected = sorted(np.lexsort((uid, time))[-count:].tolist())
    assert expected == [*found[0][2].tolist(), *(half + found[1][2]).tolist()]
