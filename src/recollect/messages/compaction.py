"""Compact a long conversation for the next prompt: cut its older part, or summarise it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recollect.errors import UsageError
from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import AnyMessage, kind_of
from recollect.messages.message_types import family_of
from recollect.messages.summarization import SummaryPlan, is_summary, plan_summary, summary_message
from recollect.messages.token_counters import (
    ListCounter,
    MessageCounter,
    list_counter,
    rough_tokens,
)

KEEP_MESSAGES: Final = 20
"""The default number of newest messages to keep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """
    The replacement of the older part of a conversation, up to the message with the id *through*.

    Without a *summary* the older part is only cut.
    """

    through: str
    summary: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionLimits:
    """
    When to compact a conversation, and how much of its end to keep.

    It is compacted at *trigger_messages* or *trigger_tokens*, whichever comes first. The last
    *keep* messages are kept: fewer if they exceed *keep_tokens* (by default half of
    *trigger_tokens*), more if the cut would separate a tool call from its result.

    Raises:
        UsageError: There is no trigger, or a number is outside its range.
    """

    trigger_messages: int | None = None
    trigger_tokens: int | None = None
    keep: int = KEEP_MESSAGES
    keep_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.trigger_messages is None and self.trigger_tokens is None:
            msg = "compaction has no trigger: give trigger_messages, trigger_tokens, or both"
            raise UsageError(msg)
        for name in ("trigger_messages", "trigger_tokens", "keep", "keep_tokens"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise UsageError(f"{name}={number}: give at least 1")

    @property
    def tokens_kept(self) -> int | None:
        """The most tokens of the kept messages; ``None`` for no limit."""
        if self.keep_tokens is None and self.trigger_tokens is not None:
            return max(1, self.trigger_tokens // 2)
        return self.keep_tokens


def compacted(messages: Sequence[AnyMessage], compaction: Compaction | None) -> list[AnyMessage]:
    """
    Return *messages* as a prompt shows them after *compaction*, without changing any of them.

    Leading system messages stay. If the kept part does not begin with a user's message, the last
    one before it is kept too, so that the request that the assistant works on stays, and no
    provider gets a conversation that begins with an answer. If the message named by the compaction
    is gone, nothing is left out.
    """
    given = list(messages)
    if compaction is None:
        return given
    system, older, rest = _parted(given, compaction.through)
    shown = list(system)
    if compaction.summary:
        shown.append(summary_message(compaction.summary, family_of(given)))
    asked = next((each for each in reversed(older) if kind_of(each) == "human"), None)
    if asked is not None and not (rest and kind_of(rest[0]) == "human"):
        shown.append(asked)
    return [*shown, *rest]


def plan_compaction(
    messages: Sequence[MessageLike],
    limits: CompactionLimits,
    *,
    compaction: Compaction | None = None,
    counter: MessageCounter | str = rough_tokens,
) -> SummaryPlan | None:
    """
    Return which *messages* to leave out next; ``None`` if no trigger is reached.

    *compaction* is the current one, whose summary the plan extends.
    """
    given = coerced_all(messages)
    system, _, rest = _parted(given, compaction.through if compaction else None)
    said = compaction.summary if compaction else None
    before = [summary_message(said, family_of(given))] if said else []
    count = list_counter(counter)
    return plan_summary(
        [*system, *before, *rest],
        keep=_count_kept(rest, limits, count),
        trigger_messages=limits.trigger_messages,
        trigger_tokens=limits.trigger_tokens,
        counter=counter,
    )


def _parted(
    messages: list[AnyMessage], through: str | None
) -> tuple[list[AnyMessage], list[AnyMessage], list[AnyMessage]]:
    """Return the leading system messages, the messages up to *through*, and the rest."""
    first = next(
        (at for at, each in enumerate(messages) if kind_of(each) != "system" or is_summary(each)),
        len(messages),
    )
    system, body = messages[:first], messages[first:]
    places = (at + 1 for at, each in enumerate(body) if through is not None and each.id == through)
    cut = max(places, default=0)
    return system, body[:cut], body[cut:]


def _count_kept(messages: list[AnyMessage], limits: CompactionLimits, count: ListCounter) -> int:
    """Return how many of the last messages to keep, at least one."""
    number = min(limits.keep, len(messages))
    most = limits.tokens_kept
    while most is not None and number > 1 and count(messages[-number:]) > most:
        number -= 1
    return max(1, number)
