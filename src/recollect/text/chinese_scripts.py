"""
Fold traditional Chinese characters to simplified ones, so that both scripts are one language.

Each character is replaced by the first choice of OpenCC's table, with a few variants that OpenCC
leaves alone (著, 妳, 牠). That is enough to compare words; the result is never shown. Search
and the checks of formation share this table.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

_PIECE_CHARACTERS: Final = 20_000
"""Characters folded in one call of `str.translate`, which holds the interpreter's lock."""

_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_WORD: Final = re.compile(r"[^\W\d_\u3400-\u9fff]+")
_HAN_PER_WORD: Final = 1.6
"""Chinese characters that say about as much as one English word."""
_SAMPLE_CHARACTERS: Final = 2_000
_COMMON_HAN: Final = re.compile("[\u4e00-\u9fff]")


def has_chinese(text: str) -> bool:
    """Return True if *text* has a common Chinese character."""
    return not text.isascii() and _COMMON_HAN.search(text) is not None


def is_chinese(text: str) -> bool:
    """
    Return True if *text* is rather Chinese than a language of words, by its first characters.

    >>> is_chinese("我住在奥斯陆，用 Python 写程序"), is_chinese("The word 你好 means hello")
    (True, False)
    """
    if text.isascii():
        return False
    sample = text[:_SAMPLE_CHARACTERS]
    return len(_HAN.findall(sample)) / _HAN_PER_WORD > len(_WORD.findall(sample))


def simplified(text: str) -> str:
    """
    Return *text* with every traditional character replaced by its simplified one.

    The result has as many characters as *text*, so that positions are valid in both.

    >>> simplified("臺北的圖書館"), simplified("Taipei")
    ('台北的图书馆', 'Taipei')
    """
    if text.isascii() or not _HAN.search(text):
        return text
    if len(text) <= _PIECE_CHARACTERS:
        return text.translate(_TABLE)
    starts = range(0, len(text), _PIECE_CHARACTERS)
    return "".join(text[at : at + _PIECE_CHARACTERS].translate(_TABLE) for at in starts)


def script_of(text: str) -> Literal["zh", "zh-hant"] | None:
    """
    Return the script that most characters of *text* show; ``None`` for words common to both.

    >>> script_of("臺灣"), script_of("对不起"), script_of("我住在台北")
    ('zh-hant', 'zh', None)
    """
    traditional = sum(ord(each) in _TABLE for each in text)
    simple = sum(map(_is_simplified_alone, text))
    if traditional == simple:
        return None
    return "zh-hant" if traditional > simple else "zh"


def _is_simplified_alone(character: str) -> bool:
    """Return True for 对, not for 里 and 后, which traditional texts have as well."""
    if character not in _SIMPLE:
        return False
    try:
        character.encode("big5")
    except UnicodeEncodeError:
        return True
    return False


def _read_table() -> dict[int, str]:
    lines = Path(__file__).with_name("simplified.txt").read_text("utf-8").splitlines()
    _, traditional, simple = lines
    return dict(zip(map(ord, traditional), simple, strict=True))


# Read at import: a search must not open a file on an event loop.
_TABLE: Final = _read_table()
_SIMPLE: Final = frozenset(_TABLE.values())
