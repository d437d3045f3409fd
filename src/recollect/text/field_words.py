"""
The words in which people ask for what a memory's field holds: ``home`` for "Where do I live?".

A profile reads "home: Oslo; occupation: nurse", and a question has none of these words. They are
added to the terms of a memory, as days are to those of a message.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from recollect.text.chinese_scripts import simplified

_FIELD: Final = re.compile(r"(?:^|; )(?:predicate: (\w{1,40})|([^\s:;]{1,40}): )")
# Names of fields, and verbs of facts; then the words of questions. All in both languages.
_TABLE: Final = (
    ("name user_name full_name nickname 姓名 名字", "called named 名字 叫什么"),
    (
        "home residence address location lives_in hometown city lives 住址 居住地 家 住在 居住",
        "live living home address 我住在哪里",
    ),
    (
        "occupation job profession work employer company role workplace works 职业 工作 公司 任职",
        "work working job 工作 上班 职业",
    ),
    ("age 年龄", "old age 多大 几岁 年龄"),
    ("birthday birth_date date_of_birth born 生日", "birthday born 生日 出生"),
    ("interests hobbies likes 兴趣 爱好", "like enjoy interest hobby 喜欢 爱好 兴趣"),
    ("dislikes", "dislike hate 不喜欢 讨厌"),
    ("partner spouse husband wife 伴侣 配偶", "partner husband wife married 丈夫 妻子 结婚"),
    ("children kids child 孩子 子女", "children kid son daughter 孩子 儿子 女儿"),
    ("pets pet 宠物", "pet 宠物"),
    ("allergy allergies 过敏", "allergy allergic 过敏"),
    ("diet food 饮食", "eat eating diet food 吃 饮食"),
    ("languages language 语言", "speak language 语言 说"),
    ("school university education 学校 教育", "study school university 学校 读书"),
    ("phone phone_number email contact 电话 邮箱", "phone number email contact 电话 邮箱 联系"),
)
_WORDS: Final = {field: words for fields, words in _TABLE for field in fields.split()}


@lru_cache(maxsize=1_024)
def words_asked_for(field: str) -> str:
    """
    Return the words in which a field's value is asked for; "" for a field that is not known.

    >>> words_asked_for("Home").split()[0], words_asked_for("boat")
    ('live', '')
    """
    return _WORDS.get(simplified(field).casefold(), "")


def field_words_in(text: str) -> str:
    """
    Return the words in which the fields of a memory's *text* are asked for.

    >>> field_words_in("home: Oslo; boat: red").split()[0]
    'live'
    """
    names = dict.fromkeys(verb or field for verb, field in _FIELD.findall(text))
    return " ".join(filter(None, map(words_asked_for, names)))
