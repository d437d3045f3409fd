"""Measure the recall of a labelled sample at each strength of an embedder, over a store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from anyio import to_thread
from numpy.typing import NDArray

from recollect.recall.candidates import Collection
from recollect.recall.eligibility import eligible_in_each
from recollect.recall.fusion import fused_scores
from recollect.recall.outside_vectors import Outside, OutsideHits
from recollect.recall.query import RecallQuery, Where, asked_on
from recollect.recall.query_analysis import read_question
from recollect.recall.ranking import text_to_embed
from recollect.recall.scope_index import ScopeIndex, refreshed
from recollect.recall.signals import signals_of
from recollect.recall.strength import STRENGTHS
from recollect.recall.strength_choice import SampleScores, gain_of, ranks_of, recall_of
from recollect.recall.strength_sample import CheckedQuestion, sample_error
from recollect.recall.vector_backlog import Embedding
from recollect.records import Memory, Message, Scope
from recollect.stores.change_feed import Cursor
from recollect.stores.contract.base import Store
from recollect.stores.plans.snapshot import StoreSnapshot
from recollect.text.scope_paths import written_scope

_READ_ENTRIES: Final = 500
"""Entries read in one call, which bounds memory and the time of a statement."""
_ALL: Final = RecallQuery(query="", limit=1, budget_tokens=None, where=Where(), asked_at=None)

TuningProgress: TypeAlias = Callable[[int, int], None]
"""Called with the number of questions asked so far, and the number of all."""
Wanted: TypeAlias = list[frozenset[int]]
"""For each question, the uids of the entries that should be found."""


@dataclass(slots=True)
class ScopeAddresses:
    """Uids of the entries of a scope that a sample names, by their addresses."""

    messages: dict[str, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))
    """By id, then by thread."""
    memories: dict[tuple[str, str], int] = field(default_factory=dict)


async def sample_scores(
    store: Store,
    embedding: Embedding,
    outside: Outside | None,
    questions: Sequence[CheckedQuestion],
    progress: TuningProgress,
) -> SampleScores:
    """
    Ask every question at each of ``STRENGTHS``; the store is only read, but for missing vectors.

    Raises:
        UsageError: A question names an entry that its scope does not hold.
        EmbedderError: The embedder failed.
        StoreError: The store, or the outside store of vectors, failed.
    """
    by_scope: dict[Scope, list[int]] = defaultdict(list)
    for number, each in enumerate(questions):
        by_scope[each.scope].append(number)
    wanted = await _wanted_entries(store, questions, by_scope)
    recall, gain = (np.zeros((len(questions), len(STRENGTHS))) for _ in range(2))
    done = 0
    for scope, numbers in by_scope.items():
        await embedding.settle(scope)
        reading = partial(read_searched, scope=scope, embedder=embedding.identity)
        asked = _AskedScope(await store.read(reading), embedding, store.now())
        for number in numbers:
            question = questions[number]
            hits = None if outside is None else await outside.search([scope], question.ask.query)
            ask = partial(asked.scores, question, wanted[number], hits)
            recall[number], gain[number] = await to_thread.run_sync(ask)
            done += 1
            progress(done, len(questions))
    return SampleScores(recall=recall, gain=gain)


async def _wanted_entries(
    store: Store, questions: Sequence[CheckedQuestion], by_scope: Mapping[Scope, Sequence[int]]
) -> Wanted:
    """Return the uids that each question should find, or raise for all that do not exist."""
    # Before anything is embedded: a typo in the sample must not cost minutes of embedding.
    wanted: Wanted = [frozenset()] * len(questions)
    problems: list[str] = []
    for scope, numbers in by_scope.items():
        mine = [questions[each] for each in numbers]
        found = await store.read(partial(read_addresses, scope=scope, questions=mine))
        for number in numbers:
            wanted[number] = frozenset(_uids_of(questions[number], found, problems))
    if problems:
        raise sample_error(problems, len(questions))
    return wanted


def read_searched(snapshot: StoreSnapshot, scope: Scope, embedder: str | None) -> Collection:
    """Return the collection that a search of *scope* ranks in this snapshot."""
    feeds = snapshot.feeds([Cursor(scope=scope)], embedder=embedder, in_blocks=True)
    indexes = [refreshed(ScopeIndex(scope=scope), each) for each in feeds]
    return Collection(indexes, eligible_in_each(_ALL, feeds, [None]))


def read_addresses(
    snapshot: StoreSnapshot, scope: Scope, questions: Sequence[CheckedQuestion]
) -> ScopeAddresses:
    """Return the uids of the entries that *questions* name, as far as a search can find them."""
    messages = {id_ for each in questions for id_ in each.messages}
    memories = {address for each in questions for address in each.memories}
    uids = read_searched(snapshot, scope, None).uid.tolist()
    found = ScopeAddresses()
    for start in range(0, len(uids), _READ_ENTRIES):
        places = [(scope, uid) for uid in uids[start : start + _READ_ENTRIES]]
        for entry in snapshot.entries(places, are_indexed=True):
            content = entry.content
            if isinstance(content, Message) and content.id in messages:
                found.messages[content.id][content.thread] = entry.uid
            elif isinstance(content, Memory) and (content.type, content.key) in memories:
                found.memories[content.type, content.key] = entry.uid
    return found


def _uids_of(
    question: CheckedQuestion, found: ScopeAddresses, problems: list[str]
) -> Iterator[int]:
    """Yield the uids that *question* names; add a line to *problems* for each missing entry."""
    scope = written_scope(question.scope)
    for id_ in question.messages:
        there = found.messages.get(id_, {})
        if question.thread is not None:
            there = {name: uid for name, uid in there.items() if name == question.thread}
        if len(there) == 1:
            yield from there.values()
        elif there:
            said = f"{len(there)} threads have a message {id_!r}: name its thread"
            problems.append(f"{question.place}: {said}")
        else:
            within = "" if question.thread is None else f"the thread {question.thread!r} of "
            said = f"{within}the scope '{scope}' has no message {id_!r}"
            problems.append(f"{question.place}: {said}")
    for address in question.memories:
        if address in found.memories:
            yield found.memories[address]
        else:
            said = f"the scope '{scope}' has no memory {'/'.join(address)!r} that is in force"
            problems.append(f"{question.place}: {said}")


@dataclass(frozen=True, slots=True)
class _AskedScope:
    """The entries of a scope at the time *now* (µs), and the embedder of the questions."""

    collection: Collection
    embedding: Embedding
    now: int

    def scores(
        self, question: CheckedQuestion, wanted: frozenset[int], outside: OutsideHits | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a question's recall and gain at each of ``STRENGTHS``; blocking."""
        collection, ask = self.collection, question.ask
        places = np.flatnonzero(np.isin(collection.uid, np.array(sorted(wanted), np.int64)))
        if len(places) < len(wanted):
            raise sample_error([f"{question.place}: what it names was removed meanwhile"], 1)
        text = text_to_embed(ask.query, list(collection.participants))
        vector = self.embedding.query_vector(text)
        similar = None if vector is None else collection.similarity(vector)
        analysed = read_question(ask.query, *asked_on(ask, self.now))
        signals = signals_of(collection, analysed, similar, outside=outside)
        ranks = [
            ranks_of(collection, fused_scores(collection, signals, strength), places)
            for strength in STRENGTHS
        ]
        return np.array(list(map(recall_of, ranks))), np.array(list(map(gain_of, ranks)))
