"""Detect the language of messages or memories, for the prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from recollect.formation.prompt_texts import PromptLanguage
from recollect.formation.window import Window

_SAMPLE_CHARACTERS: Final = 20_000
_MESSAGE_CHARACTERS: Final = 1_000
_HAN: Final = re.compile("[\u4e00-\u9fff]")
_OTHER: Final = re.compile("[\u3041-\u30fa\u30fc-\u30ff\uac00-\ud7af]")
"""Kana and Hangul, which no Chinese text has; it may have the dot between them."""
_LETTER: Final = re.compile(r"[^\W\d_]")
_HAN_SHARE: Final = 0.2


def language_of_talk(window: Window) -> PromptLanguage:
    """
    Return the language of the users' new messages; English where it has no texts.

    Most of the messages decide, each by its own words. Where none of them has words, or none that
    tell the script, the users' earlier messages do, and then those of others.
    """
    users = [line for line in window.lines if line.message.role == "user"]
    said = [line for line in users if line.new]
    return language_of_texts(
        *([line.text for line in each] for each in (said, users, window.lines))
    )


def language_of_texts(*choices: Sequence[str]) -> PromptLanguage:
    """Return the language of most texts of the first of *choices* in which one is detected."""
    chinese = next(filter(None, map(_chinese_flags, choices)), [])
    if 2 * sum(chinese) <= len(chinese):
        return "en"
    balance = next(filter(None, map(_traditional_balance, choices)), 0)
    return "zh-hant" if balance > 0 else "zh"


def _chinese_flags(texts: Sequence[str]) -> list[bool]:
    """Return for each text with words whether it is Chinese."""
    found = (_is_chinese(text) for text in texts)
    return [each for each in found if each is not None]


def _is_chinese(text: str) -> bool | None:
    """
    Return True if a text is Chinese, with other words in it or without; ``None`` without a letter.

    It is asked of every message: telling all languages apart would take a hundred times as long.
    """
    text = text[:_MESSAGE_CHARACTERS]
    letters = len(_LETTER.findall(text))
    if not letters:
        return None
    return not _OTHER.search(text) and len(_HAN.findall(text)) > _HAN_SHARE * letters


def _traditional_balance(texts: Sequence[str]) -> int:
    """Return how many more characters are traditional alone than simplified alone."""
    text = "".join(texts)[:_SAMPLE_CHARACTERS]
    # Each encoding holds one script; characters in both or neither are no evidence.
    return _encodable(text, "big5") - _encodable(text, "gb2312")


def _encodable(text: str, encoding: str) -> int:
    return len("".join(_HAN.findall(text)).encode(encoding, "ignore")) // 2
