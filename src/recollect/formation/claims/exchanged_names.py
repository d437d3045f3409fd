"""Exchanged names: one that nobody said, in place of one that the cited words tell."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.formation.grounding.chinese_names import han_names_in, is_heard
from recollect.formation.grounding.latin_names import HeardNames, HeardWords, names_in
from recollect.text.numerals import plain


def replaces_name(text: str, missing: Sequence[str], said: Sequence[str]) -> bool:
    """
    Return True if a *missing* name of *text* may stand in place of one that *said* sentences tell.

    It does not beside a part that was said, as a longer name.

    >>> said = ["I live with my husband Pete", "Invoices go to Corvane"]
    >>> replaces_name("Lives with her husband Phil", ["Phil"], said[:1])
    True
    >>> replaces_name("Invoices go to Corvane Surveyors", ["Surveyors"], said[1:])
    False
    """
    text = plain(text)
    names = [str(each).removesuffix("'s") for each in names_in(text)]
    longer = [f" {each} " for each in names if each not in missing]
    if all(any(f" {each} " in name for name in longer) for each in missing):
        return False
    return any(_has_none_of(text, plain(each)) for each in said)


def _has_none_of(text: str, said: str) -> bool:
    """Return True if *said* tells a name of which *text* has no part."""
    kept = HeardWords(text)
    latin = HeardNames([kept])
    return any(latin.missing(name) == name for name in names_in(said)) or not all(
        is_heard(name, text, kept.folded) for name in han_names_in(said)
    )
