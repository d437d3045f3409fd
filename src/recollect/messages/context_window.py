"""Trim a conversation to a model's context window, from its start or its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from recollect.errors import UsageError
from recollect.messages.coercion import MessageLike, coerced_all
from recollect.messages.message_fields import AnyMessage, block_text, changed, is_type, kind_of
from recollect.messages.pairs import whole_pairs as only_whole_pairs
from recollect.messages.token_counters import ListCounter, MessageCounter, list_counter

Types: TypeAlias = str | type | Sequence[str | type]
Splitter: TypeAlias = Callable[[str], list[str]]
ItemT = TypeVar("ItemT")


def trim_messages(  # noqa: PLR0913 - langchain-core's parameters, and two more
    messages: Iterable[MessageLike],
    *,
    max_tokens: int,
    token_counter: MessageCounter | str,
    strategy: Literal["first", "last"] = "last",
    allow_partial: bool = False,
    end_on: Types | None = None,
    start_on: Types | None = None,
    include_system: bool = False,
    text_splitter: object = None,
    whole_pairs: bool = False,
    in_order: bool = False,
) -> list[AnyMessage]:
    """
    Return the last, or the first, of *messages* within *max_tokens*.

    The number that fits is found by binary search, with about log2(n) calls of the counter. By
    default the function behaves exactly like langchain-core's of this name; the last two options
    are additions.

    Args:
        token_counter: ``"approximate"``, ``len`` (each message is one), or a `MessageCounter`.
        allow_partial: Cut the message at the edge: by whole blocks, else by pieces of its text.
        end_on: Types that the last message must have; later ones are dropped, with ``"last"``
            before, with ``"first"`` after trimming.
        start_on: Types that the first message must have; only with ``"last"``.
        include_system: Keep a system message at the beginning; only with ``"last"``.
        text_splitter: A function from a text to its pieces, or an object with ``split_text``;
            by default lines.
        whole_pairs: Drop tool results without their call, and calls without their results, which
            providers refuse. Without this option the first kept message can be such a result.
        in_order: Pass messages to the counter in order. Otherwise, with ``"last"``, it gets them in
            reverse, which some providers' counters reject.

    Raises:
        UsageError: Conflicting options, or an unknown strategy or counter.
    """
    if strategy == "first":
        _refuse_with_first(start_on=start_on, include_system=include_system)
    given = coerced_all(messages)
    count = list_counter(token_counter)
    # As langchain-core does, only after the messages and the counter.
    if strategy not in {"first", "last"}:
        raise UsageError(f"Unrecognized {strategy=}. Supported strategies are 'last' and 'first'.")
    trimming = _Trimming(
        count=count,
        split=_splitter(text_splitter),
        is_partial=allow_partial,
        is_reversed=strategy == "last",
        in_order=in_order,
    )
    if strategy == "first":
        kept = _ending_on(end_on, trimming.fitting(given, max_tokens))
        return _whole(kept, given, None, end_on) if whole_pairs else kept
    rest = _ending_on(end_on, given)
    system = rest[:1] if include_system and rest and kind_of(rest[0]) == "system" else []
    left = max(0, max_tokens - count(system)) if system else max_tokens
    fitting = trimming.fitting(rest[len(system) :][::-1], left)
    kept = _ending_on(start_on, fitting)[::-1]
    return [*system, *(_whole(kept, given, start_on, end_on) if whole_pairs else kept)]


def _ending_on(wanted: Types | None, messages: list[AnyMessage]) -> list[AnyMessage]:
    if not wanted:
        return messages
    ends = (place + 1 for place, each in enumerate(messages) if is_type(each, wanted))
    return messages[: max(ends, default=0)]


def _refuse_with_first(**options: object) -> None:
    for name, value in options.items():
        if value:
            raise UsageError(f"{name} parameter is only valid with strategy='last'")


def _whole(
    kept: list[AnyMessage], given: list[AnyMessage], start_on: Types | None, end_on: Types | None
) -> list[AnyMessage]:
    """Return *kept* without incomplete pairs, still starting and ending with the wanted types."""
    before: list[AnyMessage] | None = None
    while kept != before:
        before = kept
        kept = only_whole_pairs(kept, given)
        kept = _ending_on(end_on, _ending_on(start_on, kept[::-1])[::-1])
    return kept


def _splitter(given: object) -> Splitter:
    if callable(split_text := getattr(given, "split_text", None)):
        found: Splitter = split_text
        return found
    if given and callable(given):
        return given
    return _lines


def _lines(text: str) -> list[str]:
    *lines, last = text.split("\n")
    return [*(f"{line}\n" for line in lines), last]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trimming:
    """The options of a trim, and the search for the messages that fit."""

    count: ListCounter
    split: Splitter
    is_partial: bool
    is_reversed: bool
    in_order: bool

    def fitting(self, messages: list[AnyMessage], max_tokens: int) -> list[AnyMessage]:
        """Return as many *messages*, from the first, as fit into *max_tokens*."""
        if not messages or self._cost(messages) <= max_tokens:
            return messages
        whole = _most(len(messages), lambda n: self._cost(messages[:n]) <= max_tokens)
        kept = messages[:whole]
        if not self.is_partial or whole == len(messages):
            return kept
        part = self._part(messages[whole], kept, max_tokens)
        return kept if part is None else [*kept, part]

    def _cost(self, messages: list[AnyMessage]) -> int:
        turned = self.is_reversed and self.in_order
        return self.count(messages[::-1] if turned else messages)

    def _part(
        self, message: AnyMessage, kept: list[AnyMessage], max_tokens: int
    ) -> AnyMessage | None:
        """Return the part of *message* that fits beside *kept*; ``None`` if none does."""
        content = message.content
        if isinstance(content, str):
            return self._part_of_text(message, content, kept, max_tokens)
        blocks = self._turned(list(content))
        for count in range(len(blocks) - 1, 0, -1):
            part = changed(message, content=self._shown(blocks[:count]))
            if self._cost([*kept, part]) <= max_tokens:
                return changed(message, content=self._turned(blocks[:count]))
        words = block_text(blocks[0]) if blocks else None
        return self._part_of_text(message, words or "", kept, max_tokens)

    def _part_of_text(
        self, message: AnyMessage, text: str, kept: list[AnyMessage], max_tokens: int
    ) -> AnyMessage | None:
        if not text:
            return None
        pieces = self._turned(self.split(text))
        cost = self._cost(kept)

        def fits(count: int) -> bool:
            part = changed(message, content="".join(self._shown(pieces[:count])))
            return cost + self._cost([part]) <= max_tokens

        count = _most(len(pieces), fits)
        if count == 0:
            return None
        return changed(message, content="".join(self._turned(pieces[:count])))

    def _shown(self, taken: list[ItemT]) -> list[ItemT]:
        """Return pieces in the order in which the counter gets them."""
        return self._turned(taken) if self.in_order else taken

    def _turned(self, items: list[ItemT]) -> list[ItemT]:
        return items[::-1] if self.is_reversed else items


def _most(count: int, fits: Callable[[int], bool]) -> int:
    """Return the greatest number up to *count* that *fits*, by binary search; 0 always fits."""
    least, most = 0, count
    while least < most:
        middle = (least + most + 1) // 2
        if fits(middle):
            least = middle
        else:
            most = middle - 1
    return least
