"""Correct the message number of quotes that stand in another message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from recollect.formation.grounding.quotes import says_enough
from recollect.formation.operations import Citation, End, Insert, Operation, PatchChange
from recollect.formation.support.voices import SENTENCE_END, quotable
from recollect.formation.window import Window, WindowLine

SEARCHED_CHARACTERS_MAX: Final = 50_000
"""Characters of a window searched for a quote, the users' new messages first."""

BARE_CHARACTERS_MAX: Final = 300
"""A message of at most so many characters may be cited without quoting it."""


def renumbered(operation: Operation, window: Window) -> Operation:
    """
    Return *operation* with each quote cited from the message that says it.

    The name of the message's own speaker stands for its first words, and no quote at all for the
    whole of a short message. A quote is left alone if its
    message says it, if no message does, if its number is that of no
    message, or if it is too short to be told from a chance.
    """

    def corrected(citation: Citation) -> Citation:
        line = window.line(citation.message)
        if line is not None and not citation.quote and len(line.text) <= BARE_CHARACTERS_MAX:
            return replace(citation, quote=line.text)
        if line is None or line.find(citation.quote) is not None:
            return citation
        if line.message.name and citation.quote.strip().strip("@:：") == line.message.name:
            # The name stands at the head of the message as the model sees it, not in its text.
            return replace(citation, quote=_beginning_of(line))
        found = _line_saying(citation, window)
        return citation if found is None else replace(citation, message=found.number)

    if isinstance(operation, Insert | End):
        because = tuple(map(corrected, operation.because))
        return operation if because == operation.because else replace(operation, because=because)
    changes = tuple(_corrected_change(each, corrected) for each in operation.changes)
    return operation if changes == operation.changes else replace(operation, changes=changes)


def _corrected_change(
    change: PatchChange, corrected: Callable[[Citation], Citation]
) -> PatchChange:
    because, *besides = map(corrected, (change.because, *change.besides))
    return replace(change, because=because, besides=tuple(besides))


def _beginning_of(line: WindowLine) -> str:
    """Return the first words of a message, as they can be quoted."""
    first = next((each for each in line.text.split("\n") if each.strip()), line.text)
    return quotable(SENTENCE_END.split(first.strip())[0])


def _line_saying(citation: Citation, window: Window) -> WindowLine | None:
    """Return the line that says a quote: a user's before others', a new one, the nearest."""
    if not says_enough(citation.quote):
        return None
    order = sorted(
        window.lines,
        key=lambda line: (
            line.message.role != "user",
            not line.new,
            abs(line.number - citation.message),
        ),
    )
    left = SEARCHED_CHARACTERS_MAX
    for line in order:
        left -= len(line.text)
        if left < 0:
            return None
        if line.find(citation.quote) is not None:
            return line
    return None
