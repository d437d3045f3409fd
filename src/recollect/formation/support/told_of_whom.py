"""Persons: whether a value speaks of the same person as its citations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias

from recollect.formation.grounding.common_words import COMMON
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.content_words import stem_of
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.run_on_clauses import parts_of
from recollect.formation.support.told_clauses import (
    TEXT_CHARACTERS_MAX,
    OwnWord,
    OwnWords,
    TextClause,
    text_clauses,
    words_of,
)
from recollect.formation.support.told_relatives import (
    exchanged_relatives,
    is_relative_named,
    of_their_relative,
    pattern_of,
)
from recollect.formation.support.voices import SENTENCE_END
from recollect.formation.wording.relatives import KIN, KIN_HAN
from recollect.text.analysis import fold
from recollect.text.chinese_scripts import simplified
from recollect.text.days import WEEKDAYS, weekday_number
from recollect.text.lazy_patterns import lazy_pattern
from recollect.text.word_caches import word_cache

Subject: TypeAlias = Literal["user", "other", ""]
"""The subject of a clause: its speaker, another person, or one that is not named."""
SHARED_WORDS_MIN: Final = 2
NAME_CHARACTERS_MAX: Final = 40
NAMES_MAX: Final = 20
_KEY_MIN: Final = 4
_SHORT_DAY: Final = lazy_pattern(r"\b(?:mon|tues?|wed|thu|thurs?|fri|sat|sun)\b", re.IGNORECASE)
"""Days of the week by their short forms: who says "sat me" speaks of Saturday."""
_NAME: Final = lazy_pattern(r"(?<![A-Za-z])[A-Z][a-z]{2,20}(?![A-Za-z])")
_BEGINS: Final = lazy_pattern(
    r"[^\w]*(?:(?:and|so|but|ok)\s+)?(?P<name>[A-Z][a-z]{2,20})(?![A-Za-z])"
)
_LEAD: Final = (
    r"^[\W_]{0,4}(?:(?:and|so|ok|okay|oh|well|yeah|no|yes|btw|also|haha|lol|ta)\b[\W_]{0,4}){0,3}"
)
_LEAD_HAN: Final = r"(?:(?:另外|还有|仲有|对了|然后|其实|同埋)[\W_]{0,4})?"
_CHILD_HAN: Final = "[仔女](?![生人性的孩细婿友])"
"""A child behind 我, as people in Hong Kong say: 我女, 我仔."""
_FIRST: Final = lazy_pattern(
    rf"{_LEAD}(?:i|i'm|im|i've|ive|i'd|i'll|we|we're|we've|yo|ich|je|eu)\b|\byo\b"
    rf"|{_LEAD}my (?!(?:\w+ )?(?:{KIN})\b)|^(?!有)[^他她佢]{{0,8}}"
    rf"我(?!们?的?(?:{KIN_HAN}|{_CHILD_HAN})|们?家)",
    re.IGNORECASE,
)
_THIRD: Final = lazy_pattern(
    rf"{_LEAD}(?:he|she|they|he's|she's|they're|(?:my|his|her|our|their|the) (?:\w+ )?(?:{KIN}))\b"
    rf"|^[\W_]{{0,4}}{_LEAD_HAN}(?:他|她|佢|我们?的?(?:{KIN_HAN}|{_CHILD_HAN}))",
    re.IGNORECASE,
)
_NAMED_SUBJECT: Final = lazy_pattern(
    rf"{_LEAD}(?P<name>[A-Z][a-z]{{0,20}})(?:'s| (?:is|was|has|can(?:'t)?|cannot|will|won't|wants"
    r"|needs|eats|likes|loves|hates|plays|works|lives|doesn't|does))\b"
)
_OF_USER: Final = lazy_pattern(
    r"^[\W_]{0,4}(?:the )?(?:user|speaker)\b(?!'s| is called)"
    rf"|^[\W_]{{0,4}}(?:用户|使用者)(?!的|们?家|{KIN_HAN})",
    re.IGNORECASE,
)
_OF_OTHER: Final = lazy_pattern(
    rf"^[\W_]{{0,4}}(?:(?:the )?user's|his|her|their|my) (?:\w+ )?(?:{KIN})\b(?!'s)"
    rf"|^[\W_]{{0,4}}(?:用户|使用者)的?(?!夫妻)(?:{KIN_HAN})",
    re.IGNORECASE,
)
_OTHER_IN_VALUE: Final = lazy_pattern(
    rf"\b(?:{KIN}|he|she|they|him|her|his|their|them|called|named)\b|{KIN_HAN}|[他她它叫]",
    re.IGNORECASE,
)
"""Names somebody else in a clause about the user, or tells what something is called."""
_REPORTS: Final = "(?:says?|said|thinks?|thought|told me|reckons?|believes?|feels?)"
_SAYS_FORMS: Final = rf" {_REPORTS}\b|(?:跟[^，。]{{1,6}}|也|就|都)?(?:[说讲]|觉得|认为)"
_OF_OR_BY: Final = lazy_pattern(
    rf"(?:'s|\u2019s) (?:\w+ )?(?:{KIN})\b|的?(?:{KIN_HAN})|{_SAYS_FORMS}", re.IGNORECASE
)
"""Behind a name: a relative of who is named is the subject, or what is reported has its own."""
_REPORTS_HAN: Final = "(?:[说讲]|觉得|认为)"
_REPORTS_CANTONESE: Final = "(?:成日|就|都|又)?话(?![题费剧音筒事语多少不])"
"""Behind who reports, without a word between: 电话 and 普通话 report nothing."""
# What somebody reports is about who is named in it.
_REPORTED: Final = lazy_pattern(
    rf"^.{{0,20}}?(?:\b(?:{KIN}|he|she|they)(?-i: [A-Z]\w+)? {_REPORTS}\b"
    rf"|(?:{KIN_HAN}|他|她)[\u3400-\u9fff]{{0,2}}{_REPORTS_HAN}"
    rf"|(?:{KIN_HAN}|他|她|佢|个[仔女]){_REPORTS_CANTONESE})",
    re.IGNORECASE,
)
_WANTS_HAN: Final = lazy_pattern(
    r"[\W_]*(?:[也就都很还]|真的|其实|一直){0,2}"
    r"(?:[不唔]?想(?![你您我]|让|叫|请|.{0,3}(?:什么|啥|哪|谁))|[不唔]?(?:喜欢|钟意|打算|愿意)|讨厌|自己)"
)
"""Begins what somebody reports of themselves: 我老婆说想搬 is about her."""
_REPORTED_IN_VALUE: Final = lazy_pattern(
    rf"^[\W_]{{0,4}}(?:(?:(?:the )?user's|his|her|their|my) (?:\w+ )?(?:{KIN})(?: [A-Z]\w+)?"
    rf" {_REPORTS}\b(?: that\b)?"
    rf"|(?:用户|使用者)的?(?:(?:{KIN_HAN})[\u3400-\u9fff]{{0,3}}?{_REPORTS_HAN}"
    rf"|(?:{KIN_HAN}|个[仔女]){_REPORTS_CANTONESE}))",
    re.IGNORECASE,
)
"""The head of a report in a value, behind which "she" may be the user or who reports."""
_CAPITALISED: Final = lazy_pattern(r"\s*(?P<name>[A-Z][a-z]\w*)")
_HE: Final = lazy_pattern(r"\W*(?:he|she|his|her)\b|[他她]", re.IGNORECASE)
"""Begins a clause that may be about either of two who were named before."""
_GOES_ON: Final = lazy_pattern(r"\W*(?:还|也|就)?(?:[要得会想去]|打算|准备)(?!不要|是)")
"""Begins a Chinese clause without a subject, which goes on with that of the clause before."""
_FULL_NAME: Final = lazy_pattern("[\u3400-\u9fff]{3}")
_TITLE: Final = lazy_pattern(
    f"{KIN_HAN}|老师|师傅|医生|先生|太太|小姐|阿姨|叔叔|经理|老板|同学|律师"
)
"""What stands behind a surname as the rest of a name does: 王老师."""
_OF_BOTH: Final = lazy_pattern("[我俺][^他她佢]{1,8}[他她佢]")
"""One clause that tells of oneself and of another: 我1450他1150."""
_ADDRESSED: Final = lazy_pattern(
    r"\b(?:you|your|u|ur|we|us|our|y'all|everyone|both|tu|vos|usted|nosotros)\b"
    r"|你|妳|您|咱|我们|大家|都|一起",
    re.IGNORECASE,
)


def whom_reasons(
    text: str, cited: Sequence[Passage], heard: HeardWindow, before: str = ""
) -> Iterator[str]:
    """
    Yield why *text* may attribute to one person what *cited* words say of another.

    Clauses that stood in the text *before* are not looked at.
    """
    own = [each for each in cited if each.trust == "user"]
    explicit = [each for each in own if not each.citation.implied]
    if explicit:
        yield from _of_another_speaker(text, explicit, heard, before)
        yield from _exchanged_with_user(text, explicit)
        yield from _exchanged_names(text, own, heard)
        yield from of_their_relative(text, explicit)
        yield from exchanged_relatives(text, before, explicit)


def _of_another_speaker(
    text: str, cited: Sequence[Passage], heard: HeardWindow, before: str
) -> Iterator[str]:
    """Yield what one named speaker says of themselves and *text* of another one."""
    names = _speakers(heard)
    told = [
        (each, OwnWords(words_of(_told_of_oneself(each.text))))
        for each in cited
        if len(names) > 1 and not _ADDRESSED.search(each.text)
    ]
    said = {name: _words_about(name, heard) for name in names} if told else {}
    for about, value in _clauses_by_speaker(text, names) if told else ():
        if value.text.strip() in before:
            continue
        own = [each for each in value.words if each.key not in about.casefold()]
        mine = said[about].among(own)
        others = [each for each in own if each not in mine]
        for passage, words in told:
            speaker = passage.line.message.name
            is_theirs = speaker and not _is_about(speaker, passage.line.text, about)
            if is_theirs and len(words.among(others)) >= max(1, len(mine)):
                yield f"{speaker} says it of themselves, and the value of {about}"
                return


def _told_of_oneself(text: str) -> Iterator[TextClause]:
    """
    Yield the clauses that speak of who says them.

    In Chinese they go on without a subject: 28号我不行，要去陪床. One that names another beside,
    主卧我1450他1150, speaks of both.
    """
    is_own = False
    for subject, clause in _told_by_subject(text):
        goes_on = not subject and _GOES_ON.match(clause.text) is not None
        is_own = subject == "user" or (is_own and goes_on)
        if is_own and not _OF_BOTH.search(clause.text):
            yield clause


def _speakers(heard: HeardWindow) -> list[str]:
    named = (e.message.name for e in heard.window.lines if e.message.role == "user")
    fitting = dict.fromkeys(e for e in named if e and len(e) <= NAME_CHARACTERS_MAX)
    return list(fitting)[:NAMES_MAX]


@word_cache(maxsize=256)
def _bracketed(name: str) -> re.Pattern[str]:
    """Return the pattern of a name that only says who is meant: "her brother (Max)"."""
    return lazy_pattern(rf"[(（] ?{re.escape(name)} ?[)）]")


@word_cache(maxsize=256)
def _speaker_pattern(name: str) -> re.Pattern[str]:
    """Return the pattern of a speaker's name; a Chinese one stands without its surname too."""
    given = name[1:]
    if _FULL_NAME.fullmatch(name) is None or _TITLE.fullmatch(simplified(given)):
        return pattern_of(name)
    return lazy_pattern(f"{re.escape(name[0])}?{re.escape(given)}")


