"""What the rules of an ``Instructions`` document may be, whoever writes them: pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

from recollect.formation.identity import normalised

RULES_MAX: Final = 200
INSTRUCTIONS_CHARACTERS_MAX: Final = 20_000
"""Most characters of the rules of one document together."""
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Parts of emoji and of Persian and Indian words, which join what stands beside them.
_JOINERS: Final = "\u200c\u200d"


def wrong_rules(
    rules: Sequence[object], *, characters_max: int = INSTRUCTIONS_CHARACTERS_MAX
) -> str:
    r"""
    Say which limit *rules* break; ``""`` if none.

    Each is a line that can be seen whole: one with a line break would be two rules in a prompt,
    and one with a bidirectional or invisible character would read as another.

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
    for each in rule:
        if unicodedata.category(each) in _HIDDEN and each not in _JOINERS:
            return (
                f"the rule {rule[:80]!r} has the character U+{ord(each):04X}: a rule is one line, "
                "without control, bidirectional and other invisible characters"
            )
    return "" if normalised(rule) else "a rule is blank: leave it out, or say what is to be done"
