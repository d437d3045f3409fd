"""
Questions about a visit, for the rule model: "When does my mother come to visit?".

A visit is told with many verbs (she comes, arrives, stays in the town where the user lives), and
has a direction: of who visits whom an entry must say the same as the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from recollect.formation.rule_topics import TOPICS, topics_of
from recollect.text.cantonese import written_chinese

_ASKS: Final = re.compile(
    r"\b(?:do|does|did|is|are|will|can|shall|was|were)\s+(?P<who>[\w'\u2019]+"
    r"(?: [\w'\u2019]+){0,3}?)"
    r"\s+(?:(?:be|going to|planning to|want to)\s+){0,2}"
    r"(?:visit(?:ing)?|arriv(?:e|ing)|com(?:e|ing))\b(?P<rest>[^?.!]*)"
    r"|\b(?:is|was) (?P<whose>[\w'\u2019]+(?: [\w\u2019]+){0,2}?)['\u2019]s visit\b",
    re.IGNORECASE,
)
_REST: Final = (
    r"(?:\W*\b(?:over|here|round|to|and|visit|see|stay|town|us|me|with|for|again|next|this|year"
    r"|month|week|summer|then|in|%s))*\W*"
)
"""Words behind the verb with which the user is still the one who is visited."""
_ASKS_CHINESE: Final = re.compile(
    r"(?P<who>[^，。？！\s]{1,8}?)(?:什么时候|哪一?天|几号|几月|何时)(?:会|要|能|再|就)*(?:过)?来"
    r"(?:看我们?|这[里儿]|我们?这[里儿]|我家|玩|住|探亲|做客)?[呢啊呀]?\W*"
)
_PAST: Final = re.compile(r"\b(?:did|was|were)\b", re.IGNORECASE)
_ONESELF: Final = re.compile(r"(?:i|we)", re.IGNORECASE)
_PRONOUN: Final = re.compile(r"(?:it|that|this|they|he|she|you|the|an?)\b", re.IGNORECASE)
_OWNER: Final = re.compile(
    r"\b(?:(?P<owner>\w+)['\u2019]s|(?P<pronoun>his|her|their|your)) (?:\w+ )?$"
    r"|(?P<chinese>[^我的，。\s]{1,4})的$",
    re.IGNORECASE,
)
"""The owner of a relative ("my mother", "Rui's mother"), before the word for the relative."""
_GUEST_WORD: Final = re.compile(r"[\w\u2019']+$")
_COMES: Final = (
    r"\b(?:com(?:e|es|ing)%(came)s)\b(?! (?:from|home|out|up|across|back from)\b)"
    r"|\bvisit(?:s|ing%(ed)s)?\b(?! (?:her|his|their|my|our|the|an?)\b)(?! (?-i:[A-Z]))"
    r"|\b(?:visit|join|stay)(?:s|ing%(ed)s)? (?:with )?(?:us|me)\b"
    r"|\barriv(?:e|es|ing|al%(ed)s)\b(?! (?:home|in|at)\b)"
    r"|(?<![原后本从未回起出上下])来(?![自源越不])"
)
_TO_PLACE: Final = (
    r"|\b(?:stay|com|arriv|fly|fli|visit|travel)(?:e|es|s|ing%(ed)s)?(?: \w+){0,2}?"
    r" (?:in |to |at )?(?-i:%(towns)s)\b"
)
_DENIES: Final = re.compile(
    r"\b(?:not|never|cannot|hardly|want(?:s|ed)?|wish\w*|hope[sd]?|would|might|could|may|came"
    r"|I|we)\b|n't\b|[不没我想]"
)
"""Between who comes and the verb: it is denied, wished or over, or the user is who comes."""
_IS_OPEN: Final = re.compile(
    r"\b(?:cancel\w*|called off|postponed|if|unless|in case)\b|取消|不来|如果|要是", re.IGNORECASE
)
"""A visit that is off, or does not stand yet."""
_THING_OF: Final = re.compile(r"['\u2019]s (?!visit|coming|arriv)|的(?!来)", re.IGNORECASE)
_ABOUT: Final = re.compile(
    r"\b(?:for|of|to|from|about|against)(?: (?:my|our|the))?(?: \w+)?\s*$|[给替为]我?$",
    re.IGNORECASE,
)
"""Before somebody who is not the one who comes: "The parcel for my friends"."""
_OWN_VISIT: Final = (
    r"\b(?:I|we%s)(?:['\u2019]\w+)?(?: \w+){0,3}? (?:visit|com|go|fly|travel|stay)\w*"
)


@dataclass(frozen=True, slots=True)
class AskedVisit:
    """
    A visit that is asked about, with patterns of who comes, and of how one comes.

    The guest is a relative of *owner*, by default of the user, who has the *names*.
    """

    guest: re.Pattern[str]
    comes: re.Pattern[str]
    owner: str
    names: frozenset[str]

    def is_told_by(self, sentence: str) -> bool:
        """Return True if a sentence says of the guest that they come to the user."""
        if _IS_OPEN.search(sentence):
            return False
        return any(
            not _DENIES.search(sentence[who.end() : comes.start()])
            for who in self.guest.finditer(sentence)
            if self._is_guest(sentence[: who.start()]) and not _THING_OF.match(sentence, who.end())
            for comes in self.comes.finditer(sentence, who.end())
        )

    def _is_guest(self, before: str) -> bool:
        """Return True if the words before a relative make it the guest, and the owner's."""
        if _ABOUT.search(before):
            return False
        owner = _owner_in(before)
        if self.owner:
            return owner.lower() == self.owner.lower()
        return not owner or owner in self.names


