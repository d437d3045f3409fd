"""
Complete citations: find the messages that a value relies on without citing them.

People say "I'd love to take him along" and mean the dog of three messages ago. A value that names
the dog relies on that message as well, so it is cited too, instead of asking the model again. The
same goes for words of the assistant, of a tool, or of pasted text: a value that uses them is
trusted no more than they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from recollect.formation.operations import Citation, Insert, Operation, Patch, PatchChange, cited_by
from recollect.formation.support.cited_passages import Passage
from recollect.formation.support.content_words import tokens_in
from recollect.formation.support.heard_window import HeardWindow
from recollect.formation.support.leaves import is_label, known_words
from recollect.formation.support.origins import Sources, trace
from recollect.formation.support.voices import Voice, quotable
from recollect.records import Json
from recollect.stores.json_pointers import covers, leaves

NEAR_LINES: Final = 6
"""A number or date is searched for at most this many messages away; a name in all."""
VOICES_MAX: Final = 30
"""Most messages searched for a claim that the citations do not contain."""
_NAME: Final = "the name "
_NUMBER: Final = "the number "


@dataclass(frozen=True, slots=True)
class _Wanting:
    """A leaf that may need more citations than it has; *before* is the document it changes."""

    leaf: Json
    pointer: str
    cited: Sequence[Citation]
    before: Json
    traces_words: bool


def completed(operation: Operation, heard: HeardWindow, *, traces_words: bool = True) -> Operation:
    """
    Return *operation* with citations added for the messages it refers to.

    The users' words take precedence, then the assistant's, then others', nearest first. Content
    that was never said stays uncited, and so does content of the former document. Without
    *traces_words*, only numbers, names and dates are looked up.
    """
    if isinstance(operation, Insert):
        is_entry = heard.offer.types[operation.type].update_mode == "insert"
        uncited = _for_uncited(operation, heard, is_entry=is_entry)
        operation = replace(operation, because=(*operation.because, *uncited))
        added = [
            each
            for pointer, leaf in leaves(operation.value)
            for each in _completing(
                _Wanting(leaf, pointer, _covering(operation, pointer), None, traces_words),
                operation,
                heard,
            )
        ]
        return replace(operation, because=(*operation.because, *dict.fromkeys(added)))
    if isinstance(operation, Patch):
        changes = tuple(
            _completed_change(each, operation, heard, traces_words=traces_words)
            for each in operation.changes
        )
        return replace(operation, changes=changes)
    return operation


def _for_uncited(operation: Insert, heard: HeardWindow, *, is_entry: bool) -> Iterator[Citation]:
    """
    Yield citations for fields without any, if they rest on those of the other fields.

    An entry is one statement, so all its fields do. In a document only labels do, and the name that
    stands at the head of its user's lines; its other fields are separate statements.
    """
    for pointer, leaf in leaves(operation.value):
        if _covering(operation, pointer):
            continue
        if is_entry or is_label(pointer):
            resting: Sequence[Citation] = operation.because
        else:
            resting = [each for each in operation.because if _is_named(each, leaf, heard)][:1]
        for each in resting:
            yield replace(each, path=pointer, implied=True)


def _is_named(cited: Citation, leaf: Json, heard: HeardWindow) -> bool:
    """Return True if the user whose words are cited has the name *leaf*."""
    line = heard.window.line(cited.message)
    if line is None or line.message.role != "user" or not line.message.name:
        return False
    return isinstance(leaf, str) and leaf.casefold() == line.message.name.casefold()


def _covering(operation: Insert, pointer: str) -> list[Citation]:
    return [each for each in operation.because if covers(each.path, pointer)]


def _completed_change(
    change: PatchChange, operation: Patch, heard: HeardWindow, *, traces_words: bool
) -> PatchChange:
    before = heard.offer.known[operation.target].value
    added = [
        replace(each, path="")
        for pointer, leaf in leaves(change.operation.get("value"))
        for each in _completing(
            _Wanting(leaf, pointer, cited_by(change), before, traces_words), operation, heard
        )
    ]
    return replace(change, besides=(*change.besides, *dict.fromkeys(added)))


def _completing(wanting: _Wanting, operation: Operation, heard: HeardWindow) -> Iterator[Citation]:
    passages = heard.passages(wanting.cited)
    if not passages:
        return
    added = list(_claims_elsewhere(wanting, passages, heard))
    yield from added
    if isinstance(wanting.leaf, str) and wanting.traces_words:
        cited = [*passages, *heard.passages(added)]
        yield from _words_elsewhere(wanting, cited, operation, heard)


def _claims_elsewhere(
    wanting: _Wanting, passages: Sequence[Passage], heard: HeardWindow
) -> Iterator[Citation]:
    """Yield a citation for each message that says a number, date or name of the leaf."""
    voices = heard.voices_of(passages)
    missing = heard.lacks(voices, wanting.leaf, wanting.before, is_label=is_label(wanting.pointer))
    at = [each.line.number for each in passages]
    for voice in _others(heard, voices, at, missing) if missing else ():
        distance = min(abs(voice.line.number - number) for number in at)
        wanted = [each for each in missing if distance <= NEAR_LINES or each.startswith(_NAME)]
        told = heard.tells(voice, wanting.leaf, wanted)
        if not told:
            continue
        quote = _quote_telling(wanting, voice, told, heard)
        yield from _implied(voice, quote, wanting.pointer)
        missing = tuple(each for each in missing if each not in told)
        if not missing:
            return
    if any(each.startswith(_NUMBER) for each in missing):
        yield from _scale_elsewhere(wanting, voices, at, heard)


def _scale_elsewhere(
    wanting: _Wanting, voices: Sequence[Voice], at: Sequence[int], heard: HeardWindow
) -> Iterator[Citation]:
    """Yield a citation for the near message of a user with the scale of an amount: "68 grand"."""
    for voice in _others(heard, voices, at, ()):
        if voice.trust != "user" or not voice.claims.told_scales:
            continue
        lacking = heard.lacks(voices, wanting.leaf, wanting.before)
        if set(heard.lacks([*voices, voice], wanting.leaf, wanting.before)) < set(lacking):
            scaled = (each for each in voice.sentences if each.told_scales)
            said = next((each.source.text for each in scaled), voice.text)
            yield from _implied(voice, quotable(said), wanting.pointer)
            return


def _words_elsewhere(
    wanting: _Wanting, passages: Sequence[Passage], operation: Operation, heard: HeardWindow
) -> Iterator[Citation]:
    """Yield a citation for each message that a word of the leaf comes from."""
    sources = Sources(heard, passages, known_words(operation, heard))
    lines = {(each.line.number, each.trust) for each in passages}
    for word in trace(str(wanting.leaf), sources):
        voice = word.voice
        is_figure = word.written[:1].isdigit()  # whether it was said is known from its claim
        if voice is None or is_figure or (voice.line.number, voice.trust) in lines:
            continue
        lines.add((voice.line.number, voice.trust))
        yield from _implied(voice, voice.quote_of(word.written), wanting.pointer)


def _implied(voice: Voice, quote: str, pointer: str) -> Iterator[Citation]:
    if voice.line.find(quote):
        yield Citation(message=voice.line.number, quote=quote, path=pointer, implied=True)


def _others(
    heard: HeardWindow, voices: Sequence[Voice], at: Sequence[int], missing: Sequence[str]
) -> list[Voice]:
    """Return the candidates for further citations, best first: near, or with a missing name."""
    order = {trust: place for place, trust in enumerate(("user", "assistant", "external"))}
    names = [
        token
        for each in missing
        if each.startswith(_NAME)
        for token in tokens_in(each.removeprefix(_NAME))
    ]

    def distance(voice: Voice) -> int:
        return min(abs(voice.line.number - number) for number in at)

    said = [
        each
        for each in heard.voices
        if each not in voices
        and (distance(each) <= NEAR_LINES or any(map(each.words.has_token, names)))
    ]
    said.sort(key=lambda each: (order[each.trust], distance(each), each.line.number))
    return said[:VOICES_MAX]


def _quote_telling(wanting: _Wanting, voice: Voice, told: Sequence[str], heard: HeardWindow) -> str:
    """Return the shortest sentence of *voice* that *told* this of the leaf, or a part of it."""
    sentence = heard.sentence_telling(voice, wanting.leaf, told) or voice.text
    return quotable(sentence, _place_of(told, sentence))


def _place_of(told: Sequence[str], sentence: str) -> int:
    """Return the position of the first *told* name in a sentence."""
    names = (each.removeprefix(_NAME).strip("'\"") for each in told if each.startswith(_NAME))
    return max(0, *(sentence.find(each) for each in names), 0)
