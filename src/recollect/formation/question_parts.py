"""The parts of a question that asks several things, for the rule model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.formation.rule_relevance import THINGS
from recollect.formation.rule_topics import topics_of
from recollect.text.cantonese import written_chinese

PARTS_MAX: Final = 4
_ENGLISH: Final = re.compile(
    r"[?;]\s+(?:(?:and|but)\s+)?|,?\s+(?:and|but)\s+(?:also\s+)?"
    r"(?=(?:what|when|where|which|who|whom|whose|how|why|do|does|did|is|are|am|was|were)\b)",
    re.IGNORECASE,
)
_CHINESE: Final = re.compile("[？；，、](?:[还還]有|以及|而且|那[么麼]?|又)?|[还還]有|以及|和")
_ASKS_CHINESE: Final = re.compile("什么|啥|哪|谁|几|多少|(?<!不)怎么|何时|多大|[吗呢]|(.)[不没]\\1")
_OF_ANOTHER: Final = re.compile(
    r"\b(?:he|she|it|they|him|her|its|his|their|them)\b|[他她它牠]", re.IGNORECASE
)
_OF_ONESELF: Final = re.compile(r"\b(?:i|me|my|we|our)\b|我", re.IGNORECASE)
_BARE: Final = re.compile(r"\W*(?P<word>why|when|where|how come)\W*", re.IGNORECASE)
_ASKING: Final = re.compile(r"\W*(?:which|what|when|where|who|why|how)\b", re.IGNORECASE)
_OPENING: Final = re.compile(
    r"\W*(?:(?:hi|hello|hey|ok(?:ay)?|so|well|oh|um+|hm+|and|but|also|btw|by the way|please|pls"
    r"|thanks|thank you|good (?:morning|afternoon|evening)|(?:quick|one more) question|remind me"
    r"|tell me|(?:do|can) you (?:know|remember|tell me))(?: there| then| again)?\b"
    r"[\s,.!:;…—–-]*)+(?=(?:what|when|where|which|who|whom|whose|how|why|do|does|did|is|are|am"
    r"|was|were)\b)",
    re.IGNORECASE,
)
_OPENING_CHINESE: Final = re.compile(
    "(?:(?:你好|您好|[嗨嘿喂]+|哈[喽啰罗]|请问(?:一下)?|对了|话说|那么?|早安?|早上好|晚上好|谢谢)"
    "[呀啊哦]?[\\s，,。！!~、]*)+(?=.)"
)
_AND_BEFORE: Final = re.compile(
    r"\W*(?:(?:and|what about|how about|or) )?(?:before|earlier|previously)(?: (?:that|then))?\W*"
    r"|\W*(?P<chinese>那?(?:么)?(?:再?之前|以前|从前|原来|过去)呢?)\W*",
    re.IGNORECASE,
)
_HAN: Final = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPart:
    """One thing asked; *about* are the topics of the thing that a pronoun in it stands for."""

    text: str
    about: frozenset[str] = frozenset()


def without_opening(asked: str) -> str:
    """
    Return a question without the words by which people begin to talk.

    >>> without_opening("Hi, where do I live?"), without_opening("你好，我住在哪裡？")
    ('where do I live?', '我住在哪裡？')
    """
    found = _OPENING.match(asked) or _OPENING_CHINESE.match(written_chinese(asked))
    return asked[found.end() :] if found else asked


def whole_question(asked: str, talk: Sequence[str]) -> str:
    """
    Return a question that goes on from the one before it in the *talk*, with its words.

    >>> whole_question("And before?", ["Where do I live?", "ok"])
    'Where do I live before?'
    >>> whole_question("那以前呢？", ["我住哪里？"])
    '以前我住哪里？'
    """
    if not (found := _AND_BEFORE.fullmatch(written_chinese(asked))):
        return asked
    before = next((e for e in reversed(talk) if e.rstrip().endswith(("?", "？"))), "")
    if not before or _AND_BEFORE.fullmatch(written_chinese(before)):
        return asked
    return f"以前{before}" if found["chinese"] else f"{before.rstrip('? ')} before?"


def question_parts(asked: str) -> tuple[QuestionPart, ...]:
    """
    Split a question at its "and", if what follows is a question as well.

    >>> [each.text for each in question_parts("Where does Mira live, and where did she before?")]
    ['Where does Mira live', 'where did she before?']
    >>> len(question_parts("Where do Mira and Rui live?"))
    1
    """
    texts = list(_chinese(asked) if _HAN.search(asked) else _english(asked))
    texts = [
        _whole(text, texts[number - 1]) if number else text for number, text in enumerate(texts)
    ]
    if not 1 < len(texts) <= PARTS_MAX:
        return (QuestionPart(text=asked),)
    parts: list[QuestionPart] = []
    about: frozenset[str] = frozenset()
    for text in texts:
        things = topics_of(text) & THINGS
        is_another = _OF_ANOTHER.search(text) or not _OF_ONESELF.search(text)
        parts.append(
            QuestionPart(text=text, about=about if is_another and not things else frozenset())
        )
        about = things or about
    return tuple(parts)


def _whole(text: str, before: str) -> str:
    """
    Return what a bare question word asks of the question before it.

    >>> _whole("why?", "Which plant stands on my balcony")
    'why Which plant stands on my balcony'
    """
    bare = _BARE.fullmatch(text)
    if bare is None:
        return text
    word = bare["word"]
    return f"{word} {before if word.lower() == 'why' else _ASKING.sub('', before).strip()}"


def _english(asked: str) -> Iterator[str]:
    yield from (each for each in _ENGLISH.split(asked) if each.strip(" ?"))


def _chinese(asked: str) -> Iterator[str]:
    """Yield the parts at which something is asked, each with the words before it."""
    begin = 0
    for joint in _CHINESE.finditer(asked):
        before, after = asked[begin : joint.start()], asked[joint.end() :]
        if _asks(before) and _asks(after):
            yield before
            begin = joint.end()
    yield asked[begin:]


def _asks(text: str) -> bool:
    return bool(_ASKS_CHINESE.search(written_chinese(text)))
