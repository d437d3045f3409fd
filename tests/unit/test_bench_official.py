"""The official metrics, against cases reckoned by hand from their definitions."""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pytest

from benchmarks.conversation_files import (
    BenchmarkConversation,
    BenchmarkMessage,
    BenchmarkQuestion,
    RowFields,
)
from benchmarks.locomo import LOCOMO, locomo_facts, locomo_figures
from benchmarks.longmemeval import LONGMEMEVAL, longmemeval_facts, longmemeval_figures
from benchmarks.official import OfficialRanking, lowered_words, split_on_spaces
from benchmarks.okapi import Okapi, term_weights


def conversation_of(rows: Sequence[tuple[str, str, str]], name: str = "c") -> BenchmarkConversation:
    """Make a conversation of (message id, role, text); the session is what precedes the dot."""
    messages = tuple(
        BenchmarkMessage(
            message_id=message_id,
            session_id=message_id.partition(".")[0],
            seq=seq,
            time=datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
            speaker=role,
            role=role,
            text=text,
        )
        for seq, (message_id, role, text) in enumerate(rows)
    )
    return BenchmarkConversation(conversation_id=name, messages=messages)


def question_of(text: str, extras: Mapping[str, object], **known: object) -> BenchmarkQuestion:
    """Make a question of conversation ``c``; *extras* are its row."""
    evidence = known.get("evidence", ())
    assert isinstance(evidence, tuple)
    return BenchmarkQuestion(
        question_id="q",
        conversation_id="c",
        text=text,
        category=str(known.get("category", "single_hop")),
        evidence=evidence,
        extras=RowFields("a test", extras),
    )


def test_okapi_scores_as_reckoned_by_hand() -> None:
    """
    Five documents of two terms: the norm is k1 = 1.5 throughout.

    A term once in one of five weighs ln(4.5) - ln(1.5) = ln 3 and scores
    ln 3 * 1 * 2.5 / (1 + 1.5) = ln 3.
    """
    okapi = Okapi([["tea", "cup"], ["red", "cat"], ["old", "dog"], ["new", "car"], ["big", "sun"]])

    scores = okapi.scores(["tea", "unheard"])

    assert [pytest.approx(math.log(3)), 0.0, 0.0, 0.0, 0.0] == scores.tolist()


def test_okapi_counts_a_repeated_query_term_again() -> None:
    """Twice in the query is twice the score."""
    okapi = Okapi([["tea"], ["cat"], ["dog"]])

    assert 2 * okapi.scores(["tea"])[0] == okapi.scores(["tea", "tea"])[0]


def test_okapi_lifts_a_term_of_most_documents_to_a_share_of_the_mean() -> None:
    """In 2 of 2: ln .5 - ln 2.5 < 0, so a quarter of the mean weight stands in its place."""
    weights = term_weights({"the": 2, "tea": 1}, 2)

    the, tea = math.log(0.5) - math.log(2.5), 0.0
    assert {"the": pytest.approx(0.25 * (the + tea) / 2), "tea": 0.0} == weights


def test_okapi_of_empty_documents_scores_nothing() -> None:
    """A conversation without words is no division by zero."""
    assert [0.0, 0.0] == Okapi([[], []]).scores(["tea"]).tolist()


def test_the_two_tokenisations() -> None:
    """One keeps case and punctuation, the other neither."""
    assert (["My", "Cat,", "", "Tom"], ["my", "cat", "tom"]) == (
        split_on_spaces("My Cat,  Tom"),
        lowered_words("My Cat,  Tom"),
    )


HAYSTACK = conversation_of(
    [
        ("a.1", "user", "tea"),
        ("a.2", "assistant", "which tea"),
        ("a.3", "user", "green"),
        ("b.1", "user", "cats"),
        ("b.2", "user", "dogs"),
        ("c.1", "user", "sun"),
        ("d.1", "assistant", "rain"),
        ("d.2", "user", "hail"),
    ]
)
NEEDLES = {
    "in_official_retrieval_average": True,
    "evidence_user": ["a.3", "b.2"],
    "evidence_sessions_user": ["a", "b"],
    "answer_sessions_official": ["a", "b", "d"],
}


