"""The order of a context's lines, and the times that stand above a day's sessions."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from recollect.recall import context_text
from recollect.recall.context import Context, ContextEntry
from recollect.records import Message
from tests.unit.test_context import NOON, context_of, message, recalled


def said(number: int, text: str, thread: str, minutes: int) -> Message:
    """Return a message of *thread*, so many minutes after noon."""
    return replace(message(number, text), thread=thread, time=NOON + timedelta(minutes=minutes))


def lines(context: Context) -> Sequence[str]:
    """Return the lines without their handles and marks."""
    return [each.partition("] ")[2] or each for each in str(context).splitlines()[1:-1]]


def test_lines_of_a_day_stand_in_the_order_of_time() -> None:
    """Not in that of their threads' names: the last number is the one that counts."""
    ranked = recalled(
        said(1, "My number is 333.", "alpha", 9),
        said(1, "My number is 222.", "mole", 6),
        said(1, "My number is 111.", "zebra", 3),
    )

    told = lines(context_of(ranked))

    assert ["# Thu 3 April 2025", "user: My number is 111.", "My number is 222."] == told[:3]
    assert "My number is 333." == told[3]


def test_messages_of_one_moment_keep_the_order_of_their_thread() -> None:
    ranked = recalled(*(said(at, f"Word {at}.", "t", 0) for at in (3, 1, 2)))

    assert ["user: Word 1.", "Word 2.", "Word 3."] == lines(context_of(ranked))[1:]


def test_sessions_of_a_day_stand_under_their_times() -> None:
    """If there are several, more than an hour apart; a speaker is named anew."""
    first, next_, last = (
        said(1, "I am at the dentist.", "a", -240),
        said(2, "It is over.", "a", -230),
        said(1, "I am at home.", "b", 65),
    )
    tomorrow = replace(first, id="m9", text="I am ill.", time=NOON + timedelta(days=1))

    told = lines(context_of(recalled(last, first, next_, tomorrow)))
    alone = lines(context_of(recalled(first, next_)))

    assert [
        "# Thu 3 April 2025",
        "# 8:00",
        "user: I am at the dentist.",
        "It is over.",
        "# 13:05",
        "user: I am at home.",
        "# Fri 4 April 2025",
        "user: I am ill.",
    ] == told
    assert ["# Thu 3 April 2025", "user: I am at the dentist.", "It is over."] == alone


@pytest.mark.parametrize("budget", range(20, 400, 7))
def test_times_are_within_the_budget(budget: int) -> None:
    ranked = recalled(*(said(at, f"I saw bird number {at}.", "t", at * 70) for at in range(9)))

    context = context_of(ranked, budget=budget)

    assert context.tokens <= budget


def test_an_order_by_thread_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def by_thread(entry: ContextEntry) -> tuple[object, ...]:
        content = entry.entry.content
        assert isinstance(content, Message)
        return content.time.date(), content.thread, content.position

    monkeypatch.setattr(context_text, "entry_order", by_thread)

    with pytest.raises(AssertionError):
        test_lines_of_a_day_stand_in_the_order_of_time()
