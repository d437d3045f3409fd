"""The content of citations: whole sentences, the question that they answer, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from recollect.formation.grounding.foreign_text import instructs
from recollect.formation.operations import Citation
from recollect.formation.support.acceptance import (
    NOTHING,
    TakenUp,
    praised_in,
    refers_back,
    taken_up,
)
from recollect.formation.support.assent import CHOICE, NO, YES_FIRST
from recollect.formation.support.consideration import ponders
from recollect.formation.support.content_words import Token, WordIndex
from recollect.formation.support.stances import Clause, clauses_in
from recollect.formation.support.vocabulary import groups_said
from recollect.formation.support.voices import SpokenTrust, Voice
from recollect.formation.window import WindowLine

SLIP_WORDS_MAX: Final = 500
"""Most words of a text that is searched for misspellings, which compares each word with all."""
ANSWER_CHARACTERS_MAX: Final = 60


@dataclass(frozen=True, eq=False)
class Passage:
    """The content of one citation: whole sentences of one voice, and the question they answer."""

    citation: Citation
    line: WindowLine
    trust: SpokenTrust
    text: str
    question: str = ""
    offered: Voice | None = None
    earlier: Voice | None = None
    """The assistant's words before the *offered* ones; one message of the user is between."""

    @property
    def is_accepting(self) -> bool:
        """Whether the user takes up in few words some of what the assistant has just said."""
        return bool(self.accepted.text)

    @property
    def is_answer(self) -> bool:
        """Whether the sentences say yes or no to the question, or choose what it offers."""
        if not self.question:
            return False
        start = self.text[:ANSWER_CHARACTERS_MAX]
        return (
            NO.match(self.text) is not None
            or YES_FIRST.match(start) is not None
            or CHOICE.search(self.question) is not None
        )

    @cached_property
    def own(self) -> Passage:
        """Return what the speaker asserts, without an unanswered question."""
        if not self.question or self.is_answer:
            return self
        return replace(self, question="")

    @cached_property
    def taken_up(self) -> TakenUp:
        """Return what of the assistant's message immediately before the sentences take up."""
        if self.offered is None:
            return NOTHING
        taken = taken_up(self.text, self.offered.text)
        if self.earlier is None:
            return taken
        if praised := praised_in(self.text, self.earlier.text):
            return replace(taken, text=f"{taken.text}\n{praised}".strip(), is_choice=True)
        if not taken.text or not refers_back(self.offered.text):
            return taken
        before = taken_up(self.text, self.earlier.text)
        return replace(taken, text=f"{taken.text}\n{before.text}") if before.text else taken

    @cached_property
    def accepted(self) -> Passage:
        """Return what is taken up, as words of the assistant."""
        return Passage(self.citation, self.line, "assistant", self.taken_up.text)

    @cached_property
    def weighed(self) -> Passage | None:
        """Return the offer that the user will think about, as words of the assistant."""
        if self.offered is None or self.trust != "user" or not ponders(self.text):
            return None
        return Passage(self.citation, self.line, "assistant", self.offered.text)

    @cached_property
    def words(self) -> WordIndex:
        """Return the words of the sentences, and of the question."""
        index = WordIndex()
        index.add(f"{self.text}\n{self.question}", with_compounds=True)
        return index

    @cached_property
    def groups(self) -> frozenset[int]:
        """Return the groups of words that they belong to."""
        return groups_said(self.words)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Return the clauses of the sentences."""
        return clauses_in(self.text)

    @cached_property
    def asked(self) -> tuple[Clause, ...]:
        """Return the clauses of the question."""
        return clauses_in(self.question) if self.question else ()

    @cached_property
    def instructs(self) -> bool:
        """Whether the sentences read as an instruction."""
        return instructs(self.text)

    @property
    def is_no(self) -> bool:
        """Whether the sentences answer the question in the negative."""
        return bool(self.question) and NO.match(self.text) is not None


class CitedWords:
    """The words of some passages together, and the groups of words that they belong to."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)  # held, so that their ids stay theirs
        self.index = WordIndex()
        for each in dict.fromkeys(passages):
            self.index.add_all(each.words)
        self.groups = frozenset[int]().union(*(each.groups for each in self.passages))
        self._slips: dict[str, bool] = {}

    def has(self, token: Token, groups: frozenset[int]) -> bool:
        """Return True if a word, a synonym or a misspelling of it was said."""
        index = self.index
        if index.has(token) or not self.groups.isdisjoint(groups):
            return True
        if len(index.keys) > SLIP_WORDS_MAX:
            return False
        if token.folded not in self._slips:
            self._slips[token.folded] = index.resembles(token)
        return self._slips[token.folded]
