"""Orders: a value that instructs the assistant must rest on a user's own instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from recollect.formation.grounding.hedges import hearsay_in
from recollect.formation.grounding.injection import instructs
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.judgement import PREFERENCE_FIELDS, TracedLeaf
from recollect.formation.support.origins import Sources, trace
from recollect.formation.support.told_clauses import text_clauses, words_of
from recollect.formation.support.voices import SENTENCE_END
from recollect.formation.withdrawals import is_withdrawn
from recollect.text.chinese_scripts import simplified

UNSAID_SHARE_MAX: Final = 0.4
"""Largest share of an order that may be in other words than the user's."""
_OTHERS_WORDS_MAX: Final = 1
"""Most words of others in a label of what a user orders."""
_REPORTED_WORDS_MIN: Final = 2
"""A clause of hearsay with fewer words reports the one before it: "…, my boss says"."""
_QUOTED: Final = re.compile(
    r"\u201c[^\u201c\u201d]{12,}\u201d|\u201e[^\u201c]{12,}\u201c|\"[^\"]{12,}\""
    r"|\u00ab[^\u00bb]{12,}\u00bb"
    r"|\u300c[^\u300d]{5,}\u300d|\u300e[^\u300f]{5,}\u300f"
    r"|\u201c[^\u201d]{5,}\u201d(?<=[\u3400-\u9fff]\u201d)"
    r"|(?<![^\W_])'[^']{12,}'"
)
_SPACE_IN_CHINESE: Final = re.compile(r"(?<=[\u3400-\u9fff]) +(?=[\u3400-\u9fff])")
"""A space that many type in place of a full stop."""
_ASKED: Final = re.compile(r"[?？][\s\"'”)]*$|[吗呢][。.]?$")
_FORBIDDEN: Final = re.compile(
    r"(?:\b(?:cut|drop|skip|stop|lose|ditch|kill|avoid|no more|don't|dont|never)\b[^.!?\n\"]{0,24}"
    r"|(?:别|不要|不用|少)[^，。！？\n]{0,6})$",
    re.IGNORECASE,
)
_TAG: Final = re.compile(
    r"[\s,，.。]*(?:\b(?:ok(?:ay)?|k|right|yeah|got it|understood|alright|deal|clear)"
    r"|懂|好|行|可以|对|明白|知道|ok|听到|听见|收到)(?:了|吧|没有?|不|吗|嗎|嘛|哦|喔|啊)?\s*[?？]+[\s\"'”)]*$",
    re.IGNORECASE,
)
"""A question behind a statement that asks for no answer: "…, ok?"."""
_REQUEST: Final = re.compile(
    r"\b(?:can|could|would|will) (?:you|u|we)\b|\bwould you mind\b|\bplease\b|\bpls\b|\bmind if\b"
    r"|\bkannst du\b|\bkonnen sie\b|\bpuedes\b|\bpodrias\b|\bpeux-tu\b|\bpouvez\b|\bpode\b"
    r"|能不能|可不可以|可以[^，。]{0,20}吗|能[^，。]{0,20}吗|麻烦|请|お願い|くれ|ください",
    re.IGNORECASE,
)
_WISH: Final = re.compile(
    rf"{_REQUEST.pattern}|\b(?:don't|dont|do not|stop|no more|never|always|from now on)\b"
    r"|别|不要|不用|以后",
    re.IGNORECASE,
)


def is_order(leaf: TracedLeaf) -> bool:
    """Return True for a text that reads as an instruction, or stands where instructions stand."""
    steps = leaf.leaf.pointer.split("/")
    return instructs(leaf.leaf.text) or any(step in PREFERENCE_FIELDS for step in steps)


def order_reasons(leaves: Sequence[TracedLeaf]) -> Iterator[str]:
    """Yield the orders among *leaves* that no user gave in the cited words."""
    for each in leaves:
        if not is_order(each):
            continue
        spoken = [said for passage in each.leaf.sources.cited if (said := _spoken(passage))]
        if not spoken:
            yield f"{each.leaf.pointer or '/'}: it reads as an instruction, and no user said it"
            continue
        sources = each.leaf.sources
        words = trace(each.leaf.text, Sources(sources.heard, spoken, sources.known))
        is_reported = any(hearsay_in(passage.text) for passage in each.leaf.sources.cited)
        if is_reported and not any(word.origin == "cited" and word.weight for word in words):
            yield f"{each.leaf.pointer or '/'}: it reads as an instruction, and no user said it"
        told = sum(word.weight for word in words)
        unsaid = sum(
            word.weight for word in words if word.origin in {"assistant", "external", "nowhere"}
        )
        others = sum(word.weight for word in words if word.origin == "external")
        # A label may name what the user's own order is about in a word that stands elsewhere:
        # "figures for investors; do not use the March one".
        is_others = others > (_OTHERS_WORDS_MAX if _orders_label(each, spoken) else 0)
        is_exposed = each.leaf.sources.heard.is_exposed_to(each.leaf.text)
        if is_others or (is_exposed and unsaid > UNSAID_SHARE_MAX * told):
            yield f"{each.leaf.pointer or '/'}: it reads as an instruction that no user gave"


def _orders_label(leaf: TracedLeaf, spoken: Sequence[Passage]) -> bool:
    """Return True for a label of what users order in their own words."""
    texts = [simplified(each.text) for each in spoken]
    is_own = any(_WISH.search(each) for each in texts) or is_withdrawn(texts)
    return leaf.leaf.is_label and is_own


def _spoken(passage: Passage) -> Passage | None:
    """Return what the user says in their own name: nothing quoted, asked or reported."""
    if passage.trust != "user":
        return None
    text = _SPACE_IN_CHINESE.sub("\n", _QUOTED.sub(_unless_forbidden, passage.text))
    sentences = [each for each in SENTENCE_END.split(text) if each]
    own = [said for each in sentences if _tells(each) and (said := _before_hearsay(each))]
    text = "\n".join(own)
    return Passage(passage.citation, passage.line, "user", text, passage.question) if own else None


def _unless_forbidden(quoted: re.Match[str]) -> str:
    """Return a space for a quotation, or itself if the user forbids it: cut the "hope this …"."""
    before = quoted.string[: quoted.start()]
    return quoted.group() if _FORBIDDEN.search(before) else " "


def _before_hearsay(sentence: str) -> str:
    """
    Return what a sentence says before the clause that tells what others say.

    "Stop with museums, everyone thinks I like them" asks in the user's name; "answer in French, my
    boss says" does not, since the words of the boss stand before it.
    """
    if not hearsay_in(sentence):
        return sentence
    clauses = text_clauses(sentence)
    at = next((at for at, each in enumerate(clauses) if hearsay_in(each.text)), 0)
    is_open = at > 0 and len(clauses[at].words) >= _REPORTED_WORDS_MIN
    before = ", ".join(each.text for each in clauses[:at])
    return before if is_open and _WISH.search(before) else ""


def _tells(sentence: str) -> bool:
    """Return True unless the sentence only asks."""
    tag = _TAG.search(simplified(sentence))
    if tag is not None and any(words_of(text_clauses(sentence[: tag.start()]))):
        return True
    return not _ASKED.search(sentence.strip()) or _REQUEST.search(sentence) is not None
