"""
Split a text into sentences, in English and Chinese.

The full stop of an abbreviation ("Dr. Hauge", "No. 5", "J. K. Rowling") ends no sentence, nor does
one inside a number or an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

TITLES: Final = "Dr|Mrs?|Ms|Prof|St|Mt|Jr|Sr"
"""Abbreviations before a name, for a pattern, without their full stops."""
# Never "I": "so do I." ends a sentence more often than it abbreviates a name.
_ABBREVIATION: Final = (
    rf"\b(?:(?:{TITLES}|vs|e\.g|i\.e|[A-HJ-Z])\.|[Nn]os?\.(?=\s?\d)"
    r"|[ap]\.m\.(?!\s+[A-Z]|\s*$)|etc\.(?!\s+[A-Z]|\s*$))"
)
_SENTENCE: Final = re.compile(
    r"(?:(?:Hi|Hello|Hey)! ?)?"
    rf"(?:{_ABBREVIATION}|[^.!?。！？\n]|\.(?=[a-z0-9]))+[.!?。！？]?"
)


def sentence_matches(text: str) -> Iterator[re.Match[str]]:
    """
    Yield a match for each sentence of *text*, with its end mark and the space before it.

    >>> [each[0] for each in sentence_matches("It is Dr. Hauge. He left at 6 a.m. today!")]
    ['It is Dr. Hauge.', ' He left at 6 a.m. today!']
    """
    return _SENTENCE.finditer(text)
