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

from recollect.formation.claims import Source, unsupported
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


def completed(operation: Operation, window: Window, offer: Offer) -> Operation:
    """
    Return *operation* citing, besides, the messages that name what its own only refer to.

    Only what users and the assistant said is taken, the users' first, the nearest first.
    What nobody said stays uncited, and so does what the document before says already.
    """
    if isinstance(operation, Insert):
        added = [
            each
            for pointer, leaf in leaves(operation.value)
            for each in _missing_citations(
                leaf, pointer, _covering(operation, pointer), window, before=None
            )
        ]
        return replace(operation, because=(*operation.because, *dict.fromkeys(added)))
    if isinstance(operation, Patch):
        before = offer.known[operation.target].value
        changes = tuple(_completed_change(each, window, before) for each in operation.changes)
        return replace(operation, changes=changes)
    return operation


def _covering(operation: Insert, pointer: str) -> list[Citation]:
    return [each for each in operation.because if covers(each.path, pointer)]


def _completed_change(change: Change, window: Window, before: Json) -> Change:
    added = [
        replace(each, path="")
        for pointer, leaf in leaves(change.operation.get("value"))
        for each in _missing_citations(leaf, pointer, cited_by(change), window, before=before)
    ]
    return replace(change, besides=(*change.besides, *dict.fromkeys(added)))


def _missing_citations(
    leaf: Json, pointer: str, cited: Sequence[Citation], window: Window, *, before: Json
) -> Iterator[Citation]:
    """Yield a citation for each message that *leaf* needs besides those *cited*."""
    lines = [line for each in cited if (line := window.line(each.message))]
    sources = sources_of(lines, window)
    missing = unsupported(leaf, sources, before)
    if not lines or not missing:
        return
    at = [line.number for line in lines]
    for line in _others(window, at):
        distance = min(abs(line.number - number) for number in at)
        wanted = [each for each in missing if distance <= NEAR_LINES or each.startswith(_NAME)]
        left = unsupported(leaf, [*sources, source_of(line)], before)
        if not set(wanted) - set(left):
            continue
        quote = _quote(leaf, line, sources, len(left), before)
        yield Citation(message=line.number, quote=quote, path=pointer, implied=True)
        sources.append(source_of(line))
        missing = left
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


def _quote(leaf: Json, line: Line, sources: Sequence[Source], left: int, before: Json) -> str:
    """Return the shortest sentence of *line* that says what *leaf* lacks, or its beginning."""
    sentences = [each.strip() for each in SENTENCE_END.split(line.text) if each.strip()]
    for sentence in sorted(sentences, key=len):
        told = Source(text=sentence, at=line.message.time, speaker=line.message.name)
        if len(unsupported(leaf, [*sources, told], before)) <= left:
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
