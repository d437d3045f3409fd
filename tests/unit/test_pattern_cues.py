"""Cues of patterns: no text has a pattern of a table without the cue that it is tried for."""

import re
from collections.abc import Iterator
from itertools import product
from re import _constants, _parser
from typing import Any, Final

import pytest

from recollect.text import calendar_dates, feasts, relative_dates, year_parts
from recollect.text.lazy_patterns import CuedPatterns, folded_for_cues

STRINGS_MAX: Final = 20_000
WINDOW_MAX: Final = 24
TABLES: Final[dict[str, CuedPatterns[Any]]] = {
    "absolute": calendar_dates._ABSOLUTE,
    "fixed feasts": calendar_dates._FEAST,
    "feasts": feasts._FEASTS,
    "relative": relative_dates._READERS,
    "parts of a year": year_parts._READERS,
}
REPEATS: Final = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)


def strings_of(tree: Any) -> set[str] | None:
    """Return what a part of a pattern matches, a 7 for any digit; ``None`` if that is too much."""
    found = {""}
    for part in tree:
        strings = strings_of_part(*part)
        if strings is None or len(found) * len(strings) > STRINGS_MAX:
            return None
        found = {one + other for one, other in product(found, strings)}
    return found


def strings_of_part(op: Any, value: Any) -> set[str] | None:
    """Return what one node of a parsed pattern matches; what an assertion looks at, too."""
    found: set[str] | None = None
    if op is _constants.LITERAL:
        found = {chr(value)}
    elif op is _constants.IN:
        found = letters_of(value)
    elif op is _constants.BRANCH:
        choices = [strings_of(each) for each in value[1]]
        found = None if None in choices else {text for each in choices for text in each or ()}
    elif op in {_constants.SUBPATTERN, _constants.ASSERT}:
        found = strings_of(value[-1])
    elif op in REPEATS:
        found = repeated(*value)
    elif op is _constants.FAILURE:
        found = set()
    elif op in {_constants.AT, _constants.ASSERT_NOT}:
        found = {""}
    return found


def repeated(least: int, most: int, tree: Any) -> set[str] | None:
    strings = strings_of(tree)
    if strings is None or len(strings) ** (least + 1) > STRINGS_MAX:
        return None
    counts = range(least, min(most, least + 1) + 1)
    return {"".join(each) for n in counts for each in product(strings, repeat=n)}


def letters_of(members: Any) -> set[str] | None:
    found: set[str] = set()
    for op, value in members:
        if op is _constants.LITERAL:
            found.add(chr(value))
        elif op is _constants.RANGE and value[1] - value[0] < 30:
            found |= set(map(chr, range(value[0], value[1] + 1)))
        elif op is _constants.CATEGORY and value is _constants.CATEGORY_DIGIT:
            found.add("7")
        else:
            return None
    return found


def needs(tree: Any, cue: re.Pattern[str]) -> bool:
    """Return True if all that a parsed pattern matches has *cue*, wholly within some part of it."""
    if any(all(needs(below, cue) for below in each) for each in parts_needed(tree)):
        return True
    for start in range(len(tree)):
        for end in range(start + 1, min(len(tree), start + WINDOW_MAX) + 1):
            strings = strings_of(tree[start:end])
            if strings is None:
                break
            if strings and all(cue.search(folded_for_cues(each)) for each in strings):
                return True
    return False


def parts_needed(tree: Any) -> Iterator[list[Any]]:
    """Yield the parts below each node that a match passes through: one, or a choice of several."""
    for op, value in tree:
        if op is _constants.SUBPATTERN:
            yield [value[-1]]
        elif op is _constants.BRANCH:
            yield list(value[1])
        elif op is _constants.ASSERT:
            yield [value[1]]
        elif op in REPEATS and value[0] > 0:
            yield [value[2]]


def is_cued(cue: str, pattern: str) -> bool:
    return needs(_parser.parse(pattern, re.IGNORECASE), re.compile(cue))


@pytest.mark.parametrize("name", TABLES)
def test_no_date_is_told_without_the_cue_of_its_pattern(name: str) -> None:
    blind = [(cue, pattern) for cue, pattern, _ in TABLES[name].rows if not is_cued(cue, pattern)]

    assert not blind


@pytest.mark.parametrize(
    ("cue", "pattern"),
    [
        ("today", r"\b(?:today|tomorrow)\b"),
        ("week", r"\bin (?:a week)?\d{1,2}"),
        ("day", r"\b\w+ ago\b"),
        ("月", r"\d{1,2}(?:月|日)"),
    ],
)
def test_a_pattern_that_its_cue_would_hide_is_found(cue: str, pattern: str) -> None:
    """The mutant: a cue that some of what the pattern matches does not have."""
    assert not is_cued(cue, pattern)


@pytest.mark.parametrize("text", ["MONDAY", "mond\u0131y m\u0131nd", "\u017funday", "\u212a"])
def test_letters_that_are_one_without_case_are_one_in_a_cue(text: str) -> None:
    folded = folded_for_cues(text)

    assert len(text) == len(folded)
    assert re.fullmatch(re.escape(folded), text, re.IGNORECASE)
    assert folded.isascii()


def test_patterns_are_tried_in_their_order_where_their_cue_stands() -> None:
    table = CuedPatterns([("b", "b+", 1), ("a", "a+", 2), ("c", "a", 3)])

    found = [(match.group(), reader) for match, reader in table.matches("AAb ab")]

    assert [("b", 1), ("b", 1), ("AA", 2), ("a", 2)] == found
