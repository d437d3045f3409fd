"""Fusion: one weighted sum that explains itself, whatever entries have and lack."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ports import Vector
from recollect.recall.candidates import Collection
from recollect.recall.eligibility import Eligibility
from recollect.recall.fusion import WEIGHTS, WEIGHTS_WITHOUT_VECTOR, Ranking, best_of, fused
from recollect.recall.query_analysis import read_question
from recollect.recall.ranking import Hit, search
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.signals import Signal, signals_of
from recollect.stores.change_feed import Feed, FeedEntry
from recollect.stores.vector_codec import encode_vector
from recollect.testing import HashedEmbedder
from recollect.text.terms import encode_terms

ADA = ("users", "ada")
ASKED_AT = date(2024, 5, 15)
EMBEDDER = HashedEmbedder(128)
SUBJECTS = "kite boat piano garden bicycle sister invoice recipe passport marathon".split()
PLACES = "Oslo Porto Lima Kyoto Cairo Quito".split()
DEEDS = ["painted", "sold", "lost", "repaired", "dreamt of"]
TEXTS = [
    f"I {DEEDS[n % 5]} the {subject} in {place}"
    for n, (subject, place) in enumerate((s, p) for s in SUBJECTS for p in PLACES)
]
QUERIES = [
    "Where did I lose my passport?",
    "Which bicycle was repaired in Kyoto?",
    "the sister's piano",
    "When did I paint in Lima?",
]

BLANK = FeedEntry(
    uid=0, seq=1, kind="message", thread=1, session="", position=1, time=0, speaker=None,
    role="user", type=None, state="active", valid_from=None, valid_until=None, expires_at=None,
    terms=b"", vector=None,
)  # fmt: skip


def vector_of(text: str) -> Vector:
    """Return the vector of a text that has words."""
    (vector,) = EMBEDDER.embed([text])
    assert vector is not None
    return vector


def said(uid: int, text: str, *, session: int = 0, has_vector: bool = True) -> FeedEntry:
    """Return a message that says *text* at the time of its number."""
    return BLANK._replace(
        uid=uid,
        position=uid,
        time=uid,
        session=str(session),
        terms=encode_terms(text, None),
        vector=encode_vector(vector_of(text)) if has_vector else None,
    )


def talk(without: frozenset[int] = frozenset()) -> list[FeedEntry]:
    """Return all texts as messages in sessions of five, *without* the vectors of some."""
    return [
        said(uid, text, session=uid // 5, has_vector=uid not in without)
        for uid, text in enumerate(TEXTS, start=1)
    ]


def collection_of(entries: Sequence[FeedEntry]) -> Collection:
    """Return the collection of *entries*."""
    feed = Feed(scope=ADA, now=0, seq=1, epoch=1, reset=True, entries=tuple(entries), removed=())
    return Collection([refreshed(ScopeIndex(scope=ADA), feed)], [Eligibility(now=0)])


def hits(entries: Sequence[FeedEntry], query: str, *, by_words: bool = False) -> list[Hit]:
    """Return all entries as ranked for *query*."""
    question = read_question(query, ASKED_AT)
    vector = None if by_words else vector_of(query)
    return search(collection_of(entries), question, vector, len(entries)).hits


def ranking(entries: Sequence[FeedEntry], signals: dict[str, list[float]], limit: int) -> Ranking:
    """Return the fusion of *signals* as given."""
    given_ = [Signal(name, np.array(value, np.float32)) for name, value in signals.items()]
    return fused(collection_of(entries), given_, limit)


@pytest.mark.parametrize("query", QUERIES)
def test_the_parts_of_a_score_sum_to_it(query: str) -> None:
    """Every hit explains itself: nothing else made its score."""
    found = hits(talk(frozenset(range(1, 60, 3))), query)

    assert all(hit.score == pytest.approx(sum(hit.signals.values()), abs=1e-5) for hit in found)


@pytest.mark.parametrize("query", QUERIES)
def test_hits_stand_best_first(query: str) -> None:
    """No hit scores more than one above it, and all entries are ranked once."""
    found = hits(talk(), query)

    assert sorted((hit.score for hit in found), reverse=True) == [hit.score for hit in found]
    assert set(range(1, len(TEXTS) + 1)) == {hit.uid for hit in found}


def test_a_part_is_weight_times_value() -> None:
    """With a vector the weights for that count, for each signal its own."""
    values = {name: [float(n)] for n, name in enumerate(WEIGHTS, start=1)}

    found = ranking([said(1, "kite")], {**values, "no_vector": [0]}, 1)

    parts = {name: pytest.approx(WEIGHTS[name] * value[0]) for name, value in values.items()}
    assert parts == {name: float(part[0]) for name, part in found.parts.items()}


def test_signals_that_are_the_same_weigh_together() -> None:
    """Of entries alone several are one: each has its part, and the score is their sum."""
    alike = np.array([0.5, 2.0, -1.0], np.float32)
    other = np.array([1.0, 0.0, 0.0], np.float32)
    signals = [
        *(Signal(name, alike) for name in ("entry", "window", "session")),
        Signal("speaker", other),
    ]
    collection = collection_of([said(uid, "kite") for uid in (1, 2, 3)])

    shared = fused(collection, signals, 3)
    apart = fused(collection, [replace(each, value=each.value.copy()) for each in signals], 3)

    assert apart.order.tolist() == shared.order.tolist()
    assert apart.score.tolist() == pytest.approx(shared.score.tolist())
    assert {name: part.tolist() for name, part in apart.parts.items()} == {
        name: part.tolist() for name, part in shared.parts.items()
    }
    sums = np.sum(list(shared.parts.values()), axis=0)
    assert shared.score.tolist() == pytest.approx(sums.tolist())


def test_an_entry_without_a_vector_has_the_weights_of_no_model() -> None:
    """Beside entries that have one: one rule for all that lack it."""
    entries = [said(1, "kite"), said(2, "kite", has_vector=False)]
    values = {name: [1.0, 1.0] for name in WEIGHTS}

    found = ranking(entries, {**values, "no_vector": [0, 1]}, 2)

    for name, part in found.parts.items():
        assert [WEIGHTS[name], WEIGHTS_WITHOUT_VECTOR[name]] == pytest.approx(part.tolist())


def test_without_a_vector_words_count_for_what_meaning_would() -> None:
    """Meaning counts nothing then, words and what is outside no less; all else is alike."""
    meaning = {name for name in WEIGHTS if name.endswith("dense")}
    words = {"entry", "window", "session", "outside"}

    assert {0.0} == {WEIGHTS_WITHOUT_VECTOR[name] for name in meaning}
    assert all(WEIGHTS_WITHOUT_VECTOR[name] >= WEIGHTS[name] for name in words)
    assert {name: WEIGHTS[name] for name in WEIGHTS.keys() - meaning - words} == {
        name: WEIGHTS_WITHOUT_VECTOR[name]
        for name in WEIGHTS_WITHOUT_VECTOR.keys() - meaning - words
    }


@pytest.mark.parametrize("query", QUERIES)
def test_with_no_vector_at_all_the_ranking_is_that_of_no_embedder(query: str) -> None:
    """While every vector is pending, recall works as if there were no embedder."""
    entries = talk(frozenset(range(1, len(TEXTS) + 1)))

    with_embedder = hits(entries, query)
    without = hits(entries, query, by_words=True)

    assert [(hit.uid, hit.score) for hit in without] == [
        (hit.uid, hit.score) for hit in with_embedder
    ]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("seed", range(5))
def test_losing_some_vectors_leaves_the_rest_sane(query: str, seed: int) -> None:
    """With 30 % of the vectors pending, the best stay the best, and no score is out of place."""
    chosen = np.random.default_rng(seed).permutation(len(TEXTS))[: len(TEXTS) * 3 // 10] + 1
    lost = frozenset(chosen.tolist())

    whole = hits(talk(), query)
    found = hits(talk(lost), query)

    best = {hit.uid for hit in whole[:10]}
    assert len(best & {hit.uid for hit in found[:15]}) >= 8
    assert all(np.isfinite(hit.score) for hit in found)
    assert max(hit.score for hit in found) < 2 * max(hit.score for hit in whole)


@pytest.mark.parametrize("query", QUERIES)
def test_entries_that_keep_their_vectors_keep_their_order(query: str) -> None:
    """Among themselves, entries with a vector are ranked nearly as if all had one."""
    lost = frozenset(range(2, len(TEXTS), 3))

    whole = [hit.uid for hit in hits(talk(), query) if hit.uid not in lost]
    found = [hit.uid for hit in hits(talk(lost), query) if hit.uid not in lost]

    moved = [abs(whole.index(uid) - found.index(uid)) for uid in whole[:10]]
    assert max(moved) <= 5


def test_ties_are_broken_by_time() -> None:
    """Of entries that score alike the newest stands first."""
    entries = [said(uid, "kite")._replace(time=time) for uid, time in ((1, 5), (2, 9), (3, 7))]

    found = ranking(entries, {"when": [1, 1, 1]}, 3)

    assert [2, 3, 1] == [entries[place].uid for place in found.order]


def test_ties_in_time_are_broken_by_id() -> None:
    """Equal stores give equal answers, in whatever order the entries came."""
    entries = [said(uid, "kite")._replace(time=5, position=at) for at, uid in enumerate((3, 1, 2))]

    found = ranking(entries, {"when": [1, 1, 1]}, 3)

    assert [1, 2, 3] == [entries[place].uid for place in found.order]


def test_ties_at_the_limit_are_broken_before_it_cuts() -> None:
    """The limit does not decide which of equal entries is returned."""
    entries = [said(uid, "kite") for uid in range(1, 9)]

    found = ranking(entries, {"when": [1.0] * 8}, 3)

    assert [8, 7, 6] == [entries[place].uid for place in found.order]


@pytest.mark.parametrize("count", [3, 7, 30])
def test_equal_entries_are_ranked_by_time(count: int) -> None:
    """The same words, said in many sessions alike, come newest first, by meaning as by words."""
    drawn = np.random.default_rng(7).normal(size=(20, 2, 384)).astype(np.float32)
    pairs = drawn / np.linalg.norm(drawn, axis=2, keepdims=True)
    question = read_question("Who sold a boat?", ASKED_AT)

    orders = set()
    for same, query in pairs:
        entries = [
            said(uid, "We sold the boat", session=uid)._replace(vector=encode_vector(same))
            for uid in range(1, count + 1)
        ]
        found = search(collection_of(entries), question, query, count).hits
        orders.add(tuple(hit.uid for hit in found))

    assert {tuple(range(count, 0, -1))} == orders


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(1, 40))
def test_the_best_are_those_at_or_above_the_last_taken(scores: list[int], limit: int) -> None:
    """All that tie with the last one are among them, and nothing below it is."""
    found = best_of(np.array(scores, np.float32), limit)

    threshold = sorted(scores, reverse=True)[min(limit, len(scores)) - 1]
    assert [at for at, score in enumerate(scores) if score >= threshold] == found.tolist()


def test_fewer_entries_than_asked_for_are_all_returned() -> None:
    """A limit above what there is changes nothing."""
    found = ranking([said(1, "kite"), said(2, "boat")], {"when": [0, 1]}, 50)

    assert [1, 0] == found.order.tolist()


def test_signals_that_say_nothing_are_left_out_of_the_reasons() -> None:
    """A hit names only what had a part in its score."""
    (hit,) = hits([said(1, "Oslo was cold")], "a boat", by_words=True)

    assert {"speaker"} == hit.signals.keys()


@pytest.mark.parametrize("name", sorted(WEIGHTS))
def test_a_weight_that_is_lost_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores move when any one weight does: no signal is computed in vain."""
    entries = talk()
    query = "When did I paint in Lima in May 1970?"
    before = signals_of(
        collection_of(entries),
        read_question(query, ASKED_AT),
        collection_of(entries).similarity(vector_of(query)),
        outside={ADA: {entries[0].uid: 0.5, entries[1].uid: 0.25}},
    )
    whole = fused(collection_of(entries), before, 10).score

    monkeypatch.setitem(WEIGHTS, name, 0.0)
    found = fused(collection_of(entries), before, 10).score

    (value,) = [signal.value for signal in before if signal.name == name]
    assert bool(np.any(value)) == bool(np.any(found != whole))
