"""
Small talk: recognise turns that ask for nothing, in English and Chinese.

A turn is small talk if it consists only of greetings, thanks, goodbyes, acknowledgements, questions
to an assistant about itself, or signs without a word. The grammar is closed (its phrases are in
``small_talk.toml``): one word outside it, and the turn is not small talk. So "Hello! Where did I
park?" and "thanks, and what is her name?" are searched for.
"""

from __future__ import annotations

import re
from typing import Final

from recollect.text.analysis import fold
from recollect.text.data_files import read_patterns
from recollect.text.lazy_patterns import lazy_pattern

CHARACTERS_MAX: Final = 120
"""A longer turn is not small talk."""

_NOT_A_WORD: Final = re.compile(r"[^\w']+|_+")
_PARTICLES: Final = "[啊呀呢吧啦哦嘛了的哈哟吗么喽咯滴]*"
_ENGLISH, _CHINESE = (
    "|".join(phrase for (phrase,) in read_patterns(__package__, "small_talk.toml")[language])
    for language in ("english", "chinese")
)
# Atomic groups: no backtracking into a matched phrase, so that the time is linear in the length.
_PHRASES: Final = lazy_pattern(f"(?:(?>(?:{_ENGLISH})(?: |$))|(?>(?:{_CHINESE}){_PARTICLES} ?))+")


def compile_phrases() -> None:
    """Compile the grammar, which takes a twentieth of a second, before it is first needed."""
    _PHRASES.match("")


def is_small_talk(text: str) -> bool:
    """
    Return True if *text* is small talk, which asks for nothing that is remembered.

    >>> is_small_talk("Hey, thanks a lot! Good night 👋"), is_small_talk("謝謝你的幫助!再見")
    (True, True)
    >>> is_small_talk("Hi! Where did I park?"), is_small_talk("谢谢,我的猫叫什么?")
    (False, False)
    """
    if len(text) > CHARACTERS_MAX:
        return False
    words = _NOT_A_WORD.sub(" ", fold(text.replace("\u2019", "'"))).strip()
    return not words or _PHRASES.fullmatch(words) is not None
