"""
Acceptance: the part of the assistant's message that a user's short reply takes up.

A yes takes up the whole of it, the choice of an item that item alone, and a list that is changed in
one place is taken up in all others. A no, or an answer to something else, takes up nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from recollect.formation.support.assent import NO, NO_PROBLEM, OTHER_PROPOSAL, YES, YES_FIRST
from recollect.formation.support.content_words import tokens_in
from recollect.formation.support.vocabulary import is_neutral, neutral_length
from recollect.text.chinese_scripts import simplified
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.numerals_chinese import whole_number

REPLY_CHARACTERS_MAX: Final = 120
OFFERED_CHARACTERS_MAX: Final = 4_000
"""Characters of an offer of the assistant that are compared with a value."""
ITEMS_MIN: Final = 2
ITEMS_MAX: Final = 20
_ECHO_WORDS_MAX: Final = 3
_NUMERAL: Final = "[一二三四五六七八九十]"
_MARKER: Final = lazy_pattern(
    rf"(?<![\w.,/-])(?<!\d:)[(（]?(?P<digit>\d{{1,2}})(?:[)）、]|[.:：\uff0e](?!\d))"
    rf"|(?<![\w.,:/-])(?P<bare>\d{{1,2}}) (?=[A-Z\u3400-\u9fff])"
    rf"|(?:方案|选项|计划|建议|第)(?P<han>{_NUMERAL}|\d{{1,2}})(?:[个条种]|是)?[:：、,，. ]?"
    r"|\b(?:option|plan|idea|number) (?P<option>\d|[a-e])\b[:.)]?"
    r"|(?<!\w)[(（]?(?P<letter>[A-Ea-e])[).、:：](?=\s|[\u3400-\u9fff])",
    re.IGNORECASE,
)
_WORDS: Final = "first second third fourth fifth sixth".split()
_ORDINAL: Final = lazy_pattern(
    # Not "the second episode": what follows says that an item is meant.
    rf"\b(?:the )?(?P<word>{'|'.join(_WORDS)}|last|former|latter)\b"
    r"(?=\s*$|\s*[,.;:!)]| (?:one|option|idea|plan|choice|item|please|pls|then|but|and|n?or|sounds?"
    r"|works?|is|looks?|with|for|of|it is|thanks|ta)\b)"
    r"|\b(?:option|plan|idea|number|item|no\.?|nr\.?)\s?(?P<option>\d{1,2}|[a-e])\b"
    r"|#(?P<mark>\d{1,2})\b"
    rf"|第(?P<han>{_NUMERAL}{{1,2}}|\d{{1,2}})(?=[个条种项点款家套版间啦吧嘅\s,，。.!！]|$)"
    rf"|(?:方案|选项|计划|建议)\s?(?P<plan>{_NUMERAL}|\d{{1,2}}|[a-e])"
    rf"|(?P<last>最后)(?:那|一)?(?:个|条|种|款)",
    re.IGNORECASE,
)
_BARE: Final = lazy_pattern(r"^\W*(?P<bare>\d{1,2}|[a-eA-E])(?=\W|$)(?![.:,]\d)")
_REFUSED_BEFORE: Final = lazy_pattern(
    r"(?:\b(?:not|no|never|don't|without|except|skip|drop|remove|forget|scrap|instead of|rather"
    r" than)\b[^.;!?\n]{0,12}|(?<!问题)[不没别删](?!错|过)[^，,。；;\n]{0,4}|除了|去掉)$",
    re.IGNORECASE,
)
_REFUSED_BEHIND: Final = lazy_pattern(
    r"(?: (?:one|item|idea|option))?(?:'s| is| can)? ?(?:out\b|no\b|not\b|gone\b"
    r"|won't|doesn't|isn't|can't)|[^，,。；;\s]{0,2}(?:不(?!错)|没(?!问题)|算了|免了|删|去掉|拿掉)",
    re.IGNORECASE,
)
_JOINED: Final = lazy_pattern(
    r"[个条种项点款家套版]?\s*(?:and|n?or|&|[和跟与及或、/])?\s*(?:the\s*)?", re.IGNORECASE
)
_DENIAL: Final = lazy_pattern(r"\b(?:no|not|out|gone|\w+n't)\b|不(?!错)|没(?!问题)", re.IGNORECASE)
_REST_IS_FINE: Final = lazy_pattern(
    r"\b(?:the )?(?:rest|others?|everything else|all else)(?: of \w+)?(?:'s| is| are| looks?|"
    r" stays?| can stay)? (?:all )?(?:fine|ok(?:ay)?|good|great|perfect|right|as is|as it is"
    r"|unchanged|stays?)\b"
    r"|(?:别的|其他|其它|其余|剩下|余下)的?(?:都|就|全)?"
    r"(?:没问题|没意见|可以|好|行|ok|不变|不动|不用改|不改|照旧|照做|照样|同意|留着|保留|一样)",
    re.IGNORECASE,
)
_CHANGES_ITEM: Final = lazy_pattern(
    r"\b(?:put|add|leave|keep|move|swap|bring|throw)\b[^.!?\n]{0,30}\b(?:back|in|too|as well|first"
    r"|last|to the (?:list|end|top))\b"
    r"|\bswap\b|\b(?:that's|thats|makes) (?:\d{1,2}|all)\b"
    r"|加[回上进个入]|放回|补[上回]|换[成掉]|改成|调到|再加",
    re.IGNORECASE,
)
_BACK_CHARACTERS_MAX: Final = 400
_BACK: Final = lazy_pattern(
    r"\b(?:list|plan|draft|version|text|menu|recipe|schedule|route|letter|message|rest|it)"
    r" (?:still )?(?:stands|stays|holds|remains)\b"
    r"|\banything (?:else )?(?:to|you(?:'d| would)? (?:like|want) to|i should) (?:add|change|leave"
    r"|remove|cut|fix|swap)\b|\b(?:otherwise|apart from that) (?:as|the same|unchanged)\b"
    r"|\b(?:shall|should) i (?:change|leave|add|remove|cut) (?:any|some)thing\b"
    r"|(?:清单|计划|方案|安排|名单|其他|其余|别的)[^，。？]{0,4}(?:不变|照旧|不动|照样)"
    r"|还有?[^，。]{0,6}(?:要改|要加|要删|需要[改加删调])",
    re.IGNORECASE,
)
"""The assistant asks whether what it offered before may stay."""
_OF_YOU: Final = lazy_pattern(
    r"\W*(?:(?:so|then|well|ok|okay|great|good|right|and|since|as|because|noted|got it)\b\W*){0,3}"
    r"(?:you|your|you're|you've)\b(?! (?:can|could|will|may|might|should|would)\b|'ll|'d)"
    r"(?!.*\?\s*$)"
    r"|(?:所以|那么?|既然|原来|看来|好的|明白|知道了|了解|[，,\s]){0,3}[你您](?!可以|要|能|们|想|看)"
    r"(?!.*[?？吗呢]\s*$)",
    re.IGNORECASE | re.DOTALL,
)
"""A statement of the user, put in the user's mouth."""
_REQUEST: Final = lazy_pattern(
    r"\b(?:can|could|may|shall) (?:we|i|you) (?:do|have|take|book|go|get|use|try|please|pick)\b"
    r"|\bplease\b|\bpls\b",
    re.IGNORECASE,
)
_PRAISE: Final = lazy_pattern(
    r"\W*(?P<what>[\u3400-\u9fff]{2,8}?)(?:[这那][个条点项招])(?:真|很|挺|蛮)?"
    r"(?:赞|好|棒|不错|可以|行|对|没错)"
    r"|\W*(?:the )?(?P<part>[a-z][\w'-]+(?: [\w'-]+){0,2}?) (?:one|bit|part|idea|thing)(?:'?s| is)"
    r" (?:all )?(?:right|correct|good|great|fine|perfect|spot on)\b",
    re.IGNORECASE,
)
_QUESTION: Final = lazy_pattern(r"[?？]\s*$|[吗呢]\s*$")


