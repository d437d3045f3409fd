"""
Chat answers of the rule model: it quotes the memories in its prompt, with dates.

It finds the memory that answers a question by its words and by a short glossary of questions about
oneself, in English and in both scripts of Chinese, and says so if there is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from typing import Final

from recollect.formation.question_parts import (
    QuestionPart,
    question_parts,
    whole_question,
    without_opening,
)
from recollect.formation.remembered_lines import RememberedLine, remembered_in
from recollect.formation.rule_changes import AskedChanges, changes_asked
from recollect.formation.rule_later_words import (
    going_on,
    is_bare_correction,
    is_of_one_named,
    later_words,
    tells_end,
)
from recollect.formation.rule_plain_answers import answer_without_memory, orders_to_forget
from recollect.formation.rule_plans import plans_asked
from recollect.formation.rule_question import RuleQuestion
from recollect.formation.rule_quotes import (
    gap,
    quote_of_line,
    quote_of_talk,
    quote_with_date,
    quoted,
    sentence_of_reply,
    time_of_line,
)
from recollect.formation.rule_relevance import (
    ASKS,
    ASKS_ALL,
    ASKS_BEFORE,
    before_now,
    best_of,
    closest_to,
    homes_asked,
    own_names,
    present_question,
    with_others,
)
from recollect.formation.rule_statements import (
    NOTE,
    READ_CHARACTERS_MAX,
    SENTENCE_CHARACTERS_MAX,
)
from recollect.formation.rule_topics import topic_of_field, topics_of
from recollect.text.cantonese import written_chinese
from recollect.text.rule_replies import (
    KINDS_NOTED,
    Language,
    is_rule_reply,
    language_of,
    page_note_in,
)
from recollect.text.sentences import sentence_matches

_SHOWN_OF_ALL: Final = 6

_ASKS_SINCE: Final = re.compile(
    r"\bsince when\b|\bhow long\b|^\W*when\b|什么时候|从?何时|几时|多久|多长时间|哪一?[天年]",
    re.IGNORECASE,
)
_LISTS: Final = re.compile("[，、；,;和跟與与及也]| and ")
"""The mark of a line that names several things."""
_LEFT: Final = frozenset({"home", "occupation"})
"""Topics on which the end alone answers where, and what, it is now."""
_TOPIC_OF: Final = {"user_name": "name", "home": "home", "age": "age", "occupation": "occupation"}
"""Fields with one value, which a new one replaces, and their topics."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldByUser:
    """A statement of the user in this conversation: profile field, value and words."""

    field: str
    quote: str
    value: str


def answer_of(
    said: str,
    system: str,
    noted: Sequence[ToldByUser],
    earlier: Sequence[ToldByUser] = (),
    *,
    asked: str = "",
    talk: Sequence[str] = (),
) -> str:
    """
    Return the answer to the message *said* from the memories in the prompt *system*.

    Args:
        said: The user's words.
        system: The system prompt, with a memory in it.
        noted: What will be formed of the message.
        earlier: The user's earlier statements in this conversation, oldest first; not formed yet.
        asked: The questions in a message that states something as well.
        talk: The user's earlier messages in this conversation: the prompt does not recall them.
            Their script is that of words common to both.
    """
    # What this chat has answered before tells nothing that it did not have from elsewhere.
    lines = [each for each in remembered_in(system) if not is_rule_reply(each.text)]
    heard = ("\n".join(talk), "\n".join(each.text for each in lines))
    language = language_of(said, *heard, page_note_in(system))
    if answer := answer_without_memory(said, talk, language):
        return answer
    told_here = [
        told
        for message in talk
        for told in (*(each for each in earlier if each.quote in message), *_told_in(message))
    ]
    if ASKS_ALL.search(written_chinese(said)):
        return _answer_of_all(lines, earlier, language)
    if noted:
        answer = _answer_of_news(noted, lines, language)
        if asked:
            answer += gap(language) + _answer_of_question(asked, lines, told_here, language)
        return answer
    question = whole_question(without_opening(said), talk)
    if ASKS.search(written_chinese(question)):
        return _answer_of_question(question, lines, told_here, language)
    return sentence_of_reply("kept", language)


def _told_in(message: str) -> Iterator[ToldByUser]:
    """Yield what the user told in a message, whether or not the rules make a memory of it."""
    words = " ".join(message[:READ_CHARACTERS_MAX].split())
    sentences = [each[0].strip() for each in sentence_matches(words)]
    told = [each for each in sentences if not _is_request(each)]
    if len(words) <= SENTENCE_CHARACTERS_MAX and told == sentences:
        told = [words]
    for each in told:
        if len(each) <= SENTENCE_CHARACTERS_MAX:
            yield ToldByUser(field=NOTE, quote=each, value=each.rstrip("。. "))


def _is_request(sentence: str) -> bool:
    plain = written_chinese(sentence)
    return bool(ASKS.search(plain)) or orders_to_forget(sentence)


