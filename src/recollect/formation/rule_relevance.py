"""
Relevance of a prompt's memories to a question, for the rule model.

A line is found by its words and by a short glossary of topics of questions about oneself, in
English and in both scripts of Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Final

from recollect.formation.remembered_lines import RememberedLine, day_in
from recollect.formation.rule_later_words import tells_end
from recollect.formation.rule_question import RuleQuestion
from recollect.formation.rule_topics import TOPICS, topic_of_field, topics_of
from recollect.text.analysis import terms_of
from recollect.text.cantonese import written_chinese
from recollect.text.chinese_scripts import is_chinese
from recollect.text.days import MONTH_NAME, month_number

ASKS: Final = re.compile(
    r"[?？]\s*$|^\W*(?:what|when|where|which|who|whom|whose|how|why|do|does|did|is|are|am|was|were"
    r"|can|could|have|has|had|should|tell me)\b|^\W*(?:说说|讲讲|聊聊|介绍一?下?)我"
    r"|[吗呢]\W*$|什么|啥|哪|谁|几|多少|(?<!不)怎么|何时|是不是|有没有|干[嘛吗]|是[^，。]{1,8}还是",
    re.IGNORECASE,
)
_IS_QUESTION: Final = re.compile(
    r"[^.!?。！？]*[?？]|(?:what|when|where|which|who|whose|how|do|does|did|is|are|am|was|were)\b"
    r"[^.!?。！？]*",
    re.IGNORECASE,
)
ASKS_ALL: Final = re.compile(
    r"\bwhat do you (?:know|remember)(?: about (?:me|my life))?\W*$|\bwho am i to you\b"
    r"|\bsummari[sz]e what (?:you (?:know|remember)|i(?:'ve| have)? told you)\b"
    r"|\btell me (?:something |everything |what you know )?about (?:me|myself)\W*$"
    r"|你(?:都|还)?(?:知道|记得)(?:关于)?(?:我的?)?(?:(?:些|关于我的)?(?:什么|啥)|哪些)(?:事情?|东西)?[吗呢]?\W*$"
    r"|你(?:都|还)?(?:知道|记得)(?:哪些|什么)关于我的事|关于我.*(?:知道|记得)",
    re.IGNORECASE,
)
_ASKS_PAST: Final = re.compile(
    r"\b(?:did|was|were|used to|before|earlier|formerly)\b|以前|之前|曾经|过去|原来", re.IGNORECASE
)
ASKS_BEFORE: Final = re.compile(
    r"\b(?:used to|before|earlier|formerly|previously)\b|以前|之前|曾经|过去|原来|搬(?:家|来)前",
    re.IGNORECASE,
)
_USED_TO: Final = re.compile(
    r"^(?!.*\b(?:now|still|but)\b)\W*i used to (?:live|work|be|have|own)\b"
    r"|^(?!.*(?:现在|如今|还))我(?:以前|曾经|过去|原来)(?:[住在是当有养做])",
    re.IGNORECASE,
)
"""A statement of how it was, which tells nothing of how it is now."""
THINGS: Final = frozenset(name for name, _ in TOPICS) - {
    *("name", "home", "move", "age", "occupation", "interests", "answers", "not_eaten", "family"),
    *("allergy", "birthday", "dislikes", "wedding"),
}
"""Topics that are persons, animals and things, for which a pronoun may stand."""
_WEAK: Final = frozenset({"name"})
"""Topics too general to match a line alone."""
_COMMON: Final = frozenset(
    terms_of(
        "what when where which who whom whose how why is are am was were do does did have has had "
        "my me i you your we our the a an to of in on at for it its about that this and or be been "
        "will would can could should many much now still there any call called tell know remember "
        "name please long often by with from today tonight tomorrow yesterday "
        "am get gets got getting go goes going into "
        "什么 什么时候 怎么 为什么 我的 你的 哪里 多少 时候 今天 今晚 明天 昨天"
    )
)
_MONTH: Final = re.compile(
    rf"\b(?P<name>{MONTH_NAME}),? (?P<y>[12]\d{{3}})\b"
    rf"|\b(?P<y2>[12]\d{{3}}),? (?P<name2>{MONTH_NAME})\b"
    r"|(?P<y3>[12]\d{3})年(?:(?P<m>\d{1,2})月)?|\b(?:in|during) (?P<y4>[12]\d{3})\b(?!,? [A-Z])",
    re.IGNORECASE,
)
"""A month with its year, or a year."""
_WHEN: Final = re.compile(
    rf"(?:\b\d{{1,2}} )?(?:{_MONTH.pattern})(?:\d{{1,2}}[日号])?|\b\d{{4}}-\d\d?-\d\d?\b",
    re.IGNORECASE,
)
"""A date, a month or a year in a question, which no entry has to repeat."""
_OF_THE_DAY: Final = 4.0
"""Weight of being true on the day that is asked for: more than that of a profile's field."""
_SAME_LANGUAGE: Final = 0.2
"""Weight of the language of the question: it decides between what is equally relevant."""
_INTRODUCES: Final = 3.0
"""Weight of saying who somebody is, where that is asked."""
_STILL_AT_HOME: Final = re.compile(
    "我们?(?:现在)?[还仍](?:是|然)?住在? ?(?P<place>[A-Z]\\w+|[\u3400-\u9fff]{2,8}?)吗\\W*"
)
_BEFORE_HOME: Final = re.compile(
    r"\b(?i:before|prior to)(?: (?:I (?:moved|came|went|lived)|moving|living)(?: to| in)?)?"
    r" (?P<place>[A-Z]\w+(?: [A-Z]\w+)*)|(?:(?:住|搬)[在到去来]?)? ?"
    r"(?P<chinese>[\u3400-\u9fff]{2,6}?|[A-Z]\w+) ?[之以]前"
)
"""A home that a question for the one before it names."""
_ASKS_EVERY: Final = re.compile(
    r"\bany\b|\b(?:pets|animals|siblings|sisters|brothers|children|kids)\b|宠物|哪些|什么",
    re.IGNORECASE,
)
_COUNTED: Final = frozenset({"pet", "sister", "brother", "child"})
"""Topics of which somebody may have several."""
_EVERY: Final = frozenset({"allergy", "dislikes", "family"})
"""Topics of which an answer leaves out nothing."""
_HAN: Final = re.compile("[\u3400-\u9fff]")
_PLACE: Final = re.compile(r"\b[A-Z]\w{2,}|[\u3400-\u9fff]{2,}")


