"""Authorship: words of others that a value tells as what their author wrote, asked or offered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from recollect.formation.grounding.foreign_text import letter_start
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.judgement import JudgedLeaf
from recollect.formation.support.voices import SENTENCE_END
from recollect.text.analysis import STOP_WORDS
from recollect.text.chinese_scripts import simplified
from recollect.text.lazy_patterns import lazy_pattern

_NAME: Final = r"[A-Z][\w'’.-]{0,20}(?: (?:[A-Z]|of |the |de |van |von )[\w'’.-]{0,20}){0,4}"
_TELLS: Final = (
    r"(?:quotes?|quoted|charges?|charged|wrote|writes?|written|says?|said|asks?|asked|claims?"
    r"|claimed|wants?|wanted|would like|hopes?|hoped|proposes?|proposed|offers?|offered|suggests?"
    r"|suggested|announce[sd]?|mention(?:s|ed)?|confirm(?:s|ed)?|invite[sd]?|inform(?:s|ed)?"
    r"|gives?|gave|lists?|listed|reports?|reported|explain(?:s|ed)?|promise[sd]?|regrets?|regretted|warn(?:s|ed)?|notif(?:ies"
    r"|ied)|state[sd]?|request(?:s|ed)?|repl(?:ies|ied)|answer(?:s|ed)?|told|tells|agrees?|agreed"
    r"|(?:is|are|was|were) \w+ing)"
)
_LETTER: Final = (
    r"(?:(?:e-?)?mails?|letters?|messages?|notes?|texts?|notices?|offers?|quotes?|posts?|invitations?"
    r"|repl(?:y|ies)|answers?|contracts?|terms|papers?|forms?"
    r"|documents?|clauses?|statements?|leaflets?|confirmations?|invoices?|bills?|reports?"
    r"|timetables?|itinerar(?:y|ies)|circulars?|newsletters?|prescriptions?)"
)
_TOLD: Final = lazy_pattern(
    rf"(?P<who>{_NAME}(?:'s)?(?:[ ,(](?:(?!\buser\b)[^.;!?\n]){{1,80}}?)?) {_TELLS}\b"
    rf"|\b(?:[Aa]ccording to|[Aa]s per|[Pp]er|[Ii]n|[Ff]rom|[Bb]y) "
    rf"(?P<by>{_NAME}|(?:his|her|their|its|the|an?))"
    rf"(?:'s)? {_LETTER}\b"
    rf"|\b[Aa]ccording to (?P<source>{_NAME})"
    rf"|\b[Aa]s (?:\w+ ){{0,2}}(?:by|in|from) (?:the \w+ )?(?P<as>{_NAME})"
    rf"|\b(?:{_LETTER} (?:is |was |came )?(?:from|of|by)|wr(?:itten|ote) by)"
    rf" (?:the )?(?P<from>{_NAME})"
    rf"|\b[Aa]s (?P<whose>{_NAME})'s? {_LETTER} (?:says?|said|states?|puts?)\b"
    r"|(?P<谁>[\u3400-\u9fffA-Za-z ]{1,12}?|[A-Z][A-Za-z .&-]{1,40}?)"
    r"(?:[（(][^()（）]{1,20}[)）])?"
    r"(?:在信[里中]|[于在]?\d[\d年月日号./-]{2,11}(?:[发寄]来?|贴出|给)?)?(?:给(?:了)?(?=[她他我]|用户)|来[信文函]|发来|寄来|说|写道?|问|想"
    r"|希望|要求|提出|建议|表示|通知|回复|话|告诉|邀请|确认|的(?:信|邮件|通知|消息|条件|报价))"
)
_IN_BRACKETS: Final = lazy_pattern(
    rf"[(（](?:{_LETTER} (?:from|of|by) )?(?P<who>{_NAME})(?:'s)?"
    rf"(?: {_LETTER})?(?: {_TELLS})?(?: (?:so|that|this))?[)）]"
    r"|[(（](?:据|根据)?(?P<谁>[\u3400-\u9fffA-Za-z ]{1,12}?)的?(?:来信|信|邮件|消息|通知|说|写)+"
    r"[)）]"
)
"""An author behind what is told: "two are coeliac (Ann's mail says)"."""
_ROLE: Final = lazy_pattern(
    r"\b(?:[Tt]he (?:user's )?|[Hh]is |[Hh]er |[Tt]heir |[Mm]y )(?:[\w'’-]+ ){0,2}?"
    r"(?P<who>[a-z][\w-]+)"
    rf"(?:(?! (?:the )?user)[^.;!?\n]){{0,40}}? {_TELLS}\b"
)
"""An author without a name: the user's mum, the school."""
_LETTER_OF_ROLE: Final = lazy_pattern(
    rf"\b(?:the |his |her |their |my )(?:[\w'’-]+ ){{0,1}}?(?P<who>[a-z][\w-]+)['’]s? {_LETTER}\b"
    rf"|\b{_LETTER} (?:that )?(?:the |his |her |their |my )(?:[\w'’-]+ ){{0,1}}?"
    r"(?P<sender>[a-z][\w-]+) (?:sent|gave|wrote|handed|emailed|mailed|posted)\b"
    rf"|(?:^|[.;!?] )(?P<role>[A-Z][a-z-]+)['’]s {_LETTER}\b"
    rf"|^(?:[Tt]he |[Aa]n? )?(?P<kind>[A-Za-z][a-z-]+) {_LETTER}"
    r"(?: (?:to|for|of|dated|on) [^:.;]{1,60})?:"
)
"""The landlord's letter, the paper the harbour sent, "Insurance letter to the firm: …"."""
_LETTER_HAN: Final = (
    "(?:确认[书信]|通知[书单]?|来?信(?!息|心|任|用|念|仰)|邮件|合同|合约|条款|报告|账单|时间表"
    "|行程[单表]|说明书|处方|传单)"
)
_THE_LETTER: Final = lazy_pattern(
    r"[(（](?:(?:see|from|in|by|as|per|according|to|the|an?) ){0,4}(?:(?P<kind>[\w-]+) )?"
    rf"(?P<letter>{_LETTER})(?:,? (?:of|dated|from|for|on|\d)[^()（）]{{0,40}})?[)）]"
    r"|\b(?:[Aa]ccording to|[Aa]s per|[Pp]er) (?:the |an? |this |that )?"
    rf"(?:(?P<kind2>[\w-]+) )?(?P<letter2>{_LETTER})\b"
    r"|\b(?:[Tt]he|[Aa]n?|[Tt]his|[Tt]hat) (?:(?P<kind3>[\w-]+) )?"
    rf"(?P<letter3>{_LETTER})(?: (?:of|from|dated|to) [^.,;()]{{1,30}}?){{0,2}} {_TELLS}\b"
    rf"|[(（](?:据|根据|见|按照?)?[^()（）]{{0,10}}?(?P<信>{_LETTER_HAN})[^()（）]{{0,12}}[)）]"
    rf"|(?:据|根据|按照?|依照?)[^，。；]{{0,8}}?(?P<信2>{_LETTER_HAN})"
    rf"|(?P<信3>{_LETTER_HAN})[上里中]?(?:说|写|讲|称|通知|要求|确认)"
    rf"|(?P<信4>{_LETTER_HAN})(?:[(（][^()（）]{{0,30}}[)）])?[:：]"
)
"""The text itself, where its author has no name: "(clinic letter of 5 January)", 信上说."""
_ADDRESSED_KINDS: Final = frozenset({"letter", "letters", "信", "来信"})
"""Words for a text that begins as letters do, though nobody calls it one."""
_OF_PATIENTS: Final = frozenset({"hospital", "clinic"})
_TO_PATIENT: Final = lazy_pattern(
    r"\b(?:outpatients?|pre-?op(?:erative)?|(?:hip|knee) replacement|day surgery|radiology"
    r"|biopsy)\b",
    re.IGNORECASE,
)
"""Words that only a hospital writes in a letter."""
_PASTED: Final = lazy_pattern(
    rf"\b(?:pasted|forwarded|copied) (?:[a-z]+ )?{_LETTER}\b"
    rf"|\b{_LETTER} (?:that |which )?(?:(?P<who>{_NAME})|[Tt]he user|s?he|they) (?:has |had )?"
    r"(?:pasted|forwarded|shared|copied|passed on)\b"
    rf"|\b{_LETTER} (?:pasted|forwarded|shared|copied|passed on) by (?:(?P<by>{_NAME})|the user)\b"
    rf"|(?:贴|转发|粘贴|转来|发来)[出来过]?的{_LETTER_HAN}"
)
"""The text as one that a user handed over, where nothing names its author."""
_HAN_MIN: Final = 2
_PRONOUNS: Final = frozenset("佢 他 她 其 对方".split())
_INITIAL: Final = lazy_pattern(r"\b([A-Z])\.(?= [A-Z])")
_POSSESSIVE: Final = lazy_pattern(r"['’]s?$")
_WORD: Final = lazy_pattern(r"[A-Za-z][\w'’-]{2,}")