def _answer_of_all(
    lines: Sequence[RememberedLine], earlier: Sequence[ToldByUser], language: Language
) -> str:
    known = [each for each in lines if each.is_memory and each.tense != "until"]
    known.sort(key=lambda each: not each.is_so_now)  # what is so before what was once the case
    every = [quote_of_line(each, language) for each in known[:_SHOWN_OF_ALL]]
    newest = {each.field: each for each in earlier}
    every += [
        quoted(each.quote, language)
        for each in earlier
        if not any(each.value in line.text for line in known)
        and (each.field not in _TOPIC_OF or newest[each.field] is each)
    ]
    if not every:
        return sentence_of_reply("nothing", language)
    quotes = ("; " if language == "en" else "；").join(every)
    answer = sentence_of_reply("all", language, quotes=quotes)
    if (more := len(known) - _SHOWN_OF_ALL) > 0:
        answer += sentence_of_reply("more", language, count=str(more))
    return answer


def _answer_of_news(
    noted: Sequence[ToldByUser], lines: Sequence[RememberedLine], language: Language
) -> str:
    """Return which kinds of things were noted, and what was known of the same until now."""
    kinds = [KINDS_NOTED[language][each] for each in dict.fromkeys(each.field for each in noted)]
    *first, last = kinds
    if first:
        others = (", " if language == "en" else "、").join(first)
        last = sentence_of_reply("and", language, others=others, last=last)
    answer = sentence_of_reply("noted", language, what=last)
    for told in {each.field: each for each in noted if each.field in _TOPIC_OF}.values():
        known = _known_of(told, lines)
        if known is not None and told.value not in known.text:
            answer += sentence_of_reply(
                "until_now",
                language,
                quote=quote_of_line(known, language),
                when=time_of_line(known, language),
            )
    return answer


def _known_of(told: ToldByUser, lines: Sequence[RememberedLine]) -> RememberedLine | None:
    """Return the memory of the same thing about the user, which *told* replaces."""
    topic = _TOPIC_OF[told.field]
    known = [each for each in lines if each.is_memory and each.tense != "until"]
    field = next((each for each in known if topic_of_field(each.field) == topic), None)
    if field is not None or topic == "name":
        return field
    names = [each.text.partition(": ")[2] for each in known if topic_of_field(each.field) == "name"]
    own = [each for each in known if any(_is_about(name, each.text) for name in names)]
    on_topic = (each for each in own if topics_of(each.text) & {topic, "move"} == {topic})
    return max(on_topic, default=None, key=lambda each: each.day or date.min)


def _is_about(name: str, text: str) -> bool:
    """Return True if *text* states something of *name*, not of their cat or mother."""
    return text.startswith(name) and not re.match("['’的]|\\w", text[len(name) :][:1] or ".")


def _answer_of_question(
    said: str,
    lines: Sequence[RememberedLine],
    earlier: Sequence[ToldByUser],
    language: Language,
) -> str:
    """Return the answers to the parts of a question, each memory quoted once."""
    if homes := homes_asked(said, lines):
        return gap(language).join(quote_with_date(each, language) for each in homes)
    if (changes := changes_asked(said, lines)) is not None:
        return _answer_of_changes(changes, language)
    if (plans := _answer_of_plans(said, lines, earlier, language)) is not None:
        return plans or sentence_of_reply("nothing", language)
    parts = question_parts(before_now(said, lines))
    answers = [_answer_of_part(part, lines, earlier, language) for part in parts]
    if not any(answers):
        return _closest(said, lines, language)
    every = (
        told or sentence_of_reply("nothing_of", language, number=str(number))
        for number, told in enumerate(answers, start=1)
    )
    return gap(language).join(dict.fromkeys(every))


def _answer_of_changes(asked: AskedChanges, language: Language) -> str:
    told = [quote_with_date(each, language) for each in asked.found]
    return gap(language).join(told) or _closest_is(asked.before, language)


def _answer_of_plans(
    said: str, lines: Sequence[RememberedLine], earlier: Sequence[ToldByUser], language: Language
) -> str | None:
    """Return the plans that are remembered and those of this talk; ``None`` if not asked for."""
    talk = [
        RememberedLine(text=each.quote, speaker="user") for each in earlier if each.field == NOTE
    ]
    plans = plans_asked(said, [*lines, *talk])
    if plans is None:
        return None
    here = dict.fromkeys(each.text for each in plans if any(each is said for said in talk))
    told = [quote_with_date(each, language) for each in plans if each.text not in here]
    if here:
        quotes = ("; " if language == "en" else "；").join(quoted(each, language) for each in here)
        told.append(quote_of_talk(quotes, language))
    return gap(language).join(dict.fromkeys(told))