def _is_about(speaker: str | None, text: str, name: str) -> bool:
    return speaker == name or _speaker_pattern(name).search(text) is not None


def _words_about(name: str, heard: HeardWindow) -> OwnWords:
    """Return the words of what a speaker says, and of what is said where the name is named."""
    own = [each for each in heard.voices if each.trust == "user"]
    voices = [each for each in own if _is_about(each.line.message.name, each.text, name)]
    words = [*words_of(clause for each in voices for clause in text_clauses(each.text))]
    words += [
        OwnWord(stem_of(WEEKDAYS[weekday_number(short)]), 0)
        for each in voices
        for short in _SHORT_DAY.findall(each.text)
    ]
    return OwnWords(each for each in words if each.key not in name.casefold())


def _clauses_by_speaker(text: str, names: Sequence[str]) -> Iterator[tuple[str, TextClause]]:
    """Yield the clauses of a text that speak of one speaker alone, with that speaker."""
    about, is_listed = "", False
    told: set[str] = set()
    for clause in text_clauses(text):
        named = [each for each in names if _speaker_pattern(each).search(clause.text)]
        # "Ann, Ben and both aunts want to go": what is said of the last is said of all.
        was_listed, is_listed = is_listed, bool(named) and named[0] == clause.text.strip()
        if named:
            begins = _speaker_pattern(named[0]).match(clause.text.lstrip())
            is_alone = len(named) == 1 and begins is not None and not was_listed
            # "Ann says he can't lift it. He won't reach that", "Ann's mum can't": another's words.
            is_other = begins and _OF_OR_BY.match(simplified(clause.text.lstrip()), begins.end())
            is_apposed = is_listed and _bracketed(named[0]).search(text) is not None
            about = named[0] if is_alone and not (is_other or is_apposed) else ""
            told.update(named)
        elif (told - {about} and _HE.match(clause.text)) or _begins_with_name(clause.text):
            about = ""  # "Tavita XL, Mako S. $92 each": what follows is not about Tavita
        if about and clause.words:
            yield about, clause


