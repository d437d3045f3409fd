"""The content of a window: each line parsed once, by voice, for all values that rest on it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from recollect.formation.claims import Heard, SaidText, SourceClaims, ValueTexts
from recollect.formation.grounding.foreign_text import foreign_spans, instructs
from recollect.formation.offer import Offer
from recollect.formation.operations import Citation
from recollect.formation.support.content_words import Token, WordIndex, tokens_in
from recollect.formation.support.languages import (
    SAMPLE_CHARACTERS,
    WITH_RULES,
    language_of,
)
from recollect.formation.support.stances import Clause, clauses_in
from recollect.formation.support.vocabulary import groups_said
from recollect.formation.types import MemoryType
from recollect.formation.window import Window, WindowLine
from recollect.records import Json, Memory, Trust
from recollect.stores.json_pointers import is_list
from recollect.text.chinese_scripts import simplified
from recollect.text.searchable import memory_text

SpokenTrust: TypeAlias = Literal["user", "assistant", "external"]
"""The trusts of what is said in a talk."""
OTHERS: Final[frozenset[Trust]] = frozenset({"external", "agent"})
"""Memories of these trusts say nothing that a user, or the assistant in a talk, said."""
ASKED_CHARACTERS_MAX: Final = 50_000
"""So much is read of the values and quotes of one formation, repairs and all."""
LINE_CHARACTERS_MAX: Final = 50_000
"""So much of one message is read for its words; nothing rests on what stands behind."""
WINDOW_CHARACTERS_MAX: Final = 200_000
"""So much of all messages together, the first of them first."""
QUOTE_CHARACTERS_MAX: Final = 300
"""So much is quoted of a message that is cited because a word comes from it."""
SENTENCE_CHARACTERS_MAX: Final = 600
"""A sentence around a quote is read so far to each side of it."""
SENTENCES_MAX: Final = 30
"""So many sentences of one message are tried for a quote."""
SLIP_WORDS_MAX: Final = 500
"""In a text of more words no slips of the pen are looked for: each is compared with all."""
_NAME: Final = "the name "
_BEGINNING: Final = 5
SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
ACCEPTING_CHARACTERS_MAX: Final = 120
ANSWER_CHARACTERS_MAX: Final = 60
_CHOICE: Final = re.compile(r"\b(?:or|oder|o|ou|of)\b|还是|或者|ですか、|아니면")
OFFERED_CHARACTERS_MAX: Final = 4_000
"""So much of what the assistant offers is read for what the user takes of it."""
_YES: Final = re.compile(
    r"\b(?:yes|yeah|yep|yup|yea|aye|sure|ok|okay|right|correct|exactly|indeed|great|perfect"
    r"|(?:much|far|so much|way) better|brilliant|lovely|excellent|fantastic|fab|spot on|that helps"
    r"|that's it|sounds good"
    r"|deal|agreed|go (?:with|for|ahead)|let's|lets|do (?:it|that|the)|that one"
    r"|this one|the (?:first|second|third|last|other|former|latter)|i'll take|we'll take|both"
    r"|love it"
    r"|works|the \w+ one|(?:book|take|get|buy|order|use|keep) (?:it|that|this|them)|ja|genau|gern"
    r"|passt|klar|stimmt|si|claro|vale|perfecto|bueno|de acuerdo|oui|d'accord"
    r"|parfait|sim|pode ser|beleza|isso|ok(?:ay)?|va bene|certo|hai)\b|\bsí\b"
    r"|好|行|可以|嗯|对|是的|没错|就这|就那|成|要得|得|第[一二三四]|[这那][个班家款间种些一]"
    r"|听你的|采纳|同意|はい|うん|いい|お願い|네|좋",
    re.IGNORECASE,
)
_YES_FIRST: Final = re.compile(
    r"\W{0,3}(?:(?:oh|ah|um+|er+|haha|well|god|hm+)\W+){0,2}(?:yes|yeah|yep|yup|yea|aye|sure|ok"
    r"|okay|right"
    r"|correct|exactly|indeed|definitely|absolutely|of course|great|perfect|sounds good|deal|agreed"
    r"|go (?:with|for|ahead)|let's|lets|both|i do|i am|we do|we are|ja|genau|gern|klar|stimmt|si"
    r"|sí|claro"
    r"|vale|oui|sim|isso|certo|da|tak)\b|\W{0,3}(?:好|行|可以|嗯|对|是的?|没错|要|会|有|有的|当然"
    r"|就|成|得|系|啱"
    r"|はい|うん|ええ|そう|네|응|맞)",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"\W{0,3}(?:no|nope|nah|none|nothing|not (?:really|at all|any ?more)|never|nein|nee|kein\w*"
    r"|non|ningun\w*|nao|não|net|いいえ|いや"
    r"|아니)\b|\W{0,3}(?:不是|没有|没|不|否|沒有|沒)",
    re.IGNORECASE,
)


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
        start, end = _sentences_around(self.text, at, min(at + 1, len(self.text)))
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
    """One line with its voices: the speaker's own, and what is pasted, quoted or a tool's."""

    def __init__(self, line: WindowLine, read: str) -> None:
        self.line = line
        self._read = read

    @cached_property
    def foreign(self) -> tuple[tuple[int, int], ...]:
        """Return the spans that are not the speaker's own."""
        if self.line.message.role in {"tool", "system"}:
            return ((0, len(self.line.text)),)
        return foreign_spans(self.line.text)

    @cached_property
    def voices(self) -> tuple[Voice, ...]:
        """Return the speaker's own words, then those of others, where there are any."""
        own: SpokenTrust = "assistant" if self.line.message.role == "assistant" else "user"
        inside, outside = self._split(0, len(self._read))
        texts: tuple[tuple[SpokenTrust, str], ...] = ((own, outside), ("external", inside))
        return tuple(Voice(self.line, trust, text) for trust, text in texts if text.strip())

    def trust_at(self, span: tuple[int, int]) -> SpokenTrust:
        """Return the trust of the words of a span."""
        if any(start < span[1] and span[0] < end for start, end in self.foreign):
            return "external"
        return "assistant" if self.line.message.role == "assistant" else "user"

    def sentences(self, span: tuple[int, int]) -> tuple[str, str]:
        """Return the sentences around a span: the words of others in them, and the own ones."""
        return self._split(*_sentences_around(self.line.text, *span))

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


