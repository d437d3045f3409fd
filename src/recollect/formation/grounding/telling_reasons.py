"""Clauses that only say why something is told: "you may need it later"."""

from __future__ import annotations

from typing import Final

from recollect.formation.grounding.hedges import hedges_in
from recollect.formation.support.told_clauses import text_clauses
from recollect.text.chinese_scripts import simplified
from recollect.text.lazy_patterns import lazy_pattern

_WHY_TOLD: Final = lazy_pattern(
    r"^\W*(?:(?:and|so|cos|cause|as|in case|just in case)\s+)?(?:(?:that|this|it|i|you|u|we|maybe"
    r"|perhaps|probably|possibly|guess|suppose|think|just|also|so|one day|later|then|might|may"
    r"|could|will|'ll|d|ll|be|have to|need to|should|would|wanna|want to|some ?time)\W+){1,6}"
    r"(?:ask(?: you)?|comes? up|be useful|useful|come in handy|handy|mention (?:it|this|that)"
    r"|bring (?:it|this|that) up|need to know|matter|be relevant|relevant)\b"
    r"(?! (?:him|her|them|me|us|my|his|their)\b)"
    r"(?:\W+(?:about it|it|this|that|you|again|later|some ?time|one day|at some point|then|too"
    r"|when we \w+(?: \w+)?))*\W*$"
    r"|^\W*(?:我|你|妳|您|以后|之后|后面|迟[啲点些]|晚点|下次|哪天|到时候?|将来|改天|有天|可能|也许|搞不好"
    r"|说不定|没准|大概|应该|估计|还|会|要|再|又|就|也|可以|或许|总有一天|先){1,8}"
    r"(?:问(?:到|起|你|妳|您)?|[提聊讲说用]到|[提聊讲说]起|用得[上着])(?:这个|这件事|它)?"
    r"[了的吧啦喔哦呢]?\W*$",
)
"""The subject is the talk itself: nothing that was told before is doubted."""


def without_reasons(sentence: str) -> str:
    """
    Return a sentence without clauses in doubt that only say why its rest is told.

    >>> without_reasons("she's allergic to penicillin, might come up later")
    "she's allergic to penicillin"
    >>> without_reasons("he moves to Oslo, it might fall through")
    'he moves to Oslo, it might fall through'
    """
    clauses = [each.text for each in text_clauses(sentence)]
    idle = [each for each in clauses[1:] if _is_reason(each)]
    kept = [each for each in clauses if each not in idle]
    return ", ".join(each.strip() for each in kept) if idle else sentence


def _is_reason(clause: str) -> bool:
    return bool(hedges_in(clause)) and _WHY_TOLD.match(simplified(clause.lower())) is not None
