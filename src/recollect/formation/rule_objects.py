"""
Kinds of things that a question names and an answer need not: "Which instrument do I play?".

"I play the cello" answers it, since one plays instruments; so does "My instrument is the cello".
Of whom it is told must be the same, and "I want to play the cello" tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from recollect.text.cantonese import written_chinese

_INSTRUMENTS: Final = (
    r"(?:piano|guitar|violin|viola|cello|double bass|bass|drums|flute|clarinet|oboe|bassoon|trumpet"
    r"|trombone|tuba|horn|saxophone|sax|accordion|harp|banjo|ukulele|mandolin|harmonica|recorder"
    r"|organ|keyboards?|fiddle|bagpipes|lute|percussion|erhu|guzheng|pipa)s?\b"
)
_LANGUAGES: Final = (
    r"(?:[A-Z]\w+(?:ish|ese|ian|ean)|French|German|Dutch|Greek|Arabic|Hebrew|Hindi|Urdu|Bengali"
    r"|Tamil|Latin|Welsh|Thai|Czech|Icelandic|Basque|Catalan|Swahili|Mandarin|Cantonese|Farsi"
    r"|Galician|Gaelic|Tagalog|Zulu|Yoruba|Igbo)\b"
)
_SPORTS: Final = (
    r"(?:football|soccer|tennis|table tennis|badminton|basketball|handball|volleyball|hockey"
    r"|ice hockey|cricket|rugby|golf|squash|baseball|softball|water polo|polo|lacrosse|padel)\b"
)
_MUSIC: Final = (
    r"(?:jazz|rock|pop|k-?pop|soul|blues|folk|punk|metal|techno|classical|opera|hip[ -]?hop|rap"
    r"|reggae|country music|indie|ambient|funk|gospel|disco|bluegrass|flamenco|fado|bossa nova)\b"
)
_PASTIMES: Final = (
    r"(?:running|swimming|rowing|cycling|climbing|bouldering|skiing|surfing|sailing|hiking|yoga"
    r"|boxing|judo|karate|fencing|skating|snowboarding)\b"
)
_DRINKS: Final = (
    r"(?:tea|coffee|espresso|wine|beer|cider|whisky|gin|juice|lemonade|cocoa|matcha|kombucha)\b"
)
_LIKES: Final = r"(?:(?:most )?(?:like|love|enjoy)s?)(?: (?:most|best|to \w+))?"
_GAMES: Final = r"(?:chess|go|bridge|poker|backgammon|draughts|checkers|mahjong|scrabble)\b"
_KINDS: Final = tuple(
    (kind, verb, thing)
    for kind, verb, thing in (
        (
            "instruments?",
            "(?:play(?:s|ed|ing)?|learn(?:s|ed|t|ing)?|practi[sc](?:es?|ing))",
            rf"(?:the |an? )?(?:\w+ )?{_INSTRUMENTS}",
        ),
        ("sports?", "play(?:s|ed|ing)?", _SPORTS),
        ("games?", "play(?:s|ed|ing)?", _GAMES),
        ("music", _LIKES, _MUSIC),
        ("sports?", _LIKES, f"(?:{_SPORTS}|{_PASTIMES})"),
        ("drinks?", _LIKES, _DRINKS),
        (
            "languages?",
            "(?:speak(?:s|ing)?|spoke|learn(?:s|ed|t|ing)?|study|studie[sd]|studying)",
            rf"(?:\w+ )?(?-i:{_LANGUAGES})",
        ),
        (
            "cars?",
            "(?:driv(?:e|es|ing)|drove)",
            r"(?:an?|my) (?:\w+ ){0,2}?(?-i:[A-Z]\w+)\b(?! (?:bus|lorry|truck|taxi|tram|van)\b)",
        ),
    )
)
"""Kinds of things, what one does with them, and how the thing itself is said."""
_ASKED: Final = (
    r"\b(?:which|what) (?:other |kind of |sort of |type of )?(?P<kind>%s) "
    r"(?:do|does|did|can|am|is|are) (?P<who>[\w'\u2019]+(?: [\w'\u2019]+)?)"
    r" (?:(?:now|still|usually|be) ){0,2}(?P<verb>%s)\b"
)
_ADVERBS: Final = (
    r"(?:['\u2019](?:m|ve|re|s))?"
    r"(?: (?:also|still|now|mostly|always|often|usually|sometimes|really|mainly|currently|have|has"
    r"|am|is|are|been|can|do|did|and|just|recently|finally|started|began|begun|to)){0,3}"
)
_ENDED: Final = re.compile(
    r"\b(?:used to|no longer|any ?more|until|if|would|in the past|as an? (?:child|kid|boy|girl))\b",
    re.IGNORECASE,
)
_LIKES_CHINESE: Final = "我?(?:最|平时|都)?(?:喜欢|爱)(?:做|玩)?"
_LIKED_CHINESE: Final = (
    "(?:我(?:也|还|最|很|特别|非常)?(?:喜欢|爱)|^(?:兴趣|interests)[：:])[^。！？不]{0,12}"
)
_CHINESE: Final = (
    (
        re.compile("我?(?:会|在)?(?:弹|拉|吹|打|学|演奏|玩)(?:的是)?(?:什么|哪[种个些])乐器"),
        re.compile(
            "我(?:会|在|也|还|一直|从小|现在|最近|刚|正|已经|开始|[昨今]天|[去今前]年|上个?[周月]|上星期)*(?:弹|拉|吹|打|学|演奏)(?:的是)?[^，。！？不没着]{0,4}"
            "(?:琴|笛|鼓|吉他|贝斯|萨克斯|小号|长号|圆号|箫|笙|琵琶|古筝|二胡|唢呐)(?![箱盒谱房行店])"
        ),
    ),
    (
        re.compile(f"{_LIKES_CHINESE}听?(?:什么|啥|哪[种类些])(?:样的?|类型的?)?(?:音乐|歌曲?)"),
        re.compile(
            f"{_LIKED_CHINESE}(?:爵士|摇滚|古典|民谣|流行|嘻哈|说唱|电子|蓝调|灵魂|歌剧|[粤英日韩国台]语?歌|老歌)"
        ),
    ),
    (
        re.compile(f"{_LIKES_CHINESE}(?:什么|啥|哪[种类些])(?:样的?|类型的?)?运动"),
        re.compile(
            f"{_LIKED_CHINESE}(?:跑步|游泳|爬山|登山|划船|骑(?:自行)?车|瑜伽|健身|滑[雪冰]|冲浪|太极|[羽网足篮排台乒棒][^，。；]{{0,2}}球)"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class AskedObject:
    """
    The thing that a question asks for by its kind: the words of it, and how an answer has it.

    *words* are those of the question that need not stand in an answer.
    """

    words: str
    told: re.Pattern[str]

    def is_told_by(self, text: str) -> bool:
        """Return True if a text says which one it is, and that it is still so."""
        return any(
            not _ENDED.search(_sentence_around(text, *found.span()))
            for found in self.told.finditer(text)
        )


def asked_object(asked: str, names: Iterable[str] = ()) -> AskedObject | None:
    """
    Return what a question asks for by its kind and a verb, ``None`` if it does not.

    *names* are those of the user.

    >>> asked_object("Which instrument do I play?").is_told_by("I play the cello.")
    True
    >>> asked_object("Which instrument do I play?").is_told_by("My brother plays the cello.")
    False
    """
    plain = written_chinese(asked)
    for asks, told in _CHINESE:
        if found := asks.search(plain):
            return AskedObject(words=found[0], told=told)
    for kind, verb, thing in _KINDS:
        found = re.search(_ASKED % (kind, verb), plain, re.IGNORECASE)
        if found is None:
            continue
        who = found["who"].lower()
        is_user = who in ("i", "we") or found["who"] in set(names)
        subject = "|".join(["I", "we", *map(re.escape, sorted(names))])
        if not is_user:
            subject = re.escape(who.removeprefix("my "))
        own = rf"|\bmy (?:\w+ )?(?:{kind}) (?:is|are) (?:the |an? )?{thing}" if is_user else ""
        if is_user and verb == _LIKES:
            own += rf"|^interests: [^.;]{{0,80}}\b{thing}"
        if is_user and kind == "cars?":
            own = r"|\bmy (?:\w+ )?car is (?:an? |my )?(?:\w+ ){0,2}?(?-i:[A-Z]\w+)"
        between = r"[^.;!?]{0,40}\b" if verb == _LIKES else ""
        answer = rf"\b(?:{subject}){_ADVERBS} {verb} {between}{thing}{own}"
        return AskedObject(
            words=f"{found['kind']} {found['verb']}", told=re.compile(answer, re.IGNORECASE)
        )
    return None


def _sentence_around(text: str, start: int, end: int) -> str:
    """Return the sentence in which a span of a text stands."""
    begin = max(text.rfind(each, 0, start) for each in ".!?。！？\n") + 1
    ends = [at for each in ".!?。！？\n" if (at := text.find(each, end)) >= 0]
    return text[begin : min(ends, default=len(text))]