@dataclass(frozen=True, eq=False)
class Passage:
    """The content of one citation: whole sentences of one voice, and the question they answer."""

    citation: Citation
    line: WindowLine
    trust: SpokenTrust
    text: str
    question: str = ""
    offered: Voice | None = None

    @property
    def is_accepting(self) -> bool:
        """Whether the user takes in few words what the assistant has just said."""
        few = len(self.text) <= ACCEPTING_CHARACTERS_MAX
        return few and self.offered is not None and _YES.search(self.text) is not None

    @property
    def is_answer(self) -> bool:
        """Whether the sentences say yes or no to the question, or choose what it offers."""
        if not self.question:
            return False
        start = self.text[:ANSWER_CHARACTERS_MAX]
        return (
            _NO.match(self.text) is not None
            or _YES_FIRST.match(start) is not None
            or _CHOICE.search(self.question) is not None
        )

    @cached_property
    def own(self) -> Passage:
        """Return what the speaker asserts, without an unanswered question."""
        if not self.question or self.is_answer:
            return self
        return Passage(self.citation, self.line, self.trust, self.text, "", self.offered)

    @cached_property
    def accepted(self) -> Passage:
        """Return what the assistant said immediately before."""
        text = self.offered.text[:OFFERED_CHARACTERS_MAX] if self.offered else ""
        return Passage(self.citation, self.line, "assistant", text)

    @cached_property
    def words(self) -> WordIndex:
        """Return the words of the sentences, and of the question."""
        index = WordIndex()
        index.add(f"{self.text}\n{self.question}", with_compounds=True)
        return index

    @cached_property
    def groups(self) -> frozenset[int]:
        """Return the groups of words that they belong to."""
        return groups_said(self.words)

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """Return the clauses of the sentences."""
        return clauses_in(self.text)

    @cached_property
    def asked(self) -> tuple[Clause, ...]:
        """Return the clauses of the question."""
        return clauses_in(self.question) if self.question else ()

    @cached_property
    def instructs(self) -> bool:
        """Whether the sentences read as an instruction."""
        return instructs(self.text)

    @property
    def is_no(self) -> bool:
        """Whether the sentences answer the question in the negative."""
        return bool(self.question) and _NO.match(self.text) is not None


