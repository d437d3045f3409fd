"""The plan of a context: its query, budget and sources; and the budget while it is spent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeAlias

from recollect.errors import UsageError
from recollect.formation.plan_questions import ComingDays
from recollect.formation.succession import has_ended
from recollect.ports import TokenCounter
from recollect.recall.field_changes import FieldChange
from recollect.recall.relevance import IDLE_BELOW
from recollect.recall.results import Recalled
from recollect.records import Memory, Message, Revision, Scope
from recollect.text.chinese_scripts import is_chinese
from recollect.text.token_estimate import estimated_tokens

COUNTER_ERRORS: Final = (
    *(ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError),
)
"""The errors that a third-party tokenizer may raise."""

MemoryName: TypeAlias = tuple[Scope, str, str]
"""Scope, type and key of a memory."""
END_OF_TIME: Final = datetime.max.replace(tzinfo=UTC)


def memory_name(memory: Memory) -> MemoryName:
    """Return the scope, type and key of a memory."""
    return memory.scope, memory.type, memory.key


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPlan:
    """The query, budget and sources of a context; `Recollect.context` explains each field."""

    scope: Scope
    """The scope that the prompt's thread is in."""
    query: str
    budget_tokens: int
    now: datetime = END_OF_TIME
    """The time of the query: memories that ended before are shown as past."""
    min_score: float | None = None
    idle_below: float = IDLE_BELOW
    asks_for_answers: bool = False
    asks_for_advice: bool = False
    asks_for_news: bool = False
    """Whether the query asks for what changed, and the candidates are of the period it names."""
    coming: ComingDays | None = None
    """The days for whose plans the query asks: what names one of them goes first."""
    attitudes: tuple[Recalled, ...] = ()
    """Entries that tell a diet, a dislike, a liking or a wish, if the query asks for advice."""
    known: frozenset[tuple[str, str]] = frozenset()
    """Messages of that scope that the prompt shows already, by thread and id."""
    said: tuple[str, ...] = ()
    """Texts that the prompt shows already."""
    history: tuple[Message, ...] = ()
    former: Mapping[MemoryName, Revision] = field(default_factory=dict)
    """The previous revision of memories that changed, if the query asks for history."""
    changes: Mapping[MemoryName, Mapping[str, FieldChange]] = field(default_factory=dict)
    """When the fields of those of them that are documents changed, by their names."""
    speakers: Mapping[MemoryName, str] = field(default_factory=dict)
    """Who said what a memory tells, where several people speak and its text does not name them."""
    waiting: Mapping[MemoryName, frozenset[str]] = field(default_factory=dict)
    """The fields of memories for which a change in the user's words waits for review."""
    history_tokens: int = 0
    summary: str = ""
    """The thread's summary, shown if the history does not reach the thread's beginning."""
    instructions: str = ""
    examples: tuple[str, ...] = ()
    awaits_vectors: bool = False
    secret: bytes = b""

    def has_ended(self, content: Message | Memory) -> bool:
        """Return True for a memory that was no longer true when the query was asked."""
        return isinstance(content, Memory) and has_ended(content, self.now)

    @property
    def is_chinese(self) -> bool:
        """
        Whether the query is Chinese, and with it all labels: headings, dates and notes.

        The language of an entry does not count: labels in two languages read as if they were
        remembered.
        """
        return is_chinese(self.query)


@dataclass
class TokenRoom:
    """The unspent part of a token budget: each line is charged, each heading once."""

    tokens: int
    count: TokenCounter
    headings: set[str] = field(default_factory=set)

    def cost_above(self, heading: str) -> int:
        """Return the cost of a heading; 0 if the text has it already."""
        return 0 if heading in self.headings else self.count(heading + "\n")

    def cost_of(self, line: str) -> int:
        """Return the cost of a line with its line break."""
        return self.count(line + "\n")

    def pay(self, cost: int, *headings: str) -> None:
        """Charge *cost*, and note that the text now has *headings*."""
        self.tokens -= cost
        self.headings.update(headings)


def checked_counter(count: TokenCounter) -> TokenCounter:
    """Wrap *count* to raise `UsageError` if it fails or returns anything but a whole number."""
    if count is estimated_tokens:
        return count  # ours never fails, and is called hundreds of times for each context

    def checked(text: str) -> int:
        try:
            tokens: object = count(text)
        except COUNTER_ERRORS as error:
            what = f"the token counter failed on a text of {len(text)} characters: {error!r}"
            raise UsageError(what) from error
        if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0:
            what = f"the token counter returned {tokens!r}: it must return a whole number from 0"
            raise UsageError(what)
        return tokens

    return checked
