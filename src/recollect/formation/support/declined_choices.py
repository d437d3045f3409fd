"""Choices: the side of "a pen or a voucher?" that the answer declines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.support.cited_passages import ANSWER_CHARACTERS_MAX, Passage
from recollect.formation.support.content_words import tokens_in
from recollect.text.chinese_scripts import simplified
from recollect.text.lazy_patterns import lazy_pattern

_SIDES: Final = 2
_BETWEEN: Final = lazy_pattern(r"\s+or\s+|还是|或者", re.IGNORECASE)
_ORDINAL: Final = lazy_pattern(
    r"\b(?P<first>first|former)\b|\b(?:second|latter)\b"
    r"|(?P<前>第一[个种项样]|前者|前面)|第二[个种项样]|后者|后面",
    re.IGNORECASE,
)
_CLAUSE: Final = lazy_pattern(r"[,.;:!\n，。；：！]")
_QUESTION: Final = lazy_pattern(r"[^?？]*[?？]")


def declined_keys(cited: Sequence[Passage]) -> frozenset[str]:
    """
    Return the words of the alternatives that an answer by number declines.

    "Fountain pen or a voucher? … The second one." declines the pen: a value that denies it says
    what was said. Nothing is declined where the answers name both sides, or none.
    """
    own = [each for each in cited if each.trust == "user"]
    chosen = {side for each in own for side in _chosen_in(simplified(each.text))}
    if len(chosen) != 1:
        return frozenset()
    (side,) = chosen
    asked = "\n".join(f"{each.text}\n{each.question}" for each in own)
    sides = list(_sides_of(simplified(asked)))
    taken = {key for each in sides for key in _keys_of(each[side])}
    return frozenset({key for each in sides for key in _keys_of(each[1 - side])} - taken)


def _chosen_in(said: str) -> Iterator[int]:
    if len(said) <= ANSWER_CHARACTERS_MAX and not said.rstrip().endswith(("?", "？")):
        for match in _ORDINAL.finditer(said):
            yield 0 if match["first"] or match["前"] else 1


def _sides_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the two sides of each question that offers a choice."""
    for question in _QUESTION.finditer(text):
        sides = _BETWEEN.split(question.group())
        if len(sides) == _SIDES:
            yield _CLAUSE.split(sides[0])[-1], _CLAUSE.split(sides[1])[0]


def _keys_of(text: str) -> Iterator[str]:
    return (each.key for each in tokens_in(text))
