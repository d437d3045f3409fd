"""Names of the usual profile fields as people say them, in each language of the rule model."""

from __future__ import annotations

import re
from typing import Final, Literal

AnswerLanguage = Literal["en", "zh", "zh-hant"]
_HAN: Final = re.compile("[\u4e00-\u9fff]")

# The page says the same, in web/src/words/zh_types.ts and zh_hant_types.ts.
FIELD_NAMES: Final[dict[AnswerLanguage, dict[str, str]]] = {
    "en": {"user_name": "user name", "conversation_preferences": "conversation preferences"},
    "zh": {
        "name": "名字",
        "user_name": "名字",
        "age": "年龄",
        "home": "住处",
        "occupation": "职业",
        "interests": "兴趣",
        "conversation_preferences": "对话偏好",
        "allergy": "过敏",
        "coffee": "咖啡",
        "partner": "伴侣",
        "sister": "姐妹",
    },
    "zh-hant": {
        "name": "名字",
        "user_name": "名字",
        "age": "年齡",
        "home": "住處",
        "occupation": "職業",
        "interests": "興趣",
        "conversation_preferences": "對話偏好",
        "allergy": "過敏",
        "coffee": "咖啡",
        "partner": "伴侶",
        "sister": "姊妹",
    },
}


def spoken_field(text: str, language: AnswerLanguage) -> str:
    """
    Return a profile's line with the name of its field as said in *language*.

    A name that is not a usual one may be a word of the user's: it stays.

    >>> spoken_field("home: 成都", "zh"), spoken_field("user_name: Will", "en")
    ('住处：成都', 'user name: Will')
    >>> spoken_field("interests: 爬山, 游泳", "zh")
    '兴趣：爬山、游泳'
    >>> spoken_field("Remember: buy tea", "zh")
    'Remember: buy tea'
    """
    name, colon, value = text.partition(": ")
    spoken = FIELD_NAMES[language].get(name)
    if not colon or spoken is None:
        return text
    if language == "en":
        return f"{spoken}: {value}"
    # The page parts a list with Chinese in it alike: `joined` in web/src/lib/pointer.ts.
    if name == "interests" and _HAN.search(value):
        value = value.replace(", ", "、")
    return f"{spoken}：{value}"