@dataclass(frozen=True, slots=True)
class TakenUp:
    """The part of an offer that a reply takes up; *is_choice* if the reply names that part."""

    text: str = ""
    is_choice: bool = False


NOTHING: Final = TakenUp()


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of a list: its number from 1, and its text."""

    number: int
    text: str


def taken_up(reply: str, offered: str) -> TakenUp:
    """
    Return the part of *offered* that a *reply* to it takes up.

    >>> taken_up("the second one", "Three ideas: 1) coast; 2) lakes; 3) moor.").text.splitlines()
    ['Three ideas:', '2) lakes;']
    >>> taken_up("no, something else", "Shall I book the lakes?").text
    ''
    """
    if len(reply) > REPLY_CHARACTERS_MAX or not offered:
        return NOTHING
    said, offer = simplified(reply), offered[:OFFERED_CHARACTERS_MAX]
    is_asking = _QUESTION.search(said) and not (YES_FIRST.match(said) or _REQUEST.search(said))
    if is_asking or OTHER_PROPOSAL.match(said):
        return NOTHING
    lead, items = _items_of(offer)
    chosen, refused = _choice_in(said, items)
    is_rest_fine = _REST_IS_FINE.search(said) is not None
    if items and (is_rest_fine or (_is_change(said) and not NO.match(said))):
        chosen = {each.number for each in items} - refused
    if chosen:
        named = (each.text for each in items if each.number in chosen)
        return TakenUp("\n".join(filter(None, [lead, *named])), is_choice=True)
    praised = praised_in(said, offer)
    is_no = NO.match(said) is not None and not NO_PROBLEM.match(said)
    if not praised and (refused or is_no):
        return NOTHING
    is_yes = is_rest_fine or YES.search(said) or (not items and _ORDINAL.search(said))
    if is_yes and not praised:
        return TakenUp(_without_claims(offer))
    echoed = praised or _echoed(said, offer)
    return TakenUp(echoed, is_choice=bool(echoed))


def refers_back(offer: str) -> bool:
    """
    Return True if a short message only asks about what was offered in the one before it.

    >>> refers_back("The list stands. Anything to leave off?"), refers_back("Do you like tea?")
    (True, False)
    """
    return len(offer) <= _BACK_CHARACTERS_MAX and _BACK.search(simplified(offer)) is not None


def _without_claims(offer: str) -> str:
    """Return an offer without what it states of the user before it asks something."""
    sentences = _sentences_of(offer)
    if not _QUESTION.search(simplified(sentences[-1])):
        return offer
    return "\n".join(each for each in sentences if not _OF_YOU.match(simplified(each)))


def _sentences_of(offer: str) -> list[str]:
    return re.split(r"(?<=[.!?])\s+|(?<=[。！？])(?!$)|\n+", offer.strip())


def _is_change(said: str) -> bool:
    return _CHANGES_ITEM.search(said) is not None


def _items_of(offer: str) -> tuple[str, Sequence[_Item]]:
    """Return the last clause before a numbered list, and the items of the list."""
    plain = simplified(offer)
    marks: list[re.Match[str]] = []
    for match in _MARKER.finditer(plain if len(plain) == len(offer) else offer):
        if _number_of(match) == len(marks) + 1 and len(marks) < ITEMS_MAX:
            marks.append(match)
    if len(marks) < ITEMS_MIN:
        return "", ()
    starts = [each.start() for each in marks]
    lead = re.split(r"(?<=[.!?])\s|[。！？,，\n]", offer[: starts[0]].strip())[-1].strip()
    lead = "" if _OF_YOU.match(simplified(lead)) else lead
    end = lazy_pattern(r"[.!?](?=\s|$)|[。！？\n]").search(offer, marks[-1].end())
    ends = [*starts[1:], end.end() if end else len(offer)]
    texts = (offer[start:stop].strip() for start, stop in zip(starts, ends, strict=True))
    return lead, [_Item(number, text) for number, text in enumerate(texts, start=1)]


def _choice_in(said: str, items: Sequence[_Item]) -> tuple[set[int], set[int]]:
    """Return the numbers of the items that a reply chooses, and of those that it refuses."""
    chosen: set[int] = set()
    refused: set[int] = set()
    found = [*_ORDINAL.finditer(said), *([bare] if (bare := _BARE.match(said)) else [])]
    for group in _joined(said, sorted(found, key=lambda each: each.start())):
        numbers = {_number_of(each, last=len(items)) for each in group}
        (refused if any(_is_refused(said, each) for each in group) else chosen).update(numbers)
    wanted = {each.number for each in items}
    return (chosen - refused) & wanted, refused & wanted


def _joined(said: str, found: Sequence[re.Match[str]]) -> list[list[re.Match[str]]]:
    """Return groups of ordinals in a row: of "the first and the third are out" both are out."""
    groups: list[list[re.Match[str]]] = []
    for match in found:
        if groups and _JOINED.fullmatch(said, groups[-1][-1].end(), match.start()):
            groups[-1].append(match)
        else:
            groups.append([match])
    return groups


def _is_refused(said: str, match: re.Match[str]) -> bool:
    before, rest = said[: match.start()], re.split(r"[,，.。;；\n]", said[match.end() :])[0]
    if match.re.pattern == _BARE.pattern and _DENIAL.search(rest):
        return True
    return bool(_REFUSED_BEFORE.search(before) or _REFUSED_BEHIND.match(rest))


def _number_of(match: re.Match[str], last: int = 0) -> int:
    """Return the number, from 1, that a marker or an ordinal names; 0 for none."""
    groups = {name: text.lower() for name, text in match.groupdict().items() if text}
    if groups.get("last") or groups.get("word") in {"last", "latter"}:
        return last
    if word := groups.get("word"):
        return 1 if word == "former" else _WORDS.index(word) + 1
    text = next(iter(groups.values()), "")
    if text in {"a", "b", "c", "d", "e"}:
        return "abcde".index(text) + 1
    return whole_number(text) or 0


def praised_in(reply: str, offer: str) -> str:
    """Return the sentences of *offer* with what a *reply* praises, such as 不投票这个赞."""
    found = _PRAISE.match(simplified(reply).replace("\u2019", "'"))
    if found is None:
        return ""
    what = (found["what"] or found["part"]).lower()
    is_run = found["what"] is not None
    if neutral_length(what, 0) == len(what) if is_run else all(map(is_neutral, tokens_in(what))):
        return ""
    sentences = (each for each in _sentences_of(offer) if what in simplified(each).lower())
    return "\n".join(each for each in sentences if not _OF_YOU.match(simplified(each)))


def _echoed(said: str, offer: str) -> str:
    """Return the clauses of *offer* with the words of a reply such as "private.", if it is one."""
    first = re.split(r"[.,;!\n。，；！]", said.strip(), maxsplit=1)[0]
    words = [each for each in tokens_in(first) if not is_neutral(each)]
    if not 0 < len(words) <= _ECHO_WORDS_MAX or any(each.is_run for each in words):
        return ""
    keys = {each.key for each in words}
    sentences = (each for each in _sentences_of(offer) if not _OF_YOU.match(each))
    clauses = re.split(r"(?<=[;,])\s+|\n|\bor\b", "\n".join(sentences))
    return "\n".join(each for each in clauses if keys <= {token.key for token in tokens_in(each)})
