"""
Chat answers of the rule model: it quotes the memories in its prompt, with dates.

It finds the memory that answers a question by its words and by a short glossary of questions about
oneself, in English and in both scripts of Chinese, and says so if there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final, Literal

from recollect.formation.remembered_lines import RememberedLine, day_in, remembered_in
from recollect.text.analysis import terms_of
from recollect.text.chinese_scripts import simplified
from recollect.text.small_talk import is_small_talk
from recollect.text.terms import MONTHS

Language = Literal["en", "zh", "zh-hant"]

_ASKS: Final = re.compile(
    r"[?？]\s*$|^\W*(?:what|when|where|which|who|whom|whose|how|why|do|does|did|is|are|am|was|were"
    r"|can|could|have|has|had|should|tell me)\b"
    r"|[吗呢]\W*$|什么|哪|谁|几|多少|怎么|何时|是不是|有没有",
    re.IGNORECASE,
)
_ASKS_ALL: Final = re.compile(
    r"\bwhat do you (?:know|remember)(?: about me)?\W*$|\bwho am i to you\b"
    r"|你(?:都|还)?(?:知道|记得)(?:我的?)?(?:些|关于我的)?什么|关于我.*(?:知道|记得)",
    re.IGNORECASE,
)
_ASKS_PAST: Final = re.compile(
    r"\b(?:did|was|were|used to|before|earlier|formerly)\b|以前|之前|曾经|过去|原来", re.IGNORECASE
)
_ASKS_BEFORE: Final = re.compile(
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
        ("home", r"\b(?:liv(?:e|es|ed|ing)|home|address)\b|住|我家|我的家(?![人庭])|地址"),
        ("move", r"\bmov(?:e|es|ed|ing)\b|搬"),
        ("age", r"\b(?:age|aged|how old|years old)\b|多大|几岁|\d岁"),
        ("occupation", r"\b(?:work(?:s|ed|ing)?|jobs?|occupation|for a living)\b|工作|职业|上班"),
        ("interests", r"\b(?:likes?|loves?|enjoys?|interests?|hobb(?:y|ies))\b|喜欢|爱好|兴趣"),
        ("answers", r"\bconversation_preferences\b|\binstructions\b|\banswer\b|回答"),
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
_WEAK: Final = frozenset({"name"})
"""Topics too general to match a line alone."""
_COMMON: Final = frozenset(
    terms_of(
        "what when where which who whom whose how why is are am was were do does did have has had "
        "my me i you your we our the a an to of in on at for it its about that this and or be been "
        "will would can could should many much now still there any call called tell know remember "
        "name please long often by with from today tonight tomorrow yesterday "
        "什么 什么时候 怎么 为什么 我的 你的 哪里 多少 时候 今天 今晚 明天 昨天"
    )
)
_WORDS_SHARE_MIN: Final = 0.5
_PAIRS_SHARE_MIN: Final = 0.3
_OF_THE_DAY: Final = 4.0
"""Weight of being true on the day that is asked for: more than that of a profile's field."""
_SHOWN_OF_ALL: Final = 6
_HAN: Final = re.compile("[\u3400-\u9fff]")