def _begins_with_name(clause: str) -> bool:
    """Return True if a clause begins with a name: a capital, no everyday word and no verb form."""
    first = _CAPITALISED.match(clause)
    return (
        first is not None
        and fold(first["name"]) not in COMMON
        and not first["name"].endswith(("s", "ed", "ing"))
    )


def _exchanged_with_user(text: str, cited: Sequence[Passage]) -> Iterator[str]:
    """Yield what is said of the user and was of somebody else, or the other way round."""
    found: dict[Subject, list[OwnWord]] = {"user": [], "other": [], "": []}
    for each in cited:
        for subject, clause in _told_by_subject(each.text):
            found[subject] += clause.words
    told = {subject: OwnWords(words) for subject, words in found.items()}
    for value in text_clauses(text):
        about, start = _subject_of_value(value.text)
        # A clause that names both, "the user says the brother isn't reliable", exchanges nobody.
        if not about or (about == "user" and _OTHER_IN_VALUE.search(simplified(value.text))):
            continue
        if is_relative_named(value.text, cited):
            continue
        own = [each for each in value.words if each.start >= start]
        counts = {subject: _count_of(own, words) for subject, words in told.items()}
        wrong = counts["other" if about == "user" else "user"]
        needed = max(1, min(SHARED_WORDS_MIN, len(own)))
        if wrong >= needed and not counts[about] and counts[""] < wrong:
            yield "the value says of the user what was said of somebody else, or the reverse"
            return


