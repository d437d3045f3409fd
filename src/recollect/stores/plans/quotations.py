"""Quotations: messages that an erase leaves in place and that repeat words of what it removes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

from recollect.records import Role, Scope
from recollect.stores.plans.doomed_rows import DoomedRows, doomed_rows
from recollect.stores.plans.erase_targets import EraseScope, EraseTarget
from recollect.stores.plans.evidence import decode_evidence, evidence_messages
from recollect.stores.rows import MessageRow
from recollect.stores.unit_of_work import Rows
from recollect.stores.validation import to_datetime
from recollect.text.analysis import STOP_WORDS, fold
from recollect.text.rule_replies import without_set_phrases

RUN_WEIGHT: Final = 8
"""Weight of the shortest run of words that counts as quoted: four words, or eight Chinese
characters."""
LONG_WEIGHT: Final = 2 * RUN_WEIGHT
"""Weight from which a stretch of words hardly occurs by chance."""
CODE_WEIGHT: Final = 6
"""Weight of a number or a code that hardly occurs by chance."""
QUOTED_CHARACTERS_MAX: Final = 100_000
"""Characters of the erased texts that are looked for."""
CODE_DIGITS_MIN: Final = 4
"""Digits of a number that hardly occurs by chance, unless it is a year."""
_WORD: Final = re.compile(r"[\u3400-\u9fff]|[^\W_]+(?:['’]\w+)?")
_CLAUSE_END: Final = re.compile(r"[.!?;:,]+(?:\s|$)|[。！？；：，\n]+")


Moment: TypeAlias = tuple[int, int]
"""A time, and the number of a message, which tells apart what was said in the same moment."""
Runs: TypeAlias = dict[tuple[str, ...], Moment]
"""Runs of words, each with the moment from which a message of the user can quote it."""
_EVER: Final[Moment] = (-(2**63), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """
    A message that stays after an erase and repeats erased words, with those words.

    *likely* is False for words of the user that merely resemble: "My brother Tomas lives in Graz"
    after "My brother Tomas lives in Linz now". They repeat neither a whole clause, nor a code,
    nor a stretch of eight words (16 Chinese characters).

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
    likely: bool = True


def find_quotations(rows: Rows, scope: Scope, target: EraseTarget, now: int) -> Sequence[Quotation]:
    """
    Return the messages of *scope* that quote what *target* names, by thread and position.

    The messages that an erased memory rests on are among them: erasing the memory leaves them. An
    erase of a whole scope leaves none. Words of the user are no quotation of the answer that took
    them up.
    """
    row = rows.scope(scope)
    if row is None or isinstance(target, EraseScope):
        return []
    doomed = doomed_rows(rows, row, target, now)
    texts = list(_texts_of(doomed))
    runs = _runs_of(texts)
    sources = {pair for each in doomed.memories for pair in evidence_messages(each.evidence)}
    going = {each.uid for each in doomed.messages}
    found = [
        (message, quote)
        for message in rows.all_messages(row.id)
        if message.uid not in going and (quote := _quoted(message, runs))
    ]
    threads = rows.thread_ids(row.id, [each.thread for each, _ in found])
    quoting = {(threads[each.thread], each.id) for each, _ in found}
    found += _sources_left(rows, row.id, sources - quoting, going)
    threads |= rows.thread_ids(row.id, [each.thread for each, _ in found])
    found.sort(key=lambda each: (each[0].thread, each[0].position))
    erased = _ErasedWords.of(text for text, _ in texts)
    return [
        Quotation(
            thread=threads[message.thread],
            message=message.id,
            role=message.role,
            time=to_datetime(message.time),
            quote=quote,
            likely=(threads[message.thread], message.id) in sources
            or message.role != "user"
            or erased.are_repeated_in(message.text, runs),
        )
        for message, quote in found
    ]


def _sources_left(
    rows: Rows, scope_id: int, pairs: Iterable[tuple[str, str]], going: set[int]
) -> Iterator[tuple[MessageRow, str]]:
    """Yield the messages of *pairs* that still exist, each quoted from its beginning."""
    for thread_id, message_id in sorted(pairs):
        thread = rows.thread(scope_id, thread_id)
        live = rows.messages_by_id(scope_id, thread.number, [message_id]) if thread else ()
        yield from ((each, each.text) for each in live if each.uid not in going)


