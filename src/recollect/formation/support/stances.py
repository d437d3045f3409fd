"""
Stances: what a sentence likes, dislikes, is allergic to, and what it denies.

Read clause by clause, by small lists of words in some languages. A language that is not in
the lists has no stances, and nothing is concluded from that.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from recollect.formation.support.content_words import Token, tokens_in
from recollect.text.chinese_scripts import simplified
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.short_texts import kept_if_short

Attitude: TypeAlias = Literal["likes", "prefers", "dislikes", "allergic"]

Stance: TypeAlias = tuple[Attitude, bool]
"""An attitude, and whether it is denied."""
GOOD: Final[frozenset[Stance]] = frozenset(
    {("likes", False), ("prefers", False), ("dislikes", True)}
)
BAD: Final[frozenset[Stance]] = frozenset(
    {("likes", True), ("dislikes", False), ("allergic", False)}
)
_REACH_WORDS: Final = 7
"""A denial reaches so many words of its clause; in Chinese and Japanese, all of it."""
_CLAUSE: Final = lazy_pattern(
    r"[.!?;:,\n()\uff08\uff09\u3002\uff01\uff1f\uff1b\uff1a\uff0c\u3001\u2014\U0001f300-\U0001faff]+"
    # Who chats in Chinese parts clauses with spaces: 我爸开 我不会开车.
    # Signs of the face stand there too: 沒那麼誇張= = 下禮拜二去.
    r"|(?:(?<=[\u3400-\u9fff~=^])|(?<=[\u3400-\u9fff][xX]D)|(?<=[\u3400-\u9fff]QQ))"
    r"[ \u3000]+(?=[\u3400-\u9fff])"
    # "No howling since Waylon's at my mom's"; not "no howling since May".
    r"|\b(?:since|now that)(?= (?:i|we|he|she|it|they)\b| [\w-]+'s (?!birthday|wedding|visit)"
    r"| (?:my|our|his|her|their|the) \w+(?:'s| is| are| has| had| left| went| moved)\b)"
    r"|\b(?:but|because|though|although|while|whereas|however|so that"
    r"|so(?= (?:i|we|he|she|they)\b)|aber|sondern|weil|pero|sino"
    r"|porque|mais|parce que|mas|ma|perche)\b|但是|但|不过(?!敏)|因为|所以|然而|而是"
    # 人不坏就是爱发语音: "not bad, but fond of voice messages".
    "|(?<=不[^是])就是|(?<=不[^是][\u3400-\u9fff])就是"
    r"|(?<=\s)(?:and|\+|&)\s+(?=(?:i|we|he|she|they)\b)",
    re.IGNORECASE,
)
_JOINT: Final = lazy_pattern(r"and|[+&]", re.IGNORECASE)
_OPINION: Final = lazy_pattern(
    r"\b(?:think|believe|suppose|reckon|guess|say|said|sure|true|know|told)\b", re.IGNORECASE
)
"""An opinion, whose sentence may have two subjects: "I don't think Tom and I like tea"."""
# Said with a word of denial, and denying nothing.
_IDIOM: Final = lazy_pattern(
    r"\b(?:can(?:'t|not) wait|don'?t (?:forget|worry|mind)|do not forget|not only|not just"
    r"|no (?=\w+ are fine\b)|no,? (?:hang on|hold on|wait)\b|no (?:problem"
    r"|worries|doubt|idea|need|way|wonder|rush)|why (?:don't|not)|never mind|nothing but|can't help"
    r"|not to mention|if not|or not|isn't it|aren't (?:they|you)|don't you|doesn't it"
    r"|no longer than"
    r"|(?:can't|cannot|couldn't) (?:believe|resist|stop|get enough of|be (?:happier|prouder|better"
    r"|more)|recommend \w+ enough)|(?:don't|won't|wouldn't) (?:forget|miss|get me wrong)"
    r"|(?:didn't|hadn't|never) (?:expect\w*|realis\w*|realiz\w*|notic\w*|thought|imagin\w*)"
    r"|never (?:been|felt) (?:happier|better|so|more)|no more than|not least|no thanks"
    # What is taken back denies no more: "forget that I said I don't eat mutton".
    r"|forget (?:that |what )?i (?:ever )?(?:said|told (?:you|u)) (?:that )?i (?:don't|dont|do not"
    r"|can't|cant|never|am not|wasn't)"
    # "Nah savannah's swapping with me", "nah we'd rather walk": it answers, and a sentence follows.
    r"|(?:nope|nah|naw)(?![^.,;:!?\n]*(?:n't|n(?:o|ot|ever|one)\b|\b(?:ca|wo|do)nt\b))"
    r"(?= \w+(?:'\w+| \w+){0,2}?(?:'(?:s (?:\w+ing|\w+ed|got|been|on|in|at|the|a|my|off|fine|ok"
    r"|good|better|gonna)|re|ll|d|ve)| (?:is|are|was|were|will|has|have|does|did|can|would|wants?"
    r"|got|said|says|works?|comes?|gives?|makes?|brings?)\b))"
    r"|no(?= \w+'(?:s \w+ing|ll|re|ve)\b)"
    r"|nothing (?:beats|better|like)|not (?:bad|sure|yet sure)|(?:no|nope|nah|naw),? (?:i|i'm|im|we"
    # "I look, no that word" denies the word; "no that helps" answers.
    r"|it|its|it's|my|that(?! [a-z]{3,}(?<!s)(?<!ed)\s*(?:$|[.,;!?)]))|he|she|they"
    r"|(?:be)?cause of)|nicht nur|kein problem|no solo)\b"
    r"|不好意思|唔该|唔好意思|[唔冇]紧要|冇问题|不错|不客气|没关系|没事|没问题|差不多|要不要|是不是|好不好|能不能|会不会|有没有"
    r"|(?:(?<=[\s，,。.！!？?])|(?<!.))(?:不是?|没有?|唔[系使]|冇)[啦啊喔哦呀](?=[^不没冇唔未别，。！？]{4,40}(?:[，。！？]|$))"
    r"|不仅|不但"
    r"|不只|对不起|了不起|不用谢|不过(?!敏)|不然|不久|不管|不如|不同|不少|无论|别人|别的|特别"
    r"|区别|分别|个别|没想到|不料|不得不|不得已|忍不住|恨不得|巴不得|不愧|不光|不单|不止|离不开|少不了"
    r"|免不了|没多久|没几[天年月]|不多久|不小心|不知不觉|无不|动不动|对不对|不一会|毫无疑问|不由得|要不是"
    r"|(?:忘了?|别管|收回)我(?:之前|上次)?说过?(?:的)?(?:我)?不|不是(?=[\s，,、。.…~]+是)|不论|不妨|不免|不禁|不断|不停|不错过"
    r"|雷打[不唔]动|风雨不改|迫不及待|坚持不懈",
    re.IGNORECASE,
)
_DENIAL: Final = lazy_pattern(
    r"\b(?:not|never|no(?!-| one else\b)|nae|nane|naw"
    r"|cannae|dinnae|dinna|(?-i:dinny)"  # Dinny is a name
    r"|(?:is|was|wis|does|has|have|had|did|are|were|should|could|would|will)n(?:ae|y)"
    r"|none|(?:nothing|nobody|nowhere)(?! else\b)|without|neither|nor|cannot|can't|cant"
    r"|won't|wont"
    r"|don't|dont|doesn't|doesnt|didn't|didnt|isn't|isnt|aren't|wasn't|weren't|haven't|hasn't"
    r"|hadn't|(?:are|was|were|have|has|had|should|would|could|must|need|ai)nt"
    r"|shouldn't|wouldn't|couldn't|mustn't|needn't|ain't|no longer"
    r"|ent(?! (?:doctor|dr|specialist|clinic|dep|appointment|consultant|surgeon|referral|ward"
    r"|unit))"
    r"|any ?more|stopp?(?:s|ed|ing)?|quit(?:s"
    r"|ting)?|gave"
    r" up|giv(?:e|es|en|ing) up|avoid(?:s|ed|ing)?|refus(?:e|es|ed|ing)|lack(?:s|ed|ing)?"
    r"|instead of"
    r"|rather than|free of|except(?! (?:it'?s|that|he|she|they|we|i)\b)"
    r"|exclud(?:e|es|ed|ing)|skip(?:s|ped|ping)?|hardly|rarely"
    r"|outgr[eo]wn?|grew out of|nope|nah|gone off|go(?:es)? off|went off|hard pass|unaware|unable"
    r"|nicht|nie|niemals|kein(?:e|en|em|er|es)?|ohne|nichts|aufgehort|statt"
    r"|ya no|nunca|jamas|sin|ningun[oa]?|nada|tampoco|dejo de|deje de"
    r"|ne|pas|jamais|sans|aucune?|plus de|non(?!-)|mai|senza|nessun[oa]?|nao|nem|sem|nenhum[a]?"
    r"|niet|nooit|geen|zonder)\b|\b[a-z]{3,30}-free\b"
    r"|不|没|無|无|非|未|别(?!嘌)|勿|戒|禁|避|拒|忌|停|取消|放弃|免|除了|唔|冇|咪|ない|ません|なく|ず"
    r"|じゃな|안|않|못|없",
    re.IGNORECASE,
)
# Words of an end: who says them may be told of as no longer doing it.
_PAST: Final = lazy_pattern(
    r"\b(?:over|ex|former|formerly|used to|cancell?(?:ed|s|ing)?|ended|ends|finished|sold|left|lost"
    r"|broke up|split|divorced|moved out|past(?= ?[.,;]|$)|in the past|no more|gone"
    r"|switched|switch|swapped|replaced|instead|changed|only|just"
    r"|retired|died|passed away|got rid|out of|seldom|few|little|short|brief|too|unlike|alone"
    r"|single"
    r"|nonexistent|zero|nil|(?:is|are|was|were|'s|it'?s) off|barely|rusty|out|away|vegan"
    r"|vegetarian|teetotal|sober|banned|hopeless"
    r"|useless|bad at|terrible|fail(?:s|ed)?|tired of"
    r"|fruher|vorbei|antes|solo|avant|seulement|antes|apenas|so)\b"
    r"|以前|曾经|原来|结束|分手|离(?=[开职婚异世去队])|卖|换|改(?!善)|(?<![\d一二三四五六七八九十两几每这那])只|仅|简短"
    r"|少(?!年)|单[身独]|素(?![质材])|全职|独[自居]|怕|难|差(?!不多)|太(?![太阳原平极])|受不了|吃不消",
    re.IGNORECASE,
)
_ATTITUDES: Final[tuple[tuple[Attitude, re.Pattern[str]], ...]] = (
    (
        "allergic",
        lazy_pattern(
            r"\b(?:allerg\w*|intoleran\w*|anaph[yia]l\w*|celiac\w*|coeliac\w*|allergisch\w*"
            r"|alergi\w*"
            r"|alergic\w*|unvertraglich\w*|intoleranci\w*)\b|过敏|不耐|不耐受|アレルギー|알레르기",
            re.IGNORECASE,
        ),
    ),
    (
        "dislikes",
        lazy_pattern(
            r"\b(?:dislik\w*|hat(?:e|es|ed|ing)|detest\w*|loath\w*|despis\w*|(?:can't|cannot"
            r"|can not)"
            r" (?:stand|bear)|not a fan|sick of|tired of|fed up|gross|disgust\w*|hass(?:e|t|en)"
            r"|odi[ao]|odei[ao]|detesto"
            r"|deteste|odeia)\b|讨厌|受不了|厌恶|反感|嫌|嫌い|苦手|싫",
            re.IGNORECASE,
        ),
    ),
    (
        "likes",
        lazy_pattern(
            r"\b(?:lik(?:e[sd]?|ing)|lov(?:e|es|ed|ing)|enjoy\w*|ador(?:e|es|ed)|fan|fond|keen"
            r"|favou?rites?"
            r"|passion\w*|obsess\w*|mag|mogen|liebt?|gern|gusta[n]?|encanta[n]?|aime|adore|gosta"
            r"|gosto"
            r"|piace)\b|喜欢|喜爱|热爱|钟爱|爱(?!人|情|护|心)|好き|좋아",
            re.IGNORECASE,
        ),
    ),
)
_PREFERS: Final = lazy_pattern(
    r"\b(?:prefer(?:s|red|ence|ences)?|rather|prefier[eo]|prefere|prefer[io])\b|偏好|偏爱|宁可"
    r"|宁愿|只认|认准|首选|只用|只买",
    re.IGNORECASE,
)
# "I'd like to …", "like this": no liking.
_NO_LIKING: Final = lazy_pattern(
    r"\b(?:would|'d|i'd|we'd|(?:feel|look|sound|seem|tast|smell)(?:s|e[ds]?|ed|ing)?|felt|smelt"
    r"|something"
    r"|things"
    r"|stuff|was|is|be|just) like\b|\blike (?:a|an|this|that|these|those|the|so|when|if|it|\d)\b"
    r"|\blikely\b|\bi am fan\b",
    re.IGNORECASE,
)
# Denials of Japanese and Korean, which stand behind what they deny.
_AT_END: Final = lazy_pattern("ない|ません|なく|ず|じゃな|안|않|못|없")
_WHO: Final = lazy_pattern("[我你妳他她它]")
"""A pronoun behind a denial begins another clause: 可以不要两点吗我到一点半."""
_PLAIN_LETTERS: Final = {
    ord(each): plain
    for each in map(chr, range(0xC0, 0x250))
    if (plain := unicodedata.normalize("NFD", each)[0]) != each
} | {ord("\u2019"): "'"}


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a text: its words, where it denies, and its attitudes, each denied or not."""

    text: str
    words: tuple[Token, ...]
    denials: tuple[int, ...]
    attitudes: frozenset[Stance]
    tells_end: bool = False

    def denies(self, at: int, *, is_run: bool = False, reach: int = _REACH_WORDS) -> bool:
        """Return True if the value at *at* is denied, at most *reach* words before it."""
        if is_run:
            return any(
                (start < at and not _WHO.search(self.text, start, at))
                or _AT_END.match(self.text, start)
                for start in self.denials
            )
        return any(
            start < at and sum(start < each.start < at for each in self.words) <= reach
            for start in self.denials
        )


