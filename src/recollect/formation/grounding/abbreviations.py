"""Short forms of names: match a name in a value with a form of it that was said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recollect.text.analysis import fold

_KNOWN: Final = tuple(
    frozenset(row.split())
    for row in """
    msft microsoft|aapl apple|goog googl google alphabet|amzn amazon|fb meta facebook|tsla tesla
    nvda nvidia|nflx netflix|tsmc 台积电|hsbc 汇丰|byd 比亚迪|ibm 国际商业机器|intc intel
    adbe adobe|orcl oracle|crm salesforce|ba boeing|ge generalelectric|gm generalmotors
    jpm jpmorgan|wmt walmart|dis disney|sbux starbucks|mcd mcdonalds|pg procterandgamble
    k8s kubernetes|gcp googlecloud|vw volkswagen|bmw 宝马|kfc 肯德基|chatgpt gpt
    chch christchurch|akl auckland|invers invercargill|welly wellington|brissie brisbane
    melb melbourne|mobay montegobay|ochi ochorios|jozi joburg jhb johannesburg|brum birmingham
    manc manchester|philly philadelphia|nola neworleans|vegas lasvegas|blr bangalore bengaluru
    py python|js javascript|ts typescript|pg postgres postgresql|gh github
    """.replace("\n", "|").split("|")
    if row.strip()
)
_SHORT_MAX: Final = 6
_LONG_MIN: Final = 5
_CAPITALISED: Final = re.compile("[A-Z][a-z]*")
_WORD: Final = re.compile(r"[^\W\d_\u3400-\u9fff]{2,40}|\d?[^\W\d_]\d[^\W\d_]")
TEXT_CHARACTERS_MAX: Final = 20_000


def known_alias(name: str, texts: Sequence[str]) -> str:
    """
    Return the well-known other form of *name* that was said, ``""`` if none was.

    So is one of the first letters of each word, each with its capital: ObjC.

    >>> known_alias("Microsoft", ["I sold my MSFT shares"])
    'msft'
    """
    for text in texts:
        for word in _WORD.findall(text[:TEXT_CHARACTERS_MAX]):
            if _clips(word, name):
                return str(word)
    folded = fold(name).replace(" ", "")
    for group in _KNOWN:
        if folded in group:
            said = "\n".join(fold(each[:TEXT_CHARACTERS_MAX]) for each in texts)
            words = set(_WORD.findall(said))
            for other in sorted(group - {folded}):
                if other in words or (not other.isascii() and other in said):
                    return other
    return ""


def possible_short_form(name: str, texts: Sequence[str]) -> str:
    """
    Return a word in capitals of which *name* may be the long form, or the reverse.

    >>> possible_short_form("Rijksmuseum", ["We saw the RKM"])
    'RKM'
    """
    for text in texts:
        for word in _WORD.findall(text[:TEXT_CHARACTERS_MAX]):
            if _shortens(word, name) or _shortens(name, word):
                return str(word)
    return ""


def _clips(short: str, long: str) -> bool:
    """Return True for the first letters of each word, each with its capital: ObjC."""
    parts, words = _CAPITALISED.findall(short), _CAPITALISED.findall(long)
    return (
        len(parts) > 1
        and len(parts) == len(words)
        and short != long
        and "".join(parts) == short
        and all(word.startswith(part) for part, word in zip(parts, words, strict=True))
    )


def _shortens(short: str, long: str) -> bool:
    is_short = short.isupper() and short.isascii() and 2 <= len(short) <= _SHORT_MAX
    if not is_short or len(long) < max(_LONG_MIN, len(short) + 2) or not long[0].isupper():
        return False
    letters = iter(fold(long))
    ends = (fold(long[0]) + fold(long[-1])) == (fold(short[0]) + fold(short[-1]))
    return ends and all(each in letters for each in fold(short))