_SENTENCES: Final[dict[Language, dict[str, str]]] = {
    "en": {
        "memory": "I remember: {quote}{when}.",
        "user": "You said{on}: {quote}.",
        "assistant": "I said{on}: {quote}.",
        "nothing": "I remember nothing about that. Tell me, and I will.",
        "all": "This is what I remember: {quotes}.",
        "noted": "Noted: {quotes}. It becomes a memory when the talk pauses.",
        "until_now": " Until now I remembered: {quote}{when}.",
        "told_here": " In this talk you said: {quote}.",
        "small_talk": "I am here. Tell me something, or ask what I remember.",
        "kept": "Kept. My few rules make no memory of it; ask me, and I find it again.",
    },
    "zh": {
        "memory": "我记得：{quote}{when}。",
        "user": "你{on}说过：{quote}。",
        "assistant": "我{on}说过：{quote}。",
        "nothing": "关于这件事，我什么都不记得。告诉我，我就会记住。",
        "all": "我记得这些：{quotes}。",
        "noted": "记下了：{quotes}。谈话停顿后，它会成为记忆。",
        "until_now": "在此之前我记得：{quote}{when}。",
        "told_here": "在这次谈话中你说过：{quote}。",
        "small_talk": "我在。告诉我一些事，或者问我记得什么。",
        "kept": "已保存。我的几条规则没有从中形成记忆；问我，我会再找到它。",
    },
    "zh-hant": {
        "memory": "我記得：{quote}{when}。",
        "user": "你{on}說過：{quote}。",
        "assistant": "我{on}說過：{quote}。",
        "nothing": "關於這件事，我什麼都不記得。告訴我，我就會記住。",
        "all": "我記得這些：{quotes}。",
        "noted": "記下了：{quotes}。談話停頓後，它會成為記憶。",
        "until_now": "在此之前我記得：{quote}{when}。",
        "told_here": "在這次談話中你說過：{quote}。",
        "small_talk": "我在。告訴我一些事，或者問我記得什麼。",
        "kept": "已保存。我的幾條規則沒有從中形成記憶；問我，我會再找到它。",
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldEarlier:
    """A profile field stated earlier in this conversation: its value and the words."""

    field: str
    quote: str
    value: str


def answer_of(
    said: str, system: str, noted: Sequence[str], earlier: Sequence[ToldEarlier] = ()
) -> str:
    """
    Return the answer to the message *said* from the memories in the prompt *system*.

    Args:
        said: The user's words.
        system: The system prompt, with a memory in it.
        noted: The parts of the message that will be formed.
        earlier: The user's earlier statements in this conversation, oldest first; not formed yet.
    """
    language = language_of(said)
    if is_small_talk(said):
        return _sentence("small_talk", language)
    nothing = _sentence("nothing", language)
    lines = list(remembered_in(system))
    if _ASKS_ALL.search(simplified(said)):
        known = [each for each in lines if each.is_memory and each.tense != "until"]
        every = [_quote(each, language) for each in known[:_SHOWN_OF_ALL]]
        every += [_quoted(each.quote, language) for each in earlier if not _is_in(each, known)]
        return _sentence("all", language, quotes=_listed(every, language)) if every else nothing
    if _ASKS.search(simplified(said)):
        best = best_of(said, lines)
        told = _quote_with_date(best, language) if best else ""
        return (told + _quote_of_earlier(said, best, earlier, language)).strip() or nothing
    if not noted:
        return _sentence("kept", language)
    quotes = _listed([_quoted(each, language) for each in noted], language)
    answer = _sentence("noted", language, quotes=quotes)
    replaced = best_of(said, [each for each in lines if each.is_memory], is_news=True)
    if replaced is None or replaced.tense == "until":
        return answer
    return answer + _sentence(
        "until_now", language, quote=_quote(replaced, language), when=_when(replaced, language)
    )


def _is_in(told: ToldEarlier, known: Sequence[RememberedLine]) -> bool:
    return any(told.value in each.text for each in known)


def _quote_of_earlier(
    said: str, best: RememberedLine | None, earlier: Sequence[ToldEarlier], language: Language
) -> str:
    """Return a sentence that quotes the user's earlier messages about it, if they add anything."""
    lines = [RememberedLine(text=each.quote, field=each.field, speaker="user") for each in earlier]
    found = best_of(said, lines)
    if found is None:
        return ""
    told = earlier[lines.index(found)]
    if told.field != "note":
        *before, told = (each for each in earlier if each.field == told.field)
        told = before[-1] if before and _ASKS_BEFORE.search(simplified(said)) else told
    if best is not None and told.value in best.text:
        return ""
    return _sentence("told_here", language, quote=_quoted(told.quote, language))


def language_of(text: str) -> Language:
    """
    Return in which language, and script, *text* is to be answered.

    >>> language_of("Where do I live?"), language_of("我住在哪里？"), language_of("我住在哪裡？")
    ('en', 'zh', 'zh-hant')
    """
    if not _HAN.search(text):
        return "en"
    return "zh" if simplified(text) == text else "zh-hant"


def best_of(
    said: str, lines: Sequence[RememberedLine], *, is_news: bool = False
) -> RememberedLine | None:
    """
    Return the line most relevant to *said*, the newest of equals; ``None`` for none.

    News of a move (*is_news*) is about the home that it replaces, not about earlier plans to move.
    """
    topics, terms = _topics_of(said), _terms_of(said)
    if is_news and "move" in topics:
        topics = topics - {"move"} | {"home"}
    on = day_in(said)
    asks_past = bool(_ASKS_PAST.search(simplified(said)))
    score = partial(_score, topics=topics, terms=terms, asks_past=asks_past, on=on)
    scored = [
        (score(each), each.day or date.min, number, each)
        for number, each in enumerate(lines)
        if each.text.strip() != said.strip()
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
    own = _topics_of(line.text) | ({line.field} & topics)
    strong = topics - _WEAK or topics
    shared = len(terms & _terms_of(line.text)) / len(terms) if terms else 0.0
    least = _PAIRS_SHARE_MIN if any(_HAN.search(each) for each in terms) else _WORDS_SHARE_MIN
    if not strong & own and (strong or shared < least):
        return 0.0
    score = 3.0 * len(strong & own) + len(topics & own) + 2.0 * shared
    score += 2.0 * (_name_of(line.field) in strong)
    if line.is_memory and on is not None and (was_true := line.is_true_on(on)) is not None:
        return max(0.1, score + (_OF_THE_DAY if was_true else -_OF_THE_DAY))
    if line.is_memory:
        return score + 0.5 + (1.0 if asks_past else -2.0) * (line.tense == "until")
    is_question = bool(_ASKS.search(simplified(line.text)))
    return max(0.1, score - 0.6 * (line.speaker == "assistant") - 2.0 * is_question)


def _name_of(field: str) -> str:
    return "name" if field == "user_name" else field


def _topics_of(text: str) -> frozenset[str]:
    plain = simplified(text).replace("_", " ")
    return frozenset(name for name, rule in _TOPICS if rule.search(plain))


def _terms_of(text: str) -> frozenset[str]:
    """Return the terms that say something: of Chinese the pairs of characters."""
    found = set(terms_of(text)) - _COMMON
    return frozenset(each for each in found if len(each) > 1 or not _HAN.match(each))


def _quote_with_date(line: RememberedLine, language: Language) -> str:
    """Return the sentence that quotes a line, with its date."""
    quote = _quote(line, language)
    if line.is_memory:
        return _sentence("memory", language, quote=quote, when=_when(line, language))
    on = _day(line.day, language)
    if on:
        on = f" on {on}" if language == "en" else f"在{on}"
    who = "assistant" if line.speaker == "assistant" else "user"
    return _sentence(who, language, quote=quote, on=on)


def _sentence(name: str, language: Language, **values: str) -> str:
    """Return a sentence with its values, which are never read as templates."""
    template = _SENTENCES[language][name]
    return re.sub(r"\{(\w+)\}", lambda place: values[place[1]], template)


def _quote(line: RememberedLine, language: Language) -> str:
    return _quoted(line.text, language)


def _quoted(text: str, language: Language) -> str:
    text = text.rstrip("。. ")  # the sentence around it has its own end
    return f"「{text}」" if language == "zh-hant" else f"“{text}”"


def _listed(quotes: Sequence[str], language: Language) -> str:
    return ("; " if language == "en" else "；").join(quotes)


def _when(line: RememberedLine, language: Language) -> str:
    """Return in brackets since when, until when, or on which day it is so."""
    # "plans to move on 29 March (18 March)": two dates, and only the first one answers.
    if line.day is None or (not line.tense and day_in(line.text)):
        return ""
    day = _day(line.day, language)
    if language == "en":
        return f" ({line.tense} {day})" if line.tense else f" ({day})"
    written = {"since": f"自{day}", "until": f"至{day}", "": day}[line.tense]
    return f"（{written}）"


def _day(day: date | None, language: Language) -> str:
    if day is None:
        return ""
    if language == "en":
        return f"{day.day} {MONTHS[day.month - 1]} {day.year}"
    return f"{day.year}年{day.month}月{day.day}日"
