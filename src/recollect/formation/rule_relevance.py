"""
Relevance of a prompt's memories to a question, for the rule model.

A line is found by its words and by a short glossary of topics of questions about oneself, in
English and in both scripts of Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Final

from recollect.formation.remembered_lines import RememberedLine, day_in
from recollect.text.analysis import terms_of
from recollect.text.chinese_scripts import simplified

ASKS: Final = re.compile(
    r"[?？]\s*$|^\W*(?:what|when|where|which|who|whom|whose|how|why|do|does|did|is|are|am|was|were"
    r"|can|could|have|has|had|should|tell me)\b"
    r"|[吗呢]\W*$|什么|哪|谁|几|多少|怎么|何时|是不是|有没有",
    re.IGNORECASE,
)
_IS_QUESTION: Final = re.compile(r"[^.!?。！？]*[?？]")
ASKS_ALL: Final = re.compile(
    r"\bwhat do you (?:know|remember)(?: about me)?\W*$|\bwho am i to you\b"
    r"|你(?:都|还)?(?:知道|记得)(?:我的?)?(?:些|关于我的)?什么|关于我.*(?:知道|记得)",
    re.IGNORECASE,
)
_ASKS_PAST: Final = re.compile(
    r"\b(?:did|was|were|used to|before|earlier|formerly)\b|以前|之前|曾经|过去|原来", re.IGNORECASE
)
ASKS_BEFORE: Final = re.compile(
    r"\b(?:used to|before|earlier|formerly|previously)\b|以前|之前|曾经|过去|原来", re.IGNORECASE
)
# Topics of questions and memories, across languages.
_TOPICS: Final = tuple(
    (name, re.compile(rule, re.IGNORECASE))
    for name, rule in (
        (
            "name",
            r"\b(?:names?|named|called|who am i)\b|我叫|名字|名叫|叫什么|我是谁|就叫|叫她|叫他",
        ),
        (
            "home",
            (
                r"\b(?:liv(?:e|es|ed|ing)(?! up to\b)|home|address|moved to (?-i:(?=[A-Z])))\b"
                r"|住|我家|我的家(?![人庭])|地址|搬到了?[^，。！？]{1,8}了"
            ),
        ),
        ("move", r"\bmov(?:e|es|ed|ing)\b|搬"),
        ("age", r"\b(?:age|aged|how old|years old)\b|多大|几岁|\d岁"),
        ("occupation", r"\b(?:work(?:s|ed|ing)?|jobs?|occupation|for a living)\b|工作|职业|上班"),
        ("interests", r"\b(?:likes?|loves?|enjoys?|interests?|hobb(?:y|ies))\b|喜欢|爱好|兴趣"),
        ("answers", r"\bconversation_preferences\b|\binstructions\b|\banswer\b|回答"),
        ("not_eaten", r"我(?:[很最]?讨厌|从?不(?:[能会爱]|喜欢)?)吃"),
        ("allergy", r"\ballerg\w+\b|过敏"),
        ("coffee", r"\b(?:coffees?|espressos?)\b|咖啡"),
        ("cat", r"\b(?:cats?|kitten)\b|猫"),
        ("dog", r"\b(?:dogs?|puppy)\b|狗"),
        ("sister", r"\bsisters?\b|姐姐|妹妹|姐妹"),
        ("brother", r"\bbrothers?\b|哥哥|弟弟|兄弟"),
        ("mother", r"\b(?:mother|mum|mom)\b|妈妈|母亲"),
        ("father", r"\b(?:father|dad)\b|爸爸|父亲"),
        ("partner", r"\b(?:partner|husband|wife|boyfriend|girlfriend)\b|丈夫|妻子|伴侣|老公|老婆"),
        ("birthday", r"\b(?:birthday|born)\b|生日|出生"),
        ("book", r"\bbooks?\b|书"),
        ("plant", r"\bplants?\b|植物"),
        ("balcony", r"\bbalcon(?:y|ies)\b|阳台"),
        ("exhibition", r"\bexhibitions?\b|展览"),
        ("museum", r"\bmuseums?\b|博物馆"),
        ("interview", r"\binterviews?\b|面试"),
    )
)
THINGS: Final = frozenset(name for name, _ in _TOPICS) - {
    *("name", "home", "move", "age", "occupation", "interests", "answers", "not_eaten"),
    *("allergy", "birthday"),
}
"""Topics that are persons, animals and things, for which a pronoun may stand."""
_WEAK: Final = frozenset({"name"})
"""Topics too general to match a line alone."""
_ASKS_OWN_NAME: Final = re.compile(
    r"\bmy (?:\w+ )?names?\b|\bam i\b|\bi(?:'m| am)? called\b|我的?(?:姓名|名字|全名)|我叫|我是谁",
    re.IGNORECASE,
)
_COMMON: Final = frozenset(
    terms_of(
        "what when where which who whom whose how why is are am was were do does did have has had "
        "my me i you your we our the a an to of in on at for it its about that this and or be been "
        "will would can could should many much now still there any call called tell know remember "
        "name please long often by with from today tonight tomorrow yesterday "
        "am get gets got getting go goes going into "
        "什么 什么时候 怎么 为什么 我的 你的 哪里 多少 时候 今天 今晚 明天 昨天"
    )
)
_WORDS_SHARE_MIN: Final = 0.5
_PAIRS_SHARE_MIN: Final = 0.3
_OF_THE_DAY: Final = 4.0
"""Weight of being true on the day that is asked for: more than that of a profile's field."""
_HAN: Final = re.compile("[\u3400-\u9fff]")