def longmemeval_sections(ranked: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
    """Judge one ranking of all messages of the haystack."""
    question = question_of("?", NEEDLES)
    ranking = LONGMEMEVAL.ranking_of(HAYSTACK, ranked)
    return longmemeval_figures([("kind", longmemeval_facts(question, HAYSTACK, ranking))])


RANKED = ("d.1", "c.1", "a.2", "a.3", "a.1", "d.2", "b.1", "b.2")
"""User turns: c.1 a.3 a.1 d.2 b.1 b.2; their sessions: c a d b; all sessions: d c a b."""


def test_longmemeval_ranks_user_turns_only() -> None:
    """Evidence at ranks 2 and 6 of the user turns: any at 3, all at 10, not at 5."""
    turn = longmemeval_sections(RANKED)["turn"]

    assert (0.0, 1.0, 0.0, 1.0) == (
        turn["recall_any@1"],
        turn["recall_any@3"],
        turn["recall_all@5"],
        turn["recall_all@10"],
    )


def test_longmemeval_leaves_ranks_one_and_two_undiscounted() -> None:
    """Turns at 2 and 6: (1 + 1/log2(6)) / (1 + 1)."""
    turn = longmemeval_sections(RANKED)["turn"]

    assert math.isclose((1 + 1 / math.log2(6)) / 2, turn["ndcg_any@10"], abs_tol=1e-6)


def test_longmemeval_sessions_follow_their_best_user_turn() -> None:
    """Gold sessions at 2 and 4: all at 5 and not at 3; ndcg (1 + 1/log2(4)) / 2."""
    session = longmemeval_sections(RANKED)["session"]

    assert (0.0, 1.0, 0.75) == (
        session["recall_all@3"],
        session["recall_all@5"],
        session["ndcg_any@5"],
    )


def test_longmemeval_walks_down_the_turns_until_enough_sessions_were_met() -> None:
    """
    Three sessions are met at turn 4 (c a a d), five never: then all six turns count.

    Of the turns, a.3, a.1, b.1 and b.2 belong to gold sessions: at 3 sessions the gain is
    1 (rank 2) + 1/log2(3) (rank 3) of an ideal 1 + 1 + 1/log2(3) + 1/log2(4).
    """
    walk = longmemeval_sections(RANKED)["turn to session"]

    gain = 1 + 1 / math.log2(3)
    ideal = 2 + 1 / math.log2(3) + 1 / 2
    assert math.isclose(gain / ideal, walk["ndcg_any@3"], abs_tol=1e-6)
    assert (0.0, 1.0) == (walk["recall_all@3"], walk["recall_all@5"])


def test_longmemeval_community_reading_takes_every_answer_session() -> None:
    """Sessions a, b, d: by user turns 2, 4, 3; by all turns 3, 4, 1, which finds one first."""
    sections = longmemeval_sections(RANKED)

    assert (0.0, 1.0) == (
        sections["community, user turns"]["recall_any@1"],
        sections["community, all turns"]["recall_any@1"],
    )


def test_longmemeval_average_leaves_out_what_its_authors_leave_out() -> None:
    """A question outside the official average has community figures alone."""
    question = question_of("?", NEEDLES | {"in_official_retrieval_average": False})
    ranking = LONGMEMEVAL.ranking_of(HAYSTACK, RANKED)

    sections = longmemeval_figures([("kind", longmemeval_facts(question, HAYSTACK, ranking))])

    assert {"community, user turns", "community, all turns"} == set(sections)


def test_longmemeval_counts_evidence_that_was_not_returned_as_missed() -> None:
    """A system that returns one user turn has the other evidence nowhere."""
    turn = longmemeval_sections(["a.3"])["turn"]

    assert (1.0, 0.0, 0.5) == (
        turn["recall_any@50"],
        turn["recall_all@50"],
        turn["ndcg_any@50"],
    )


def test_longmemeval_baseline_reads_user_turns() -> None:
    """Both tea turns match, and only the user's is ranked; sessions hold all of its turns."""
    rank = LONGMEMEVAL.controls[r"official bm25 \w+"](HAYSTACK)

    ranking = rank(question_of("Tea?", NEEDLES))

    assert "a.1" == ranking.turns[0]
    assert {"a.1", "a.3", "b.1", "b.2", "c.1", "d.2"} == set(ranking.turns)
    assert ("a", "a") == (ranking.sessions[0], ranking.whole_sessions[0])
    assert {"a", "b", "c", "d"} == set(ranking.sessions) == set(ranking.whole_sessions)


def test_longmemeval_baseline_on_spaces_keeps_punctuation() -> None:
    """``tea?`` is not ``tea`` to the authors' tokenisation: of two words one matches."""
    rank = LONGMEMEVAL.controls["official bm25 spaces"](HAYSTACK)

    ranking = rank(question_of("tea? cats", NEEDLES))

    assert "b.1" == ranking.turns[0]


TALK = conversation_of(
    [("c:D1:1", "ann", "hello"), ("c:D1:2", "bob", "tea"), ("c:D2:1", "ann", "sun")]
)


def locomo_section(ranked: Sequence[str], *questions: BenchmarkQuestion) -> Mapping[str, float]:
    """Judge the same ranking for each question."""
    ranking = LOCOMO.ranking_of(TALK, ranked)
    cases = [(each.category, locomo_facts(each, TALK, ranking)) for each in questions]
    return locomo_figures(cases)["overall"]


def cited(*raw: str, evidence: tuple[str, ...] = ()) -> BenchmarkQuestion:
    """Make a question that cites *raw* and whose repaired evidence is *evidence*."""
    return question_of("?", {"evidence_raw": list(raw)}, evidence=evidence)


def test_locomo_never_finds_a_malformed_citation() -> None:
    """Two ids in one text match nothing; repaired they are found."""
    question = cited("D1:1; D1:2", evidence=("c:D1:1", "c:D1:2"))

    overall = locomo_section(("c:D1:1", "c:D1:2", "c:D2:1"), question)

    assert (0.0, 1.0) == (overall["dialog R@5"], overall["repaired R@5"])


def test_locomo_counts_a_repeated_citation_twice() -> None:
    """D1:1 twice and D1:2 once, D1:2 not returned: two thirds."""
    question = cited("D1:1", "D1:1", "D1:2", evidence=("c:D1:1", "c:D1:2"))

    overall = locomo_section(("c:D1:1",), question)

    assert (2 / 3, 0.5) == (overall["dialog R@5"], overall["repaired R@5"])


def test_locomo_gives_full_marks_for_no_citation() -> None:
    """Such a question counts 1 in the official mean and is absent from the repaired one."""
    overall = locomo_section(("c:D2:1",), cited(), cited("D1:1", evidence=("c:D1:1",)))

    assert (0.5, 0.0, 2) == (overall["dialog R@5"], overall["repaired R@5"], overall["n"])


def test_locomo_without_adversarial_leaves_that_category_out() -> None:
    """One of two questions is adversarial and found; the other is not found."""
    ranking = LOCOMO.ranking_of(TALK, ("c:D1:1",))
    easy, hard = cited("D1:1", evidence=("c:D1:1",)), cited("D2:1", evidence=("c:D2:1",))

    sections = locomo_figures(
        [
            ("adversarial", locomo_facts(easy, TALK, ranking)),
            ("temporal", locomo_facts(hard, TALK, ranking)),
        ]
    )

    assert (0.5, 0.0, 1.0) == (
        sections["overall"]["dialog R@5"],
        sections["without adversarial"]["dialog R@5"],
        sections["adversarial"]["dialog R@5"],
    )


def test_locomo_baseline_reads_the_speaker_and_breaks_ties_from_the_start() -> None:
    """Only Bob's turn matches; the others follow in order."""
    ranking = LOCOMO.controls[r"official bm25 \w+"](TALK)(question_of("What did Bob drink?", {}))

    assert ["c:D1:2", "c:D1:1", "c:D2:1"] == list(ranking.turns)


def test_an_official_ranking_is_what_the_metric_indexes() -> None:
    """Assistant turns are dropped from the turns and still rank whole sessions."""
    expected = OfficialRanking(turns=["a.3"], sessions=("a",), whole_sessions=("d", "a"))

    assert expected == LONGMEMEVAL.ranking_of(HAYSTACK, ("d.1", "a.3"))
