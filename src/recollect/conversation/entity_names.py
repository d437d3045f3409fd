"""Parse names in a model's answers, and find known names in a text; pure functions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Final

from recollect.conversation.prompts import NOTHING, TRIPLE_DELIMITER

_QUOTES: Final = "\"'`“”‘’«»「」 "
_ENDS: Final = ".。;；:："
_NO_NAMES: Final = frozenset({"", "none", "n/a", "null", "nothing", "无", "没有"})
_SPACED: Final = re.compile(r"[a-z0-9]")


def listed_names(answer: str) -> list[str]:
    """
    Return the names in *answer*, parsed as LangChain does.

    >>> listed_names("Ada, Oslo"), listed_names(" NONE "), listed_names("none.")
    (['Ada', 'Oslo'], [], ['none.'])
    """
    return [] if answer.strip() == NOTHING else [each.strip() for each in answer.split(",")]


def clean_names(answer: str) -> list[str]:
    """
    Return the names in *answer*, once each regardless of case, without words for "no name".

    >>> clean_names("Sam, sam, 'SAM'., Oslo"), clean_names("none."), clean_names("张三、李四")
    (['Sam', 'Oslo'], [], ['张三', '李四'])
    """
    named: dict[str, str] = {}
    for part in re.split(r"[,，、\n]", answer):
        name = part.strip().strip(_QUOTES).rstrip(_ENDS).strip(_QUOTES)
        if folded(name) not in _NO_NAMES:
            named.setdefault(folded(name), name)
    return list(named.values())


def folded(name: str) -> str:
    """
    Return a name normalised for comparison: NFKC, case-folded, with single spaces.

    >>> folded(" Ada  LOVELACE ")
    'ada lovelace'
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def mentioned(names: Iterable[str], text: str) -> list[str]:
    """
    Return the *names* that occur in *text* as words, or as substrings in scripts without spaces.

    >>> mentioned(["Sam", "Ada", "三体"], "Samples for Ada. 我在读三体。")
    ['Ada', '三体']
    """
    said = folded(text)
    return [name for name in names if _is_in(folded(name), said)]


def _is_in(name: str, said: str) -> bool:
    if not name:
        return False
    # A word boundary only beside Latin letters and digits: scripts without spaces have none.
    before = r"(?<![a-z0-9])" if _SPACED.match(name[0]) else ""
    after = r"(?![a-z0-9])" if _SPACED.match(name[-1]) else ""
    return re.search(before + re.escape(name) + after, said) is not None


def known_lines(known: Mapping[str, str]) -> str:
    r"""
    Return names and their summaries as lines of a prompt.

    >>> known_lines({"Ada": "She paints.", "Oslo": ""})
    'Ada <|> She paints.\nOslo <|>'
    """
    lines = (f"{name} {TRIPLE_DELIMITER} {' '.join(text.split())}" for name, text in known.items())
    return "\n".join(line.rstrip() for line in lines)


def read_lines(answer: str, names: Iterable[str]) -> dict[str, str]:
    r"""
    Return the new summaries in *answer* by name; lines about names not in *names* are ignored.

    >>> read_lines("ada <|> She sails.\nBob <|> He too.\nNONE", ["Ada", "Oslo"])
    {'Ada': 'She sails.'}
    """
    by_folded = {folded(name): name for name in names}
    found: dict[str, str] = {}
    for line in answer.splitlines():
        name, delimiter, text = line.partition(TRIPLE_DELIMITER)
        asked = by_folded.get(folded(name.strip().strip(_QUOTES + "-*")))
        if delimiter and asked is not None and text.strip():
            found[asked] = text.strip()
    return found
