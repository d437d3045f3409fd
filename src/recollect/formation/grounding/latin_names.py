"""
Names in Latin script in a value, and whether they were said.

Names are recognised by their capital letter alone, without world knowledge. So the first word of a
sentence is never one, titles are judged by a list of common words, and of the words of a heading
only those count that are written as no word of it would be.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from recollect.formation.grounding.common_words import ALIASES, COMMON, ENDINGS, NAMES_IN_SPITE
from recollect.formation.grounding.known_places import IN_CHINESE
from recollect.formation.wording.pieces import pieces_of
from recollect.text.analysis import fold
from recollect.text.word_caches import word_cache

_LETTER: Final = "A-Za-zªµºÀ-ÖØ-öø-ʯͰ-ϿЀ-ԯḀ-\u1eff"
_WORD: Final = re.compile(
    rf"(?<![{_LETTER}\d])(?:(?:[A-Z]\.){{2,6}}|[{_LETTER}][{_LETTER}\d\u0300-\u036f]{{0,60}}"
    rf"(?:['&-][{_LETTER}\d]{{1,60}}){{0,4}}(?:\+\+|#)?)"
)
_PART: Final = re.compile(rf"[{_LETTER}]{{1,40}}|\d{{1,12}}")
_TITLES: Final = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|St|Prof|Jr|Sr|vs|No|Mt)\.(?= )")
_SENTENCE: Final = re.compile(r"[.!?;:\n\r。！？；：|•*]+(?=\s|$|[^\x00-\x7f])|\n")
_HEADING_MARK: Final = frozenset(":：*")
_SMALL_IN_TITLES: Final = frozenset(
    "a an and at by de del for from in la of on or the to van von with &".split()
)
_CODE: Final = re.compile(r"(?P<series>[a-z]+-?\d+)-?(?P<end>[a-z]\d+)")
"""A version of a series, as TX-41e3 is of TX-41."""
_YEAR_PARTS: Final = frozenset("q1 q2 q3 q4 h1 h2".split())
_CJK: Final = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a value: its words, as written, and where the first of them stands."""

    words: tuple[str, ...]
    start: int

    def __str__(self) -> str:
        return " ".join(self.words)


def names_in(text: str) -> tuple[Name, ...]:
    """
    Return the names that *text* (in its `plain` form) seems to bring, in Latin letters.

    >>> [str(each) for each in names_in("Lives in New Oslo with Anna's cat")]
    ['New Oslo', "Anna's"]
    """
    text = _TITLES.sub(lambda match: match.group()[:-1] + " ", text)
    found: list[Name] = []
    start = 0
    for match in (*_SENTENCE.finditer(text), None):
        end = match.start() if match else len(text)
        is_headed = match is not None and not _HEADING_MARK.isdisjoint(match.group())
        found += _names_of_sentence(text[start:end], start, is_headed=is_headed)
        start = match.end() if match else end
    return tuple(found)


def _names_of_sentence(sentence: str, offset: int, *, is_headed: bool) -> Iterator[Name]:
    words = list(_WORD.finditer(sentence))
    if not words:
        return
    is_title = (
        all(each.group()[0].isupper() or each.group() in _SMALL_IN_TITLES for each in words)
        and words[0].group()[0].isupper()
    )
    is_chinese = bool(_CJK.search(sentence))
    first = words[0]
    is_marked = is_headed or sentence.lstrip(" -").startswith(("#", "*"))
    if is_title and is_marked and not is_chinese and _is_heading(words):
        words = [each for each in words if _stands_out(each.group())]
    run: list[re.Match[str]] = []
    has_name = False
    for word in words:
        is_name = not (
            word is first and is_title and _leads_as_verb(word.group(), sentence)
        ) and _is_name(
            word.group(), is_first=word is first, is_title=is_title, is_chinese=is_chinese
        )
        # A common word is part of a name beside one: New York City.
        is_part = is_name or (word.group()[0].isupper() and (word is not first or is_title))
        if run and not (is_part and sentence[run[-1].end() : word.start()] == " "):
            if has_name:
                yield _name(run, offset)
            run, has_name = [], False
        if is_part:
            run.append(word)
            has_name = has_name or is_name
    if has_name:
        yield _name(run, offset)


