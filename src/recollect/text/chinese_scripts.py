"""
Chinese scripts: fold traditional characters to simplified ones, so that both are one language.

Character by character, by the first choice of OpenCC's table and a few variants that it leaves
alone (著, 妳, 牠): enough to compare words, and never shown to anybody. Search and the checks of
formation share this one table.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_PIECE_CHARACTERS: Final = 20_000
"""One call of `str.translate` holds the interpreter: longer texts are folded piece by piece."""

_HAN: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


def simplified(text: str) -> str:
    """
    Return *text* with every traditional character replaced by its simplified one.

    The result has as many characters as *text*: a place in the one is the same place in the other.

    >>> simplified("臺北的圖書館"), simplified("Taipei")
    ('台北的图书馆', 'Taipei')
    """
    if text.isascii() or not _HAN.search(text):
        return text
    if len(text) <= _PIECE_CHARACTERS:
        return text.translate(_TABLE)
    starts = range(0, len(text), _PIECE_CHARACTERS)
    return "".join(text[at : at + _PIECE_CHARACTERS].translate(_TABLE) for at in starts)


def _read_table() -> dict[int, str]:
    lines = Path(__file__).with_name("simplified.txt").read_text("utf-8").splitlines()
    _, traditional, simple = lines
    return dict(zip(map(ord, traditional), simple, strict=True))


# Read with the module: a search must not open a file on an event loop.
_TABLE: Final = _read_table()
