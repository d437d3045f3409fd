"""What each signal says of an entry: how its words, speaker, time and meaning bear."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.ports import Vector
from recollect.recall.candidates import Collection
from recollect.recall.eligibility import Eligibility
from recollect.recall.fusion import WEIGHTS, WEIGHTS_WITHOUT_VECTOR
from recollect.recall.query_analysis import read_question
from recollect.recall.ranking import look_ahead, search
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.signals import lifted, outside_similarity, signals_of, standardised
from recollect.records import Scope
from recollect.stores.change_feed import Feed, FeedEntry
from recollect.stores.vector_codec import encode_vector
from recollect.text.days import Days
from recollect.text.terms import encode_terms

ADA: Scope = ("users", "ada")
ASKED_AT = date(2024, 5, 15)
WHEN = "When was the kite red in May 2024?"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)

BLANK = FeedEntry(
    uid=0, seq=1, kind="message", thread=1, session="s", position=1, time=0, speaker=None,
    role="user", type=None, state="active", valid_from=None, valid_until=None, expires_at=None,
    terms=encode_terms("", None), vector=None,
)  # fmt: skip


def moment(text: str) -> int:
    """Return the moment that *text* gives in ISO form, as an index has it."""
    return (datetime.fromisoformat(text).replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)


def said(uid: int, text: str = "", **fields: Any) -> FeedEntry:
    """Return a message that says *text*."""
    entry = BLANK._replace(uid=uid, position=uid, terms=encode_terms(text, None))
    return entry._replace(**fields)


def collection_of(*entries: FeedEntry, more: Sequence[FeedEntry] = ()) -> Collection:
    """Return the collection of *entries*, and in a second scope of *more*."""
    indexes = [
        refreshed(
            ScopeIndex(scope=scope),
            Feed(scope=scope, now=0, seq=1, epoch=1, reset=True, entries=tuple(each), removed=()),
        )
        for scope, each in ((ADA, entries), (("users", "bob"), more))
        if each
    ]
    return Collection(indexes, [Eligibility(now=0)] * len(indexes))


def signal(
    name: str, collection: Collection, query: str, vector: Vector | None = None
) -> list[float]:
    """Return what one signal says of each entry: nothing, if it is not there."""
    similar = None if vector is None else collection.similarity(vector)
    found = signals_of(collection, read_question(query, ASKED_AT), similar)
    values = [[float(each) for each in one.value] for one in found if one.name == name]
    return values[0] if values else [0.0] * len(collection)


@given(st.lists(st.floats(-100, 100, width=32), min_size=2, max_size=40))
def test_standardised_scores_have_mean_0_and_deviation_1(scores: list[float]) -> None:
    """Whatever its unit, a signal compares with the others."""
    assume(float(np.std(scores)) > 0.01)

    found = standardised(np.array(scores, np.float32))

    assert (0, 1) == pytest.approx((float(found.mean()), float(found.std())), abs=0.01)


@pytest.mark.parametrize("score", [0.3, 6.087903, 21.7])
def test_a_score_that_all_share_says_nothing(score: float) -> None:
    """In a scope of one session, the session's score is no reason for any entry."""
    found = [standardised(np.full(n, score, np.float32)) for n in range(1, 200)]

    assert max(float(np.abs(each).max()) for each in found) < 1e-6


@given(st.lists(st.tuples(st.floats(-9, 9, width=32), st.booleans()), max_size=20))
def test_scores_are_standardised_among_those_that_have_one(
    scored: list[tuple[float, bool]],
) -> None:
    """What others would score does not matter, and they get zero."""
    scores = np.array([score for score, _ in scored], np.float32)
    among = np.array([has for _, has in scored], np.bool_)

    found = standardised(scores, among)

    assert [0.0] * int(np.count_nonzero(~among)) == found[~among].tolist()
    np.testing.assert_allclose(found[among], standardised(scores[among]), atol=1e-5)