def best_of(
    said: str,
    lines: Sequence[RememberedLine],
    *,
    about: frozenset[str] = frozenset(),
    was_replaced: bool = False,
    names: frozenset[str] = frozenset(),
) -> RememberedLine | None:
    """
    Return the line most relevant to *said*, the newest of equals; ``None`` for none.

    Only lines on one of the topics *about*, if there are any; and of what is so now nothing that
    answers how it was before, unless it *was_replaced* since. *names* are those of the user, who
    is meant by them.
    """
    plain = written_chinese(said)
    on = day_in(said) or _month_in(plain)
    asks_before = on is None and bool(ASKS_BEFORE.search(plain))
    names |= own_names(lines)
    question = RuleQuestion(
        text=_WHEN.sub(" ", said),
        names=names,
        is_former=asks_before and not was_replaced,
        about=about,
        places=own_places(lines, names),
    )
    in_chinese = is_chinese(said)
    asks_past = bool(_ASKS_PAST.search(plain))

    def _score_of_kind(line: RememberedLine) -> float:
        is_same = is_chinese(line.text) == in_chinese
        return _SAME_LANGUAGE * is_same + _INTRODUCES * question.introduces(line)

    score = partial(
        _score,
        topics=topics_of(said),
        terms=_terms_of(said),
        asks_past=asks_past,
        on=on,
    )
    scored = [
        (score(each) + _score_of_kind(each), each.day or date.min, number, each)
        for number, each in enumerate(lines)
        if each.text.strip() != said.strip()
        and not (asks_before and each.is_so_now)
        and (asks_past or on is not None or not _USED_TO.search(written_chinese(each.text)))
        and not (on is not None and _is_of_another_time(each, on, lines))
        and question.is_met_by(each)
    ]
    best = max(scored, default=None, key=lambda each: each[:3])
    return best[3] if best is not None and best[0] > 0 else None


def present_question(
    said: str, lines: Sequence[RememberedLine], about: frozenset[str] = frozenset()
) -> RuleQuestion | None:
    """Return a question about how things are now; ``None`` for one about another time."""
    plain = written_chinese(said)
    if day_in(said) or _month_in(plain) or ASKS_BEFORE.search(plain):
        return None
    names = own_names(lines)
    return RuleQuestion(text=said, names=names, about=about, places=own_places(lines, names))


def with_others(
    said: str,
    best: RememberedLine | None,
    lines: Sequence[RememberedLine],
    talk: Sequence[RememberedLine] = (),
) -> list[RememberedLine]:
    """
    Return the *best* line on a question, and what else it must not leave out, of this *talk* too.

    One of several allergies would be no answer to what somebody may eat.
    """
    if best is None:
        return []
    topics = topics_of(said)
    is_counted = (
        topics & _COUNTED and "name" not in topics and _ASKS_EVERY.search(written_chinese(said))
    )
    if not topics & _EVERY and not is_counted:
        return [best]
    question = RuleQuestion(text=_WHEN.sub(" ", said), names=own_names(lines))
    others = [
        each
        for each in (*lines, *talk)
        if (each.is_memory or (each in talk and not tells_end(each.text)))
        and each.tense != "until"
        and each is not best
        and each.text not in best.text
        and question.is_met_by(each)
    ]
    return [best, *others]


