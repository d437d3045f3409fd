"""Recall of LangGraph's stores and ours on the same texts, questions and embedder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore

import recollect
from benchmarks.conversation_files import BenchmarkConversation, BenchmarkQuestion
from benchmarks.datasets import Dataset
from benchmarks.search_controls import dated_text
from recollect.integrations.langgraph import RecollectStore
from recollect.ports import Embedder

DEPTHS: Final = (5, 10, 20, 50)
PUT_AT_ONCE: Final = 500
OURS: Final = "RecollectStore"
OURS_BY_WORDS: Final = "RecollectStore, no embedder"


@dataclass(slots=True)
class StoreRecallReport:
    """Mean share of the evidence among the first k items, by store."""

    questions: int = 0
    stores: dict[str, dict[str, float]] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Return the report as a JSON object."""
        return asdict(self)


def find_all(
    dataset: Dataset,
    data: Path,
    embedder: Embedder,
    progress: Callable[[str], None] = lambda _: None,
) -> StoreRecallReport:
    """Store every message of *dataset* as an item and ask every counted question; print nothing."""
    folder = dataset.find_folder(data)
    questions: dict[str, list[BenchmarkQuestion]] = defaultdict(list)
    for question in dataset.questions(folder):
        if dataset.counts(question) and question.evidence:
            questions[question.conversation_id].append(question)
    report = StoreRecallReport()
    sums: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for conversation in dataset.conversations(folder):
        progress(conversation.conversation_id)
        asked = questions[conversation.conversation_id]
        report.questions += len(asked)
        with stores_of(conversation, embedder) as stores:
            for name, store in stores.items():
                for question in asked:
                    for depth, share in _shares(store, conversation, question):
                        sums[name][f"recall@{depth}"] += share
    report.stores = {
        name: {figure: total / max(1, report.questions) for figure, total in figures.items()}
        for name, figures in sums.items()
    }
    return report


@contextmanager
def stores_of(
    conversation: BenchmarkConversation, embedder: Embedder
) -> Iterator[dict[str, BaseStore]]:
    """Yield the stores, each with the messages of *conversation* as items."""

    def embed(texts: Sequence[str]) -> list[list[float]]:
        found = embedder.embed(list(texts))
        return [[0.0] * embedder.dimensions if each is None else each.tolist() for each in found]

    index: Any = {"dims": embedder.dimensions, "embed": embed, "fields": ["text"]}
    with (
        recollect.open_sync("memory:", embedder=embedder, worker=False) as memory,
        recollect.open_sync("memory:", embedder="none", worker=False) as by_words,
    ):
        stores: dict[str, BaseStore] = {
            OURS: RecollectStore(memory, ("bench",), index={"fields": ["text"]}),
            OURS_BY_WORDS: RecollectStore(by_words, ("bench",), index={"fields": ["text"]}),
            "InMemoryStore": InMemoryStore(index=index),
        }
        ops = [
            PutOp((conversation.conversation_id,), each.message_id, {"text": dated_text(each)})
            for each in conversation.messages
            if each.text
        ]
        for start in range(0, len(ops), PUT_AT_ONCE):
            for store in stores.values():
                store.batch(ops[start : start + PUT_AT_ONCE])
        memory.settled(("bench",), below=True)
        yield stores


def _shares(
    store: BaseStore, conversation: BenchmarkConversation, question: BenchmarkQuestion
) -> Iterator[tuple[int, float]]:
    """Yield the share of the evidence among the first k items, for each depth."""
    found = store.search((conversation.conversation_id,), query=question.text, limit=max(DEPTHS))
    ranked = [each.key for each in found]
    evidence = set(question.evidence)
    for depth in DEPTHS:
        yield depth, len(evidence & set(ranked[:depth])) / len(evidence)
