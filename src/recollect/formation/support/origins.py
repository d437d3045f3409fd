"""
Origins: find the source of each content word of a value.

A word is looked up in the cited sentences first (itself, inflected, a synonym, a misspelling), then
in the user's other messages, in known memories, among neutral words, and only then in the words of
the assistant and of others. Words found nowhere are unsupported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from recollect.formation.support.cited_passages import CitedWords, Passage
from recollect.formation.support.content_words import (
    Token,
    WordIndex,
    says_something,
    tokens_in,
    word_of,
)
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.vocabulary import (
    group_places,
    groups_of,
    is_neutral,
    neutral_places,
)
from recollect.formation.support.voices import SpokenTrust, Voice

Origin: TypeAlias = Literal["cited", "user", "known", "neutral", "assistant", "external", "nowhere"]
_FIGURES_MIN: Final = 2
_HALF_MIN: Final = 3
"""Fewest letters of a half of a compound."""
_RUN_WEIGHT: Final = 0.5
"""A character of a script without spaces counts as half a word."""


class TracedWord(NamedTuple):
    """A word of a value, or a stretch of a script without spaces, and where it comes from."""

    written: str
    start: int
    end: int
    origin: Origin
    weight: float
    voice: Voice | None = None
    is_neutral: bool = False


@dataclass(frozen=True)
class Sources:
    """
    The places where the words of one leaf are looked up.

    *cited* are the passages of its citations; *known* are words that need no support: those of the
    former document and of the type's own fields.
    """

    heard: HeardWindow
    cited: Sequence[Passage]
    known: Sequence[WordIndex] = ()

    @cached_property
    def words(self) -> CitedWords:
        """Return the words of the passages together."""
        return self.heard.cited_words(self.cited)


def trace(text: str, sources: Sources) -> Sequence[TracedWord]:
    """Return the words of *text* with their origins, in order; each text is traced once."""
    # The window holds what the ids are of: its passages by their words, and all that is known.
    key = text, tuple(map(id, sources.cited)), tuple(map(id, sources.known))
    found: tuple[TracedWord, ...] | None = sources.heard.traces.get(key)
    if found is None:
        found = sources.heard.traces[key] = tuple(_traced_words(text, sources))
    return found


def _traced_words(text: str, sources: Sources) -> Iterator[TracedWord]:
    tokens = list(tokens_in(text))
    compounds = _compounds_of(tokens, sources)
    for at, token in enumerate(tokens):
        if token.is_number:
            yield _traced_number(token, sources)
        elif token.is_run:
            yield from _RunTrace(token, sources).words()
        elif at in compounds and not is_neutral(token):
            yield TracedWord(token.folded, token.start, token.end, "cited", 1.0)
        else:
            yield _traced(token, sources)


def _compounds_of(tokens: Sequence[Token], sources: Sources) -> set[int]:
    """Return the places of words that were said as one with their neighbour: "hayfever"."""
    said = sources.words.index.keys
    found: set[int] = set()
    for at, (one, other) in enumerate(pairwise(tokens)):
        joined = one.folded + other.folded
        if one.folded and other.folded and joined in said:
            found |= {at, at + 1}
    return found


def _traced(token: Token, sources: Sources) -> TracedWord:
    heard = sources.heard
    neutral = is_neutral(token)
    voice: Voice | None = None
    origin: Origin = "nowhere"
    if sources.words.has(token, groups_of(token)) or _is_made_of(token, sources.words.index):
        origin = "cited"
    elif neutral:
        origin = "neutral"
    elif any(index.has(token) for index in (*sources.known, heard.remembered_words)):
        origin = "known"
    elif trust := next((trust for trust, words in heard.said if words.has(token)), None):
        origin, voice = trust, heard.voice_saying(trust, token)
    elif heard.suspect_words.has(token):
        origin = "external"
    return TracedWord(
        token.folded, token.start, token.end, origin, float(not neutral), voice, neutral
    )


def _is_made_of(token: Token, said: WordIndex) -> bool:
    """Return True if both halves of a word were said: "beekeeping" of "I keep bees"."""
    word = token.folded
    places = range(_HALF_MIN, len(word) - _HALF_MIN + 1) if word.isascii() else ()
    return any(said.has(word_of(word[:at])) and said.has(word_of(word[at:])) for at in places)


def _traced_number(token: Token, sources: Sources) -> TracedWord:
    """Return where the digits of a number occur; the claim is checked elsewhere."""
    origin: Origin = "neutral"
    voice: Voice | None = None
    if sources.words.index.has(token):
        origin = "cited"
    elif len(token.key) >= _FIGURES_MIN and not any(e.has(token) for e in sources.known):
        trust = next((trust for trust, words in sources.heard.said if words.has(token)), None)
        if trust:
            origin, voice = trust, sources.heard.voice_saying(trust, token)
    weight = 0.0 if origin in {"neutral", "user"} else 1.0
    return TracedWord(token.key, token.start, token.end, origin, weight, voice, weight == 0.0)


class _RunTrace:
    """The origins of a run without spaces, character by character."""

    def __init__(self, token: Token, sources: Sources) -> None:
        self._run = token.key
        self._start = token.start
        self._sources = sources
        self._origins: list[Origin | None] = [None] * len(token.key)
        self._neutral = [False] * len(token.key)

    def words(self) -> list[TracedWord]:
        """Return the run as stretches of one origin each."""
        heard = self._sources.heard
        self._mark_neutral()
        self._mark(self._sources.words.index, "cited")
        self._mark_synonyms()
        for index in (*self._sources.known, heard.remembered_words):
            self._mark(index, "known")
        self._take_neutral()
        for trust, words in heard.said:
            self._mark(words, trust)
        self._mark(heard.suspect_words, "external")
        return list(self._stretches())

    def _mark_neutral(self) -> None:
        at, lengths = 0, neutral_places(self._run)
        while at < len(self._run):
            length = lengths[at] or (not says_something(self._run[at]))
            for place in range(at, at + length):
                self._neutral[place] = True
            at += max(1, length)

    def _take_neutral(self) -> None:
        for at, neutral in enumerate(self._neutral):
            if neutral and self._origins[at] is None:
                self._origins[at] = "neutral"

    def _mark(self, index: WordIndex, origin: Origin) -> None:
        """Mark characters found in *index* with a neighbour, unless they have an origin."""
        if not index.runs or None not in self._origins:
            return
        at = 0
        while at < len(self._run):
            length = index.longest(self._run, at)
            for place in range(at, at + length):
                self._set(place, origin)
            at += max(1, length - 1)
        if origin == "cited":
            for place, character in enumerate(self._run):
                if character in index.characters and not self._neutral[place]:
                    self._set(place, origin)

    def _set(self, at: int, origin: Origin) -> None:
        if self._origins[at] is None:
            self._origins[at] = origin

    def _mark_synonyms(self) -> None:
        said = self._sources.words.groups
        for at, length, groups in group_places(self._run):
            if not said.isdisjoint(groups):
                for place in range(at, at + length):
                    self._set(place, "cited")

    def _stretches(self) -> Iterator[TracedWord]:
        begin = 0
        for at in range(1, len(self._run) + 1):
            if at < len(self._run) and self._kind(at) == self._kind(begin):
                continue
            neutral, origin = self._neutral[begin], self._origins[begin] or "nowhere"
            written, start = self._run[begin:at], self._start + begin
            yield TracedWord(
                written,
                start,
                self._start + at,
                origin,
                0.0 if neutral else (at - begin) * _RUN_WEIGHT,
                self._voice_of(written, start, origin),
                neutral,
            )
            begin = at

    def _kind(self, at: int) -> tuple[object, ...]:
        return self._origins[at], self._neutral[at]

    def _voice_of(self, written: str, start: int, origin: Origin) -> Voice | None:
        if origin not in ("user", "assistant", "external"):
            return None
        trust: SpokenTrust = origin
        for size in (len(written), 2):  # what is put together from several may be in none alone
            part = Token(written[:size], start, start + size, is_run=True)
            if voice := self._sources.heard.voice_saying(trust, part):
                return voice
        return None
