"""Debts that are paid: who "paid me the rest" owed it before, and owes nothing now."""

from __future__ import annotations

import re
from typing import Final

from recollect.text.chinese_scripts import simplified

_OWED: Final = re.compile(r"(?:owed|owing|debts?)\b|[\u3400-\u9fff]{0,12}?欠", re.IGNORECASE)
"""Words for a former debt; "owes" tells of one that is still open."""
_SENTENCE_END: Final = re.compile(r"[.!?;](?=\s|$)|[。！？；\n]")
_SETTLED: Final = re.compile(
    r"\b(?:paid|pays|gave|given|sent|handed|transferred)\b[^.!?;\n]{0,24}?\b(?:rest|the last"
    r"|back|off|in full|all|everything|whole)\b|\b(?:repaid|reimbursed|quits|settled|cleared)\b"
    r"|\bsquared?\b(?! (?:met|f[eo]|mile|root|km|inch))"
    r"|[还付结给找](?:[我你他她佢您给咗了]{0,3})[清完齐光晒]|[两还结付清]清|清(?:账|数|晒|咗|了)|[剩余]下?的?[^，。]{0,6}[还付给]"
    r"|(?:全|都)部?[还付给找](?:我|你|他|她|佢|了|咗)",
    re.IGNORECASE,
)
_OPEN: Final = re.compile(
    r"\b(?:not|never|no|still|yet|half|some|part(?:ly)?|most|nearly|almost|except|apart|until|when"
    r"|if|will|won't|going to|promised?|\w+n't)\b"
    r"|[没未冇]|还(?:欠|差|要|剩|有)|一半|部分|要是|如果|等",
    re.IGNORECASE,
)
_TO_USER: Final = re.compile(
    r"\b(?:paid|pays|gave|given|sent|handed|transferred|repaid)(?: \w+)? (?:me|us)\b"
    r"|[还付给找](?:清|晒|齐)?(?:咗|了)?(?:我|俾我)|[给俾](?:回|返)?我",
    re.IGNORECASE,
)
_BY_USER: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have)?(?: \w+)? (?:paid|gave|given|sent|handed|transferred|repaid)\b"
    r"|我(?:已经?|都|也|把[^，。]{0,12})*(?:还|付|给|找)",
    re.IGNORECASE,
)
_USER_OWES: Final = re.compile(
    r"\b(?:user|i|we)\b(?!['\u2019]s\b)(?: \w+)? (?:owed|owing)\b"
    r"|\buser['\u2019]s (?:\w+ )?debts?\b"
    r"|用户(?:之前|原来|以前|曾|所)?欠",
    re.IGNORECASE,
)
_OWED_TO_USER: Final = re.compile(
    r"\b(?:owed|owing)(?: to)? (?:the )?(?:user|me|us)\b|欠(?:了)?(?:用户|我)", re.IGNORECASE
)


def is_settled_debt(text: str, start: int, said: str) -> bool:
    """
    Return True if the word at *start* tells of a former debt in a sentence that says it is paid.

    So does *said*, of all of it, and by the same one of the two.

    >>> is_settled_debt("Ian paid back all he owed", 21, "he's paid me the rest, we're square")
    True
    >>> is_settled_debt("Ian still owed it", 10, "he's paid me the rest, we're square")
    False
    """
    text, said = simplified(text), simplified(said)
    if _OWED.match(text, start) is None:
        return False
    value = _sentence_at(text, start)
    told = [each for each in _SENTENCE_END.split(said) if _is_settled(each)]
    return _is_settled(value) and any(_is_same_way(value, each) for each in told)


def _sentence_at(text: str, start: int) -> str:
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    first = max((end for end in ends if end <= start), default=0)
    return text[first : next((end for end in ends if end > start), len(text))]


def _is_settled(sentence: str) -> bool:
    return _SETTLED.search(sentence) is not None and _OPEN.search(sentence) is None


def _is_same_way(value: str, told: str) -> bool:
    """Return False if the value turns round who of the user and another paid."""
    is_turned = (_TO_USER.search(told) and _USER_OWES.search(value)) or (
        _BY_USER.search(told) and _OWED_TO_USER.search(value)
    )
    return not is_turned
