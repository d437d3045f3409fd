"""LoCoMo's own retrieval metric and a BM25 baseline for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkQuestion
from benchmarks.metrics import mean_measures, places_of, recall_at
from benchmarks.official import (
    Case,
    Facts,
    Official,
    OfficialRanking,
    Ranker,
    Sections,
    lowered_words,
)
from benchmarks.okapi import Okapi

LOCOMO_DEPTHS: Final = (5, 10, 25, 50)
LOCOMO_SESSION_DEPTHS: Final = (2, 5, 10)
_ADVERSARIAL: Final = "adversarial"


def locomo_facts(
    question: BenchmarkQuestion, conversation: BenchmarkConversation, ranking: OfficialRanking
) -> Facts:
    """
    Return the ranks of the evidence: as cited, as repaired, and by session.

    ``cited`` keeps malformed and repeated citations, as the authors' code does.
    """
    session_of = {each.message_id: each.session_id for each in conversation.messages}
    cited = [f"{question.conversation_id}:{each}" for each in question.extras.texts("evidence_raw")]
    sessions = [session_of.get(each, "") for each in question.evidence]
    return {
        "cited": places_of(cited, ranking.turns),
        "repaired": places_of(question.evidence, ranking.turns),
        "session": places_of(sessions, ranking.sessions),
    }


def locomo_figures(cases: Sequence[Case]) -> Sections:
    """
    Return dialogue recall over all questions, without adversarial ones, and by category.

    A question that cites nothing counts 1, as the authors count it; *repaired* measures
    leave it out.
    """
    sections: dict[str, list[Facts]] = defaultdict(list)
    for category, facts in cases:
        sections["overall"].append(facts)
        if category != _ADVERSARIAL:
            sections["without adversarial"].append(facts)
    for category in sorted({category for category, _ in cases}):
        sections[category] = [facts for each, facts in cases if each == category]
    return {
        name: {"n": len(held)}
        | mean_measures([_dialogue_measures(facts) for facts in held])
        | mean_measures([_repaired_measures(facts) for facts in held if facts["repaired"]])
        for name, held in sections.items()
    }


def _dialogue_measures(facts: Facts) -> dict[str, float]:
    cited = facts["cited"]
    return {
        f"dialog R@{depth}": recall_at(cited, depth) if cited else 1.0 for depth in LOCOMO_DEPTHS
    }


def _repaired_measures(facts: Facts) -> dict[str, float]:
    return {
        f"repaired R@{depth}": recall_at(facts["repaired"], depth) for depth in LOCOMO_DEPTHS
    } | {
        f"session R@{depth}": recall_at(facts["session"], depth) for depth in LOCOMO_SESSION_DEPTHS
    }


def locomo_baseline(conversation: BenchmarkConversation) -> Ranker:
    """Return BM25 over dialogue turns (with their time) and over joined sessions."""
    spoken = [
        f"{each.speaker} said {each.text} {each.image_caption or ''}"
        for each in conversation.messages
    ]
    ids = [each.message_id for each in conversation.messages]
    by_turn = Okapi(
        [
            lowered_words(f"{each.time:%Y-%m-%dT%H:%M:%S} {text}")
            for each, text in zip(conversation.messages, spoken, strict=True)
        ]
    )
    texts: dict[str, list[str]] = defaultdict(list)
    for each, text in zip(conversation.messages, spoken, strict=True):
        texts[each.session_id].append(text)
    session_ids = list(texts)
    by_session = Okapi([lowered_words(" ".join(held)) for held in texts.values()])

    def rank(question: BenchmarkQuestion) -> OfficialRanking:
        query = lowered_words(question.text)
        sessions = _stable_order(by_session.scores(query), session_ids)
        turns = _stable_order(by_turn.scores(query), ids)
        return OfficialRanking(turns=turns, sessions=sessions, whole_sessions=sessions)

    return rank


def _stable_order(scores: NDArray[np.float64], ids: Sequence[str]) -> list[str]:
    return [ids[at] for at in np.argsort(-scores, kind="stable")]


LOCOMO: Final = Official(
    name="LoCoMo dialogue recall (all questions; cited evidence as it stands)",
    counts=lambda _question: True,
    indexes=lambda _message: True,
    controls={r"official bm25 \w+": locomo_baseline},
    facts=locomo_facts,
    figures=locomo_figures,
    shown=(
        *(f"dialog R@{depth}" for depth in LOCOMO_DEPTHS),
        *(f"session R@{depth}" for depth in LOCOMO_SESSION_DEPTHS),
    ),
)
