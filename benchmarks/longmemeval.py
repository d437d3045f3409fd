"""LongMemEval's own retrieval metric and its BM25 baseline."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from benchmarks.metrics import mean_measures, places_of
from benchmarks.official import (
    Case,
    Facts,
    Official,
    OfficialRanking,
    Ranker,
    Sections,
    lowered_words,
    split_on_spaces,
)
from benchmarks.okapi import Okapi, Tokens


def discounted_gain(gains: Sequence[int], depth: int) -> float:
    """
    Return LongMemEval's DCG: ranks 1 and 2 both undiscounted, then log2(rank).

    >>> discounted_gain([1, 1, 0, 1], 4)
    2.5
    """
    return math.fsum(
        gain / (math.log2(rank) if rank > 1 else 1.0)
        for rank, gain in enumerate(gains[:depth], start=1)
    )


def _gain_at(places: Sequence[int | None], depth: int) -> float:
    found = sorted(place for place in places if place is not None and place <= depth)
    gains = [0] * (found[-1] if found else 0)
    for place in found:
        gains[place - 1] = 1
    ideal = discounted_gain([1] * len(places), depth)
    return discounted_gain(gains, depth) / ideal if ideal else 0.0


def _triple(gold: Sequence[int | None], gains: Sequence[int | None], depth: int) -> list[float]:
    """Return recall_any, recall_all and ndcg_any, as LongMemEval's ``evaluate_retrieval``."""
    within = [place is not None and place <= depth for place in gold]
    return [float(any(within)), float(all(within)), _gain_at(gains, depth)]


LONGMEMEVAL_DEPTHS: Final = (1, 3, 5, 10, 30, 50)
_MEASURES: Final = ("recall_any", "recall_all", "ndcg_any")


def longmemeval_facts(
    question: BenchmarkQuestion, conversation: BenchmarkConversation, ranking: OfficialRanking
) -> Facts:
    """
    Return the ranks of the evidence at each level that the question counts for.

    ``turn…`` and ``session`` follow the authors (user turns only); ``community`` is the
    wider reading: gold is every answer session, and no answerable question is left out.
    """
    gold = question.extras.texts("answer_sessions_official")
    facts: dict[str, tuple[int | None, ...]] = {
        "community": places_of(gold, ranking.sessions),
        "community_whole": places_of(gold, ranking.whole_sessions),
    }
    if not question.extras.flag("in_official_retrieval_average"):
        return facts
    indexed = [each for each in conversation.messages if _is_user_turn(each)]
    session_of = {each.message_id: each.session_id for each in indexed}
    turns = question.extras.texts("evidence_user")
    gold_sessions = tuple(dict.fromkeys(session_of[each] for each in turns))
    walk = [session_of[each] for each in ranking.turns]
    gold_turns = [each for each in session_of if session_of[each] in gold_sessions]
    return facts | {
        "turn": places_of(turns, ranking.turns),
        "session": places_of(question.extras.texts("evidence_sessions_user"), ranking.sessions),
        "turns": (len(indexed),),
        "walk_new_sessions": places_of(tuple(dict.fromkeys(walk)), walk),
        "walk_gold_sessions": places_of(gold_sessions, walk),
        "walk_gold_turns": places_of(gold_turns, ranking.turns),
    }


def _is_user_turn(message: BenchmarkMessage) -> bool:
    return message.role == "user"


def _walk_triple(facts: Facts, depth: int) -> list[float]:
    """Judge sessions by their turns: go down the ranking until *depth* sessions appeared."""
    new = [place for place in facts["walk_new_sessions"] if place is not None]
    turns = facts["turns"][0] or 0
    # The authors stop one past the last turn where there are fewer sessions than asked for.
    end = new[depth - 1] if len(new) >= depth else max(depth, turns + 1)
    return _triple(facts["walk_gold_sessions"], facts["walk_gold_turns"], end)


def longmemeval_figures(cases: Sequence[Case]) -> Sections:
    """Return recall_any, recall_all and ndcg_any at each depth, by level and category."""
    judged: dict[str, list[dict[str, float]]] = defaultdict(list)
    for category, facts in cases:
        by_level = _judge(facts)
        for level, measures in by_level.items():
            judged[level].append(measures)
        if "session" in by_level:
            judged[f"session, {category}"].append(by_level["session"])
    levels = sorted(judged, key=lambda level: ("," in level, level))
    return {level: {"n": len(judged[level])} | mean_measures(judged[level]) for level in levels}


def _judge(facts: Facts) -> dict[str, dict[str, float]]:
    judges: dict[str, Callable[[int], list[float]]] = {
        "community, user turns": lambda depth: _at(facts, "community", depth),
        "community, all turns": lambda depth: _at(facts, "community_whole", depth),
    }
    if "session" in facts:
        judges |= {
            "session": lambda depth: _at(facts, "session", depth),
            "turn": lambda depth: _at(facts, "turn", depth),
            "turn to session": lambda depth: _walk_triple(facts, depth),
        }
    return {
        level: {
            f"{name}@{depth}": value
            for depth in LONGMEMEVAL_DEPTHS
            for name, value in zip(_MEASURES, judge(depth), strict=True)
        }
        for level, judge in judges.items()
    }


def _at(facts: Facts, level: str, depth: int) -> list[float]:
    return _triple(facts[level], facts[level], depth)


def longmemeval_baseline(tokens: Tokens) -> Callable[[BenchmarkConversation], Ranker]:
    """Return the authors' BM25: user turns one by one, and joined by session."""

    def index(conversation: BenchmarkConversation) -> Ranker:
        users = [each for each in conversation.messages if _is_user_turn(each)]
        turn_ids = [each.message_id for each in users]
        by_turn = Okapi([tokens(each.text) for each in users])
        session_ids, by_session = _session_index(users, tokens)
        whole_ids, by_whole = _session_index(conversation.messages, tokens)

        def rank(question: BenchmarkQuestion) -> OfficialRanking:
            query = tokens(question.text)
            return OfficialRanking(
                turns=_reversed_order(by_turn.scores(query), turn_ids),
                sessions=_reversed_order(by_session.scores(query), session_ids),
                whole_sessions=_reversed_order(by_whole.scores(query), whole_ids),
            )

        return rank

    return index


def _session_index(messages: Sequence[BenchmarkMessage], tokens: Tokens) -> tuple[list[str], Okapi]:
    texts: dict[str, list[str]] = defaultdict(list)
    for message in messages:
        texts[message.session_id].append(message.text)
    return list(texts), Okapi([tokens(" ".join(held)) for held in texts.values()])


def _reversed_order(scores: NDArray[np.float64], ids: Sequence[str]) -> list[str]:
    # The authors sort upwards and reverse: ties fall as numpy's own sort leaves them.
    return [ids[at] for at in np.argsort(scores)[::-1]]


LONGMEMEVAL: Final = Official(
    name="LongMemEval retrieval (user turns only)",
    counts=lambda question: not question.is_unanswerable,
    indexes=_is_user_turn,
    controls={
        "official bm25 spaces": longmemeval_baseline(split_on_spaces),
        r"official bm25 \w+": longmemeval_baseline(lowered_words),
    },
    facts=longmemeval_facts,
    figures=longmemeval_figures,
    shown=(*(f"{name}@{depth}" for depth in (5, 10) for name in _MEASURES), "recall_all@50"),
)
