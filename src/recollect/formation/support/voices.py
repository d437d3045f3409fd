"""Voices: the own words of a line's speaker, and those of others in it, each parsed once."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final, Literal, TypeAlias

from recollect.formation.claims import SaidText, SourceClaims
from recollect.formation.grounding.foreign_text import foreign_spans
from recollect.formation.support.content_words import WordIndex
from recollect.formation.window import WindowLine
from recollect.text.chinese_scripts import simplified

SpokenTrust: TypeAlias = Literal["user", "assistant", "external"]
"""The trusts of what is said in a talk."""
QUOTE_CHARACTERS_MAX: Final = 300
"""Characters quoted from a message that is cited because a word comes from it."""
SENTENCE_CHARACTERS_MAX: Final = 600
"""Characters read on each side of a quote to find its sentence."""
SENTENCES_MAX: Final = 30
"""Most sentences of one message that are tried for a quote."""
_BEGINNING: Final = 5
SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Voice:
    """The words of one line that are its speaker's own, or those of others in it."""

    def __init__(self, line: WindowLine, trust: SpokenTrust, text: str) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        self.line = line
        self.trust: SpokenTrust = trust
        self.text = text

    @cached_property
    def claims(self) -> SourceClaims:
        """Return the numbers, names and dates."""
        message = self.line.message
        return SourceClaims(SaidText(text=self.text, at=message.time, speaker=message.name))

    @cached_property
    def sentences(self) -> tuple[SourceClaims, ...]:
        """The claims of single sentences, shortest first, without long ones."""
        parts = dict.fromkeys(each.strip() for each in SENTENCE_END.split(self.text))
        short = sorted((e for e in parts if 0 < len(e) <= SENTENCE_CHARACTERS_MAX), key=len)
        message = self.line.message
        return tuple(
            SourceClaims(SaidText(text=each, at=message.time, speaker=message.name))
            for each in short[:SENTENCES_MAX]
        )

    @cached_property
    def words(self) -> WordIndex:
        """Return the words."""
        index = WordIndex()
        index.add(self.text)
        return index

    def quote_of(self, written: str) -> str:
        """Return the sentence that has a word, as it can be quoted; or the beginning."""
        at = max(self._folded.find(written[:_BEGINNING]), 0)
        start, end = sentences_around(self.text, at, min(at + 1, len(self.text)))
        return quotable(self.text[start:end], at - start)

    @cached_property
    def _folded(self) -> str:
        folded = simplified(self.text).lower()
        return folded if len(folded) == len(self.text) else self.text


def quotable(sentence: str, at: int = 0) -> str:
    """
    Return whole words of a sentence around position *at*, short enough for a quote.

    >>> quotable("word " * 100, 250)[:9], len(quotable("word " * 100)) <= QUOTE_CHARACTERS_MAX
    ('word word', True)
    """
    if len(sentence) <= QUOTE_CHARACTERS_MAX:
        return sentence.strip()
    start = max(0, at - QUOTE_CHARACTERS_MAX // 2)
    cut = sentence[start : start + QUOTE_CHARACTERS_MAX]
    first = 0 if start == 0 else cut.find(" ") + 1
    last = len(cut) if start + len(cut) >= len(sentence) else cut.rfind(" ")
    return cut[first : last if last > first else None].strip()


class HeardLine:
    """
    One line with its voices: the speaker's own, and what is pasted, quoted or a tool's.

    With *is_draft*, what an assistant quotes is its own: nothing in the window could be its source.
    """

    def __init__(self, line: WindowLine, read: str, *, is_draft: bool = False) -> None:
        self.line = line
        self.read = read
        self._is_draft = is_draft

    @cached_property
    def foreign(self) -> tuple[tuple[int, int], ...]:
        """Return the spans that are not the speaker's own."""
        if self.line.message.role in {"tool", "system"}:
            return ((0, len(self.line.text)),)
        writes = self.line.message.role == "assistant"
        return foreign_spans(self.line.text, is_draft=self._is_draft, writes=writes)

    @cached_property
    def voices(self) -> tuple[Voice, ...]:
        """Return the speaker's own words, then those of others, where there are any."""
        own: SpokenTrust = "assistant" if self.line.message.role == "assistant" else "user"
        inside, outside = self._split(0, len(self.read))
        texts: tuple[tuple[SpokenTrust, str], ...] = ((own, outside), ("external", inside))
        return tuple(Voice(self.line, trust, text) for trust, text in texts if text.strip())

    def trust_at(self, span: tuple[int, int]) -> SpokenTrust:
        """Return the trust of the words of a span."""
        if any(start < span[1] and span[0] < end for start, end in self.foreign):
            return "external"
        return "assistant" if self.line.message.role == "assistant" else "user"

    def sentences(self, span: tuple[int, int]) -> tuple[str, str]:
        """Return the sentences around a span: the words of others in them, and the own ones."""
        return self._split(*sentences_around(self.line.text, *span))

    def question(self) -> str:
        """Return the last sentences of the speaker's own words if they ask something."""
        own = next((each.text for each in self.voices if each.trust == "assistant"), "")
        asked = [each for each in SENTENCE_END.split(own[-2 * SENTENCE_CHARACTERS_MAX :]) if each]
        questions = [each for each in asked if re.search(r"[?？][\s\"'”)]*$|[吗呢][。.]?$", each)]
        return " ".join(questions[-3:])

    def _split(self, first: int, last: int) -> tuple[str, str]:
        inside: list[str] = []
        outside: list[str] = []
        at = first
        for begins, ends in self.foreign:
            start, end = max(begins, first), min(ends, last)
            if start < end:
                outside.append(self._text[at:start])
                inside.append(self._text[start:end])
                at = end
        outside.append(self._text[at:last])
        return "\n".join(inside), "\n".join(filter(None, outside))

    @property
    def _text(self) -> str:
        return self.line.text


def sentences_around(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the range of whole sentences around a harmless partial span."""
    low = max(first - SENTENCE_CHARACTERS_MAX, 0)
    high = min(last + SENTENCE_CHARACTERS_MAX, len(text))
    start = low
    for match in SENTENCE_END.finditer(text, low, first):
        start = match.end()
    ends = SENTENCE_END.search(text, last, high)
    return start, ends.start() if ends else high
