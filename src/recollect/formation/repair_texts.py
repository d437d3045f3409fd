"""
Reasons of faults in the language of the prompt.

Reasons are written in English, and receipts and reviews show them so. For a prompt in Chinese, each
is recognised by its form and translated here. An unknown one stays as it is, as do words that a
reason quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from recollect.formation.prompt_texts import PromptLanguage
from recollect.text.chinese_scripts import simplified
from recollect.text.data_files import read_patterns

REASON_CHARACTERS_MAX: Final = 2_000
"""A longer reason is not translated."""
_ROWS: Final = read_patterns(__package__, "texts/reasons.toml")["rows"]
_IN_SIMPLIFIED: Final = {
    "讯息": "消息",
    "呼叫": "调用",
    "栏位": "字段",
    "物件": "对象",
    "引数": "参数",
}
_CLAIM: Final = re.compile(r"the (?P<kind>number|name|date|time) (?P<said>.+)", re.DOTALL)
_CLAIMS: Final = {"number": "數字", "name": "名字", "date": "日期", "time": "時間"}
_NAMED: Final = re.compile(r"\{(\w+)\}")


def _simplified(text: str) -> str:
    text = simplified(text)
    for word, other in _IN_SIMPLIFIED.items():
        text = text.replace(word, other)
    return text


_FORMS: Final = tuple((re.compile(form, re.DOTALL), told) for form, told in _ROWS)
_TOLD: Final[Mapping[PromptLanguage, Mapping[str, str]]] = {
    "zh": {told: _simplified(told) for _, told in _ROWS},
    "zh-hant": {told: told for _, told in _ROWS},
}


def reason_in(language: PromptLanguage, reason: str) -> str:
    """
    Return a fault's *reason* in a language.

    >>> reason_in("zh", "/home: the name 'Oslo' is not in message 3")
    "/home：第3则消息里没有名字'Oslo'"
    """
    if language == "en" or len(reason) > REASON_CHARACTERS_MAX:
        return reason
    for form, told in _FORMS:
        if match := form.fullmatch(reason):
            return _filled(_TOLD[language][told], language, match.groupdict())
    return reason


def _filled(told: str, language: PromptLanguage, found: Mapping[str, str]) -> str:
    if "what" in found:
        found = {**found, "what": _claim_in(language, found["what"])}
    return _NAMED.sub(lambda name: found[name[1]], told)


def _claim_in(language: PromptLanguage, what: str) -> str:
    """Return the Chinese word for the kind of unsupported claim: number, name, date or time."""
    match = _CLAIM.fullmatch(what)
    if not match:
        return what
    kind = _CLAIMS[match["kind"]]
    return f"{kind if language == 'zh-hant' else _simplified(kind)}{match['said']}"
