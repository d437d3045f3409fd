"""Restrictions: "not everything in a table, only prices" denies tables of some things alone."""

from __future__ import annotations

import re
from typing import Final

_RESTRICTION: Final = re.compile(
    r"\b(?:only|just|except|unless|apart from|other than)\b"
    r"|[仅只]|净系|除了|除非|[^，。；\s]{1,10}[才先](?=[要用给讲写列做得出上加行好])",
    re.IGNORECASE,
)
_ALL: Final = re.compile(
    r"\b(?:everything|all|always|every(?: \w+)?|each time|anything)\b"
    r"|[乜什么样事次]{1,2}么?都|次次|成日|每次|每个|所有|全部?|总是|动不动|一律",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"(?:\b(?:not|no|never|don'?t|doesn'?t|stop|needn'?t|without)\b|[唔不冇咪别])[^,.;!?\n，。；！？]{0,20}$",
    re.IGNORECASE,
)
_REACH: Final = 32


def restricts(text: str) -> bool:
    """
    Return True if *text*, Chinese in its simplified form, names what alone is meant.

    >>> restricts("tables for prices only"), restricts("问到先讲英文"), restricts("I like tables")
    (True, True, False)
    """
    return _RESTRICTION.search(text) is not None


def without_restrictions(text: str) -> str:
    """Return *text* without the words by which it restricts."""
    return _RESTRICTION.sub(" ", text)


def widens(text: str, said: str) -> bool:
    """
    Return True if *said* denies something of all and keeps it for some, and *text* tells it of all.

    >>> widens("Everything in bullets", "don't put it all in bullets, just the steps")
    True
    >>> widens("Bullets for the steps", "don't put it all in bullets, just the steps")
    False
    """
    told = [_is_denied(said, each) for each in _ALL.finditer(said)]
    if not told or not all(told) or not restricts(said):
        return False
    return any(not _is_denied(text, each) for each in _ALL.finditer(text))


def _is_denied(text: str, found: re.Match[str]) -> bool:
    return _DENIED.search(text[max(found.start() - _REACH, 0) : found.start()]) is not None
