"""Clauses that run on into the next without a comma: "she does the mac i do the beans"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from recollect.formation.support.told_clauses import TextClause
from recollect.text.lazy_patterns import lazy_pattern

_ONE: Final = r"i|i'm|im|i'll|i've|i'd|we|we're|we'll"
_OTHER: Final = r"he|she|they|he's|she's|they're|he'll|she'll|they'll"
# Behind these words a pronoun belongs to the same clause: "she says i do", "the beans that i do".
_BOUND: Final = "".join(
    rf"(?<!\b{word} )"
    for word in (
        "that what who whom which when where why how if as than like because before after until"
        " till while whenever since unless though although says said say think thinks thought know"
        " knows knew hope hopes wish wishes want wants told tell asked ask bet feel feels guess"
        " reckon reckons believe and or but all everything anything wherever whatever time times"
        " day way once then whether"
    ).split()
)
_RUNS_ON: Final = lazy_pattern(
    rf"^[\W_]*(?:(?P<one>{_ONE})\b.{{3,80}}?\w {_BOUND}(?P<then>(?:{_OTHER})\b \w)"
    rf"|(?P<other>{_OTHER})\b.{{3,80}}?\w {_BOUND}(?P<now>(?:{_ONE})\b \w))",
    re.IGNORECASE,
)
_RUNS_ON_HAN: Final = lazy_pattern(
    r"^[\W_]*(?:我(?![们的])[^我他她佢]{2,20}?(?P<then>[他她佢](?!们?的|嘅)[\u3400-\u9fff]{2})"
    r"|[他她佢](?!们?的|嘅)[^我他她佢]{2,20}?(?<![叫给跟帮让同和对比问教陪等找想爱请骂打替为把被使令喊劝逼许与"
    r"向俾畀话说讲送借还欠催怪带留租卖带到在是])(?P<now>我(?![们的])[\u3400-\u9fff]{2}))"
)
"""In Chinese 我 behind a verb that takes a person is its object: 她给我买."""


def parts_of(clause: TextClause) -> Iterator[TextClause]:
    """
    Yield the parts of a clause in which somebody else becomes the subject, in order.

    >>> from recollect.formation.support.told_clauses import text_clauses
    >>> [each.text for each in parts_of(text_clauses("she does the mac i do the beans")[0])]
    ['she does the mac ', 'i do the beans']
    """
    found = _RUNS_ON.match(clause.text) or _RUNS_ON_HAN.match(clause.text)
    if found is None:
        yield clause
        return
    at = max(found.start("then"), found.start("now"))
    first = tuple(each for each in clause.words if each.start < at)
    rest = (each._replace(start=each.start - at) for each in clause.words if each.start >= at)
    yield TextClause(clause.text[:at], first)
    yield from parts_of(TextClause(clause.text[at:], tuple(rest)))
