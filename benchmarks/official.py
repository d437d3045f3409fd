"""The interface of official metrics, so that the runner knows no data set by name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from benchmarks.conversation_files import BenchmarkConversation, BenchmarkMessage, BenchmarkQuestion
from benchmarks.metrics import sessions_in_order

Facts: TypeAlias = Mapping[str, tuple[int | None, ...]]
"""The facts behind one question's figures: places in a ranking, by name."""
Sections: TypeAlias = Mapping[str, Mapping[str, float]]
"""Figures by section (all questions, a category, a level), then by measure."""
Case: TypeAlias = tuple[str, Facts]
"""A question's category and its facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialRanking:
    """
    The input of an official metric.

    *turns* are the ids of the indexed messages, *sessions* the sessions ranked by
    the indexed messages, *whole_sessions* those ranked by all messages; best first.
    """

    turns: Sequence[str]
    sessions: Sequence[str]
    whole_sessions: Sequence[str]


Ranker: TypeAlias = Callable[[BenchmarkQuestion], OfficialRanking]


@dataclass(frozen=True, slots=True, kw_only=True)
class Official:
    """
    One official metric.

    *counts* names the questions of its average and *indexes* the messages that it ranks.
    *controls* are its authors' baselines: each indexes a conversation and returns what
    ranks it for a question. *facts* and *figures* split the metric where the rows are
    written, so that *figures* needs nothing but rows. *shown* are the measures to print.
    """

    name: str
    counts: Callable[[BenchmarkQuestion], bool]
    indexes: Callable[[BenchmarkMessage], bool]
    controls: Mapping[str, Callable[[BenchmarkConversation], Ranker]]
    facts: Callable[[BenchmarkQuestion, BenchmarkConversation, OfficialRanking], Facts]
    figures: Callable[[Sequence[Case]], Sections]
    shown: Sequence[str]

    def ranking_of(
        self, conversation: BenchmarkConversation, ranked: Sequence[str]
    ) -> OfficialRanking:
        """
        Convert a system's ranking of all messages to the input of this metric.

        The system searched everything; messages that the metric does not index are removed
        afterwards.
        """
        session_of = {each.message_id: each.session_id for each in conversation.messages}
        indexed = {each.message_id for each in conversation.messages if self.indexes(each)}
        turns = [each for each in ranked if each in indexed]
        return OfficialRanking(
            turns=turns,
            sessions=sessions_in_order(turns, session_of),
            whole_sessions=sessions_in_order(ranked, session_of),
        )


def split_on_spaces(text: str) -> list[str]:
    """Split like LongMemEval's code: case and punctuation stay."""
    return text.split(" ")


def lowered_words(text: str) -> list[str]:
    r"""Return the runs of ``\w`` in lower case."""
    return re.findall(r"\w+", text.lower())
