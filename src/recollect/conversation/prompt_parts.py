"""A memory's contribution to a prompt, in entries that can be dropped one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from recollect.messages import AnyMessage, buffer_string, is_message, tool_pairs
from recollect.ports import TokenCounter

Entry: TypeAlias = Sequence[Any]
"""Items that are kept or dropped together: one text, or a tool call with its results."""


@dataclass(frozen=True, slots=True)
class PromptPart:
    """
    The content of one prompt variable, as entries.

    *entries* are ordered by which is dropped first. *render* builds the variable's value from the
    remaining entries.
    """

    entries: Sequence[Entry]
    render: Callable[[Sequence[Entry]], Any]


def groups_of(messages: Sequence[AnyMessage]) -> list[Entry]:
    """Return an entry per message, with a tool call and its results in one entry."""
    return [messages[group.start : group.stop] for group in tool_pairs(messages)]


def as_messages(entries: Sequence[Entry]) -> list[AnyMessage]:
    """Return the messages of *entries*, in order."""
    return [message for entry in entries for message in entry]


def as_text(entries: Sequence[Entry]) -> str:
    """Return the texts of *entries* as lines."""
    return "\n".join(text for entry in entries for text in entry)


def part_of(value: object) -> PromptPart:
    """Return a variable's *value* as a part: an entry per message or mapping item, else one."""
    if isinstance(value, list) and all(map(is_message, value)):
        return PromptPart(groups_of(value), as_messages)
    if isinstance(value, Mapping):
        items = [[(key, each)] for key, each in value.items()]
        return PromptPart(items, lambda left: dict(pair for entry in left for pair in entry))
    if isinstance(value, str):
        return PromptPart([[value]], as_text)
    return PromptPart([[value]], lambda left: left[0][0] if left else None)


def tokens_of(entry: Entry, count_tokens: TokenCounter) -> int:
    """Return the estimated tokens of an entry in the prompt."""
    return sum(count_tokens(_text_of(each)) for each in entry)


def _text_of(each: Any) -> str:
    if is_message(each):
        return buffer_string([each])
    return str(getattr(each, "page_content", each))


def within(
    parts: Mapping[str, PromptPart], limit: int, count_tokens: TokenCounter, priority: Sequence[str]
) -> dict[str, Any]:
    """
    Return the variables' values within *limit* tokens in all, by dropping whole entries.

    Entries are dropped from the variable that *priority* names last, its first entry first, then
    from the variable named before it.
    """
    left = {name: list(part.entries) for name, part in parts.items()}
    costs = {
        name: [tokens_of(entry, count_tokens) for entry in entries]
        for name, entries in left.items()
    }
    over = sum(map(sum, costs.values())) - limit
    for name in reversed(priority):
        gone = 0
        while over > 0 and gone < len(left[name]):
            over -= costs[name][gone]
            gone += 1
        left[name] = left[name][gone:]
    return {name: parts[name].render(entries) for name, entries in left.items()}
