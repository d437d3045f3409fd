"""The content of a window: each line parsed once, by voice, for all values that rest on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from recollect.formation.claims import Heard, SaidText, SourceClaims
from recollect.formation.claims.exchanged_names import replaces_name
from recollect.formation.claims.value_texts import ValueTexts
from recollect.formation.offer import Offer
from recollect.formation.operations import Citation
from recollect.formation.support.cited_passages import SLIP_WORDS_MAX, CitedWords, Passage
from recollect.formation.support.content_words import Token, WordIndex, tokens_in
from recollect.formation.support.corrected_numbers import Correction, corrections_in
from recollect.formation.support.languages import SAMPLE_CHARACTERS, WITH_RULES, language_of
from recollect.formation.support.others_words import OthersWords
from recollect.formation.support.voices import HeardLine, SpokenTrust, Voice
from recollect.formation.types import MemoryType
from recollect.formation.window import Window, WindowLine
from recollect.records import Json, Memory, Trust
from recollect.stores.json_pointers import is_list
from recollect.text.searchable import memory_text
from recollect.text.short_texts import TextReadings

OTHERS: Final[frozenset[Trust]] = frozenset({"external", "agent"})
"""Trusts of memories that rest on words of neither the user nor the assistant."""
ASKED_CHARACTERS_MAX: Final = 50_000
"""Most characters of values and quotes in one formation, including repairs."""
LINE_CHARACTERS_MAX: Final = 50_000
"""Characters of one message that are read; no value rests on the rest."""
WINDOW_CHARACTERS_MAX: Final = 200_000
"""The same for all messages together, from the first on."""
_NAME: Final = "the name "


class HeardWindow:
    """A window parsed once for all decisions: its lines, sentences and known memories."""

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
        self._exposed: dict[str, bool] = {}
        self.readings = TextReadings()
        self._left = ASKED_CHARACTERS_MAX

    def admits(self, characters: int) -> bool:
        """Take *characters* from what is left to read. Return False if it is spent."""
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
        if any(each.foreign for each in found if each.line.message.role != "assistant"):
            return tuple(found)
        # A letter that the assistant writes for the user stands in quotation marks as a page does
        # that it was shown; only where it was shown nothing is it surely its own.
        return tuple(HeardLine(each.line, each.read, is_draft=True) for each in found)

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
            indexes.setdefault(voice.trust, WordIndex()).add_all(voice.words)
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

    def is_exposed_to(self, text: str) -> bool:
        """Return True if words of others, in the window or remembered, may have caused *text*."""
        if not self.is_exposed:
            return False
        if text not in self._exposed:
            is_known = self._remembered_others.shares(text)
            self._exposed[text] = is_known or self.others_speak_of(text)
        return self._exposed[text]

    def is_strict_on(self, text: str) -> bool:
        """
        Return True if others spoke in the window, or are remembered with words of *text*.

        A letter that was remembered long ago makes nothing doubtful that it does not speak of.
        """
        is_shown = any(voice.trust == "external" for voice in self.voices)
        return is_shown or self.is_exposed_to(text)

    @cached_property
    def _remembered_others(self) -> OthersWords:
        known = self.offer.known.values()
        return OthersWords([memory_text(each.value) for each in known if each.trust in OTHERS])

    def others_speak_of(self, text: str) -> bool:
        """
        Return True if words of others in the window share a word with *text*, or give orders.

        A pasted letter about the rent can have caused no end of a note on the wedding. Memories do
        not count: they were looked at when they were made.
        """
        return self._others.gives_orders or self._others.shares(text)

    @cached_property
    def _others(self) -> OthersWords:
        return OthersWords([each.text for each in self.voices if each.trust == "external"])

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

    @cached_property
    def _began(self) -> Mapping[int, datetime | None]:
        """Return the day that is shown beside each known memory, by the id of its value."""
        known = self.offer.known.values()
        return {id(each.value): each.valid_from or each.said_at for each in known}

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
        at = self._began.get(id(before))
        missing = Heard(sources, before, before_at=at, texts=self._texts).lacks_of(leaf)
        if is_label:
            missing = tuple(each for each in missing if not each.startswith(_NAME))
        return tuple(each for each in missing if not self._may_be_said(each, voices, leaf))

    def _may_be_said(self, missing: str, voices: Sequence[Voice], leaf: Json) -> bool:
        """Return True for a shortened name, or a claim in a language without rules."""
        if missing.startswith(_NAME):
            tokens = [token for name in _names_of(missing) for token in tokens_in(name)]
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

    def replaces_date(self, cited: Sequence[Passage], leaf: str) -> bool:
        """Return True if sentences that the model *cited* tell a date that *leaf* lacks."""
        own = [each for each in cited if not each.citation.implied]
        return Heard(_sentences_of(own), texts=self._texts).tells_other_date(leaf)

    def replaces_name(self, cited: Sequence[Passage], leaf: str, missing: Sequence[str]) -> bool:
        """Return True if one of the *missing* may stand for a name of what the model *cited*."""
        names = [" ".join(_names_of(each)) for each in missing]
        return replaces_name(leaf, names, [e.text for e in cited if not e.citation.implied])

    @cached_property
    def corrections(self) -> tuple[Correction, ...]:
        """Return the amounts that users put right, in turn."""
        return tuple(corrections_in(self.voices))

    def tells(self, voice: Voice, leaf: Json, missing: Sequence[str]) -> list[str]:
        """Return which of the *missing* claims of *leaf* one voice alone supports."""
        lacking = Heard([voice.claims], computes=False, texts=self._texts).lacks_of(leaf)
        # Of "Karen Lo" the whole may be lacking here where a part of it is *missing*.
        names = {each for lack in lacking if lack.startswith(_NAME) for each in _names_of(lack)}
        return [
            each
            for each in missing
            if each not in lacking
            and not (each.startswith(_NAME) and names.issuperset(_names_of(each)))
        ]

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
        question = before.question() if before else ""
        earlier = self._answer_before(before.line) if before else None
        return Passage(
            citation, heard.line, trust, text, question, _own_voice(before), _own_voice(earlier)
        )

    def _answer_before(self, line: WindowLine) -> HeardLine | None:
        """Return the assistant's message before *line*, with one message of the user between."""
        asked = self.line(line.number - 1)
        is_user = asked is not None and asked.line.message.role == "user"
        return self._before(asked.line) if asked is not None and is_user else None

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


def _names_of(claim: str) -> list[str]:
    return claim.removeprefix(_NAME).strip("'\"").split()


def _own_voice(line: HeardLine | None) -> Voice | None:
    return next((e for e in line.voices if e.trust != "external"), None) if line else None


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


def _sentences_of(cited: Sequence[Passage]) -> list[SaidText]:
    return [SaidText(text=e.text, at=e.line.message.time, speaker=None) for e in cited]


def _source_of(memory: Memory) -> SaidText:
    return SaidText(text=memory_text(memory.value), at=None, speaker=None)