def told_passages(leaf: JudgedLeaf, heard: HeardWindow) -> tuple[Passage, ...]:
    """
    Return the pasted passages cited for *leaf* that it tells as their author's.

    The user has handed the text over: the message has words of the user's own beside it. The
    author is named in one of them, or the text is ("the clinic letter"). What a tool says, or a
    page without an author, is nobody's testimony.
    """
    pasted = [each for each in leaf.sources.cited if each.trust == "external"]
    shown = tuple(each for each in pasted if _is_handed_over(each, heard))
    if not shown or len(shown) < len([e for e in pasted if not e.citation.implied]):
        return ()
    said = "\n".join(map(simplified, dict.fromkeys(each.line.text for each in shown)))
    is_named = any(_is_named(who, said, leaf.text) for who in _authors(leaf.text))
    if not (
        is_named
        or _is_of_role(leaf.text, shown, heard)
        or _is_of_letter(leaf.text, said)
        or _is_pasted(leaf.text, shown)
    ):
        return ()
    return tuple(_whole(each, heard) for each in dict.fromkeys(shown))


def _whole(pasted: Passage, heard: HeardWindow) -> Passage:
    """Return all that is pasted in a message: the author's name may stand at its head."""
    texts = [e.text for e in heard.voices_of([pasted]) if e.trust == "external"]
    return replace(pasted, text="\n".join(texts))


