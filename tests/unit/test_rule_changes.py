"""The chat of rules lists what changed, by the days on which memories begin and end."""

from datetime import date
from typing import Final

import pytest

from recollect.formation.remembered_lines import RememberedLine
from recollect.formation.rule_changes import SHOWN_MAX, changes_asked

HOME: Final = RememberedLine(text="Mira lives in Porto", day=date(2025, 3, 29), tense="since")
COFFEE: Final = RememberedLine(
    text="coffee: three espressos", field="coffee", day=date(2025, 4, 12), tense="until"
)
BEFORE: Final = RememberedLine(text="Mira owns a cat", day=date(2024, 6, 1), tense="since")
SAID: Final = RememberedLine(text="That is a big change!", day=date(2025, 5, 2), speaker="user")
LINES: Final = [COFFEE, SAID, HOME, BEFORE]


@pytest.mark.parametrize(
    "asked", ["What changed this year?", "今年有什么变化？", "今年有什麼改變？"]
)
def test_what_begins_or_ends_in_the_period_is_listed_in_its_order(asked: str) -> None:
    """Not the message that has the word "change"."""
    changes = changes_asked(asked, LINES)

    assert changes is not None
    assert [HOME, COFFEE] == changes.found
    assert BEFORE is changes.before


def test_nothing_in_the_period_leaves_the_newest_before_it() -> None:
    changes = changes_asked("what changed since May?", LINES)

    assert changes is not None
    assert ([], COFFEE) == (changes.found, changes.before)


def test_the_newest_are_listed() -> None:
    many = [
        RememberedLine(text=f"Mira owns cat {number}", day=date(2025, 4, number), tense="since")
        for number in range(1, 10)
    ]
    changes = changes_asked("What changed in April?", many)

    assert changes is not None
    assert many[-SHOWN_MAX:] == changes.found


@pytest.mark.parametrize("asked", ["What changed in the contract?", "Where do I live?", "你好"])
def test_a_question_for_something_else_is_none(asked: str) -> None:
    assert changes_asked(asked, LINES) is None


def test_without_memories_nothing_changed() -> None:
    changes = changes_asked("What changed?", [SAID])

    assert changes is not None
    assert ([], None) == (changes.found, changes.before)