TWO_PEOPLE = [said(1, speaker="Ada Lovelace"), said(2, speaker="Bob"), said(3, role="user")]
CHAT = [said(1), said(2, role="assistant"), said(3, role="system"), said(4, role="tool")]
NOTE = said(5, kind="memory", type="Note", thread=0, session="5")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("What does Ada paint?", [1, 0, 0]),
        ("What is Bob's boat called?", [0, 1, 0]),
        ("Did Ada meet Bob?", [0, 0, 0]),
        ("What does Carol paint?", [0, 0, 1]),
    ],
)
def test_a_question_that_names_one_person_is_about_his_words(
    query: str, expected: list[float]
) -> None:
    """Naming several says nothing; naming none leaves it to roles."""
    assert expected == signal("speaker", collection_of(*TWO_PEOPLE), query)


def test_a_person_is_one_in_all_scopes() -> None:
    """His words count wherever he said them, though scopes number speakers each in its way."""
    collection = collection_of(
        said(1, speaker="Ada"),
        said(2, speaker="Bob"),
        more=[said(3, speaker="Bob"), said(4, speaker="Ada")],
    )

    assert [1, 0, 0, 1] == signal("speaker", collection, "What does Ada paint?")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Where do I live?", [1, 0, 0, 0, 1]),
        ("What did you recommend?", [0, 1, 0, 0, 0]),
        ("\u4f60\u63a8\u8350\u4e86\u4ec0\u4e48", [0, 1, 0, 0, 0]),
    ],
)
def test_between_user_and_assistant_the_question_tells_whose_words(
    query: str, expected: list[float]
) -> None:
    """It asks for the user's, memories among them, unless it refers to the assistant's."""
    assert expected == signal("speaker", collection_of(*CHAT, NOTE), query)


@pytest.mark.parametrize(
    ("query", "expected"), [("When did we meet?", [1, 0]), ("Who met last week?", [0, 0])]
)
def test_a_question_when_lifts_entries_that_speak_of_time(
    query: str, expected: list[float]
) -> None:
    """Other questions do not care."""
    collection = collection_of(said(1, "We met last week"), said(2, "We met"))

    assert expected == signal("when", collection, query)


def test_a_date_lifts_the_whole_session() -> None:
    """All entries of a session count, if any of them lies in the days that the question names."""
    collection = collection_of(
        said(1, session="a", time=moment("2023-05-08T23:00")),
        said(2, session="a", time=moment("2023-06-30T01:00")),
        said(3, session="b", time=moment("2023-06-30T02:00")),
    )

    assert [1, 1, 0] == signal("date", collection, "What happened on 8 May 2023?")


@pytest.mark.parametrize(
    ("time", "is_lifted"),
    [
        ("2023-05-06T23:59", 0),
        ("2023-05-07T00:00", 1),
        ("2023-05-08T12:00", 1),
        ("2023-05-22T23:59", 1),
        ("2023-05-23T00:00", 0),
    ],
)
def test_a_date_reaches_from_a_day_before_to_two_weeks_after(time: str, is_lifted: float) -> None:
    """People tell what happened when it is over."""
    collection = collection_of(said(1, time=moment(time)))

    assert [is_lifted] == signal("date", collection, "What happened on 8 May 2023?")


def test_a_month_without_a_year_is_that_of_the_years_searched() -> None:
    """The collection says which years there are."""
    collection = collection_of(
        *(said(n, session=str(n), time=moment(f"{2020 + n}-05-20T12:00")) for n in (1, 2)),
        said(3, session="3", time=moment("2022-09-01T12:00")),
    )

    assert [1, 1, 0] == signal("date", collection, "What did we do in May?")


@pytest.mark.parametrize(
    "query",
    ["in 2023", "last year", "\u53bb\u5e74\u53d1\u751f\u4e86\u4ec0\u4e48", "\u53bb\u5e745\u6708"],
)
def test_a_year_lifts_what_was_said_in_it(query: str) -> None:
    """Named by its number or from today, in English or Chinese."""
    times = ["2022-05-08T12:00", "2023-05-08T12:00", "2024-05-08T12:00"]
    collection = collection_of(
        *(said(n, session=str(n), time=moment(each)) for n, each in enumerate(times, start=1))
    )

    assert [0, 1, 0] == signal("date", collection, query)


