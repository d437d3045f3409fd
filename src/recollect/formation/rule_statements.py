"""
Statements that the rule model reads from a user's message, each with the words that state it.

It prefers to miss a statement: a question, a condition, a wish, a denial and the words of another
person state nothing about the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from recollect.formation import rule_patterns as english
from recollect.formation import rule_patterns_chinese as chinese
from recollect.formation.grounding.foreign_text import foreign_spans, letter_start
from recollect.formation.wording.reported_words import is_name, quotation_spans, reported_spans
from recollect.text.cantonese import written_chinese
from recollect.text.numerals_chinese import chinese_values
from recollect.text.sentences import sentence_matches

READ_CHARACTERS_MAX: Final = 20_000
"""Characters of a message that are read: nobody types more, and the event loop waits."""
SENTENCE_CHARACTERS_MAX: Final = 500
"""A longer sentence states nothing simple, and some rules look at it once for each word."""
NOTE: Final = "note"
"""The field of a statement that fits no field of a profile."""
_CLAUSE: Final = re.compile("[^，,；;]+")
_CLAUSE_START: Final = re.compile(r"[,;，；]|\b(?:and|but|so|because)\b", re.IGNORECASE)
_JOINT: Final = re.compile(r"\s+")
HIDDEN: Final = "\ufffc"
"""The place of a character that is not the speaker's."""
_CLOSING_MARKS: Final = (
    "\"'\u201c\u201d\u2018\u2019\u00bb\u00ab\u203a\u2039\u300d\u300f\uff02\uff07`"
)
_QUOTED_BEFORE: Final = re.compile(rf'[“「『"：{HIDDEN}]|:(?=\s)')
"""Before a statement: it may be the words of another."""
_LISTED_CHARACTERS_MAX: Final = 8
"""A longer part of a list in Chinese is a clause."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
# A clause after one of these may leave out the subject: "我叫林岚，住在杭州".
_ABOUT_ONESELF: Final = frozenset({"user_name", "age", "occupation", "home"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleStatement:
    """A statement in message *number*: a profile field's value, or a note, and the *quote*."""

    number: int
    speaker: str
    quote: str
    field: str
    value: str | int


def statements_in(number: int, speaker: str, words: str) -> list[RuleStatement]:
    """
    Return the statements in a message about its speaker, in order, those of notes last.

    >>> [(each.field, each.value) for each in statements_in(1, "user", "Btw, I live in Oslo.")]
    [('home', 'Oslo')]
    """
    found = [
        RuleStatement(number=number, speaker=speaker, quote=quote, field=name, value=value)
        for sentence in _sentences_in(words[:READ_CHARACTERS_MAX])
        for name, value, quote in _stated_in(sentence)
        if HIDDEN not in quote
    ]
    return sorted(found, key=lambda each: each.field == NOTE)


def asked_in(words: str) -> str:
    """
    Return the questions in *words*, without the sentences around them.

    >>> asked_in("I moved to Oslo. Where did I live before?")
    'Where did I live before?'
    """
    sentences = (each.group().strip() for each in sentence_matches(words[:READ_CHARACTERS_MAX]))
    return " ".join(each for each in sentences if each.endswith(("?", "？")))


def own_words_in(words: str) -> str:
    """
    Return *words* with what is quoted, pasted or reported in them hidden, character by character.

    Names and stressed words in quotation marks stay: "my cat is called 'Tom'".

    >>> own_words_in("She wrote 'I live in Rome.' I live in Oslo.").replace(HIDDEN, "_")
    'She wrote ________________. I live in Oslo.'
    """
    spans = [*foreign_spans(words), *_letter_spans(words)]
    spans += [(start, end) for _, start, end in reported_spans(written_chinese(words))]
    spans += [
        (start, end)
        for start, end in quotation_spans(words, unclosed=True)
        if not is_name(words[start + 1 : end - 1])
    ]
    shown = list(words)
    for start, end in spans:
        shown[start:end] = HIDDEN * (end - start)
    for _, end in spans:
        # A quoted sentence ends the sentence around it: what follows is the speaker's own.
        said = words[:end].rstrip(_CLOSING_MARKS)
        if shown[end - 1] == HIDDEN and said[-1:] in ".!?。！？\n":
            shown[end - 1] = "."
    return "".join(shown)


def _letter_spans(words: str) -> Iterator[tuple[int, int]]:
    """Yield what follows the address of a letter, signed or not: it may be anybody's."""
    if (start := letter_start(words)) is not None:
        yield start, len(words)


def _sentences_in(words: str) -> Iterator[str]:
    """Yield the sentences that may state something, with the words of others hidden."""
    for match in sentence_matches(own_words_in(words)):
        sentence = match.group().strip()
        if len(sentence) <= SENTENCE_CHARACTERS_MAX:
            yield sentence


def _stated_in(sentence: str) -> Iterator[tuple[str, str | int, str]]:
    """Yield field, value and quote of what a sentence states."""
    yield from _english_in(sentence)
    if _HAN.search(sentence):
        yield from _chinese_in(sentence)