class CitedWords:
    """The words of some passages together, and the groups of words that they belong to."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = tuple(passages)  # held, so that their ids stay theirs
        self.index = WordIndex()
        for each in dict.fromkeys(passages):
            self.index.add(f"{each.text}\n{each.question}", with_compounds=True)
        self.groups = groups_said(self.index)
        self._slips: dict[str, bool] = {}

    def has(self, token: Token, groups: frozenset[int]) -> bool:
        """Return True if a word, a synonym or a misspelling of it was said."""
        index = self.index
        if index.has(token) or not self.groups.isdisjoint(groups):
            return True
        if len(index.keys) > SLIP_WORDS_MAX:
            return False
        if token.folded not in self._slips:
            self._slips[token.folded] = index.resembles(token)
        return self._slips[token.folded]


class HeardWindow:
    """A window as the deciding reads it: every line, sentence and known memory once."""

    def __init__(self, window: Window, offer: Offer) -> None:
        """Prepare to be asked; nothing is read before it is needed."""
        self.window = window
        self.offer = offer
        self._passages: dict[tuple[int, str, bool], Passage | None] = {}
        self._known: dict[str, WordIndex] = {}
        self._saying: dict[tuple[SpokenTrust, str, str], Voice | None] = {}
        self._texts = ValueTexts()
        self._cited: dict[tuple[int, ...], CitedWords] = {}
        self._frames: dict[str, WordIndex] = {}
        self._lacking: dict[tuple[object, ...], tuple[str, ...]] = {}
        self.traces: dict[tuple[str, tuple[int, ...], tuple[int, ...]], Any] = {}
        self._left = ASKED_CHARACTERS_MAX

    def admits(self, characters: int) -> bool:
        """Return True if so much more may be read, and note that it was."""
        self._left -= characters
        return self._left >= 0

    @cached_property
    def lines(self) -> tuple[HeardLine, ...]:
        """Return the lines, in order."""
        left = WINDOW_CHARACTERS_MAX
        found = []
        for line in self.window.lines:
            read = line.text[: min(left, LINE_CHARACTERS_MAX)]
            left -= len(read)
            found.append(HeardLine(line, read))
        return tuple(found)

    @cached_property
    def voices(self) -> tuple[Voice, ...]:
        """Return all that was said, line by line."""
        return tuple(voice for line in self.lines for voice in line.voices)

    @cached_property
    def by_trust(self) -> tuple[Voice, ...]:
        """Return all that was said: the users' words first, the newest of them first."""
        order: tuple[SpokenTrust, ...] = ("user", "assistant", "external")
        return tuple(
            voice for trust in order for voice in reversed(self.voices) if voice.trust == trust
        )

    @cached_property
    def said(self) -> tuple[tuple[SpokenTrust, WordIndex], ...]:
        """Return the words of all users, of the assistant, and of others."""
        indexes: dict[SpokenTrust, WordIndex] = {}
        for voice in self.by_trust:
            indexes.setdefault(voice.trust, WordIndex()).add(voice.text)
        return tuple(indexes.items())

    def voice_saying(self, trust: SpokenTrust, token: Token) -> Voice | None:
        """Return the voice that said a word, or a run of a script without spaces."""
        key = trust, token.key, token.folded
        if key not in self._saying:
            self._saying[key] = next(
                (e for e in self.by_trust if e.trust == trust and e.words.has_token(token)), None
            )
        return self._saying[key]

    @cached_property
    def is_exposed(self) -> bool:
        """Whether words of others are in the window: a tool's, pasted or remembered ones."""
        known = self.offer.known.values()
        return any(voice.trust == "external" for voice in self.voices) or any(
            memory.trust in OTHERS for memory in known
        )

    def line(self, number: int) -> HeardLine | None:
        """Return the line with this number, if there is one."""
        return self.lines[number - 1] if 1 <= number <= len(self.lines) else None

    def passage(self, citation: Citation) -> Passage | None:
        """Return the passage of a citation; ``None`` if it was not said."""
        key = citation.message, citation.quote, citation.implied
        if key not in self._passages:
            self._passages[key] = self._read_passage(citation)
        return self._passages[key]

    def passages(self, cited: Sequence[Citation]) -> list[Passage]:
        """Return the passages of some citations."""
        return [each for citation in cited if (each := self.passage(citation))]

    def voices_of(self, passages: Sequence[Passage]) -> list[Voice]:
        """Return the whole of the voices that some passages are part of, each once."""
        wanted = {(each.line.number, each.trust) for each in passages}
        return [
            voice
            for number, trust in sorted(wanted)
            for voice in self.lines[number - 1].voices
            if trust in (voice.trust, "external")
        ]

    @cached_property
    def speakers(self) -> tuple[SourceClaims, ...]:
        """Return the names of those who take part: they need not be said to be known."""
        named = {line.message.name: line.message.time for line in self.window.lines}
        return tuple(
            SourceClaims(SaidText(text="", at=at, speaker=name))
            for name, at in named.items()
            if name
        )

    @cached_property
    def remembered(self) -> tuple[SourceClaims, ...]:
        """Return the claims of known memories that do not rest on other people's words."""
        known = [each for each in self.offer.known.values() if each.trust not in OTHERS]
        return tuple(SourceClaims(_source_of(each)) for each in known)

    @cached_property
    def remembered_words(self) -> WordIndex:
        """Return the words of those memories, and of the names of those who take part."""
        index = WordIndex()
        for each in (*self.remembered, *self.speakers):
            index.add(f"{each.source.text}\n{each.source.speaker or ''}")
        return index

    @cached_property
    def suspect_words(self) -> WordIndex:
        """Return the words of known memories that rest on words of others."""
        index = WordIndex()
        for each in self.offer.known.values():
            if each.trust in OTHERS:
                index.add(memory_text(each.value))
        return index

    def frame_of(self, type_: MemoryType) -> WordIndex:
        """Return the words of a type's own fields and of what they are for."""
        if type_.name not in self._frames:
            index = self._frames[type_.name] = WordIndex()
            for each in _frame_words(type_.parameters):
                index.add(each.replace("_", " "))
            index.add(type_.name)
        return self._frames[type_.name]

    def words_of_known(self, target: str) -> WordIndex:
        """Return the words of a known memory."""
        if target not in self._known:
            index = self._known[target] = WordIndex()
            index.add(memory_text(self.offer.known[target].value))
        return self._known[target]

    def lacks(
        self, voices: Sequence[Voice], leaf: Json, before: Json, *, is_label: bool = False
    ) -> tuple[str, ...]:
        """
        Return the claims of *leaf* found neither in *voices*, *before* nor known memories.

        Labels do not need support for their words.
        """
        if not isinstance(leaf, str):
            return self._lacks(voices, leaf, before, is_label=is_label)
        # Voices and known values live as long as the window: their ids stay theirs.
        key = (tuple(map(id, voices)), leaf, None if before is None else id(before), is_label)
        if key not in self._lacking:
            self._lacking[key] = self._lacks(voices, leaf, before, is_label=is_label)
        return self._lacking[key]

    def _lacks(
        self, voices: Sequence[Voice], leaf: Json, before: Json, *, is_label: bool
    ) -> tuple[str, ...]:
        sources = [*(each.claims for each in voices), *self.speakers, *self.remembered]
        missing = Heard(sources, before, texts=self._texts).lacks_of(leaf)
        if is_label:
            missing = tuple(each for each in missing if not each.startswith(_NAME))
        return tuple(each for each in missing if not self._may_be_said(each, voices, leaf))

    def _may_be_said(self, missing: str, voices: Sequence[Voice], leaf: Json) -> bool:
        """Return True for a name that was shortened, or what is beyond the rules of a language."""
        if missing.startswith(_NAME):
            names = missing.removeprefix(_NAME).strip("'\"").split()
            tokens = [token for name in names for token in tokens_in(name)]
            if tokens and all(_is_written(token, voices) for token in tokens):
                return True
            if isinstance(leaf, str) and _is_shortened(tokens, leaf, voices):
                return True
            return isinstance(leaf, str) and "de" in {
                language_of(leaf),
                language_of("\n".join(each.text for each in voices)),
            }
        language = language_of("\n".join(each.text[:SAMPLE_CHARACTERS] for each in voices))
        return bool(language) and language not in WITH_RULES

    def tells(self, voice: Voice, leaf: Json, missing: Sequence[str]) -> list[str]:
        """Return which of the *missing* claims of *leaf* one voice alone supports."""
        lacking = Heard([voice.claims], computes=False, texts=self._texts).lacks_of(leaf)
        return [each for each in missing if each not in lacking]

    def sentence_telling(self, voice: Voice, leaf: Json, told: Sequence[str]) -> str | None:
        """Return the shortest sentence of *voice* that says by itself what it *told* of *leaf*."""
        for sentence in voice.sentences:
            lacking = Heard([sentence], texts=self._texts).lacks_of(leaf)
            if set(told).isdisjoint(lacking):
                return sentence.source.text
        return None

    def cited_words(self, passages: Sequence[Passage]) -> CitedWords:
        """Return the words of some passages together."""
        key = tuple(map(id, passages))
        if key not in self._cited:
            self._cited[key] = CitedWords(passages)
        return self._cited[key]

    def _read_passage(self, citation: Citation) -> Passage | None:
        heard = self.line(citation.message)
        span = heard.line.find(citation.quote) if heard else None
        if heard is None or span is None:
            return None
        trust = heard.trust_at(span)
        inside, outside = heard.sentences(span)
        text = inside if trust == "external" else outside
        if not text.strip():
            text = heard.line.text[span[0] : span[1]]
        before = self._before(heard.line) if trust == "user" else None
        offered = (
            next((e for e in before.voices if e.trust != "external"), None) if before else None
        )
        question = before.question() if before else ""
        return Passage(citation, heard.line, trust, text, question, offered)

    def _before(self, line: WindowLine) -> HeardLine | None:
        """Return what the assistant said immediately before the user's line."""
        for number in range(line.number - 1, 0, -1):
            heard = self.lines[number - 1]
            role = heard.line.message.role
            if role == "user" or heard.line.message.thread != line.message.thread:
                return None
            if role == "assistant":
                return heard
        return None