@pytest.mark.parametrize("query", ["in the past year", "What is new?", "in December 1999"])
def test_a_question_without_a_narrow_date_lifts_nothing(query: str) -> None:
    """More than a year says too little, and days without entries lift none."""
    collection = collection_of(said(1, time=moment("2023-05-08T12:00")))

    assert [0] == signal("date", collection, query)


@pytest.mark.parametrize(
    ("days", "first", "end"),
    [
        (Days(date(2023, 5, 8), date(2023, 5, 9)), "2023-05-07", "2023-05-24"),
        (Days(date(2023, 5, 8), date(2023, 5, 8), is_chinese=True), "2023-05-07", "2023-05-10"),
        (Days(date(2023, 5, 8), date(2023, 5, 8), is_relative=True), "2023-05-08", "2023-05-09"),
        (Days(date(2024, 2, 28), date(2024, 2, 28), is_chinese=True), "2024-02-27", "2024-03-01"),
    ],
)
def test_how_far_days_lift_depends_on_how_they_are_named(days: Days, first: str, end: str) -> None:
    """English dates reach two weeks further, Chinese ones a day, relative ones not at all."""
    assert (moment(first), moment(end)) == lifted(days)


@pytest.mark.parametrize("day", [date.min, date.max])
def test_the_ends_of_the_calendar_can_be_lifted(day: date) -> None:
    """A date that cannot reach further stays where it is."""
    start, end = lifted(Days(day, day))

    assert start <= end


def test_meaning_is_standardised_among_entries_with_a_vector() -> None:
    """An entry without one has no part in it, and is named."""
    near, far = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    collection = collection_of(
        said(1, vector=encode_vector(near)),
        said(2, vector=encode_vector(far)),
        said(3, vector=None),
        said(4, vector=encode_vector(None)),
    )

    dense = signal("dense", collection, "kite", near)

    assert [1, -1, 0, 0] == pytest.approx(dense, abs=0.01)
    assert [0, 0, 1, 1] == signal("no_vector", collection, "kite", near)


def test_what_is_said_of_oneself_is_personal() -> None:
    """It counts for any question: what is asked for later is mostly of that kind."""
    collection = collection_of(said(1, "I've sold my car"), said(2, "Cars are sold here"))

    assert [1, 0] == signal("personal", collection, "What is new?")


def test_an_opening_is_the_first_message_of_a_session_in_the_first_person() -> None:
    """Later messages, words of others and memories open nothing."""
    collection = collection_of(
        said(1, "I've sold my car"),
        said(2, "I miss it"),
        said(3, "Cars are sold here", session="t"),
        said(4, "I know", session="t"),
        said(5, "I like cars", kind="memory", type="Note", thread=0, session="5"),
        *(said(at, "They sail", session=f"{at}") for at in range(6, 10)),
    )

    best = search(collection, read_question("What is new?", ASKED_AT), None, 9).hits

    parts = {each.uid: each.signals["opening"] for each in best if "opening" in each.signals}
    assert {1: WEIGHTS["opening"] / 2} == pytest.approx(parts)


def test_openings_weigh_more_among_more_sessions() -> None:
    """Where there are few, an opening is no reason: the words of others are."""
    talk = [said(at, "I sail", session=f"{at // 2}") for at in range(40)]

    found = [max(signal("opening", collection_of(*talk[:n]), "Is it new?")) for n in (2, 6, 24, 40)]

    assert [0, 0, 0.75, 0.85] == pytest.approx(found)


def test_nothing_opens_a_session_where_each_entry_is_its_own() -> None:
    """It would only count the first person twice."""
    collection = collection_of(said(1, "I sail"), said(2, "I row", session="t"))

    assert [0, 0] == signal("opening", collection, "What is new?")