def _english_in(sentence: str) -> Iterator[tuple[str, str | int, str]]:
    plain = sentence.replace("’", "'")  # as telephones write it; the quote keeps it
    opening = english.OPENING.match(plain)
    start = opening.end() if opening else 0
    if english.QUESTION.search(plain[start:]):
        return
    for name, rule in english.FIELDS:
        for match in rule.finditer(plain):
            told = next(each for each in match.groups() if each).strip()
            told = english.INTEREST_DEGREE.sub("", told) if name == "interests" else told
            if told and _is_meant(plain, start, match) and not _is_cut(plain, match):
                tail = english.TOLD_WHEN.match(plain, match.end()) if name == "home" else None
                quote = sentence[match.start() : tail.end() if tail else match.end()]
                for each in _english_list(name, told):
                    yield name, int(each) if name == "age" else each, quote
    noted = english.NOTE.search(plain, start)
    if noted and not _HAN.search(plain) and not english.NOT_MEANT.search(plain, start):
        note = sentence[start:].rstrip(".!").strip()
        if _is_meant(plain, start, noted):
            yield NOTE, note, note


def _english_list(name: str, told: str) -> list[str]:
    """Return the interests that "hiking, sushi and old films" lists; else *told*."""
    if name != "interests" or ", " not in told:
        return [told]
    return re.split(r", (?:and )?| and ", told)


def _is_cut(sentence: str, match: re.Match[str]) -> bool:
    """Return True if a statement ends at an abbreviation: "I like Dr", of "I like Dr. Who"."""
    return sentence[match.end() :].startswith(".") and match.end() < len(sentence) - 1


def _is_meant(sentence: str, start: int, match: re.Match[str]) -> bool:
    """Return True if nothing before an English statement, or in its clause, takes it back."""
    before = sentence[start : match.start()]
    rest = _CLAUSE_START.split(sentence[match.start() :], maxsplit=1)[0]
    return not (
        english.NOT_MEANT.search(before)
        or english.NOT_MEANT.search(rest)
        or english.NOT_MEANT_AFTER.search(sentence, match.end())
        or english.NOT_MEANT_BEFORE.search(_CLAUSE_START.split(before)[-1])
        or _QUOTED_BEFORE.search(before)
    )


def _chinese_in(sentence: str) -> Iterator[tuple[str, str | int, str]]:
    """Yield what a sentence states, in order; a note goes on until the next statement."""
    plain = written_chinese(sentence).rstrip("。！!.")
    opening = chinese.OPENING.match(plain)
    start = opening.end() if opening else 0
    if chinese.QUESTION.search(plain, start):
        return
    note_start = note_end = start
    is_subject = has_town = False
    for begin, end in _clauses_of(plain, start):
        told = list(_chinese_fields(plain[begin:end], is_subject=is_subject))
        if has_town and chinese.IS_PART.search(plain[begin:end]):
            told = [each for each in told if each[0] != "home"]
        has_town = has_town or any(name == "home" for name, _ in told)
        is_note = not told and chinese.NOTE.match(plain[begin:end])
        if told or is_note or plain[begin:end].startswith("我"):
            yield from _note_of(sentence[note_start:note_end])
            note_start = begin if is_note else end
            note_end = end
        elif note_end > note_start:
            note_end = end
        for name, span in told:
            value = sentence[begin:end][slice(*span.value)]
            quote = sentence[begin:end][slice(*span.quote)]
            for each in _listed_in(name, value):
                yield name, _value_of(name, each), quote
        is_subject = any(name in _ABOUT_ONESELF for name, _ in told)
        is_subject |= chinese.GOES_ON.match(plain[begin:end]) is not None
    yield from _note_of(sentence[note_start:note_end])


def _clauses_of(plain: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield the clauses up to the first that is not meant, without the words that join them."""
    for clause in _CLAUSE.finditer(plain, start):
        joint = _JOINT.match(plain, clause.start(), clause.end())
        begin = joint.end() if joint else clause.start()
        led = chinese.OPENING.match(plain, begin, clause.end())
        begin = led.end() if led else begin
        is_quoted = _QUOTED_BEFORE.search(plain, start, begin)
        if is_quoted or chinese.NOT_MEANT.search(plain, start, clause.end()):
            return
        yield begin, clause.end()


def _note_of(words: str) -> Iterator[tuple[str, str, str]]:
    if words:
        yield NOTE, words, words


@dataclass(frozen=True, slots=True)
class _Span:
    """Where the value of a field and its quote stand in a clause."""

    value: tuple[int, int]
    quote: tuple[int, int]


def _chinese_fields(clause: str, *, is_subject: bool) -> Iterator[tuple[str, _Span]]:
    """Yield the fields that a clause states; after an own one (*is_subject*) without 我 too."""
    added = "我" if is_subject and not clause.startswith("我") else ""
    for name, rule in chinese.FIELDS:
        match = rule.match(added + clause)
        if match is None:
            continue
        begin, end = match.span(1)
        if name == "interests":
            end = begin + len(chinese.INTEREST_DEGREE.sub("", match[1]).rstrip())
        if end > begin:
            ahead = len(added)
            yield name, _Span((begin - ahead, end - ahead), (0, match.end() - ahead))


def _listed_in(name: str, told: str) -> list[str]:
    """
    Return the interests that a text lists; else *told*.

    "爬山和游泳" lists some, equally long ones; "看貓和狗打架" is one. The mark 、 always lists.
    """
    if name != "interests":
        return [told]
    if "、" in told:
        *first, last = told.split("、")
        every = [*first, *re.split("[和跟與与]", last, maxsplit=1)]
        return every if all(0 < len(each) <= _LISTED_CHARACTERS_MAX for each in every) else [told]
    every = re.split("[和跟與与]", told)
    return every if all(each and len(each) == len(every[0]) < 5 for each in every) else [told]


def _value_of(name: str, told: str) -> str | int:
    if name != "age":
        return told.strip()
    return int(told) if told.isdecimal() else int(min(chinese_values(told)))
