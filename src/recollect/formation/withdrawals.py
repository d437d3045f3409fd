"""Withdrawals: what a user says was never true, as what was a joke or a mistake."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from recollect.text.chinese_scripts import simplified

_WITHDRAWN: Final = re.compile(
    r"\b(?:forget|ignore|disregard|scratch|scrap|delete) (?:\w+ ){0,3}?(?:what|that|the thing) i"
    r" (?:just |ever )?(?:said|told|wrote|mentioned)\b"
    r"|\b(?:was|were|am|'m|im) (?:only |just |totally )?(?:joking|kidding|lying"
    r"|making (?:it|that) up|messing)\b"
    r"|\b(?:was|it's|that's|its|thats) (?:only |just )?(?:a joke|a lie|a typo|a mistake"
    r"|made up|nonsense|not true"
    r"|never true|wrong|false)\b|\bi (?:lied|made (?:it|that) up|got (?:it|that) wrong"
    r"|mixed (?:\w+ ){0,3}up"
    r"|misread|misheard|misremembered)\b"
    r"|我[^，。！？]{0,12}说[^，。！？]{0,12}(?:忘掉|忘了吧|作废|不算)"
    r"|(?:忘掉|忘了|忽略|别管|作废|收回)(?:吧|[^，。！？\s]{0,4}(?:那|这|段|话|说)|我|$)"
    r"|(?:那|这|都|说)[^，。！？\s]{0,6}是(?:假|开?玩笑|气话|吹牛|瞎[说编掰]|乱[说讲]|骗|编|误会)"
    r"|(?:记|看|说|讲|听|搞|弄|夹|认)错|错的|不是真的|没(?:有)?这回事|自己脑补|开玩笑|吹牛|(?:别|不要)当真",
    re.IGNORECASE,
)


def is_withdrawn(quotes: Iterable[str]) -> bool:
    """
    Return True if words that end a memory say that it never was true.

    >>> is_withdrawn(["forget what I said about altitude sickness, it was low sugar"])
    True
    >>> is_withdrawn(["we sold the boat"]), is_withdrawn(["上次說戒菸是吹牛的"])
    (False, True)
    """
    return any(_WITHDRAWN.search(simplified(each)) for each in quotes)