def test_without_a_vector_of_the_query_meaning_is_no_signal() -> None:
    """A query that the embedder does not understand is answered by words alone."""
    collection = collection_of(said(1), said(2))
    found = signals_of(collection, read_question(WHEN, ASKED_AT), None)

    by_words = {name for name, weight in WEIGHTS_WITHOUT_VECTOR.items() if weight}
    assert by_words - {"outside"} == {each.name for each in found}


def test_with_a_vector_every_weight_has_its_signal() -> None:
    """No weight is without a signal, and no signal without a weight, but for the mark."""
    collection = collection_of(said(1), said(2))
    similar = collection.similarity(np.array([1, 0], np.float32))

    found = signals_of(collection, read_question(WHEN, ASKED_AT), similar, outside={})

    assert {*WEIGHTS, "no_vector"} == {each.name for each in found}


def test_times_for_which_nothing_asks_are_no_signals() -> None:
    """They would say the same of every entry: that it is not asked for."""
    found = signals_of(collection_of(said(1)), read_question("kite", ASKED_AT), None)

    assert {"when", "date"}.isdisjoint(each.name for each in found)


def test_every_signal_speaks_of_every_entry() -> None:
    """Each has one finite number per entry."""
    collection = collection_of(*CHAT, NOTE)
    similar = collection.similarity(np.array([1, 0], np.float32))
    question = read_question("When was the kite red in May?", ASKED_AT)

    found = signals_of(collection, question, similar)

    assert {len(collection)} == {len(each.value) for each in found}
    assert all(bool(np.isfinite(each.value).all()) for each in found)


def test_what_an_outside_store_did_not_name_is_as_far_as_its_farthest() -> None:
    """Each scope's hits are its own; a uid that is not there has no part in it."""
    collection = collection_of(said(1), said(2), said(3), more=[said(1)])
    bob: Scope = ("users", "bob")

    found = outside_similarity(collection, {ADA: {2: 0.5, 3: 0.25, 99: -1.0}, bob: {1: 0.75}})

    assert [0.25, 0.5, 0.25, 0.75] == found.tolist()


@pytest.mark.parametrize("hits", [{}, {ADA: {}}, {ADA: {99: 1.0}}, {("users", "bob"): {1: 1.0}}])
def test_an_outside_store_that_names_nobody_says_nothing(
    hits: dict[Scope, dict[int, float]],
) -> None:
    found = outside_similarity(collection_of(said(1), said(2)), hits)

    assert [0.0, 0.0] == standardised(found).tolist()


def test_what_was_worked_out_ahead_is_what_would_be() -> None:
    """A search that finds its words' signals ready answers the same; they serve one search."""
    question = read_question("When did Ada sail?", ASKED_AT)
    collection = collection_of(said(1, "I sailed in May"), said(2, "The boat leaks"))
    plain = search(collection, question, None, 5).hits

    look_ahead(collection, question)
    ready = collection.take_ahead(question)
    look_ahead(collection, question)

    assert ready is not None
    assert (
        plain
        == search(collection, question, None, 5).hits
        == search(collection, question, None, 5).hits
    )
    assert collection.take_ahead(question) is None


def test_what_was_worked_out_for_another_question_is_not_taken() -> None:
    """Nor for the same words asked on another day: a day may be meant by them."""
    collection = collection_of(said(1, "I sailed in May"), said(2, "The boat leaks"))
    look_ahead(collection, read_question("When did Ada sail?", ASKED_AT))

    others = [
        read_question("What leaks?", ASKED_AT),
        read_question("When did Ada sail?", ASKED_AT + timedelta(days=1)),
    ]

    assert [None, None] == [collection.take_ahead(each) for each in others]
    fresh = collection_of(said(1, "I sailed in May"), said(2, "The boat leaks"))
    assert search(fresh, others[0], None, 5).hits == search(collection, others[0], None, 5).hits
