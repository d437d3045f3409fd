"""The cache of what is read of short texts goes with the work that shares it."""

from __future__ import annotations

import gc
import weakref

import pytest

from recollect.text.short_texts import CHARACTERS_MAX, KEPT_MAX, TextReadings, kept_if_short


class _Words:
    """The words of one text."""

    def __init__(self, text: str) -> None:
        self.text = text


def test_reads_a_short_text_once_while_readings_are_in_use() -> None:
    """The same text is read once, a long one each time."""
    read = kept_if_short(_Words)
    long = "x" * (CHARACTERS_MAX + 1)

    with TextReadings().in_use():
        assert read("tea") is read("tea")
        assert read(long) is not read(long)


def test_keeps_nothing_without_readings_in_use() -> None:
    """A process holds no words of a text after the call: they may have been erased."""
    read = kept_if_short(_Words)

    found = weakref.ref(read("tea"))
    gc.collect()

    assert found() is None


def test_readings_take_their_results_with_them() -> None:
    """The results are gone when nobody holds the readings any more."""
    read = kept_if_short(_Words)
    readings = TextReadings()
    with readings.in_use():
        found = weakref.ref(read("tea"))
    with readings.in_use():
        assert read("tea") is found()

    del readings
    gc.collect()

    assert found() is None


def test_readings_are_back_in_use_after_others_within() -> None:
    """Uses can be nested, also where the inner one fails."""
    read = kept_if_short(_Words)
    with TextReadings().in_use():
        outer = read("tea")
        with pytest.raises(ZeroDivisionError):
            _fail_within(TextReadings())

        assert read("tea") is outer


def _fail_within(readings: TextReadings) -> None:
    with readings.in_use():
        _ = 1 / 0


def test_keeps_a_bounded_number_of_results() -> None:
    """Very many texts of one formation do not fill the memory."""
    read = kept_if_short(_Words)
    with TextReadings().in_use():
        found = [weakref.ref(read(str(number))) for number in range(2 * KEPT_MAX + 1)]

        assert sum(each() is not None for each in found) <= KEPT_MAX
