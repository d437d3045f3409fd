"""The arguments of a context, and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.errors import LimitError, UsageError
from recollect.ports import TokenCounter
from recollect.recall.query import Where, check_score
from recollect.records import Scope
from recollect.stores.validation import (
    PAGE_ROWS_MAX,
    check_id,
    check_stale_s,
    check_text,
    check_texts,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextQuery:
    """The arguments of `Recollect.context`; see there."""

    scope: Scope
    query: str
    thread: str | None
    recent: int | Sequence[str] | None
    history_tokens: int
    budget_tokens: int
    min_score: float | None
    profile: bool | Sequence[str]
    instructions: str
    examples: Sequence[str]
    below: bool
    where: Where
    asked_at: datetime | None
    stale_s_max: float | None
    count_tokens: TokenCounter
    secret: bytes | None

    @property
    def recent_messages(self) -> int:
        """How many of the thread's newest messages the caller shows in the prompt."""
        return self.recent if isinstance(self.recent, int) else 0

    @property
    def recent_texts(self) -> tuple[str, ...]:
        """The texts that the caller shows in the prompt."""
        given = self.recent
        return () if given is None or isinstance(given, int) else tuple(given)


def check_query(request: ContextQuery) -> None:
    """
    Raise if an argument of `Recollect.context` is outside its range.

    The entries' filters are checked by the recall.
    """
    _check_texts(request)
    _check_numbers(request)


def _check_texts(request: ContextQuery) -> None:
    query: object = request.query
    if not isinstance(query, str):
        what = f"a query must be text, not {type(query).__name__}"
        raise UsageError(f'{what}: give the next turn\'s text, or "" for the profile alone')
    if request.thread is not None:
        check_id(request.thread, "a thread id")
    lists = {"recent": request.recent, "profile": request.profile, "examples": request.examples}
    for name, texts in lists.items():
        if texts is not None and not isinstance(texts, int):
            check_texts(texts, f"element of {name}")
    for text in (request.instructions, *request.examples):
        check_text(text, "a text that is counted with a context")


def _check_numbers(request: ContextQuery) -> None:
    numbers: tuple[tuple[str, object, int], ...] = (
        ("budget_tokens", request.budget_tokens, 1),
        ("history_tokens", request.history_tokens, 0),
        ("recent", request.recent_messages, 0),
    )
    for name, given, least in numbers:
        if isinstance(given, bool) or not isinstance(given, int) or given < least:
            raise UsageError(f"{name} is {given!r}: give a whole number of at least {least}")
    _check_thread(request)
    if request.recent_messages > PAGE_ROWS_MAX:
        raise LimitError("recent messages", request.recent_messages, PAGE_ROWS_MAX, "PAGE_ROWS_MAX")
    if request.min_score is not None:
        check_score(request.min_score)
    if request.stale_s_max is not None:
        check_stale_s(request.stale_s_max)


def _check_thread(request: ContextQuery) -> None:
    """Raise if messages of a thread are asked for, but no thread is named."""
    if request.thread is not None:
        return
    asked = {"recent": request.recent_messages, "history_tokens": request.history_tokens}
    for name, given in asked.items():
        if given:
            msg = f"{name} is {given}, of no thread: name the conversation with `thread`"
            raise UsageError(msg)
