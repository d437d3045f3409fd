"""Compare names regardless of case, width and spacing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from typing import Final

from recollect.errors import LimitError, UsageError
from recollect.stores.validation import check_text
from recollect.text.word_caches import word_cache

NAME_CHARACTERS_MAX: Final = 1_000
NAMES_KEPT_MAX: Final = 50_000
"""Names whose keys are cached, as these are slow to compute."""

_STEPS_MAX: Final = 8
"""Foldings of a name, at most, until its key no longer changes."""

_SPACE: Final = re.compile(r"\s+")
_IDEOGRAPH: Final = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# Chinese and Japanese have no spaces between words: ignore a space between two ideographs.
_SPACE_AMONG_IDEOGRAPHS: Final = re.compile(rf"(?<=[{_IDEOGRAPH}]) (?=[{_IDEOGRAPH}])")


@word_cache(maxsize=NAMES_KEPT_MAX)
def name_key(name: str) -> str:
    """
    Return the key by which *name* is compared: equal keys mean the same name.

    Symbols (C++ is not C) and accents (José is not Jose) count. Other variants of a name need an
    alias.

    >>> name_key(" Ada  LOVELACE"), name_key("张 伟") == name_key("张伟")
    ('ada lovelace', True)
    """
    if name.isascii():
        return _SPACE.sub(" ", name.lower()).strip()
    key = name
    # One folding can enable another: repeat until the key is stable.
    for _ in range(_STEPS_MAX):
        before, key = key, _folded(key)
        if key == before:
            break
    return key


def _folded(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    shown = "".join(each for each in folded if unicodedata.category(each) != "Cf")
    return _SPACE_AMONG_IDEOGRAPHS.sub("", _SPACE.sub(" ", shown).strip())


def clean_name(name: object, what: str) -> str:
    r"""
    Return *name* on one line, without control characters; *what* describes it in errors.

    >>> clean_name("  Ada\nLovelace ", "a subject")
    'Ada Lovelace'

    Raises:
        UsageError: *name* is not text, or has no visible character.
        LimitError: *name* has more than ``NAME_CHARACTERS_MAX`` characters.
    """
    spaced = _SPACE.sub(" ", check_text(name, what))
    kept = "".join(each for each in spaced if unicodedata.category(each) != "Cc")
    text = _SPACE.sub(" ", kept).strip()
    if not name_key(text):
        raise UsageError(f"{what} is {name!r}, which has no visible character: give a name")
    if len(text) > NAME_CHARACTERS_MAX:
        raise LimitError(
            f"characters of {what}", len(text), NAME_CHARACTERS_MAX, "NAME_CHARACTERS_MAX"
        )
    return text


def numbered(key: str) -> Iterator[str]:
    """Yield *key*, then *key* with numbers from 2, endlessly."""
    yield key
    yield from (f"{key}-{number}" for number in count(2))
