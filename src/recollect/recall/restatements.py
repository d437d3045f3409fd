"""Recognise an assistant's turn that only says again what the user said in the turn before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from recollect.recall.query_analysis import is_question
from recollect.recall.results import Recalled
from recollect.records import Message, Scope
from recollect.text.analysis import terms_of
from recollect.text.chinese_scripts import has_chinese, simplified
from recollect.text.small_talk import is_small_talk
from recollect.text.word_caches import word_cache

RESTATEMENT_CHARACTERS_MAX: Final = 200
"""Longest turn of an assistant that can be a mere restatement."""
SAID_CHARACTERS_MAX: Final = 600
"""Longest message restated: of a longer one, an excerpt is shown, which may lack what counts."""

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s*|\n+")
# Words by which an assistant confirms, as terms: stems in lower case.
_CONFIRMING: Final = frozenset(
    term
    for words in (
        "noted note saved save stored got understood understand okay ok sure thanks thank telling "
        "tell remember remembered keep mind great good nice hear hearing know knowing congrats "
        "congratulations sorry glad happy right recorded done alright wonderful lovely fantastic "
        "oh ah so now that's i'll i've i'm you're you've it's update updated letting let"
    ).split()
    for term in terms_of(words)
)
_CONFIRMING_CHINESE: Final = re.compile(
    "^(?:好消息|好的?|收到|了解|明白|知道|记住|记下|恭喜|已?记录|没问题|太好|原来如此|谢谢(?:你|您)?(?:告诉我)?)(?:了|你|您|啦|哦|呢|们)*"
)
"""The beginning of a confirmation: 好的, 收到了, 记住了."""
# "Added milk to the list." tells more than the request: that it was done.
_ACTED: Final = re.compile(
    r"\b(?:added|booked|set|sent|scheduled|created|removed|deleted|changed|cancell?ed|ordered|put"
    r"|written|drafted|fixed|reminder|will (?:remind|add|send|book|do))\b"
    r"|已经?(?!记)|安排|设置|添加|加入|预订|订好|发送|提醒|完成|改为|改成"
)
_POLITE: Final = re.compile(
    r"\W*(?:(?:it is |it's )?(?:nice|good|great|lovely) to (?:meet|see) you"
    r"|how (?:can|may) i (?:help|assist)(?: you)?|what can i do for you"
    r"|(?:is there )?anything else(?: (?:i can|you).{0,40})?|let me know if .{0,60}"
    r"|(?:很|真)?(?:高兴|开心)认识(?:你|您)|有什么(?:可以|能)帮(?:到|助)?(?:你|您)的?吗?"
    r")(?:,? \w+|，\w{1,4})?(?: today)?\W*"
)
"""A whole sentence that tells nothing: "Nice to meet you", "Anything else?", 很高兴认识你."""
_CLAUSE: Final = re.compile("[，,、；;：:。！!…]+")
_MARKS: Final = re.compile(r"[\W_]+")


def without_restatements(ranked: Sequence[Recalled]) -> tuple[list[Recalled], list[Recalled]]:
    """
    Return the entries without an assistant's restatements, and these.

    The user's message takes the place of its restatement if that is better: both say the same, and
    the words of the user are the source.
    """
    place = {
        (each.scope, content.thread, content.position): at
        for at, each in enumerate(ranked)
        if isinstance(content := each.content, Message)
    }
    best, hidden = dict[int, int](), set[int]()
    for at, each in enumerate(ranked):
        before = _place_before(each, place)
        if before is None:
            continue
        said = ranked[before].content
        if (
            isinstance(said, Message)
            and said.role == "user"
            and is_restatement(each.text, said.text)
        ):
            hidden.add(at)
            best[before] = min(before, at)
    if not hidden:
        return list(ranked), []
    others = (at for at in range(len(ranked)) if at not in hidden)
    kept = [
        _raised(ranked[at], ranked[best.get(at, at)])
        for at in sorted(others, key=lambda at: best.get(at, at))
    ]
    return kept, [ranked[at] for at in sorted(hidden)]


def _raised(entry: Recalled, other: Recalled) -> Recalled:
    """Return an entry with the better figures of both."""
    if entry.score >= other.score and entry.relevance >= other.relevance:
        return entry
    score, relevance = max(entry.score, other.score), max(entry.relevance, other.relevance)
    return replace(entry, score=score, relevance=relevance)


def _place_before(entry: Recalled, place: Mapping[tuple[Scope, str, int], int]) -> int | None:
    """Return the place of the message before an assistant's; ``None`` if it is not among them."""
    content = entry.content
    if not isinstance(content, Message) or content.role != "assistant" or content.name:
        return None
    return place.get((entry.scope, content.thread, content.position - 1))


@word_cache(maxsize=4_096)
def is_restatement(answer: str, said: str) -> bool:
    """
    Return True if *answer* confirms what was *said*, and adds no word to it.

    >>> is_restatement("Noted: you live in Porto now.", "I live in Porto, by the river.")
    True
    >>> is_restatement("Porto has six bridges.", "I live in Porto, by the river.")
    False
    >>> is_restatement("Nice to meet you! How can I help you today?", "I live in Porto.")
    True
    >>> is_restatement("收到，您對蝦子過敏。", "我對蝦子過敏，阿哲不吃香菜。")
    True
    """
    if len(answer) > RESTATEMENT_CHARACTERS_MAX or len(said) > SAID_CHARACTERS_MAX:
        return False
    # The answer to a question has its words, and says whether they are true.
    # Small talk is left out whatever was said before it.
    if is_small_talk(answer) or is_question(said) or _ACTED.search(simplified(answer).casefold()):
        return False
    known = set(terms_of(said)) | _CONFIRMING
    sentences = [
        each
        for each in _SENTENCE.split(answer)
        if each and not (is_small_talk(each) or _POLITE.fullmatch(simplified(each).casefold()))
    ]
    if any("?" in each or "\uff1f" in each for each in sentences):
        return False  # the user's next turn answers it
    return all(
        _confirms_chinese(each, said) if has_chinese(each) else known >= set(terms_of(each))
        for each in sentences
    )


def _confirms_chinese(sentence: str, said: str) -> bool:
    """Return True if each clause has the characters of *said*, in their order, and no other."""
    whole = _MARKS.sub("", simplified(said).casefold())
    for clause in _CLAUSE.split(simplified(sentence).casefold()):
        if is_small_talk(clause):
            continue
        words = _MARKS.sub("", _CONFIRMING_CHINESE.sub("", clause.strip()))
        characters = iter(whole)
        if not all(each in characters for each in words.replace("您", "我").replace("你", "我")):
            return False
    return True