def _frame_words(schema: Json) -> Iterator[str]:
    """Yield the names and descriptions of fields; what a field may hold is not among them."""
    waiting: list[Json] = [schema]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            properties = each.get("properties")
            yield from properties if isinstance(properties, Mapping) else ()
            described = each.get("description")
            if isinstance(described, str):
                yield described
            waiting += [part for name, part in each.items() if name not in {"enum", "const"}]
        elif is_list(each):
            waiting += each


def _is_written(token: Token, voices: Sequence[Voice]) -> bool:
    """Return True if a name was said with a slip of the pen, or by its first letters."""
    if any(voice.words.has(token) for voice in voices):
        return True
    few = [voice for voice in voices if len(voice.words.keys) <= SLIP_WORDS_MAX]
    return any(voice.words.resembles(token) or voice.words.has_short(token) for voice in few)


def _is_shortened(names: Sequence[Token], leaf: str, voices: Sequence[Voice]) -> bool:
    """Return True if the first letters of a name, with the number behind it, were said: "F1"."""
    tokens = list(tokens_in(leaf))
    for at, token in enumerate(tokens[:-1]):
        behind = tokens[at + 1]
        if behind.is_number and any(token.folded == each.folded for each in names):
            short = Token(token.folded[:1] + behind.key, 0, 0, token.folded[:1] + behind.key)
            return any(voice.words.has(short) for voice in voices)
    return False


def _source_of(memory: Memory) -> SaidText:
    return SaidText(text=memory_text(memory.value), at=None, speaker=None)


def _sentences_around(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the range of whole sentences around a harmless partial span."""
    low = max(first - SENTENCE_CHARACTERS_MAX, 0)
    high = min(last + SENTENCE_CHARACTERS_MAX, len(text))
    start = low
    for match in SENTENCE_END.finditer(text, low, first):
        start = match.end()
    ends = SENTENCE_END.search(text, last, high)
    return start, ends.start() if ends else high
