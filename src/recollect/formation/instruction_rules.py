"""The limits on rules in an ``Instructions`` document, for every writer; pure."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Sequence
from typing import Final

from recollect.formation.value_identity import normalised

RULES_MAX: Final = 200
INSTRUCTIONS_CHARACTERS_MAX: Final = 20_000
"""Most characters of the rules of one document together."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Joiners in emoji and in Persian and Indian words.
_JOINERS: Final = frozenset("\u200c\u200d")
# How a sign or an ideograph before them looks.
_SELECTORS: Final = frozenset(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
# Invisible characters of visible categories.
_FILLERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")


def wrong_rules(
    rules: Sequence[object], *, characters_max: int = INSTRUCTIONS_CHARACTERS_MAX
) -> str:
    r"""
    Return which limit *rules* exceed; ``""`` if none.

    Each rule must be one fully visible line: with a line break it would be two rules in a prompt,
    and with bidirectional or invisible characters it could read differently.

    >>> wrong_rules(["Be kind"]), wrong_rules(["Be kind", " !"])
    ('', 'a rule is blank: leave it out, or say what is to be done')
    >>> wrong_rules(["No\nrefunds"]).partition(": ")[0]
    "the rule 'No\\nrefunds' has the character U+000A"
    """
    if len(rules) > RULES_MAX:
        return f"it would have {len(rules)} rules; the limit RULES_MAX is {RULES_MAX}"
    texts: list[str] = []
    for each in rules:
        if not isinstance(each, str):
            return f"a rule is a text, not {type(each).__name__}"
        texts.append(each)
    if wrong := next(filter(None, map(_wrong_line, texts)), ""):
        return wrong
    length = sum(map(len, texts))
    if length > characters_max:
        name = "INSTRUCTIONS_CHARACTERS_MAX"
        limit = f"{name} is" if characters_max == INSTRUCTIONS_CHARACTERS_MAX else "limit set is"
        return f"it would have {length} characters; the {limit} {characters_max}"
    return ""


def _wrong_line(rule: str) -> str:
    for before, each in itertools.pairwise(f" {rule}"):
        if _is_hidden(each, before):
            return (
                f"the rule {rule[:80]!r} has the character U+{ord(each):04X}: a rule is one line, "
                "without control, bidirectional and other invisible characters"
            )
    return "" if normalised(rule) else "a rule is blank: leave it out, or say what is to be done"


def _is_hidden(character: str, before: str) -> bool:
    """Return True if *character* is invisible; joiners and selectors may follow *before*."""
    if character in _SELECTORS:
        category = unicodedata.category(before)
        return not (category[0] in "SP" or category == "Nd" or _is_ideograph(before))
    if character in _JOINERS:
        # Behind another, or in a word that needs none, they would say something unseen.
        is_emoji = before == "\ufe0f"
        return not is_emoji and (before.isascii() or before in _JOINERS | _SELECTORS)
    return character in _FILLERS or unicodedata.category(character) in _HIDDEN


def _is_ideograph(character: str) -> bool:
    return unicodedata.name(character, "").startswith("CJK")
