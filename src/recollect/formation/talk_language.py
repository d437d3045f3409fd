"""The language of a talk, in which its formation is asked for."""

from __future__ import annotations

from typing import Final

from recollect.formation.prompt_texts import PromptLanguage
from recollect.formation.support.languages import language_of
from recollect.formation.window import Window, WindowLine

_SAMPLE_CHARACTERS: Final = 20_000


def language_of_talk(window: Window) -> PromptLanguage:
    """
    Return the language of the users' new messages; English where it has no texts.

    Most of the messages decide, each by its own words. Where no word of the users' tells the
    script, that of the other messages does.
    """
    users = [line for line in window.lines if line.message.role == "user"]
    said = [line for line in users if line.new] or users or list(window.lines)
    languages = [found for line in said if (found := language_of(line.text))]
    if 2 * languages.count("zh") <= len(languages):
        return "en"
    for lines in (said, users, window.lines):
        balance = _traditional_balance(lines)
        if balance:
            return "zh-hant" if balance > 0 else "zh"
    return "zh"


def _traditional_balance(lines: tuple[WindowLine, ...] | list[WindowLine]) -> int:
    """Return how many more characters are traditional alone than simplified alone."""
    text = "".join(line.text for line in lines)[:_SAMPLE_CHARACTERS]
    # The two encodings hold one script each; what both or neither hold tells nothing.
    return _encodable(text, "big5") - _encodable(text, "gb2312")


def _encodable(text: str, encoding: str) -> int:
    han = "".join(each for each in text if "\u4e00" <= each <= "\u9fff")
    return len(han.encode(encoding, "ignore")) // 2