def _is_heading(words: Sequence[re.Match[str]]) -> bool:
    """Return True for a title of several words, of which one is no name for sure."""
    written = [each.group() for each in words if each.group() not in _SMALL_IN_TITLES]
    bare = [(each, _bare(each)) for each in written]
    return len(bare) > 1 and any(_is_common(*each) or _is_titled_word(each[1]) for each in bare)


def _stands_out(word: str) -> bool:
    """Return True for a word whose capitals are not explained by a heading."""
    return _has_inner_capital(word) or _bare(word) in IN_CHINESE


def _leads_as_verb(word: str, sentence: str) -> bool:
    """Return True if *word* is hardly a name before others: "Graduated from MIT", "Earns 85k"."""
    return word.endswith(("ed", "s")) and len(sentence.strip()) > len(word)


def _name(run: Sequence[re.Match[str]], offset: int) -> Name:
    return Name(tuple(each.group() for each in run), offset + run[0].start())


def _is_name(word: str, *, is_first: bool, is_title: bool, is_chinese: bool) -> bool:
    bare = _bare(word)
    if len(bare) < 2 or _is_common(word, bare):
        return False
    if _has_inner_capital(word):
        return True
    if not word[0].isupper():
        return False
    if is_title:
        return not _is_titled_word(bare)
    return not is_first or is_chinese or word.lower().endswith("'s")


def _is_common(word: str, bare: str) -> bool:
    if bare in COMMON or bare in _YEAR_PARTS or (bare.endswith("s") and bare[:-1] in COMMON):
        return True
    # "Check-in", "Full-time", "Non-fiction": made up of words.
    parts = [fold(part) for part in word.split("-")]
    return len(parts) > 1 and (
        parts[0] in COMMON or not word.split("-", maxsplit=1)[0][0].isupper()
    )


def _is_titled_word(bare: str) -> bool:
    return bare not in NAMES_IN_SPITE and len(bare) > 5 and bare.endswith(ENDINGS)


def _has_inner_capital(word: str) -> bool:
    return any(each.isupper() for each in word[1:]) and not word.endswith(("'S", "'M"))


@word_cache(maxsize=50_000)
def _bare(word: str) -> str:
    """Return a word folded, without possessive and dots."""
    return re.sub(r"'s?$", "", fold(word)).replace(".", "")


@dataclass(frozen=True)
class HeardWords:
    """The words of a text, indexed to look up names."""

    text: str

    @cached_property
    def _words(self) -> list[str]:
        pieces = pieces_of(self.text)
        return [match.group() for piece in pieces for match in _WORD.finditer(piece)]

    @cached_property
    def folded(self) -> frozenset[str]:
        """Return each word, its parts, and each pair of neighbours written as one."""
        found: set[str] = set()
        wholes = [_bare(word) for word in self._words]
        for whole in wholes:
            found |= {whole, re.sub(r"['&-]", "", whole)}
            found.update(part for part in re.split(r"['&-]", whole) if len(part) > 1)
        with_digits = [part for piece in pieces_of(self.text) for part in _PART.findall(piece)]
        for one, other in (*pairwise(wholes), *pairwise(map(fold, with_digits))):
            found.add((one + other).replace("-", ""))
        for one, two, three in zip(wholes, wholes[1:], wholes[2:], strict=False):
            found.add(one + two + three)
        return frozenset(found)

    @cached_property
    def _nearly(self) -> frozenset[str]:
        """Return the words without their doubled letters."""
        return frozenset(_single(word) for word in self.folded if len(word) >= 6)

    @cached_property
    def _initials(self) -> frozenset[str]:
        """Return the initials of two to five words in a row."""
        letters = "".join(_bare(word)[:1] for word in self._words)
        return frozenset(
            letters[at : at + size] for size in range(2, 6) for at in range(len(letters) - size + 1)
        )

    def knows(self, form: str) -> bool:
        """Return True if a folded word was said, or another spelling of it."""
        if form in self.folded:
            return True
        return any(form in alias and not self.folded.isdisjoint(alias) for alias in ALIASES)

    def has_slip(self, bare: str) -> bool:
        """Return True if *bare* may be a slip of the pen for a word that was said."""
        return any(slip in self._nearly for slip in _slips(bare))

    def has_code(self, series: str) -> bool:
        """Return True if a word, folded, begins with the *series* of a code."""
        return any(word.startswith(series) for word in self.folded)

    def has_initials(self, bare: str) -> bool:
        """Return True if two to five words in a row begin with the letters of *bare*."""
        return bare in self._initials


