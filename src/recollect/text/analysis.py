"""
The analyser: split text into terms, for entries and queries alike, in every language.

Words of scripts with spaces are lower-cased and stripped of accents; in ASCII also of English stop
words and endings. Scripts without spaces give each character and each pair of neighbours, which
need no dictionary and found more than trigrams or a segmenter. Traditional Chinese characters count
as their simplified ones, and words of Cantonese as those of written Chinese, so that a question in
one finds what was said in the other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import Stemmer

from recollect.text.cantonese import written_chinese
from recollect.text.chinese_scripts import simplified
from recollect.text.word_caches import word_cache

ANALYSER_VERSION: Final = 6
"""Version stored with terms; raise it whenever the same text gives other terms."""

STOP_WORDS: Final = frozenset(
    """
    a an and are as at be been being but by can could did do does doing for from had has have
    having he her hers him his how i if in into is it its itself just me more most my no nor not
    of off on or our out over own s she should so some such t than that the their them then there
    these they this those to too until up very was we were what when where which while who whom
    why will with would you your yours
    """.split()
)
"""English function words: the list with which the ranking was measured."""

FUNCTION_CHARACTERS: Final = frozenset(
    "的了在是我有和就不都一上也很到说要去你会着好这那他她它们吗呢吧啊与或及等被把对从为以之其而但"
)
"""Chinese function characters: alone too common to tell entries apart; pairs may hold them."""

# Han, kana, Thai, Lao, Myanmar, Khmer and Hangul: runs that carry no usable spaces.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks that belong to the letter before them: accents, vowel signs, points.
MARKS: Final = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff"
)
_TOKEN = re.compile(
    rf"(?P<unspaced>[{UNSPACED}]+)"
    r"|(?P<number>\d+(?:[.,]\d+)+)"
    rf"|(?P<word>[^\W_](?:[^\W_]|[{MARKS}])*(?:_+[^\W_](?:[^\W_]|[{MARKS}])*)*)"
)
# Finds in ASCII text what _TOKEN finds, as plain strings and twice as fast. Most text is ASCII.
# Words come first, because most tokens are words.
_ASCII_TOKEN = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)*"
    r"|\d+(?:[.,]\d+)+"
    r"|\d[A-Za-z0-9]*(?:_+[A-Za-z0-9]+)*"
)
_WITHIN_WORD = re.compile(rf"[{UNSPACED}]+|(?:[^\W_{UNSPACED}]|[{MARKS}])+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")
_POSSESSIVE = re.compile(r"['\u2019]s\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(
    r"\b(?:i|i['\u2019](?:m|ve|d|ll)|my|mine|we|we['\u2019](?:re|ve|d|ll)|our|ours)\b|[我咱]",
    re.IGNORECASE,
)
# The alternatives that lower-case ASCII text can match, which this searches twice as fast.
_FIRST_PERSON_IN_LOWER_ASCII = re.compile(r"\b(?:i|my|mine|we|ours?)\b", re.ASCII)
_STEMMER = Stemmer.Stemmer("english", 0)

WORD_CHARACTERS_MAX: Final = 64
"""Characters of a word that count: a longer run is a key or an encoded file."""


def terms_of(text: str) -> list[str]:
    """
    Return the terms of *text*, in order, repeated ones repeated.

    >>> terms_of("Ada's cafés were closed")
    ['ada', 'cafe', 'close']
    >>> terms_of("我养猫")
    ['我养', '养', '养猫', '猫']
    >>> terms_of("set max_retries to 1,000")
    ['set', 'max', 'retri', 'max_retries', '1000']
    """
    if text.isascii():
        return [term for token in ascii_tokens(text) for term in ascii_terms(token)]
    text = written_chinese(_POSSESSIVE.sub("", unicodedata.normalize("NFKC", text)))
    found: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match.lastgroup == "unspaced":
            found += characters_and_pairs(token)
        elif match.lastgroup == "number":
            found += number_terms(token)
        else:
            found += word_terms(token[:WORD_CHARACTERS_MAX])
    return found


def ascii_tokens(text: str) -> list[str]:
    """Return the words and numbers of a *text* in ASCII, in order."""
    found: list[str] = _ASCII_TOKEN.findall(_POSSESSIVE.sub("", text) if "'" in text else text)
    return found


def ascii_terms(token: str) -> Sequence[str]:
    """Return the terms of a word or number in ASCII."""
    if "." in token or "," in token:
        return number_terms(token)
    return word_terms(token[:WORD_CHARACTERS_MAX])


def characters_and_pairs(run: str) -> list[str]:
    """
    Return each character but function characters, and each pair of neighbours.

    >>> characters_and_pairs("猫的名")
    ['猫', '猫的', '的名', '名']
    """
    found = []
    for at, character in enumerate(run):
        if character not in FUNCTION_CHARACTERS:
            found.append(character)
        if at + 1 < len(run):
            found.append(run[at : at + 2])
    return found


def number_terms(token: str) -> list[str]:
    """
    Return a number without thousands separators; of a version or decimal also its parts.

    >>> number_terms("1,250"), number_terms("3.11")
    (['1250'], ['3.11', '3', '11'])
    """
    if re.fullmatch(r"\d{1,3}(,\d{3})+", token):
        return [token.replace(",", "")]
    return [token, *re.split(r"[.,]", token)]


@word_cache(maxsize=100_000)
def word_terms(token: str) -> tuple[str, ...]:
    """
    Return the terms of one word; of a code identifier, its parts and the whole.

    >>> word_terms("running"), word_terms("getUserName"), word_terms("the")
    (('run',), ('get', 'user', 'name', 'getusername'), ())
    """
    parts = _WITHIN_WORD.findall(token)
    pieces = [piece for part in parts for piece in _pieces(part)]
    found = [term for piece in pieces for term in _piece_terms(piece)]
    if len(pieces) > 1 and token.isascii():
        found.append(token.lower())
    return tuple(found)


def _pieces(part: str) -> list[str]:
    """Split camel case, but leave words that are merely capitalised, or mixed with digits."""
    if not part.isascii() or part.islower() or part.isupper() or part[1:].islower():
        return [part]
    pieces = _CAMEL.findall(part)
    # "McDonald" or "iPhone" is a name: only two or more humps make an identifier.
    humps = sum(piece[0].isupper() for piece in pieces)
    return pieces if humps >= 2 and not part[0].isupper() else [part]


def _piece_terms(piece: str) -> list[str]:
    if re.match(rf"[{UNSPACED}]", piece):
        return characters_and_pairs(piece)
    word = fold(piece)
    if not word or word in STOP_WORDS:
        return []
    return [_STEMMER.stemWord(word)] if word.isascii() else [word]


def is_first_person(text: str) -> bool:
    """
    Return True if *text* is in the first person: later questions mostly ask for such texts.

    >>> is_first_person("I've sold my car"), is_first_person("Cars are sold here")
    (True, False)
    """
    if text.isascii():
        return bool(_FIRST_PERSON_IN_LOWER_ASCII.search(text.lower()))
    return bool(_FIRST_PERSON.search(text))


def fold(word: str) -> str:
    """
    Return *word* without case and accents, and in simplified Chinese.

    >>> fold("Zoë"), fold("STRASSE") == fold("straße"), fold("臺北")
    ('zoe', True, '台北')
    """
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFD", word.casefold())
    return simplified("".join(mark for mark in plain if not unicodedata.combining(mark)))
