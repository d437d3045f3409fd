"""Quotations: messages that an erase leaves in place and that repeat words of what it removes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from recollect.records import Role, Scope
from recollect.stores.plans.doomed_rows import DoomedRows, doomed_rows
from recollect.stores.plans.erase_targets import EraseScope, EraseTarget
from recollect.stores.plans.evidence import decode_evidence, evidence_messages
from recollect.stores.rows import MessageRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import to_datetime
from recollect.text.analysis import STOP_WORDS, fold

RUN_WEIGHT: Final = 8
"""Weight of the shortest run of words that counts as quoted: four words, or eight Chinese
characters."""
QUOTED_CHARACTERS_MAX: Final = 100_000
"""Characters of the erased texts that are looked for."""
CODE_DIGITS_MIN: Final = 4
"""Digits of a number that hardly occurs by chance, unless it is a year."""
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’]\w+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """
    A message that stays after an erase and repeats erased words, with those words.

    >>> import recollect
    >>> from recollect import EraseMessages
    >>> talk = [("user", "The code of my garage is 4711."),
    ...         ("assistant", "Noted: the code of your garage is 4711.")]
    >>> with recollect.open_sync("memory:", embedder="none") as memory:
    ...     said, _ = memory.append("ada", "chat", [{"role": r, "content": t} for r, t in talk])
    ...     found = memory.quotations("ada", EraseMessages(thread="chat", messages=[said.id]))
    >>> [(each.role, each.quote) for each in found]
    [('assistant', 'garage is 4711')]
    """

    thread: str
    message: str
    role: Role
    time: datetime
    quote: str


def find_quotations(rows: Rows, scope: Scope, target: EraseTarget, now: int) -> Sequence[Quotation]:
    """
    Return the messages of *scope* that quote what *target* names, by thread and position.

    The messages that an erased memory rests on are among them: erasing the memory leaves them. An
    erase of a whole scope leaves none.
    """
    row = rows.scope(scope)
    if row is None or isinstance(target, EraseScope):
        return []
    doomed = doomed_rows(rows, row, target, now)
    runs = _runs_of(_texts_of(doomed))
    sources = {pair for each in doomed.memories for pair in evidence_messages(each.evidence)}
    going = {each.uid for each in doomed.messages}
    found = [
        (message, quote)
        for message in rows.all_messages(row.id)
        if message.uid not in going and (quote := _quoted(message.text, runs))
    ]
    threads = rows.thread_ids(row.id, [each.thread for each, _ in found])
    quoting = {(threads[each.thread], each.id) for each, _ in found}
    found += _sources_left(rows, row.id, sources - quoting, going)
    threads |= rows.thread_ids(row.id, [each.thread for each, _ in found])
    found.sort(key=lambda each: (each[0].thread, each[0].position))
    return [_quotation(message, threads[message.thread], quote) for message, quote in found]


def _sources_left(
    rows: Rows, scope_id: int, pairs: Iterable[tuple[str, str]], going: set[int]
) -> Iterator[tuple[MessageRow, str]]:
    """Yield the messages of *pairs* that still exist, each quoted from its beginning."""
    for thread_id, message_id in sorted(pairs):
        thread = rows.thread(scope_id, thread_id)
        live = rows.messages_by_id(scope_id, thread.number, [message_id]) if thread else ()
        yield from ((each, each.text) for each in live if each.uid not in going)


def _quotation(message: MessageRow, thread: str, quote: str) -> Quotation:
    return Quotation(
        thread=thread,
        message=message.id,
        role=message.role,
        time=to_datetime(message.time),
        quote=quote,
    )


def _texts_of(doomed: DoomedRows) -> Iterator[str]:
    """Yield the texts that go: of messages, and the words that memories rest on."""
    for message in doomed.messages:
        yield message.text
    for memory in doomed.memories:
        for cited in decode_evidence(memory.evidence).values():
            yield from (each.quote for each in cited if each.quote)


def _runs_of(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """Return each run of words of *texts* that is just long enough to be a quotation."""
    left = QUOTED_CHARACTERS_MAX
    runs: set[tuple[str, ...]] = set()
    for text in texts:
        words = [word for word, _, _ in _words(text[:left])]
        left -= len(text)
        runs.update(run for at in range(len(words)) if (run := _run_at(words, at)))
        if left <= 0:
            break
    return frozenset(runs)


def _quoted(text: str, runs: frozenset[tuple[str, ...]]) -> str:
    """Return the first stretch of *text* that consists of such runs; ``""`` if there is none."""
    places = _words(text)
    words = [word for word, _, _ in places]
    start = end = -1
    for at in range(len(words)):
        run = _run_at(words, at)
        if run not in runs:
            continue
        if start >= 0 and at > end:
            break
        start, end = at if start < 0 else start, at + len(run) - 1
    return "" if start < 0 else text[places[start][1] : places[end][2]]


def _run_at(words: Sequence[str], at: int) -> tuple[str, ...]:
    """Return the shortest run from *at* that is heavy enough; nothing if the words end before."""
    weight = 0
    for end in range(at, len(words)):
        weight += _weight(words[end])
        if weight >= RUN_WEIGHT:
            return tuple(words[at : end + 1])
    return ()


def _weight(word: str) -> int:
    """Return 2 for a word, 1 for a stop word or a character, more for a number or a code."""
    if word.isdecimal():
        return 3 if len(word) < CODE_DIGITS_MIN or word[:2] in {"19", "20"} else 6
    if any(map(str.isdecimal, word)):
        return 6
    return 1 if word in STOP_WORDS or not word.isascii() else 2


def _words(text: str) -> list[tuple[str, int, int]]:
    return [(fold(each.group()), each.start(), each.end()) for each in _WORD.finditer(text)]
