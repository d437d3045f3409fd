"""
Requests for advice, and what a person told that bears on any advice.

"Suggest a dessert" shares no word with "I am allergic to nuts". So a request for advice is never
idle talk: it gets what tells a diet, a dislike, a liking or a wish.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from recollect.formation.support.stances import stances_in
from recollect.recall.query_analysis import is_question
from recollect.recall.results import Recalled, ScopedMessage
from recollect.records import Memory, Message
from recollect.stores.field_evidence import each_evidence
from recollect.text.analysis import terms_of
from recollect.text.chinese_scripts import simplified

ADVICE_ENTRIES: Final = 5
"""Entries that a request for advice gets beside those that bear on its words."""
REQUEST_CHARACTERS_MAX: Final = 240
"""Longest turn that counts as a request: a longer one has enough words to search by."""
READ_CHARACTERS: Final = 2_000
"""Characters of an entry that are read for an attitude."""
ATTITUDE_QUERY: Final = (
    "allergic allergy intolerance vegetarian vegan diet eat like love enjoy favourite favorite "
    "prefer hate dislike want wish hope 过敏 忌口 吃素 不吃 喜欢 讨厌 偏好 希望 想要"
)
"""The words of attitudes, by which a request for advice searches a second time."""

_POLITE: Final = (
    r"(?:^|[.!?;:,\n] {0,3})(?:(?:hey|hi|hello|okay?|so|please|now|then|and|also|well)[ ,]{1,3})"
    r"{0,4}"
    r"(?:(?:can|could|would|will) (?:you|u) )?(?:please |kindly |just )?"
)
_ENGLISH: Final = re.compile(
    rf"{_POLITE}(?:"
    r"(?:suggest|recommend|advise|plan|organi[sz]e|cook|bake|surprise me)\b"
    r"|(?:make|order|book|find|pick|choose|get|design|prepare) (?:me|us|a (?:menu|plan|trip))\b"
    r"|(?:pick|choose|find) .{1,40} for (?:me|us|my|our|tonight|dinner|lunch)\b"
    r"|help (?:me|us) (?:to )?(?:choose|pick|decide|plan|find|cook|write|draft|prepare|pack)\b"
    r"|(?:give|send|show) (?:me|us) (?:some |a few |your )?(?:ideas?|advice|tips?|suggestions?"
    r"|recommendations?|inspiration|(?:a )?recipes?)\b"
    r"|(?:write|draft|compose) (?:(?:me|us) )?(?:an? |the |some )?(?:\w+ ){0,2}?(?:e-?mail|letter"
    r"|message|reply|post|speech|toast|bio|note|card|invitation|introduction|caption|text)\b)"
    r"|\bwhat (?:do|would|can|could) you (?:suggest|recommend|advise)\b"
    r"|\b(?:what|which|where|how)\b.{0,30}\b(?:should|shall|could) (?:i|we)\b"
    r"|\bwhere can (?:i|we)\b|\bgood (?:place )?to (?:eat|drink|cook|see|do|read|watch|stay)\b"
    r"|\bwhat to (?:eat|cook|make|drink|wear|give|get|buy|read|watch|do|pack|order)\b"
    r"|\b(?:any|some|need|want) (?:\w+ ){0,2}?(?:ideas?|advice|tips|suggestions?"
    r"|recommendations?)\b"
    r"|\b(?:ideas|tips|recipes?|suggestions|recommendations) for\b"
    r"|\b(?:gift|present|dinner|lunch|menu|recipe|date|trip|party|weekend|film|movie|book)"
    r" (?:ideas?|suggestions?|recommendations?|tips)\b",
    re.IGNORECASE,
)
"""As in "Suggest a dessert", "Help me pack", "What should I wear?", "Write me an email"."""
_CHINESE: Final = re.compile(
    "(?:推荐|介绍)(?:一|几|个|些|点|下|两|三|款|道|家|本|部|首|什么|哪)"
    "|(?:求|请|给我|给点|给些|有(?:什么|啥|没有|无)|来点|提(?:个|些|点)?)[^。！？\n]{0,6}(?:推荐|建议|主意|灵感|点子)"
    "|(?:你|您)(?:会|能)?(?:推荐|建议)(?:我|什么|吃|去|看|买|哪)"
    "|(?:有(?:什么|啥|哪些|没有)|哪(?:家|里|儿|部|本|款|些))[^。！？\n]{0,4}(?:好吃|好玩|好看|好喝|好的?|适合|值得)"
    "|(?:今[天晚]|明[天晚]|早上|中午|晚上|[早午晚]饭|[早午晚]餐|周末|生日|假期|过年|该|想|应该|可以)"
    "[^。！？\n]{0,6}(?:吃|喝|做|煮|买|送|穿|看|玩|去|读|听)(?:点|些|个)?(?:什么|啥|哪)"
    "|(?:吃|喝|做|煮|买|送|穿|看|玩|去|读|听)(?:点|些|个)?(?:什么|啥|哪[里儿家]?)[^。！？\n]{0,4}(?:好|呢|合适|适合)"
    "|(?:帮|替|给)(?:我|我们)(?:选|挑|规划|安排|计划|策划|想|推荐|找|订|准备|决定|参谋|出|做[一道个顿]|煮|烤)"
    "|(?:规划|安排|计划|策划|制定|设计)(?:一下|一次|一个|一份|一场|个|下|份)|出个?主意"
    "|(?:[早午晚]餐|菜单|礼物|旅行|旅游|电影|书|食谱|行程)(?:的)?(?:推荐|建议|主意)"
    "|写一?(?:封|篇|段|份|条|张|个)[^。！？\n]{0,8}(?:邮件|信|文案|自我介绍|贺卡|请柬|朋友圈|发言|讲稿|致辞|简历|回复|短信|祝福|便条)"
    "|(?:做|煮|烤|来)一?(?:道|顿|份)",
)
"""As in 推荐一本书, 晚饭吃什么好, 帮我选, 写一封邮件."""
_DIET: Final = re.compile(
    r"\b(?:allerg\w*|intoleran\w*|anaphyla\w*|co?eliac|vegan|vegetarian|pescatarian|halal|kosher"
    r"|gluten|lactose|diabet\w*|pregnan\w*|diet(?:ary)?|(?:can't|cannot|don't|doesn't|never) (?:eat"
    r"|drink)s?)\b|过敏|不耐|吃素|素食|清真|忌口|不吃|不能吃|不喝|不能喝|糖尿病|乳糖|戒[糖酒烟]|怀孕",
    re.IGNORECASE,
)
"""Tells what somebody must not, or does not, eat or drink: "vegan", "can't eat", 过敏."""
_WISH: Final = re.compile(
    r"\b(?:wish(?:es)?|wants?|would like|'d like|hop(?:e|es|ing) (?:to|for)|dream(?:s|ing)? of"
    r"|interested in|into)\b|想(?:要|去|学|买|吃|试|养)|希望|愿望|心愿|感兴趣",
    re.IGNORECASE,
)
"""As in "I'd like", "interested in", 想去."""

_CLAUSE_END: Final = re.compile(r"[.,;:!?\n。，；：！？、]+|\b(?:and|but|while)\b")


def asks_for_advice(text: str) -> bool:
    """
    Return True if *text* asks for advice, a plan, an idea, or a text in the user's name.

    >>> asks_for_advice("Suggest a dessert"), asks_for_advice("今天晚饭吃什么好？")
    (True, True)
    >>> asks_for_advice("What is a dessert?"), asks_for_advice("Write a haiku about leaves")
    (False, False)
    """
    if len(text) > REQUEST_CHARACTERS_MAX:
        return False
    return bool(_ENGLISH.search(text) or _CHINESE.search(simplified(text)))


def tells_diet(text: str) -> bool:
    """Return True if *text* tells what somebody must not, or does not, eat or drink."""
    return bool(_DIET.search(simplified(text[:READ_CHARACTERS])))


def tells_attitude(text: str) -> bool:
    """
    Return True if *text* tells a diet, a dislike, a liking or a wish.

    >>> tells_attitude("I am allergic to nuts"), tells_attitude("The boat is red")
    (True, False)
    """
    read = simplified(text[:READ_CHARACTERS])
    return bool(_DIET.search(read) or _WISH.search(read) or stances_in(read))


def entries_for_advice(found: Sequence[Recalled]) -> list[Recalled]:
    """
    Return the entries of *found* that tell an attitude, best first: diets before all others.

    A message counts if its user states it, and without a diet only if no memory was found. Of a
    message that these memories rest on, only the clauses that they do not tell count: "nuts, and
    Jonas can't eat prawns" may have become a memory of the nuts alone.
    """
    memories = list[Recalled]()
    told = defaultdict[ScopedMessage, set[str]](set)
    for each in found:
        if isinstance(content := each.content, Memory):
            memories.append(each)
            terms = set(terms_of(content.text))
            for cited in each_evidence(content.evidence):
                told[each.scope, cited.thread, cited.message] |= terms
    said = [
        each
        for each in found
        if isinstance(content := each.content, Message)
        and content.role == "user"
        and (not memories or tells_diet(content.text))
        and not is_question(content.text)
        and _tells_more(content.text, told.get((each.scope, content.thread, content.id)))
    ]
    attitudes = [each for each in (*memories, *said) if tells_attitude(_words(each))]
    return sorted(attitudes, key=lambda each: not tells_diet(_words(each)))[:ADVICE_ENTRIES]


def _tells_more(text: str, told: set[str] | None) -> bool:
    """
    Return True if *text* tells an attitude in a clause that a memory with the terms *told* lacks.

    A model words a memory anew ("The user is allergic to …"): more than half the terms of a clause
    are enough for it to be told.
    """
    if told is None:
        return True
    for clause in _CLAUSE_END.split(text[:READ_CHARACTERS]):
        terms = set(terms_of(clause))
        if tells_attitude(clause) and 2 * len(terms & told) <= len(terms):
            return True
    return False


def _words(entry: Recalled) -> str:
    content = entry.content
    # A memory's type may be what tells it: Allergy, with the value {"to": "nuts"}.
    return f"{content.type} {content.text}" if isinstance(content, Memory) else content.text
