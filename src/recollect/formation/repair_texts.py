"""
The reasons of faults as a model is told them, in the language of its prompt.

Reasons are written in English where they are found; receipts and reviews show them so. For a
prompt in Chinese they are recognised here by their form. One that is not stays as it is, and so
do the words quoted in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from recollect.formation.prompt_texts import PromptLanguage
from recollect.text.chinese_scripts import simplified

REASON_CHARACTERS_MAX: Final = 2_000
"""A longer reason is not looked at."""
_PLACE: Final = r"(?P<place>/\S*|m\d+|[^:\s]{1,80})"

# In traditional characters; of the words that both scripts share the simplified text is made.
_ROWS: Final = (
    (
        rf"{_PLACE}: (?P<what>.+) is not in message (?P<numbers>[\d, ]*)",
        "{place}：第{numbers}則訊息裡沒有{what}",
    ),
    (
        r"message (?P<number>\d+) does not say (?P<quote>.+): quote its words",
        "第{number}則訊息沒有說{quote}：引用它的原話",
    ),
    (
        r"there is no message (?P<number>\d+); they are 1 to (?P<last>\d+)",
        "沒有第{number}則訊息；只有1到{last}",
    ),
    (
        r"only a new message of the (?P<roles>.+) may cause a (?P<type>\S+): cite one, or leave it",
        "只有{roles}的新訊息可以產生{type}：引用一則，否則不記",
    ),
    (
        r"(?P<place>\S+) cites no message: add one to 'because', or leave the field out",
        "{place}沒有引用訊息：在because裡加上，或省去此欄位",
    ),
    (
        r"(?P<name>\w+): (?P<date>.+) is no date of the form 2024-05-07",
        "{name}：{date}不是2024-05-07這樣的日期",
    ),
    (
        r"the value holds nothing: leave the call out, or say what was told",
        "value是空的：不要這個呼叫，或寫出說過的話",
    ),
    (
        rf"{_PLACE} is blank: leave the field out, or say what was told",
        "{place}是空的：省去此欄位，或寫出說過的話",
    ),
    (
        r"because: the value has nothing at (?P<place>.+): cite for what is there",
        "because：value裡沒有{place}：只引用有的欄位",
    ),
    (
        rf"{_PLACE}: the speaker was in doubt, or told what others say: say so",
        "{place}：說話人不確定，或是聽別人說的：照樣寫出",
    ),
    (
        rf"{_PLACE}: the cited words say nothing of it: cite those that do",
        "{place}：引用的話沒有說到它：引用說到的話",
    ),
    (
        rf"{_PLACE}: the cited words say nothing of (?P<words>.+): say only what was said",
        "{place}：引用的話沒有說{words}：只寫說過的",
    ),
    (
        rf"{_PLACE}: it is in another language than its citation; say it in that one",
        "{place}：語言與引用的話不同：用原話的語言寫",
    ),
    (
        rf"{_PLACE}: the cited words are not about it: cite those that end it",
        "{place}：引用的話說的不是它：引用使它結束的話",
    ),
    (
        rf"{_PLACE}: the cited words do not say that it is over",
        "{place}：引用的話沒有說它已經結束",
    ),
    (
        rf"{_PLACE}: the cited words say that the user has left it",
        "{place}：引用的話說用戶已經離開",
    ),
    (
        rf"{_PLACE}: the cited words do not say that this is the user's",
        "{place}：引用的話沒有說這是用戶的",
    ),
    (
        rf"{_PLACE}: the cited words do not say that somebody (?P<is>is|is not) (?P<what>[\w ]+)",
        "{place}：引用的話沒有這樣說（{is} {what}）",
    ),
    (
        rf"{_PLACE}: the cited words say of somebody else who is (?P<what>[\w ]+): say of whom",
        "{place}：引用的話說的是別人（{what}）：寫明是誰",
    ),
    (
        rf"{_PLACE}: the cited words and the value differ in whether (?P<word>.+) is denied",
        "{place}：引用的話與value對{word}一個肯定、一個否定",
    ),
    (
        (
            r"it cites (?P<names>.+), each of whom has a (?P<type>\S+): make a call for each, with "
            r"the words of that user alone"
        ),
        "它引用了{names}的話，而每人各有{type}：每人各呼叫一次，只引本人的話",
    ),
    (
        r"(?P<place>\S+) cites no user: cite the user whose (?P<type>\S+) it is",
        "{place}沒有引用用戶的話：引用這份{type}本人的話",
    ),
    (
        (
            r"(?P<place>\S+) cites (?P<said>.+), and (?P<id>\S+) belongs to (?P<owner>.+): cite "
            r"the owner's own words, or make a document of the user who spoke"
        ),
        "{place}引用了{said}，而{id}屬於{owner}：引用本人的話，或為說話的用戶另立一份",
    ),
    (
        r"the answer was a refusal: nothing was asked but what the messages say",
        "回答被拒絕了：只要求記下訊息裡說的事",
    ),
    (
        r"the answer was cut off at its length: make the calls that are missing, shorter",
        "回答太長，被截斷了：補上缺少的呼叫，寫短些",
    ),
    (
        r"no tool was called: call one, or (?P<nothing>\w+) if there is nothing to remember",
        "沒有呼叫工具：呼叫一個；沒有要記的就呼叫{nothing}",
    ),
    (
        r"there is no tool (?P<tool>.+); the tools are (?P<tools>.+)",
        "沒有{tool}這個工具；工具有：{tools}",
    ),
    (r"the arguments cannot be read: (?P<why>.+)", "讀不懂引數：{why}"),
    (r"the arguments must be a JSON object", "引數必須是JSON物件"),
    (r"'value' must be a JSON object", "value必須是JSON物件"),
    (
        r"the value does not fit (?P<type>\S+): (?P<why>.+)",
        "value不合{type}的格式：{why}",
    ),
    (
        r"'changes' must be a list of at least one operation",
        "changes必須是至少有一項的列表",
    ),
    (
        r"(?P<where>\S+) must begin with the number of a message, as in (?P<form>.+)",
        "{where}必須以訊息號開頭，例如{form}",
    ),
    (
        r"(?P<where>\S+) must hold words of the message behind the colon",
        "{where}的冒號後面必須有訊息的原話",
    ),
    (
        r"'(?P<where>\S+)' must cite at least one message",
        "{where}至少要引用一則訊息",
    ),
    (r"(?P<where>.{1,80}) must have (?P<names>[\w, ]+)", "{where}必須有{names}"),
    (r"(?P<where>.{1,80}) must not have (?P<names>.+)", "{where}不能有{names}"),
    (
        r"there is no memory (?P<id>.+); there are: (?P<ids>.+)",
        "沒有{id}這條記憶；有的是：{ids}",
    ),
    (
        r"(?P<id>m\d+) is (?P<done>patched|ended) in another call: do one of both",
        "另一個呼叫已經改動{id}：二者只做一個",
    ),
    (
        r"(?P<id>m\d+) is a document of its own: patch it, it cannot end",
        "{id}是一份資料：只能修改，不能終止",
    ),
    (
        r"(?P<place>\S+) was not shown to you: leave it as it is",
        "{place}沒有給你看：不要動它",
    ),
    (
        r"'(?P<name>\w+)' is the whole document: name only the fields that change",
        "{name}是整份資料：只寫要改的欄位",
    ),
    (r"the patch does not apply: (?P<why>.+)", "無法照此修改：{why}"),
    (
        r"the patched document does not fit (?P<type>\S+): (?P<why>.+)",
        "修改後的資料不合{type}的格式：{why}",
    ),
    (
        r"none of the memories says (?P<what>.+)",
        "沒有一條記憶說{what}",
    ),
    (
        r"all of the memories are in doubt, or hearsay: say so",
        "這些記憶都不確定，或是聽別人說的：照樣寫出",
    ),
    (
        r"a memory is in doubt, or hearsay: say so, or merge less",
        "有一條記憶不確定，或是聽別人說的：照樣寫出，或少合併幾條",
    ),
    (
        r"it leaves out what they say: (?P<lost>.+); say it, or merge less",
        "漏了它們說的：{lost}；寫上，或少合併幾條",
    ),
    (
        r"one of these memories is merged in another call",
        "其中一條已由另一個呼叫合併",
    ),
    (
        r"'ids' must list ids of memories; there are (?P<ids>.+)",
        "ids必須列出記憶的編號；有：{ids}",
    ),
    (r"'ids' must name at least two memories", "ids至少要有兩條記憶"),
    (r"'ids' must be of one group", "ids必須屬於同一組"),
    (
        r"the arguments must be an object with 'ids' and 'value' alone",
        "引數必須是只有ids和value的物件",
    ),
    (
        r"the answer was a refusal, or cut off at its length: make the calls again, shorter",
        "回答被拒絕，或太長被截斷了：重做這些呼叫，寫短些",
    ),
    (
        r"no tool was called: call one, or (?P<nothing>\w+) if nothing is to be done",
        "沒有呼叫工具：呼叫一個；都不用做就呼叫{nothing}",
    ),
)
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
    Return a fault's *reason* as a model is told it.

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
    """Return in Chinese the kind of what was not said: a number, a name, a date or a time."""
    match = _CLAIM.fullmatch(what)
    if not match:
        return what
    kind = _CLAIMS[match["kind"]]
    return f"{kind if language == 'zh-hant' else _simplified(kind)}{match['said']}"