@dataclass(frozen=True, slots=True)
class _ErasedWords:
    """The words that go, to tell a quotation from a sentence that merely begins in the same way."""

    texts: str
    clauses: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> _ErasedWords:
        whole = "\n".join(texts)[:QUOTED_CHARACTERS_MAX]
        joined = "\n".join(_joined(_words_of(each)) for each in whole.split("\n"))
        return cls(joined, frozenset(_clauses_of(whole)))

    def are_repeated_in(self, text: str, runs: Runs) -> bool:
        """Whether *text* and they have a clause in common, or a stretch that is long or rare."""
        words = _words_of(text)
        said = _joined(words)
        if any(each in said for each in self.clauses):
            return True
        if any(each in self.texts for each in _clauses_of(text)):
            return True
        return any(
            sum(weights := [_weight(word) for word in words[start : end + 1]]) >= LONG_WEIGHT
            or max(weights) >= CODE_WEIGHT
            for start, end in _stretches(words, runs)
        )


def _texts_of(doomed: DoomedRows) -> Iterator[tuple[str, Moment]]:
    """
    Yield the erased texts: of messages, and the words that memories rest on.

    Each comes with the moment from which the user can quote it: an assistant's, when it was said.
    The set phrases of a chat without a model are left out: repeating one quotes nothing.
    """
    for message in doomed.messages:
        if message.role == "user":
            yield message.text, _EVER
            continue
        for told in without_set_phrases(message.text):
            yield told, (message.time, message.uid)
    for memory in doomed.memories:
        for cited in decode_evidence(memory.evidence).values():
            yield from ((each.quote, _EVER) for each in cited if each.quote)


def _runs_of(texts: Iterable[tuple[str, Moment]]) -> Runs:
    """Return each run of words that goes and is just long enough to be a quotation."""
    left = QUOTED_CHARACTERS_MAX
    runs: Runs = {}
    for text, since in texts:
        words = [word for word, _, _ in _words(text[:left])]
        left -= len(text)
        for run in (_run_at(words, at) for at in range(len(words))):
            runs[run] = min(since, runs.get(run, since))
        if left <= 0:
            break
    runs.pop((), None)
    return runs


def _quoted(message: MessageRow, runs: Runs) -> str:
    """Return the first stretch of *message* that consists of such runs; ``""`` if there is none."""
    places = _words(message.text)
    moment = (message.time, message.uid) if message.role == "user" else None
    stretch = next(_stretches([word for word, _, _ in places], runs, moment), None)
    return "" if stretch is None else message.text[places[stretch[0]][1] : places[stretch[1]][2]]


def _stretches(
    words: Sequence[str], runs: Runs, moment: Moment | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the first and last place of each stretch that consists of runs known at *moment*."""
    start = end = -1
    for at in range(len(words)):
        run = _run_at(words, at)
        since = runs.get(run)
        if since is None or (moment is not None and moment < since):
            continue
        if start >= 0 and at > end:
            yield start, end
            start = -1
        start, end = at if start < 0 else start, at + len(run) - 1
    if start >= 0:
        yield start, end


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
        return 3 if len(word) < CODE_DIGITS_MIN or word[:2] in {"19", "20"} else CODE_WEIGHT
    if any(map(str.isdecimal, word)):
        return CODE_WEIGHT
    return 1 if word in STOP_WORDS or not word.isascii() else 2


def _words(text: str) -> list[tuple[str, int, int]]:
    return [(fold(each.group()), each.start(), each.end()) for each in _WORD.finditer(text)]


def _words_of(text: str) -> list[str]:
    return [word for word, _, _ in _words(text)]


def _joined(words: Sequence[str]) -> str:
    """Return *words* as a text in which another one of whole words can be looked for."""
    return f" {' '.join(words)} "


def _clauses_of(text: str) -> Iterator[str]:
    """Yield the clauses of *text* that are long enough to be quoted, joined by `_joined`."""
    for clause in _CLAUSE_END.split(text):
        words = _words_of(clause)
        if sum(map(_weight, words)) >= RUN_WEIGHT:
            yield _joined(words)