def _answer_of_part(
    part: QuestionPart,
    lines: Sequence[RememberedLine],
    earlier: Sequence[ToldByUser],
    language: Language,
) -> str:
    """Return what answers one thing asked, and later words on it; empty for nothing."""
    best = best_of(part.text, lines, about=part.about)
    talk = [
        RememberedLine(text=each.quote, speaker="user") for each in earlier if each.field == NOTE
    ]
    if best is not None and best.speaker and any(best.text == each.text for each in talk):
        best = None  # of this talk, in which it has an order
    question = present_question(part.text, lines, part.about)
    if best is None and question is not None:
        fields = [each.quote for each in earlier if each.field != NOTE]
        notes = [each for each in talk if not any(quote in each.text for quote in fields)]
        best = best_of(part.text, notes, about=part.about, names=own_names(lines))
    if best is None:
        joined = going_on(talk)
        best = best_of(part.text, joined, about=part.about, names=own_names(lines))
        talk += joined
    known: list[RememberedLine | None] = [*with_others(part.text, best, lines, talk)]
    found: list[RememberedLine] = []
    is_later = False
    for each in known or [None]:
        later = later_words(question, each, lines, talk) if question else None
        is_later = is_later or later is not None
        if each is not None and (later is None or _stands_beside(each, later, question)):
            found.append(each)
        if later is not None:
            found.append(later)
    told = [_quote_of(each, talk, language) for each in dict.fromkeys(found)]
    told.append(_when_told(part.text, best, [*lines, *talk], language))
    answer = gap(language).join(dict.fromkeys(filter(None, told)))
    if is_later:
        return answer
    names = own_names(lines)
    return (answer + _quote_of_earlier(part.text, best, earlier, language, names)).strip()


def _stands_beside(
    known: RememberedLine, later: RememberedLine, question: RuleQuestion | None
) -> bool:
    """Return True for a memory that tells what its end does not, or may be the later of both."""
    if is_bare_correction(later.text) or (tells_end(later.text) and is_of_one_named(later, known)):
        return True  # it names nothing itself; the others that an end does not name are left
    # An end tells no name, which is asked for; another place takes the place of the one before.
    if question is None or not tells_end(later.text):
        return False
    if "dislikes" in question.topics and _LISTS.search(known.text):
        return True  # one of several things is over
    if not known.is_memory:
        return False
    if question.topics & _LEFT:
        return False
    return not question.is_met_by(later) or (later.day is not None and later.day == known.day)


def _quote_of(line: RememberedLine, talk: Sequence[RememberedLine], language: Language) -> str:
    """Return the sentence that quotes a line, or a message of this *talk*."""
    if any(line is each for each in talk):
        return quote_of_talk(quoted(line.text, language), language)
    return quote_with_date(line, language)


def _when_told(
    said: str, best: RememberedLine | None, lines: Sequence[RememberedLine], language: Language
) -> str:
    """Return the dated message that tells what a memory without a day says, if it is asked when."""
    asks_since = _ASKS_SINCE.search(written_chinese(said))
    if best is None or not best.is_memory or best.day or not asks_since:
        return ""
    value = best.text.partition(": ")[2] or best.text
    told = [e for e in lines if e.speaker == "user" and value in e.text]
    found = min(told, default=None, key=lambda each: each.day or date.max)
    if found is None or ASKS.search(written_chinese(found.text)):
        return ""
    return _quote_of(found, [] if found.day else [found], language)


def _closest(said: str, lines: Sequence[RememberedLine], language: Language) -> str:
    """Return the sentence for a question that no memory answers, with the one closest to it."""
    return _closest_is(closest_to(said, lines), language)


def _closest_is(found: RememberedLine | None, language: Language) -> str:
    """Return the sentence that quotes what is *found* as the closest, or says that nothing is."""
    if found is None:
        return sentence_of_reply("nothing", language)
    quote, when = quote_of_line(found, language), time_of_line(found, language)
    return sentence_of_reply("closest", language, quote=quote, when=when)


def _says_the_same(known: str, told: str) -> bool:
    return told in known or known.rstrip("。. ") in told


def _quote_of_earlier(
    said: str,
    best: RememberedLine | None,
    earlier: Sequence[ToldByUser],
    language: Language,
    names: frozenset[str],
) -> str:
    """Return a sentence that quotes the user's earlier messages about it, if they add anything."""
    lines = [RememberedLine(text=each.quote, field=each.field, speaker="user") for each in earlier]
    asks_before = bool(ASKS_BEFORE.search(written_chinese(said)))
    best_told = partial(best_of, names=names)
    found = best_told(said, lines) or best_told(said, lines, was_replaced=True)
    if found is None:
        return ""
    told = earlier[lines.index(found)]
    if told.field != NOTE:
        *before, told = (each for each in earlier if each.field == told.field)
        if asks_before and not before:
            return ""  # it has not been told how it was
        told = before[-1] if asks_before else told
    elif asks_before and best_told(said, [found]) is None:
        alike = [each for each in lines if best_told(said, [each], was_replaced=True)]
        newest = alike[-1].text
        former = [e for e in alike if e.text not in newest and newest not in e.text]
        if not former:
            return ""
        told = earlier[lines.index(former[-1])]
    if best is not None and best.is_memory and told.field == NOTE:
        return ""  # a memory is newer than the talk that it was formed of
    if best is not None and _says_the_same(best.text, told.value):
        return ""
    return sentence_of_reply("told_here", language, quote=quoted(told.quote, language))
