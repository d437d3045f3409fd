"""English words by which names are told from other capitalised words; see ``common_words.toml``."""

from typing import Final

from recollect.text.data_files import read_words

_WORDS: Final = read_words(__package__, "common_words.toml")
COMMON: Final = frozenset(_WORDS["common"])
"""Words that are no names even where they are capitalised: in titles, at a beginning."""
ALIASES: Final = tuple(frozenset(each.split(",")) for each in _WORDS["aliases"])
"""Words and names, folded and without spaces, of which one may stand for the other."""
ENDINGS: Final = _WORDS["endings"]
"""Endings of capitalised words in titles that are hardly names."""
NAMES_IN_SPITE: Final = frozenset(_WORDS["names_in_spite"])
"""Names with such an ending."""