@dataclass(frozen=True)
class HeardNames:
    """Looks up names in the words of several texts."""

    said: Sequence[HeardWords]

    def has(self, name: Name) -> bool:
        """Return True if the whole *name* was said, in this or in another of its forms."""
        return not self.missing(name)

    def missing(self, name: Name) -> Name | None:
        """Return the part of *name* that was not said; ``None`` if all of it was."""
        joined = "".join(re.sub(r"[&-]", "", _bare(word)) for word in name.words)
        if self._knows(joined):
            return None
        initials = "".join(_bare(word)[:1] for word in name.words)
        if len(initials) > 1 and self._is_word(initials):
            return None
        missing = tuple(
            word
            for word in name.words
            if not _is_common(word, _bare(word)) and not self._has_word(word)
        )
        return Name(missing, name.start) if missing else None

    def _has_word(self, word: str) -> bool:
        bare = _bare(word)
        if self._knows(bare) or self._knows(re.sub(r"['&-]", "", bare)):
            return True
        is_short = word.replace(".", "").isupper() and 2 <= len(bare) <= 5
        if is_short and any(each.has_initials(bare) for each in self.said):
            return True
        parts = [part for part in re.split(r"['&-]", bare) if part]
        if len(parts) > 1 and all(part in COMMON or self._is_word(part) for part in parts):
            return True
        return self._is_code_in_full(bare) or any(each.has_slip(bare) for each in self.said)

    def _is_code_in_full(self, bare: str) -> bool:
        """Return True for TX-41e3 if "e3" was said, and another code begins with TX-41."""
        code = _CODE.fullmatch(bare)
        return (
            code is not None
            and self._is_word(code["end"])
            and any(each.has_code(code["series"]) for each in self.said)
        )

    def _is_word(self, form: str) -> bool:
        return any(form in each.folded for each in self.said)

    def _knows(self, bare: str) -> bool:
        return any(self._is_word(form) for form in _forms(bare)) or any(
            each.knows(bare) for each in self.said
        )


def _forms(bare: str) -> Iterator[str]:
    yield bare
    yield bare + "s"
    if bare.endswith("s"):
        yield bare[:-1]
    if bare.endswith("es"):
        yield bare[:-2]
    # Of a place its people, and the other way round: long stems only, Ann is not Anna.
    for one in ("ian", "ese", "ish", "ism", "ist", "an", "n"):
        if bare.endswith(one) and len(bare) - len(one) >= (6 if one in {"n", "an"} else 5):
            yield from (bare[: -len(one)] + ending for ending in ("", "a", "e", "y", "ia"))


def _slips(word: str) -> Iterator[str]:
    """
    Yield spellings of which *word* may be a misspelling, and vice versa.

    Doubled letters of words of six letters and more, swapped neighbours of seven and more:
    Gothenbrug is Gothenburg, but Ann is not Anna, nor Marian Marina.
    """
    if len(word) >= 6 and word.isalpha():
        yield _single(word)
    if 7 <= len(word) <= 40 and word.isalpha():
        for at in range(1, len(word) - 1):
            yield _single(word[:at] + word[at + 1] + word[at] + word[at + 2 :])


def _single(word: str) -> str:
    return word[:1] + "".join(b for a, b in pairwise(word) if a != b)
