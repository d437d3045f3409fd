"""
Completing citations: what a value takes from the talk around the messages that it cites.

People say "I'd love to take him along" and mean the dog of three messages ago. A value that
names him rests on that message as well: it is cited too, instead of asking the model again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from recollect.formation.claims import Heard, Source, unsupported
from recollect.formation.offer import Offer
from recollect.formation.operations import (
    Change,
    Citation,
    Insert,
    Operation,
    Patch,
    cited_by,
)
from recollect.formation.pointers import covers, leaves
from recollect.formation.window import Line, Window
from recollect.records import Json

NEAR_LINES: Final = 6
"""A number or a date is looked for at most so many messages away; a name, in all of them."""
QUOTE_CHARACTERS_MAX: Final = 300
_NAME: Final = "the name "
SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class HeardLines:
    """What the lines of one window say, each read once for all that may rest on it."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self._alone: dict[int, Heard] = {}
        self._together: dict[tuple[int, ...], Heard] = {}

    def lacks(self, lines: Sequence[Line], leaf: Json, before: Json) -> tuple[str, ...]:
        """Return what *leaf* claims that *lines* together do not say, nor *before*."""
        if before is not None:
            return unsupported(leaf, sources_of(lines, self._window), before)
        numbers = tuple(line.number for line in lines)
        if numbers not in self._together:
            self._together[numbers] = Heard(sources_of(lines, self._window))
        return self._together[numbers].lacks_of(leaf)

    def tells(self, line: Line, leaf: Json, missing: Sequence[str]) -> list[str]:
        """Return what of the *missing* claims of *leaf* one line says by itself."""
        if line.number not in self._alone:
            self._alone[line.number] = Heard([source_of(line)])
        lacking = self._alone[line.number].lacks_of(leaf)
        return [each for each in missing if each not in lacking]


def completed(
    operation: Operation, window: Window, offer: Offer, heard: HeardLines | None = None
) -> Operation:
    """
    Return *operation* citing, besides, the messages that name what its own only refer to.

    Only what users and the assistant said is taken, the users' first, the nearest first.
    What nobody said stays uncited, and so does what the document before says already. *heard*
    may be shared by the operations of one window.
    """
    heard = heard or HeardLines(window)
    if isinstance(operation, Insert):
        added = [
            each
            for pointer, leaf in leaves(operation.value)
            for each in _missing_citations(
                leaf, pointer, _covering(operation, pointer), window, heard, before=None
            )
        ]
        return replace(operation, because=(*operation.because, *dict.fromkeys(added)))
    if isinstance(operation, Patch):
        before = offer.known[operation.target].value
        changes = tuple(
            _completed_change(each, window, heard, before) for each in operation.changes
        )
        return replace(operation, changes=changes)
    return operation


def _covering(operation: Insert, pointer: str) -> list[Citation]:
    return [each for each in operation.because if covers(each.path, pointer)]


def _completed_change(change: Change, window: Window, heard: HeardLines, before: Json) -> Change:
    added = [
        replace(each, path="")
        for pointer, leaf in leaves(change.operation.get("value"))
        for each in _missing_citations(
            leaf, pointer, cited_by(change), window, heard, before=before
        )
    ]
    return replace(change, besides=(*change.besides, *dict.fromkeys(added)))


def _missing_citations(
    leaf: Json,
    pointer: str,
    cited: Sequence[Citation],
    window: Window,
    heard: HeardLines,
    *,
    before: Json,
) -> Iterator[Citation]:
    """Yield a citation for each message that *leaf* needs besides those *cited*."""
    lines = [line for each in cited if (line := window.line(each.message))]
    missing = heard.lacks(lines, leaf, before) if lines else ()
    at = [line.number for line in lines]
    for line in _others(window, at) if missing else ():
        distance = min(abs(line.number - number) for number in at)
        wanted = [each for each in missing if distance <= NEAR_LINES or each.startswith(_NAME)]
        told = heard.tells(line, leaf, wanted)
        if not told:
            continue
        quote = _quote(leaf, line, told)
        yield Citation(message=line.number, quote=quote, path=pointer, implied=True)
        missing = tuple(each for each in missing if each not in told)
        if not missing:
            return


def _others(window: Window, at: Sequence[int]) -> list[Line]:
    """Return the lines that may be cited besides, the best first."""
    said = [
        line
        for line in window.lines
        if line.number not in at and line.message.role in {"user", "assistant"} and line.text
    ]
    return sorted(
        said,
        key=lambda line: (
            line.message.role != "user",
            min(abs(line.number - number) for number in at),
            line.number,
        ),
    )


def _quote(leaf: Json, line: Line, told: Sequence[str]) -> str:
    """Return the shortest sentence of *line* that *told* this of *leaf*, or its beginning."""
    sentences = [each.strip() for each in SENTENCE_END.split(line.text) if each.strip()]
    for sentence in sorted(sentences, key=len):
        heard = Heard([Source(text=sentence, at=line.message.time, speaker=line.message.name)])
        if set(told).isdisjoint(heard.lacks_of(leaf)):
            return sentence[:QUOTE_CHARACTERS_MAX]
    return line.text[:QUOTE_CHARACTERS_MAX].strip()


def sources_of(lines: Sequence[Line], window: Window) -> list[Source]:
    """Return what *lines* say; who takes part in the talk need not be named to be known."""
    named = {line.message.name: line.message.time for line in window.lines if line.message.name}
    present = [Source(text="", at=at, speaker=name) for name, at in named.items()]
    return [*map(source_of, lines), *present]


def source_of(line: Line) -> Source:
    """Return what one line says."""
    return Source(text=line.text, at=line.message.time, speaker=line.message.name)