def _is_handed_over(pasted: Passage, heard: HeardWindow) -> bool:
    if pasted.line.message.role != "user":
        return False
    line = heard.line(pasted.line.number)
    return line is not None and any(e.trust == "user" and _is_talk(e.text) for e in line.voices)


def _is_talk(text: str) -> bool:
    return any(map(str.isalpha, text))


def _authors(text: str) -> Iterator[str]:
    for sentence in SENTENCE_END.split(_INITIAL.sub(r"\1", simplified(text))):
        for found in chain(_TOLD.finditer(sentence), _IN_BRACKETS.finditer(sentence)):
            yield next((name for name in found.groups() if name), "").strip()


def _is_named(author: str, said: str, value: str) -> bool:
    """Return True if a word of the author's name is in the message, or stands for one that is."""
    folded = said.casefold()
    if not author:
        return False
    if author.lower() in {"his", "her", "their", "its", "the", "a", "an"} or author in _PRONOUNS:
        return any(each.group().casefold() in folded for each in _capitals(value))
    if author.isascii():
        names = (_POSSESSIVE.sub("", each.group()) for each in _capitals(author))
        return any(each.casefold() in folded for each in names)
    places = range(len(author) - _HAN_MIN + 1)
    return any(author[at : at + _HAN_MIN] in said for at in places)


def _is_of_role(value: str, shown: Sequence[Passage], heard: HeardWindow) -> bool:
    """Return True if the value tells it of somebody whom the user names without a name."""
    lines = {each.line.number for each in shown}
    own = [e.text for e in heard.voices if e.trust == "user" and e.line.number in lines]
    found = chain(_ROLE.finditer(value), _LETTER_OF_ROLE.finditer(value))
    roles = {each.casefold() for match in found for each in match.groups() if each} - STOP_WORDS
    words = {each.casefold() for text in own for each in re.findall(r"[A-Za-z-]+", text)}
    return not roles.isdisjoint(words)


def _is_of_letter(value: str, said: str) -> bool:
    """Return True if the value tells it of the letter, as the message calls it, or of its kind."""
    # A kind ("clinic letter") stands before the letter, and alone has to be right.
    named = (
        next(filter(None, found.groups())) for found in _THE_LETTER.finditer(simplified(value))
    )
    return any(each.casefold() not in STOP_WORDS and _is_kind(each, said) for each in named)


def _is_kind(kind: str, said: str) -> bool:
    """Return True if a letter is called so, is addressed, or is a hospital's by its matter."""
    if _names(said, kind) or (kind.casefold() in _ADDRESSED_KINDS and _is_addressed(said)):
        return True
    return kind.casefold() in _OF_PATIENTS and _TO_PATIENT.search(said) is not None


def _is_addressed(said: str) -> bool:
    return any(letter_start(each) is not None for each in said.splitlines())


def _is_pasted(value: str, shown: Sequence[Passage]) -> bool:
    """Return True if the value tells it of what a user pasted: "the letter Wistin pasted"."""
    speakers = {(each.line.message.name or "").casefold() for each in shown}
    found = (each["who"] or each["by"] for each in _PASTED.finditer(simplified(value)))
    return any(name is None or name.casefold() in speakers for name in found)


def _names(said: str, name: str) -> bool:
    """Return True if a text has a word, or its other number; in Chinese, the characters."""
    if not name.isascii():
        return name in said
    one, folded = name.lower().removesuffix("s"), said.lower()
    at = folded.find(one)  # a pattern would read a message of a megabyte much longer
    while at >= 0:
        behind = folded[at + len(one) : at + len(one) + 2].removeprefix("s")
        if not folded[max(at - 1, 0) : at].isalpha() and not behind[:1].isalpha():
            return True
        at = folded.find(one, at + 1)
    return False


def _capitals(value: str) -> Sequence[re.Match[str]]:
    return [each for each in _WORD.finditer(value) if each.group()[:1].isupper()]