def _count_of(words: Sequence[OwnWord], told: OwnWords) -> int:
    """Return how many of *words* were said; of a single one a synonym does not do."""
    if len(words) != 1:
        return len(told.among(words))
    key = words[0].key
    return int(key in told.keys and (not key.isascii() or len(key) >= _KEY_MIN))


def _subject_of_value(text: str) -> tuple[Subject, int]:
    """Return who a clause of a value speaks of, and where that is said."""
    text = simplified(text)
    head = _REPORTED_IN_VALUE.match(text)
    start = head.end() if head else 0
    if found := _OF_USER.search(text[start:]):
        return "user", start + found.end()
    found = None if head else _OF_OTHER.search(text)
    return ("other", found.end()) if found else ("", 0)


def _told_by_subject(text: str) -> Iterator[tuple[Subject, TextClause]]:
    """Yield the clauses of what was said, each with the subject that it names itself."""
    for sentence in SENTENCE_END.split(simplified(text)):
        for whole in text_clauses(sentence):
            for clause in parts_of(whole):
                yield _subject_said(clause.text), clause


def _subject_said(text: str) -> Subject:
    """Return who a clause of what was said speaks of."""
    said = _REPORTED.sub("", text)
    if _THIRD.search(said) or (said != text and _WANTS_HAN.match(said)):
        return "other"
    if _FIRST.search(said):
        return "user"
    return "other" if _is_named(text) else ""


def _is_named(text: str) -> bool:
    """Return True if a clause begins with a name and a verb: "Tomasz is pescatarian"."""
    found = _NAMED_SUBJECT.search(text)
    if found is None:
        return False
    name = found["name"]
    return fold(name) not in COMMON and name not in {"I", "A"}


def _exchanged_names(text: str, cited: Sequence[Passage], heard: HeardWindow) -> Iterator[str]:
    """Yield what is said of one name and was of another one."""
    names = [each for each in dict.fromkeys(_NAME.findall(text)) if _is_in(each, cited)]
    found: dict[str, list[OwnWord]] = {}
    for each in cited:
        for name, clause in _told_by_name(each.text):
            found.setdefault(name, []).extend(clause.words)
    told = {name: OwnWords(words) for name, words in found.items() if _is_a_name(name, heard)}
    others = OwnWords(word for name, words in found.items() if name not in told for word in words)
    for value in text_clauses(text) if len(told) > 1 else ():
        named = [each for each in names[:NAMES_MAX] if pattern_of(each).search(value.text)]
        if len(named) != 1 or named[0] not in told:
            continue
        own = [each for each in value.words if each.key not in fold(" ".join(told))]
        right = len(told[named[0]].among(own))
        if others.among(own):
            continue
        for name, words in told.items():
            if SHARED_WORDS_MIN <= len(words.among(own)) > right and name != named[0]:
                yield f"it was said of {name}, and the value says it of {named[0]}"
                return


def _is_a_name(name: str, heard: HeardWindow) -> bool:
    """Return True for a word with a capital within a sentence as well, or a speaker's name."""
    if not name or fold(name) in COMMON:
        return False
    within = lazy_pattern(rf"[a-z,:] {name}\b")
    said = (each.text[:TEXT_CHARACTERS_MAX] for each in heard.voices)
    return name in _speakers(heard) or any(map(within.search, said))


def _is_in(name: str, cited: Sequence[Passage]) -> bool:
    return any(name in each.text for each in cited)


def _told_by_name(text: str) -> Iterator[tuple[str, TextClause]]:
    """Yield the clauses of what was said with the name that they begin with, or one before."""
    for sentence in SENTENCE_END.split(text):
        name = ""
        for clause in text_clauses(sentence):
            if found := _BEGINS.match(clause.text):
                name = found["name"]
            elif _FIRST.search(clause.text) or _THIRD.search(clause.text):
                name = ""
            yield name, clause
