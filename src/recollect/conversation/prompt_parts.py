"""A memory's contribution to a prompt, in entries that can be dropped one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from recollect.messages import AnyMessage, buffer_string, is_message, tool_pairs
from recollect.ports import TokenCounter

Entry: TypeAlias = Sequence[Any]
"""Messages that are kept or dropped together: a tool call with its results, or one text."""


@dataclass(frozen=True, slots=True)
class PromptPart:
    """
    The content of one variable.

    *entries* are in the order in which they may be dropped. *render* builds the variable's value
    from the remaining ones.
    """

    entries: Sequence[Entry]
    render: Callable[[Sequence[Entry]], Any]


def groups_of(messages: Sequence[AnyMessage]) -> list[Entry]:
    """Return messages one by one, but an answer with tool calls together with their results."""
    return [messages[group.start : group.stop] for group in tool_pairs(messages)]


def as_messages(entries: Sequence[Entry]) -> list[AnyMessage]:
    """Return the messages of *entries*, in order."""
    return [message for entry in entries for message in entry]


def as_text(entries: Sequence[Entry]) -> str:
    """Return texts, one after the other, a line each."""
    return "\n".join(text for entry in entries for text in entry)


def part_of(value: object) -> PromptPart:
    """Return the part that a variable's value makes: messages one by one, else all or nothing."""
    if isinstance(value, list) and all(map(is_message, value)):
        return PromptPart(groups_of(value), as_messages)
    if isinstance(value, Mapping):
        items = [[(key, each)] for key, each in value.items()]
        return PromptPart(items, lambda left: dict(pair for entry in left for pair in entry))
    if isinstance(value, str):
        return PromptPart([[value]], as_text)
    return PromptPart([[value]], lambda left: left[0][0] if left else None)


def tokens_of(entry: Entry, count_tokens: TokenCounter) -> int:
    """Return about how many tokens an entry costs in the prompt."""
    return sum(count_tokens(_text_of(each)) for each in entry)


def _text_of(each: Any) -> str:
    if is_message(each):
        return buffer_string([each])
    return str(getattr(each, "page_content", each))


def within(
    parts: Mapping[str, PromptPart], limit: int, count_tokens: TokenCounter, priority: Sequence[str]
) -> dict[str, Any]:
    """
    Return the value of each variable, with entries left out until all are at most *limit* tokens.

    They go from the variable that *priority* names last, its first entry first, then from the
    one before; whole entries only.
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
