"""The window: what of the messages that wait one formation reads, and how far it comes."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.formation.window import MESSAGES_MAX, Waiting, Window, text_of, window_of
from recollect.records import Message
from tests.harness.sample_contents import sample_message

AT = datetime(2026, 5, 1, tzinfo=UTC)


def message(position: int, text: str = "one two", thread: str = "talk") -> Message:
    """Return a message of the user."""
    return sample_message(thread=thread, id=f"id{position}", position=position, text=text, time=AT)


def waiting(
    new: Sequence[int],
    *,
    last: int = 0,
    before: Sequence[int] = (),
    again: Sequence[int] = (),
    thread: str = "talk",
    text: str = "one two",
) -> Waiting:
    """Return what waits in a thread, by positions."""
    return Waiting(
        thread=thread,
        formed=min(new, default=last + 1) - 1,
        last=last or max(new, default=0),
        before=[message(each, text, thread) for each in before],
        new=[message(each, text, thread) for each in new],
        again=[message(each, text, thread) for each in again],
    )


def window(*each: Waiting, messages_max: int = 10, tokens_max: int = 1_000) -> Window:
    """Return the window over all of that; each word is a token."""
    return window_of(
        ("u",),
        each,
        messages_max=messages_max,
        tokens_max=tokens_max,
        count=lambda text: len(text.split()),
    )


def test_all_that_waits_is_taken_if_there_is_room() -> None:
    """Numbered from 1, with what was said before in front of it."""
    found = window(waiting([3, 4], before=[1, 2]))

    assert [(1, 1, False), (2, 2, False), (3, 3, True), (4, 4, True)] == [
        (line.number, line.message.position, line.new) for line in found.lines
    ]
    assert {"talk": 4} == found.watermarks


def test_a_thread_comes_as_far_as_was_taken() -> None:
    """What is left waits for the next formation."""
    assert {"talk": 5} == window(waiting([4, 5, 6]), messages_max=2).watermarks
    assert {"talk": 4} == window(waiting([4, 5, 6]), tokens_max=3).watermarks


def test_removed_messages_are_passed() -> None:
    """To the end of the thread, if nothing else is left in it."""
    assert {"talk": 9} == window(waiting([4, 5], last=9)).watermarks
    assert {"talk": 9} == window(waiting([], last=9)).watermarks


def test_a_removed_message_is_not_passed_before_what_comes_behind_it() -> None:
    """A window that ends in the middle ends at a message that was read."""
    assert {"talk": 4} == window(waiting([4, 7], last=9), messages_max=1).watermarks


def test_one_message_is_taken_however_long() -> None:
    """Otherwise it would wait for ever."""
    found = window(waiting([1, 2], text="word " * 50), tokens_max=3)

    assert [1] == [line.message.position for line in found.new]


def test_threads_without_room_wait_untouched() -> None:
    """They are no part of the formation."""
    found = window(waiting([1, 2], thread="a"), waiting([5], thread="b"), messages_max=2)

    assert {"a": 2} == found.watermarks


def test_numbers_run_on_through_threads() -> None:
    """A number names one message."""
    found = window(waiting([2], before=[1], thread="a"), waiting([8], before=[7], thread="b"))

    assert [1, 2, 3, 4] == [line.number for line in found.lines]
    assert ["a", "a", "b", "b"] == [line.message.thread for line in found.lines]
    assert all(line is found.line(line.number) for line in found.lines)
    assert [None] * 3 == [found.line(number) for number in (0, 5, -1)]


def test_what_was_given_up_is_formed_again_without_moving_the_watermark_back() -> None:
    """And is named, so that it waits no longer."""
    found = window(waiting([8, 9], again=[2, 3]), messages_max=3)

    assert ({"talk": 8}, {"talk": [2, 3]}) == (found.watermarks, found.again)
    alone = window(waiting([], last=7, again=[2]))
    assert ({"talk": 7}, {"talk": [2]}) == (alone.watermarks, alone.again)


def test_what_is_formed_again_stands_there_once() -> None:
    """As new: a citation of the same words as context would be refused."""
    found = window(waiting([8], before=[5, 6, 7], again=[6]))

    assert [(5, False), (7, False), (6, True), (8, True)] == [
        (line.message.position, line.new) for line in found.lines
    ]


def test_no_window_is_larger_than_any_may_be() -> None:
    """Whatever is configured."""
    found = window(waiting(range(1, 400)), messages_max=10_000, tokens_max=10_000)

    assert MESSAGES_MAX == len(found.new)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I like tea.", "I like tea."),
        (
            '<memory ab12>\n{"source": "x", "text": "old"}\n</memory ab12>\nI like tea.',
            "I like tea.",
        ),
        ('<memory ab12>\n{"source": "x", "text": "old"}', ""),
    ],
)
def test_what_recall_put_into_a_message_is_not_formed(text: str, left: str) -> None:
    """Nobody said it."""
    assert left == text_of(message(1, text)).strip()


THREADS = st.lists(
    st.tuples(
        st.lists(st.integers(1, 60), max_size=8, unique=True), st.integers(0, 3), st.integers(1, 9)
    ),
    min_size=1,
    max_size=4,
)


@given(THREADS, st.integers(1, 12), st.integers(1, 40))
def test_windows_one_after_another_read_each_message_once(
    threads: list[tuple[list[int], int, int]], messages_max: int, tokens_max: int
) -> None:
    """In their order, until nothing waits, however large the windows are."""
    left = {
        f"t{number}": (0, sorted(positions), max(positions, default=0) + removed, words)
        for number, (positions, removed, words) in enumerate(threads)
    }
    seen: list[tuple[str, int]] = []
    for _ in range(200):
        each = [
            Waiting(
                thread=name, formed=formed, last=last, before=[],
                new=[message(p, "w " * words, name) for p in positions if p > formed],
            )
            for name, (formed, positions, last, words) in left.items()
            if formed < last
        ]  # fmt: skip
        if not each:
            break
        found = window(*each, messages_max=messages_max, tokens_max=tokens_max)
        assert found.watermarks
        seen += [(line.message.thread, line.message.position) for line in found.new]
        for name, reached in found.watermarks.items():
            assert reached >= left[name][0]
            left[name] = (reached, *left[name][1:])

    expected = {(f"t{n}", p) for n, (positions, _, _) in enumerate(threads) for p in positions}
    assert (expected, len(expected)) == (set(seen), len(seen))
    for name in left:
        positions = [position for thread, position in seen if thread == name]
        assert sorted(positions) == positions