def homes_asked(said: str, lines: Sequence[RememberedLine]) -> list[RememberedLine]:
    """Return the home now, and the one that "我还住在台北吗？" names; none for other questions."""
    asked = _STILL_AT_HOME.fullmatch(written_chinese(said).strip())
    homes = [each for each in lines if each.field == "home"] if asked else []
    now = [each for each in homes if each.is_so_now]
    former = [each for each in homes if asked and asked["place"] in written_chinese(each.text)]
    return [*now, *(each for each in former if not each.is_so_now)] if now else []


def before_now(said: str, lines: Sequence[RememberedLine]) -> str:
    """
    Return a question for a home before the one now as one for the home before.

    >>> home = RememberedLine(text="home: Bergen", field="home")
    >>> before_now("Where did I live before Bergen?", [home])
    'Where did I live before?'
    """
    found = _BEFORE_HOME.search(written_chinese(said)) if "home" in topics_of(said) else None
    if found is None or "home" not in topics_of(said[: found.start()] + said[found.end() :]):
        return said
    place = said[slice(*found.span("place" if found["place"] else "chinese"))]
    homes = [each for each in lines if each.is_memory and each.tense != "until"]
    is_now = any(each.field == "home" and place in each.text for each in homes)
    if not is_now and place not in own_places(lines, own_names(lines)):
        return said
    before = "before" if found["place"] else "之前"
    return f"{said[: found.start()]}{before}{said[found.end() :]}"


def closest_to(said: str, lines: Sequence[RememberedLine]) -> RememberedLine | None:
    """
    Return the memory in force that shares most with a question that none answers.

    Of equals the first, which is the one that was recalled before the others; ``None`` if none
    shares a topic or a word besides the usual ones and the user's name.
    """
    question = RuleQuestion(text=_WHEN.sub(" ", said), names=own_names(lines))
    shared = [
        (question.shared_with(each), each)
        for each in lines
        if each.is_memory and each.tense != "until"
    ]
    most, best = max(shared, default=(0, None), key=lambda each: each[0])
    return best if most else None


def own_names(lines: Sequence[RememberedLine]) -> frozenset[str]:
    """Return the names of the user that a profile tells."""
    return frozenset(
        each.text.partition(": ")[2] for each in lines if topic_of_field(each.field) == "name"
    )


def own_places(lines: Sequence[RememberedLine], names: frozenset[str]) -> frozenset[str]:
    """Return the names of places in what is remembered of where the user lives now."""
    homes = (
        each.text
        for each in lines
        if each.is_memory
        and each.tense != "until"
        and (each.field == "home" or _is_home_of(each.text, names))
    )
    return frozenset(word for home in homes for word in _PLACE.findall(home)) - names


def _is_home_of(text: str, names: frozenset[str]) -> bool:
    return any(text.startswith(f"{name} lives in ") for name in names)


def _month_in(said: str) -> date | None:
    """Return the middle of the month, or of the year, that a question names."""
    found = _MONTH.search(said)
    if found is None:
        return None
    year = next(filter(None, (found[name] for name in ("y", "y2", "y3", "y4"))))
    name = found["name"] or found["name2"]
    month = month_number(name) if name else int(found["m"] or 7)
    return date(int(year), month, 15) if 1 <= month <= 12 else None


def _is_of_another_time(line: RememberedLine, on: date, lines: Sequence[RememberedLine]) -> bool:
    """Return True if a line was not true on a day, or is a field that was learnt after it."""
    if line.is_memory and (was_true := line.is_true_on(on)) is not None:
        return not was_true
    if not line.field:
        return False
    # A field without a day is so now, and how it was on an earlier day is not told.
    return (line.day or max((e.day for e in lines if e.day), default=date.max)) > on


def _score(
    line: RememberedLine,
    topics: frozenset[str],
    terms: frozenset[str],
    *,
    asks_past: bool,
    on: date | None,
) -> float:
    """Return the relevance of a line to a question, which may be about one day; 0 for none."""
    own = topics_of(line.text) | ({line.field} & topics)
    strong = topics - _WEAK or topics
    shared = len(terms & _terms_of(line.text)) / len(terms) if terms else 0.0
    score = 0.1 + 3.0 * len(strong & own) + len(topics & own) + 2.0 * shared
    score += 2.0 * (topic_of_field(line.field) in strong)
    if line.is_memory and on is not None and (was_true := line.is_true_on(on)) is not None:
        return max(0.1, score + (_OF_THE_DAY if was_true else -_OF_THE_DAY))
    if line.is_memory:
        return score + 0.5 + (1.0 if asks_past else -2.0) * (line.tense == "until")
    if _IS_QUESTION.fullmatch(line.text.strip()):
        return 0.0  # what was only asked answers nothing
    is_question = bool(ASKS.search(written_chinese(line.text)))
    return max(0.1, score - 0.6 * (line.speaker == "assistant") - 2.0 * is_question)


def _terms_of(text: str) -> frozenset[str]:
    """Return the terms that say something: of Chinese the pairs of characters."""
    found = set(terms_of(text)) - _COMMON
    return frozenset(each for each in found if len(each) > 1 or not _HAN.match(each))