@kept_if_short
def clauses_in(text: str) -> tuple[Clause, ...]:
    """
    Return the clauses of a text of bounded length.

    >>> [sorted(each.attitudes) for each in clauses_in("I like tea, I'm not allergic to nuts")]
    [[('likes', False)], [('allergic', True)]]
    """
    text = _IDIOM.sub(_blank, _usual(text))
    found: list[Clause] = []
    start = 0
    for match in (*_CLAUSE.finditer(text), None):
        end = match.start() if match else len(text)
        if match and _JOINT.match(match.group()) and _OPINION.search(text, start, end):
            continue
        if text[start:end].strip():
            found.append(_clause(text[start:end]))
        start = match.end() if match else end
    return tuple(found)


def stances_in(text: str) -> frozenset[Stance]:
    """Return the attitudes of a text of bounded length, each denied or not."""
    return frozenset(each for clause in clauses_in(text) for each in clause.attitudes)


def tells_end(text: str) -> bool:
    """Return True if *text* has a word of an end: sold, left, 以前."""
    return _PAST.search(text) is not None


@kept_if_short
def tells_liking(word: str) -> bool:
    """Return True for a word that expresses liking or dislike."""
    return any(
        pattern.fullmatch(word) for attitude, pattern in _ATTITUDES if attitude != "allergic"
    ) or bool(_PREFERS.fullmatch(word))


def _usual(text: str) -> str:
    """Return *text* simplified and without the accents of Latin letters, at its length."""
    return simplified(text).translate(_PLAIN_LETTERS)


def _blank(match: re.Match[str]) -> str:
    return "~" * len(match.group())


def _clause(text: str) -> Clause:
    words = tuple(tokens_in(text))
    denials = tuple(match.start() for match in _DENIAL.finditer(text))
    bare = Clause(text, words, denials, frozenset())
    attitudes: set[Stance] = set()
    if _PREFERS.search(text):
        attitudes.add(("prefers", False))  # of two things: which is liked less is not told
    for attitude, pattern in _ATTITUDES:
        where = _NO_LIKING.sub(_blank, text) if attitude == "likes" else text
        for match in pattern.finditer(where):
            is_run = not match.group().isascii()
            # What dislikes in two words ("can't stand") holds its own denial.
            attitudes.add((attitude, bare.denies(match.start(), is_run=is_run)))
    return Clause(text, words, denials, frozenset(attitudes), tells_end(text))
