"""The window of a formation: numbered new messages, and some earlier ones for context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from functools import cached_property
from typing import Final

from recollect.formation.grounding.foreign_text import without_recalled
from recollect.formation.grounding.quotes import QuotableText
from recollect.ports import TokenCounter
from recollect.records import Message, Scope
from recollect.text.searchable import message_text
from recollect.text.time_zones import told_in

MESSAGES_MAX: Final = 200
"""Maximum of new messages in a window, regardless of the configuration."""


@dataclass(frozen=True, kw_only=True)
class WindowLine:
    """
    One message of the window under its *number*; *text* is without what recall injected.

    Only *new* lines are formed; the others give context.
    """

    number: int
    message: Message
    text: str
    new: bool

    def find(self, quote: str) -> tuple[int, int] | None:
        """Return the span of *quote* in the text, which is parsed once for all quotes."""
        return self._quotable.find(quote)

    @cached_property
    def _quotable(self) -> QuotableText:
        return QuotableText(self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """
    The input of one formation: lines in order, and the new watermark of each thread.

    *again* lists, by thread, the positions formed a second time. With *types*, the window is for
    these alone, on their schedules; *left_out* are types that wait for their schedule.
    """

    scope: Scope
    lines: tuple[WindowLine, ...]
    watermarks: Mapping[str, int]
    again: Mapping[str, Sequence[int]] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def told_in(self, zone: tzinfo) -> Window:
        """Return the window with the times of its messages in *zone*, in which days are counted."""
        lines = tuple(
            replace(each, message=replace(each.message, time=told_in(each.message.time, zone)))
            for each in self.lines
        )
        return replace(self, lines=lines)

    @property
    def new(self) -> tuple[WindowLine, ...]:
        """Return the lines to be formed."""
        return tuple(line for line in self.lines if line.new)

    def line(self, number: int) -> WindowLine | None:
        """Return the line with this number, if there is one."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """
    The pending messages of one thread, and some context before them, oldest first.

    *formed* is the watermark; *again* are messages before it that are formed a second time.
    """

    thread: str
    formed: int
    last: int
    before: Sequence[Message]
    new: Sequence[Message]
    again: Sequence[Message] = ()


def window_of(
    scope: Scope,
    waiting: Sequence[Waiting],
    *,
    messages_max: int,
    tokens_max: int,
    count: TokenCounter,
) -> Window:
    """
    Return the window over the pending messages, thread by thread, within the limits.

    At least one message is taken, however long. A thread's watermark moves to the last message
    taken, or to the thread's end if all were taken, so that it passes removed messages as well.
    """
    lines: list[WindowLine] = []
    watermarks: dict[str, int] = {}
    again: dict[str, list[int]] = {}
    room, tokens = min(messages_max, MESSAGES_MAX), tokens_max
    for each in waiting:
        offered = [*each.again, *each.new]
        taken: list[Message] = []
        for message in offered:
            cost = count(text_of(message))
            if room < 1 or (cost > tokens and (lines or taken)):
                break
            taken.append(message)
            room, tokens = room - 1, tokens - cost
        if offered and not taken:
            break
        redone = set(_positions(each.again)) & set(_positions(taken))
        reached = max((p for p in _positions(taken) if p not in redone), default=each.formed)
        watermarks[each.thread] = each.last if len(taken) == len(offered) else reached
        if redone:
            again[each.thread] = sorted(redone)
        before = [message for message in each.before if message.position not in redone]
        lines += _lines(before, start=len(lines), new=False)
        lines += _lines(taken, start=len(lines), new=True)
    return Window(scope=scope, lines=tuple(lines), watermarks=watermarks, again=again)


def text_of(message: Message) -> str:
    """Return the text of a message without its speaker's name and recalled blocks."""
    return without_recalled(message_text(message.text, None, message.content))


def _positions(messages: Sequence[Message]) -> list[int]:
    return [message.position for message in messages]


def _lines(messages: Sequence[Message], *, start: int, new: bool) -> list[WindowLine]:
    return [
        WindowLine(number=number, message=message, text=text_of(message), new=new)
        for number, message in enumerate(messages, start=start + 1)
    ]
