"""
The built-in types as a model is told of them: shorter, and in the language of the talk.

A description is known by its English text, so that a type of one's own keeps its words, and a
built-in one that was changed does too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from recollect.formation.prompt_texts import PromptLanguage
from recollect.records import Json, JsonObject
from recollect.stores.json_pointers import is_list

# English as it is described and as it is told, simplified and traditional Chinese.
_ROWS: Final = (
    ("Who the user is, in one profile.", "", "用户的资料，只有一份。", "用戶的資料，只有一份。"),
    ("What to call the user", "-", "-", "-"),
    ("What the user likes to do or follow, one each", "One each", "一项一条", "一項一條"),
    (
        "How to answer the user: style, length, pronouns, subjects to avoid",
        "How to answer: style, length, pronouns, subjects to avoid",
        "怎样回答：风格、长短、称呼、忌谈",
        "怎樣回答：風格、長短、稱呼、忌談",
    ),
    ("Anything else to remember.", "", "其他要记的。", "其他要記的。"),
    ("When it matters, and its limits", "", "何时有用、限制", "何時有用、限制"),
    (
        "What to remember, readable on its own",
        "Readable on its own",
        "单独读也明白",
        "單獨讀也明白",
    ),
    (
        "One statement about a person or thing, as subject, predicate and object.",
        "One statement about a person or thing.",
        "关于人或事物的一句话。",
        "關於人或事物的一句話。",
    ),
    ("Whom or what it is about, by name", "By name", "写名字", "寫名字"),
    (
        "How the two belong together, in few words: 'lives in'",
        "In few words: 'lives in'",
        "几个字：“住在”",
        "幾個字：「住在」",
    ),
    ("The other person, thing or value", "", "另一人、物或值", "另一人、物或值"),
    (
        (
            "What the object is if it is a value, such as an age or a date (2026-03-31), and no "
            "person, place or thing with a name"
        ),
        (
            "Its kind if it is a value (an age, a date as 2026-03-31), no person, place or "
            "named thing"
        ),
        "若是值（年龄、日期2026-03-31）而非有名字的人、地、物：哪种",
        "若是值（年齡、日期2026-03-31）而非有名字的人、地、物：哪種",
    ),
    (
        "True if the subject can have several such objects at once",
        "Can the subject have several such at once?",
        "可同时有几个吗",
        "可同時有幾個嗎",
    ),
    (
        "A person, place, group or thing that is spoken of by name.",
        "",
        "谈话中有名字的人、地方、团体或事物。",
        "談話中有名字的人、地方、團體或事物。",
    ),
    ("Its name, as it is mostly used", "", "最常用的名字", "最常用的名字"),
    (
        "What it is, in a word or two: person, town, company",
        "",
        "是什么，一两个词：人、城市、公司",
        "是什麼，一兩個詞：人、城市、公司",
    ),
    ("Other names for the same one", "", "别名", "別名"),
    ("What is known of it", "", "已知的情况", "已知的情況"),
    (
        "What a stretch of talk was about and what came of it.",
        "",
        "一段谈话说了什么、有何结果。",
        "一段談話說了什麼、有何結果。",
    ),
    (
        "The talk in a few sentences, with its names, dates and decisions",
        "",
        "几句话写出谈话，含名字、日期、决定",
        "幾句話寫出談話，含名字、日期、決定",
    ),
    ("What it was about, a word or two each", "", "话题，每个一两个词", "話題，每個一兩個詞"),
    (
        "How the assistant is to work, as the user has asked it to.",
        "",
        "用户要求助手怎样做事。",
        "用戶要求助理怎樣做事。",
    ),
    (
        "One rule each, with the case that it is for",
        "",
        "一条规则，写明用于何时",
        "一條規則，寫明用於何時",
    ),
    (
        "A task and how it was done well, to do the next one like it.",
        "",
        "一项任务和做好它的办法，以后照做。",
        "一項任務和做好它的辦法，以後照做。",
    ),
    (
        "What was asked, with what matters of the situation",
        "",
        "要求是什么，含相关情况",
        "要求是什麼，含相關情況",
    ),
    ("The answer or deed that was right", "", "正确的回答或做法", "正確的回答或做法"),
    ("Why it was right", "", "为何正确", "為何正確"),
    (
        "How good it was, only where the user gave a score",
        "",
        "多好，只在用户打过分时写",
        "多好，只在用戶打過分時寫",
    ),
    (
        "The kind of task, a word or two each",
        "",
        "任务种类，每个一两个词",
        "任務種類，每個一兩個詞",
    ),
)
UNTOLD: Final = "-"
"""In a row: the name of the field says enough."""
_CLOSED: Final = ("additionalProperties", False)
_OF_SCHEMAS: Final = frozenset({"properties", "$defs", "definitions", "patternProperties"})
_OF_VALUES: Final = frozenset({"enum", "const", "default", "examples"})
_WORDINGS: Final[Mapping[PromptLanguage, Mapping[str, str]]] = {
    "en": {own: short for own, short, _, _ in _ROWS if short},
    "zh": {own: told for own, _, told, _ in _ROWS},
    "zh-hant": {own: told for own, _, _, told in _ROWS},
}


def description_in(language: PromptLanguage, description: str) -> str:
    """
    Return a type's description as a model is told it.

    >>> description_in("zh-hant", "Anything else to remember."), description_in("zh", "A trip")
    ('其他要記的。', 'A trip')
    """
    return _WORDINGS[language].get(description, description)


def schema_in(language: PromptLanguage, schema: JsonObject) -> JsonObject:
    """
    Return a type's schema as a model is told it.

    That no other field is allowed goes without saying: a model writes the fields that it is shown.
    """
    told = {name: each for name, each in schema.items() if (name, each) != _CLOSED}
    return _told(language, told)


def _told(language: PromptLanguage, schema: JsonObject) -> JsonObject:
    found: dict[str, Json] = {}
    for name, each in schema.items():
        if name == "description" and isinstance(each, str):
            if (worded := description_in(language, each)) != UNTOLD:
                found[name] = worded
        elif name in _OF_SCHEMAS and isinstance(each, Mapping):
            found[name] = {
                key: _told(language, inner) if isinstance(inner, Mapping) else inner
                for key, inner in each.items()
            }
        elif isinstance(each, Mapping) and name not in _OF_VALUES:
            found[name] = _told(language, each)
        elif is_list(each) and name not in _OF_VALUES:
            found[name] = [_told(language, e) if isinstance(e, Mapping) else e for e in each]
        else:
            found[name] = each
    return found
