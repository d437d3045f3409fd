"""Relatives: whether a value tells of one of them what was said of another, or of who has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.told_clauses import OwnWords, text_clauses
from recollect.formation.wording.relatives import KIN, KIN_HAN
from recollect.text.chinese_scripts import simplified
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.word_caches import word_cache

_SHARED_WORDS_MIN: Final = 2
_RELATIVE_OF: Final = lazy_pattern(
    rf"\b(?P<name>(?-i:[A-Z])[a-z]\w+)'s (?:\w+ )?(?P<kin>{KIN})\b"
    rf"|(?P<名>[\u3400-\u9fff]{{2,3}})(?:家的?|的)(?P<亲>{KIN_HAN})",
    re.IGNORECASE,
)
"""A name with a relative of theirs."""
_MOSTLY: Final = 0.7
"""Least share of a clause's words that are those of a clause that it retells."""
_HAS: Final = lazy_pattern(r" (?:has|have|had|with)\b|['’]|有|的|家", re.IGNORECASE)
"""Behind a name: whose relative is told, or that there is one."""
_NAMES_RELATIVE: Final = lazy_pattern(
    rf"(?:\b(?P<kin>{KIN}) is (?:called |named )?(?P<name>[A-Z]\w{{1,20}})"
    rf"|(?P<亲>{KIN_HAN})(?:名?叫|是)(?P<名>[\u3400-\u9fff]{{2,4}}))\W*$"
)
"""A clause of a value that only tells the name of a relative."""
_KINDS: Final = {
    name: lazy_pattern(pattern, re.IGNORECASE)
    for name, pattern in {
        "mother": r"\b(?:mother|mum|mom)s?\b|[妈母娘]",
        "father": r"\b(?:father|dad)s?\b|[爸父爹]",
        "sister": r"\bsisters?\b|[姐妹]",
        "brother": r"\bbrothers?\b|[哥弟兄]",
        "aunt": r"\baunt(?:ie|y)?s?\b|[姨姑婶]",
        "uncle": r"\buncles?\b|[叔舅伯]",
        "cousin": r"\bcousins?\b|[表堂][哥弟姐妹兄]",
        "son": r"\bsons?\b|儿子",
        "daughter": r"\bdaughters?\b|女儿|闺女",
        "grandmother": r"\b(?:grandmother|grandma|granny|gran|nana?)s?\b|奶奶|外婆|姥姥",
        "grandfather": r"\bgrand(?:father|pa|dad)s?\b|爷爷|外公|姥爷",
    }.items()
}
"""Relatives of whom none is another one."""


@word_cache(maxsize=256)
def pattern_of(name: str) -> re.Pattern[str]:
    """Return the pattern of a name as a word of its own, in any case."""
    if not name.isascii():
        return lazy_pattern(re.escape(name), re.IGNORECASE)
    # Not \b: Chinese stands beside a Latin name without a space, as in Mia管海外客户.
    return lazy_pattern(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])", re.IGNORECASE)


def is_relative_named(value: str, cited: Sequence[Passage]) -> bool:
    """Return True if a clause names a relative as the user did: "my girlfriend Ana and I"."""
    found = _NAMES_RELATIVE.search(simplified(value))
    if found is None:
        return False
    kin, name = found["kin"] or found["亲"], re.escape(found["name"] or found["名"])
    named = rf"{kin},? ?{name}|\b{name},? (?:that'?s|is|he'?s|she'?s) (?:the|my|our) {kin}\b"
    return any(re.search(named, simplified(each.text), re.IGNORECASE) for each in cited)


def of_their_relative(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield a name of which *text* tells what was said of a relative: 王阿姨 for 王阿姨家儿子."""
    for clause in (clause for each in cited for clause in text_clauses(simplified(each.text))):
        found = _RELATIVE_OF.search(clause.text)
        if found is None:
            continue
        name, kin = found["name"] or found["名"], found["kin"] or found["亲"]
        said = OwnWords(clause.words)
        for value in text_clauses(simplified(text)):
            named = pattern_of(name).search(value.text)
            if named is None or kin in value.text.lower() or _HAS.match(value.text, named.end()):
                continue
            own = [each for each in value.words if each.start >= named.end()]
            if len(said.among(own)) >= max(_SHARED_WORDS_MIN, _MOSTLY * len(own)):
                yield f"it was said of {found.group()}, and the value says it of {name}"
                return


def exchanged_relatives(text: str, before: str, cited: Sequence[Passage]) -> Iterator[str]:
    """
    Yield a relative in whose place *text* tells what stood *before* of another one.

    None of the cited sentences names the new one: a name put right, "it's Marit, Maren is my aunt",
    moves nothing that was known of the aunt to the sister.
    """
    was, now = _kinds_in(before), _kinds_in(text)
    said = {kind for each in cited for kind in _kinds_in(f"{each.text}\n{each.question}")}
    gone, new = was - now, now - was - said
    if not gone or not new:
        return
    words = [each for clause in text_clauses(simplified(before)) for each in clause.words]
    kept = OwnWords(w for clause in text_clauses(simplified(text)) for w in clause.words)
    if words and 2 * len(kept.among(words)) >= len(words):
        yield "the value tells of one relative what was known of another"


def _kinds_in(text: str) -> set[str]:
    plain = simplified(text)
    return {name for name, pattern in _KINDS.items() if pattern.search(plain)}