def asked_visit(
    asked: str, names: Iterable[str] = (), places: Iterable[str] = ()
) -> AskedVisit | None:
    """
    Return the visit to the user that a question is about, ``None`` if it is about none.

    *names* are those of the user, *places* where the user lives.

    >>> visit = asked_visit("When does my mother come to visit?", ["Mira"], ["Porto"])
    >>> visit.is_told_by("Mira's mother stays in Porto from 17 May")
    True
    >>> visit.is_told_by("My mother visits her sister on 5 May")
    False
    """
    plain = written_chinese(asked)
    towns = "|".join(map(re.escape, sorted(places)))
    found = _ASKS.search(plain)
    rest = _REST % (towns or "here")
    if found and not re.fullmatch(rest, found["rest"] or "", re.IGNORECASE):
        return None
    found = found or _ASKS_CHINESE.fullmatch(plain.strip())
    if found is None:
        return None
    who = (found["who"] or found.groupdict().get("whose") or "").strip()
    if _is_user(who, names) or _PRONOUN.match(who):
        return None
    guest = _guest_of(who)
    if guest is None:
        return None
    known = frozenset(names)
    named = guest.search(who)
    owner = _owner_in(who[: named.start()]) if named else ""
    is_past = _PAST.search(found[0]) is not None
    forms = {"came": "|came" * is_past, "ed": "|ed" * is_past, "towns": towns}
    comes = (_COMES + (_TO_PLACE if towns else "")) % forms
    return AskedVisit(
        guest=guest,
        comes=re.compile(comes, re.IGNORECASE),
        owner="" if owner in known else owner,
        names=known,
    )


def is_of_own_visit(asked: str, names: Iterable[str] = ()) -> bool:
    """Return True if the user is asked about as the one who visits."""
    found = _ASKS.search(asked)
    return found is not None and _is_user((found["who"] or "").strip(), names)


def tells_own_visit(text: str, names: Iterable[str] = ()) -> bool:
    """Return True if a text says that the user visits, or goes somewhere."""
    others = "".join(f"|{re.escape(each)}" for each in sorted(names))
    return re.search(_OWN_VISIT % others, text, re.IGNORECASE) is not None


def _owner_in(before: str) -> str:
    """Return whose relative the words before one call it; nothing if they do not, or say "my"."""
    found = _OWNER.search(before)
    return next(filter(None, found.groups()), "") if found else ""


def _is_user(who: str, names: Iterable[str]) -> bool:
    return _ONESELF.fullmatch(who) is not None or who in set(names)


def _guest_of(who: str) -> re.Pattern[str] | None:
    """Return a pattern of a guest: a relative in any word for it, or the name itself."""
    topics = topics_of(who)
    rules = [rule.pattern for name, rule in TOPICS if name in topics]
    if rules:
        return re.compile("|".join(rules), re.IGNORECASE)
    word = _GUEST_WORD.search(who)
    return re.compile(rf"\b{re.escape(word[0])}\b", re.IGNORECASE) if word else None
