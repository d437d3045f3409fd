"""BM25 over entries, windows and sessions is the formula, for any corpus."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.recall.candidates import Collection
from recollect.recall.eligibility import Eligibility
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.signals import LexicalScores, lexical_scores
from recollect.stores.change_feed import Feed, FeedEntry
from recollect.text.terms import encode_terms, query_hashes

SCOPE = ("users", "ada")
K1 = 1.2
B = 0.75
VOCABULARY = "kite red sky oslo paint".split()
WORDS = st.sampled_from(VOCABULARY)
ENTRIES = st.lists(WORDS, max_size=6)
SESSIONS = st.lists(st.lists(ENTRIES, min_size=1, max_size=5), min_size=1, max_size=4)
QUERIES = st.lists(WORDS, max_size=5)

Sessions = list[list[list[str]]]

BLANK = FeedEntry(
    uid=0, seq=1, kind="message", thread=1, session="", position=1, time=0, speaker=None,
    role="user", type=None, state="active", valid_from=None, valid_until=None, expires_at=None,
    terms=b"", vector=None,
)  # fmt: skip


def feed_entries(sessions: Sessions) -> list[FeedEntry]:
    """Return an entry for each list of words, numbered in order."""
    found: list[FeedEntry] = []
    for number, session in enumerate(sessions):
        for words in session:
            uid = len(found) + 1
            terms = encode_terms(" ".join(words), None)
            found.append(BLANK._replace(uid=uid, position=uid, session=str(number), terms=terms))
    return found


def collection_of(entries: Sequence[FeedEntry], parts: int = 1) -> Collection:
    """Return the collection of *entries*, which came in so many steps."""
    index = ScopeIndex(scope=SCOPE)
    for step in range(parts):
        feed = Feed(
            scope=SCOPE, now=0, seq=step + 1, epoch=1, reset=not step,
            entries=tuple(entries[step::parts]), removed=(),
        )  # fmt: skip
        index = refreshed(index, feed)
    return Collection([index], [Eligibility(now=0)])


def bm25(documents: Sequence[Sequence[str]], query: Sequence[str]) -> list[float]:
    """
    Score every document as the formula says.

    Robertson and Zaragoza (2009), with Lucene's ln(1 + (n - df + 0.5) / (df + 0.5)).
    """
    n = len(documents)
    average = sum(map(len, documents)) / n
    scores = []
    for document in documents:
        frequency = Counter(document)
        score = 0.0
        for word in query:
            tf = frequency[word]
            df = sum(word in each for each in documents)
            idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
            norm = K1 * (1 - B + B * len(document) / average) if average else K1
            score += idf * tf * (K1 + 1) / (tf + norm)
        scores.append(score)
    return scores


def expected_scores(sessions: Sessions, query: Sequence[str]) -> LexicalScores:
    """Return the scores of entries, of windows of up to three, and of whole sessions."""
    entries = [words for session in sessions for words in session]
    windows = [
        [word for words in session[max(0, at - 1) : at + 2] for word in words]
        for session in sessions
        for at in range(len(session))
    ]
    whole = [[word for words in session for word in words] for session in sessions]
    by_session = bm25(whole, query)
    session = [
        score for score, each in zip(by_session, sessions, strict=True) for _ in range(len(each))
    ]
    return LexicalScores(
        entry=np.array(bm25(entries, query), np.float32),
        window=np.array(bm25(windows, query), np.float32),
        session=np.array(session, np.float32),
    )


def assert_alike(expected: LexicalScores, found: LexicalScores) -> None:
    """Compare all three kinds of score, up to the rounding of 32 bits."""
    for name in ("entry", "window", "session"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(expected, name), rtol=1e-4, atol=1e-5, err_msg=name
        )


@given(SESSIONS, QUERIES, st.integers(1, 3))
@example([[["red", "kite"]]], ["kite"], 1)
@example([[[]], [[]]], ["kite"], 1)
@example([[["kite"] * 6, []], [["red"]]], ["kite", "kite"], 2)
def test_scores_are_the_formula(sessions: Sessions, query: list[str], parts: int) -> None:
    """Whatever the corpus, and in however many steps it came, each score is the formula's."""
    collection = collection_of(feed_entries(sessions), parts)

    found = lexical_scores(collection, query_hashes(query))

    assert_alike(expected_scores(sessions, query), by_uid(collection, found))


def by_uid(collection: Collection, scores: LexicalScores) -> LexicalScores:
    """Return the scores in the order in which the entries were made."""
    order = np.argsort(collection.uid)
    return LexicalScores(
        entry=scores.entry[order], window=scores.window[order], session=scores.session[order]
    )


@given(SESSIONS, QUERIES, st.data())
def test_removed_entries_are_as_if_never_there(
    sessions: Sessions, query: list[str], data: st.DataObject
) -> None:
    """After entries went, frequencies, lengths and neighbours are those of the entries left."""
    entries = feed_entries(sessions)
    gone = data.draw(st.sets(st.sampled_from([entry.uid for entry in entries])))
    index = ScopeIndex(scope=SCOPE)
    for seq, (fed, removed) in enumerate([(entries, []), ([], sorted(gone))], start=1):
        feed = Feed(
            scope=SCOPE, now=0, seq=seq, epoch=1, reset=seq == 1, entries=tuple(fed),
            removed=tuple(removed),
        )  # fmt: skip
        index = refreshed(index, feed)
    collection = Collection([index], [Eligibility(now=0)])

    found = by_uid(collection, lexical_scores(collection, query_hashes(query)))

    uids = iter(range(1, len(entries) + 1))
    left = [[words for words in session if next(uids) not in gone] for session in sessions]
    left = [session for session in left if session]
    if left:
        assert_alike(expected_scores(left, query), found)
    assert sum(map(len, left)) == len(found.entry)


def test_a_transcription_without_the_length_is_noticed() -> None:
    """A formula that forgets how long a document is gives other scores than ours."""
    sessions = [[["kite", "red", "red", "red"], ["kite"]]]
    collection = collection_of(feed_entries(sessions))

    found = lexical_scores(collection, query_hashes(["kite"])).entry

    assert found[1] > found[0] * 1.2


@pytest.mark.parametrize("query", [[], ["unheard"]])
def test_words_that_nobody_said_score_nothing(query: list[str]) -> None:
    """Without a term in common all scores are zero."""
    collection = collection_of(feed_entries([[["kite"]], [["red"]]]))

    found = lexical_scores(collection, query_hashes(query))

    assert ([0, 0], [0, 0], [0, 0]) == (
        found.entry.tolist(),
        found.window.tolist(),
        found.session.tolist(),
    )


def test_a_collection_without_entries_has_no_scores() -> None:
    """An empty scope is searched without dividing by anything."""
    found = lexical_scores(collection_of([]), query_hashes(["kite"]))

    assert (0, 0, 0) == (len(found.entry), len(found.window), len(found.session))


def test_words_asked_for_twice_count_twice() -> None:
    """A repeated query term doubles its part."""
    collection = collection_of(feed_entries([[["kite"], ["red"]]]))

    once = lexical_scores(collection, query_hashes(["kite"]))
    twice = lexical_scores(collection, query_hashes(["kite", "kite"]))

    np.testing.assert_allclose(2 * once.entry, twice.entry, rtol=1e-6)