def best_of(
    said: str, lines: Sequence[RememberedLine], *, about: frozenset[str] = frozenset()
) -> RememberedLine | None:
    """
    Return the line most relevant to *said*, the newest of equals; ``None`` for none.

    Only lines on one of the topics *about*, if there are any; and of what is so now nothing that
    answers how it was before.
    """
    topics, terms = topics_of(said), _terms_of(said)
    if terms and topics <= _WEAK and not _ASKS_OWN_NAME.search(simplified(said)):
        topics = frozenset()  # "What is the boat called?" asks for no name of the user
    on = day_in(said)
    asks_past = bool(_ASKS_PAST.search(simplified(said)))
    asks_before = on is None and bool(ASKS_BEFORE.search(simplified(said)))
    score = partial(_score, topics=topics, terms=terms, asks_past=asks_past, on=on)
    scored = [
        (score(each), each.day or date.min, number, each)
        for number, each in enumerate(lines)
        if each.text.strip() != said.strip()
        and (not about or about & topics_of(each.text))
        and not (asks_before and each.is_so_now)
    ]
    best = max(scored, default=None, key=lambda each: each[:3])
    return best[3] if best is not None and best[0] > 0 else None


def _score(
    line: RememberedLine,
    topics: frozenset[str],
    terms: frozenset[str],
    *,
    asks_past: bool,
    on: date | None,
) -> float:
    """Return the relevance of a line to a question, which may be about one day; 0 for none."""
    own = topics_of(line.text) | ({line.field} & topics)
    strong = topics - _WEAK or topics
    shared = len(terms & _terms_of(line.text)) / len(terms) if terms else 0.0
    least = _PAIRS_SHARE_MIN if any(_HAN.search(each) for each in terms) else _WORDS_SHARE_MIN
    if not strong & own and (strong or shared < least):
        return 0.0
    score = 3.0 * len(strong & own) + len(topics & own) + 2.0 * shared
    score += 2.0 * (topic_of_field(line.field) in strong)
    if line.is_memory and on is not None and (was_true := line.is_true_on(on)) is not None:
        return max(0.1, score + (_OF_THE_DAY if was_true else -_OF_THE_DAY))
    if line.is_memory:
        return score + 0.5 + (1.0 if asks_past else -2.0) * (line.tense == "until")
    if _IS_QUESTION.fullmatch(line.text.strip()):
        return 0.0  # what was only asked answers nothing
    is_question = bool(ASKS.search(simplified(line.text)))
    return max(0.1, score - 0.6 * (line.speaker == "assistant") - 2.0 * is_question)


def topic_of_field(field: str) -> str:
    """Return the topic of a profile's field."""
    return "name" if field == "user_name" else field


def topics_of(text: str) -> frozenset[str]:
    """Return the topics that a text is about."""
    plain = simplified(text).replace("_", " ")
    return frozenset(name for name, rule in _TOPICS if rule.search(plain))


def _terms_of(text: str) -> frozenset[str]:
    """Return the terms that say something: of Chinese the pairs of characters."""
    found = set(terms_of(text)) - _COMMON
    return frozenset(each for each in found if len(each) > 1 or not _HAN.match(each))
