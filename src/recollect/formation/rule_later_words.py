"""
Later words on what is remembered, for the rule model: "I have no cat now".

Some ends and moves become no memory by the rules. They are messages, though, and a message that
was written after the memory tells how things are now.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import pairwise
from typing import Final

from recollect.formation import rule_patterns as english
from recollect.formation import rule_patterns_chinese as chinese
from recollect.formation.remembered_lines import RememberedLine
from recollect.formation.rule_question import RuleQuestion
from recollect.formation.rule_stems import stems_in
from recollect.formation.rule_topics import PERSONS, topic_of_field, topics_of
from recollect.text.cantonese import written_chinese

_DENIES: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|passed away|died|ran away|got rid of|is gone|are gone)\b"
    r"|\bI(?:'ve| have)?(?: just| recently| finally| already| now)?"
    r" (?:quit|left|lost|sold|stopped|gave (?:up|away)|given (?:up|away)|retired)\b"
    r"|\bI(?:'ve| have)? (?:been laid off|got (?:laid off|fired))\b"
    r"|\bpaid (?:[\w']+ ){1,4}?back\b|\bpaid (?:it|that|them|him|her)? ?off\b|\bsettled up\b"
    r"|\b(?:broke|broken|split) up\b|\b(?:divorced|separated|widowed)\b"
    r"|\b(?:is|are|was|were) (?:called off|cancell?ed"
    r"|off(?! (?:to|his|her|their|my|the|on|in|with|for)\b))\b"
    r"|(?:[已早经就都也]|现在|如今)不(?!是因)[^，。！？；]{1,10}了|不再|没有?(?:[^，。！？；]{1,8})?了"
    r"|(?<=[\u3400-\u9fff]{2})不[去来做学干办搬]了|我不再?[学做吃喝去打练养抽用开][^，。！？；]{0,6}了|取消了?|去世|[死戒]了|[卖丢送](?:掉|走|人)?了|辞[职掉]|离职|退休|分手|离婚|还清|(?:钱|债)(?:都|已经?)?还(?:给|了)",
    re.IGNORECASE,
)
"""Words that tell an end."""
_CHANGES: Final = re.compile(
    r"\b(?:moved|now|changed|switched|renamed|has become|instead|turned \d+"
    r"|(?:went|gone|going|goes|is) (?:up|down) to|(?:rose|fell|dropped) to"
    r"|found (?:my|our|the|it|him|her|them))\b|找到了"
    r"|满了?[\d一二三四五六七八九十]+岁|搬|换(?:[了成到]|工作)|改[成为叫到在]|变成|现在|如今",
    re.IGNORECASE,
)
"""Words that tell how something is since a change."""
_WHY: Final = re.compile(r"\bwhy\b|\bhow come\b|为什么|為什麼", re.IGNORECASE)
_CORRECTS: Final = re.compile(
    r"\W*(?:oh\b[\s,.!—-]*)?"
    r"(?:(?:no|nope|sorry|wait|oops|actually|correction|i mean|i meant)\b[\s,.!:;—-]*)+"
    r"(?=(?:it'?s|it is|that'?s|make (?:it|that)|not|the \d|(?:at|on|in|for) |\d|mon|tue|wed|thu"
    r"|fri|sat|sun|next |this |(?:jan|feb|mar|apr|may|june?|july?|aug|sep|oct|nov|dec)[a-z]*\b"
    r"(?! i\b)|(?:his|her|its|their) names?\b|s?he'?s called)\w*)"
    r"|\W*make (?:that|it) "
    r"|\W*(?:it'?s|it is|that'?s|that is) [^.!?,]{1,40},? (?:actually|sorry|instead|i mean)\W*$"
    r"|(?:[哦喔啊噢]|抱歉|不好意思|等等|等一下)*[，, ]*(?:不对|不是|错了|说错了?|记错了?|更正)"
    r"[，,。 ]*(?:是|改|应该是|\d|[他她它]?(?:的名字|名?叫))|其实是"
    r"|(?:抱歉|不好意思|对不起|口误)[啊呀]?[，,。 ]*(?:应该)?是[^，。！？]{1,12}[，, ]*"
    r"(?:而?不是|才对)",
    re.IGNORECASE,
)
"""How a message begins that puts right the one before it, and names nothing: "no, it's at 5"."""
_REVISES: Final = re.compile(
    r"\W*(?:(?:no|oh|ok|sorry|oops|wait|hang on)\b[\s,.!:;—-]*)*"
    r"(?:actually|scratch that|correction|change of plans?|turns out|my mistake|i was wrong)\b"
    r"|[哦喔啊噢抱歉，, ]*(?:不对|更正|[说记搞弄]错了|其实)",
    re.IGNORECASE,
)
"""How a message begins that states anew what was stated before."""
_ADDS: Final = re.compile(r"\b(?:too|also|as well|another)\b|[也还另]", re.IGNORECASE)
"""Words that tell more beside what was told, and do not take its place."""
_GOES_ON: Final = re.compile(r"\W*(?:and )?(?:she|he|they)\b|\W*[她他]们?", re.IGNORECASE)
"""How a message begins that goes on about whom the one before it names."""
_NEW_JOB: Final = re.compile(
    r"\b(?:changed|switched) jobs\b|\bnew job\b|换了?[^，。]{0,3}工作", re.IGNORECASE
)
_CLAUSE_END: Final = re.compile("[，,；;。.]")
_OF_ONESELF: Final = re.compile(r"\b(?:i|me|my|mine|we|our)\b|我", re.IGNORECASE)
_THING_MOVED: Final = re.compile(
    r"\W*(?:(?:oh|ok|so|well|no|actually|by the way|btw|update|sorry)\b[\s,.!:]*)*"
    r"(?:the|my|our) (?P<thing>(?:[\w-]+ ){0,2}?[\w-]+?)"
    r"(?:'s| (?:has|have|is|was|got|been|just|now|to be))* "
    r"(?:moved|rescheduled|pushed|postponed|delayed|brought forward|bumped|put off)\b"
    r"(?= (?:to|from|back|forward|until|till|by|up|on|again)\b|\W*$)",
    re.IGNORECASE,
)
"""How a message tells that a thing has another day by now."""
_ASKS_WHEN: Final = re.compile(r"\bwhen\b|\bwhat (?:time|day|date)\b", re.IGNORECASE)
_PARTED: Final = re.compile(
    r"\b(?:divorced|separated|widow(?:ed|er)?|(?:no longer|not) (?:married|engaged|together))\b"
    r"|离婚|离异|分手|分居|丧偶",
    re.IGNORECASE,
)
"""Words of an end that name the partner by no word of theirs: "I'm not married any more"."""
_SINGLE: Final = frozenset({"home", "occupation", "age"})
"""Topics of which a person has one value at a time."""
_PROPER: Final = re.compile(r"\b[A-Z][a-z]+")
_NAMED_CHINESE: Final = re.compile(
    "(?:叫|名字?是)([\u3400-\u9fff]{2,3}?)(?=[，,。、]|$|一[只个隻条]|另一)"
)
_GONE_CHINESE: Final = re.compile(
    "\\W*(?P<name>[\u3400-\u9fff]{2,4}?)(?:已经|刚刚?|都|被)*(?:[卖丢送](?:掉|走|人)|报废|去世|死)了"
)
"""How a message tells that something which has a name is gone: 福特卖掉了."""
_SUBJECT: Final = re.compile(
    r"\W*(?:(?i:sadly|actually|oh|unfortunately),? )?"
    r"(?:(?i:I|we)(?:'ve| have)?(?: just)? (?i:sold|lost|scrapped|returned"
    r"|gave (?:away|up)|quit|stopped|dropped)(?: \w+ing)? (?:(?i:the|my|our) (?:old )?)?)?"
    r"(?P<name>[A-Z][a-z]+)\b"
)


def later_words(
    question: RuleQuestion,
    known: RememberedLine | None,
    lines: Sequence[RememberedLine],
    talk: Sequence[RememberedLine],
) -> RememberedLine | None:
    """
    Return the newest words that change what is *known*, the answer to a question until then.

    Args:
        question: The question, which is about how things are now.
        known: The line that answers it best; without one only the end of it is an answer.
        lines: What the prompt remembers; its messages stand in the order of their days.
        talk: The user's messages in this talk, which are later than those of the prompt.
    """
    said = [each for each in lines if each.speaker and each.speaker != "assistant"]
    begun = max(_place_of(known, (*said, *talk)), -1) if known is not None else -1
    for number, each in reversed([*enumerate((*said, *talk))]):
        if number <= begun or each is known:
            break
        if not _is_later(each, known, is_placed=begun >= 0):
            continue
        if number == begun + 1 and is_bare_correction(each.text) and question.has_kind(each):
            return each
        if (is_end := tells_end(each.text)) and _is_end_of(each, known, question):
            return each
        if not is_end and known is not None and _is_changed_by(each, known, question):
            return each
        if not is_end and _is_stated(each.text) and question.is_met_by(each):
            # What was over before it is no longer.
            plain = _plain(each.text)
            is_revised = _REVISES.match(plain) and not _ADDS.search(plain)
            return each if is_revised or _is_replaced(known, each, question) else None
    notes = [e for e in lines if e.is_memory and not e.field and e is not known]
    later = (e for e in notes if known is not None and begun < 0 and _is_newer_note(e, known))
    changed = [e for e in later if known is not None and _is_changed_by(e, known, question)]
    over = [e for e in notes if _is_over_by(e, known, question, lines)]
    return max([*changed, *over], default=None, key=lambda each: each.day or date.min)


def going_on(talk: Sequence[RememberedLine]) -> list[RememberedLine]:
    """Return each message with the one behind it that says "she" of whom it names."""
    return [
        replace(after, text=f"{before.text} … {after.text}")
        for before, after in pairwise(talk)
        if _GOES_ON.match(after.text)
    ]


def tells_end(text: str) -> bool:
    """
    Return True if a text states that something is over.

    >>> tells_end("I no longer have a cat."), tells_end("我没有猫了。"), tells_end("I have a cat.")
    (True, True, False)
    """
    return _is_stated(text) and _DENIES.search(_plain(text)) is not None


def is_bare_correction(text: str) -> bool:
    """
    Return True if a message puts right the one before it without naming what.

    >>> is_bare_correction("actually it's at 5pm"), is_bare_correction("不对，是周四")
    (True, True)
    """
    return _is_stated(text) and _CORRECTS.match(_plain(text)) is not None


def moved_thing(text: str) -> frozenset[str]:
    """
    Return the stems of what has another day by a statement; none if it tells of no such thing.

    >>> sorted(moved_thing("the dentist moved to Friday")), sorted(moved_thing("We moved to Rome."))
    (['dentist'], [])
    """
    found = _THING_MOVED.match(_plain(text)) if _is_stated(text) else None
    return stems_in(found["thing"]) if found else frozenset()


def _plain(text: str) -> str:
    return written_chinese(text).replace("\u2019", "'")


def _is_stated(text: str) -> bool:
    """Return True for a statement: no question, condition, wish or words of others."""
    plain = _plain(text).strip()
    is_asked = plain.endswith(("?", "？")) or chinese.QUESTION.search(plain.rstrip("。！!."))
    return not (is_asked or english.NOT_MEANT.search(plain) or chinese.NOT_MEANT.search(plain))


def _place_of(known: RememberedLine, said: Sequence[RememberedLine]) -> int:
    """Return the place of the last message that says what is *known*; -1 for none."""
    value = (known.text.partition(": ")[2] or known.text).rstrip("。. ")
    places = (number for number, each in enumerate(said) if value in each.text)
    return max(places, default=-1)


def _is_later(said: RememberedLine, known: RememberedLine | None, *, is_placed: bool) -> bool:
    """Return True if a message is later than what is *known*, as far as their days tell."""
    if known is None or is_placed or said.day is None:
        return True
    if known.day is None:
        # A profile's field has no day: a message that names the same person is about it.
        return bool(set(_PROPER.findall(known.text)) & set(_PROPER.findall(said.text)))
    return said.day > known.day or (said.day == known.day and known.is_memory)


def _is_end_of(said: RememberedLine, known: RememberedLine | None, question: RuleQuestion) -> bool:
    """Return True if a message tells the end of what the question, or its answer, is about."""
    topics, terms = topics_of(said.text), question.terms
    topics |= {"partner"} if _PARTED.search(_plain(said.text)) else frozenset()
    if known is not None and is_of_one_named(said, known):
        return True
    if not question.topics <= topics or not question.has_words(_plain(said.text)):
        return False
    if not question.topics:
        return bool(terms or question.runs) and _WHY.search(question.text) is None
    persons = question.topics & PERSONS
    ended = _topics_of_end(said.text)
    if (ended & PERSONS) - persons or not (persons or _OF_ONESELF.search(said.text)):
        return False
    about = topics_of(known.text) | {topic_of_field(known.field)} if known else topics
    return bool(terms) or bool(question.runs) or ended <= about | {"move", "home", "name"}


def _topics_of_end(text: str) -> frozenset[str]:
    """Return the topics of *text* up to the end that it tells: "I quit, now I raise my son"."""
    plain = _plain(text)
    found = _DENIES.search(plain)
    clause = _CLAUSE_END.search(plain, found.end()) if found else None
    return topics_of(plain[: clause.start()] if clause else plain)


def is_of_one_named(said: RememberedLine, known: RememberedLine) -> bool:
    """Return True for "Pixel died" of "I have two cats, Pixel and Moss": its subject is named."""
    plain = _plain(said.text)
    if any(_names_first(plain, each[1]) for each in _NAMED_CHINESE.finditer(_plain(known.text))):
        return True
    gone = _GONE_CHINESE.match(plain)
    if gone is not None and gone["name"] in _plain(known.text):
        return True
    subject = _SUBJECT.match(plain)
    named = known.text.split(maxsplit=1)[-1]  # the first word is written large anyway
    return subject is not None and subject["name"] in _PROPER.findall(named)


def _names_first(plain: str, name: str) -> bool:
    """Return True if a text begins with a name, or with "I and" that name: 我和小艾分手了."""
    return re.match(rf"\W*(?:我[和跟与])?{name}", plain) is not None


def _is_changed_by(said: RememberedLine, known: RememberedLine, question: RuleQuestion) -> bool:
    """Return True if a message answers the question as well, and tells a change."""
    plain = _plain(said.text)
    if (thing := moved_thing(said.text)) and _ASKS_WHEN.search(question.text):
        is_same = thing <= stems_in(known.text) and bool(thing & question.terms)
        if is_same and question.has_kind(said):
            return True
    if not _is_stated(said.text) or _CHANGES.search(plain) is None or said.text == known.text:
        return False
    if is_of_one_named(said, known):
        return question.topics - PERSONS <= topics_of(said.text)
    is_named = question.topics & PERSONS or question.terms or question.runs
    return bool(is_named) and question.is_met_by(said)


def _is_replaced(
    known: RememberedLine | None, said: RememberedLine, question: RuleQuestion
) -> bool:
    """Return True if a person has another job, home or age by later words than by a memory."""
    if known is not None and known.field == "occupation" and _NEW_JOB.search(_plain(said.text)):
        return known.text.partition(": ")[2] not in said.text
    if known is None or not known.is_memory or known.field or not question.topics & PERSONS:
        return False
    return bool(question.topics & _SINGLE) and said.text.rstrip("。. ") not in known.text


def _is_over_by(
    note: RememberedLine,
    known: RememberedLine | None,
    question: RuleQuestion,
    lines: Sequence[RememberedLine],
) -> bool:
    """Return True for a memory of the end of what is *known*; of one day, the one listed later."""
    if note.tense == "until" or not (tells_end(note.text) and _is_end_of(note, known, question)):
        return False
    if known is None:
        return True
    if note.day is None or known.day is None or known.field:
        return False
    is_listed_later = not known.is_memory or lines.index(note) > lines.index(known)
    return note.day > known.day or (note.day == known.day and is_listed_later)


def _is_newer_note(note: RememberedLine, known: RememberedLine) -> bool:
    """Return True for a memory of a change that is not older; on one day, than one of none."""
    if note.day is None or known.day is None or note.tense == "until":
        return False
    is_same = note.day == known.day and _CHANGES.search(_plain(known.text)) is None
    return note.day > known.day or is_same
